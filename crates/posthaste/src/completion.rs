//! Waiting for some of several requests.
//!
//! MPI-5.0 §3.7.5. Each of these tells of the end of a request once; [`Request::wait`] and [`Request::test`] still return its status
//! afterwards.
//!
//! What must stay true: nobody waits when there is nothing left to wait for.

use std::future::poll_fn;

use posthaste_core::world::Operation;

use crate::argument::Status;
use crate::error::Result;
use crate::scope::Request;

/// Waits until one of the requests is over that nobody has been told of (`MPI_Waitany`): its place and its status. `None` when all have
/// been told of.
///
/// # Errors
/// What went wrong with that request; it has been told of then.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let (mut first, mut second) = ([0], [0]);
/// world.scope(|s| {
///     let mut requests = [s.receive(&mut first, 0, 1)?, s.receive(&mut second, 0, 2)?];
///     s.send(&[7], 0, 2)?;
///     assert_eq!(posthaste::wait_any(&mut requests)?.expect("there are two").0, 1);
///     s.send(&[8], 0, 1)?;
///     assert_eq!(posthaste::wait_any(&mut requests)?.expect("there is one").0, 0);
///     assert!(posthaste::wait_any(&mut requests)?.is_none());
///     Ok(())
/// })
/// # }
/// ```
#[doc(alias = "MPI_Waitany")]
pub fn wait_any(requests: &mut [Request<'_>]) -> Result<Option<(usize, Status)>> {
    let (places, operations) = awaited(requests);
    let Some(at) = Operation::wait_for_one(&operations) else { return Ok(None) };
    let at = places[at];
    tell(requests, at).map(|status| Some((at, status)))
}

/// As [`wait_any`], but does not wait (`MPI_Testany`): `None` also when none is over.
///
/// # Errors
/// As [`wait_any`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut buffer = [0];
/// world.scope(|s| {
///     let mut requests = [s.receive(&mut buffer, 0, 0)?];
///     assert!(posthaste::test_any(&mut requests)?.is_none());
///     s.send(&[7], 0, 0)?;
///     while posthaste::test_any(&mut requests)?.is_none() {}
///     Ok(())
/// })
/// # }
/// ```
#[doc(alias = "MPI_Testany")]
pub fn test_any(requests: &mut [Request<'_>]) -> Result<Option<(usize, Status)>> {
    let (places, operations) = awaited(requests);
    let Some(at) = Operation::find_over(&operations) else { return Ok(None) };
    let at = places[at];
    tell(requests, at).map(|status| Some((at, status)))
}

/// Waits until at least one of the requests is over that nobody has been told of, and tells of all that are (`MPI_Waitsome`). Empty when
/// all have been told of.
///
/// # Errors
/// What went wrong with the first of them that failed; [`Request::test`] tells of each.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let (mut first, mut second) = ([0], [0]);
/// world.scope(|s| {
///     let mut requests = [s.receive(&mut first, 0, 1)?, s.receive(&mut second, 0, 2)?];
///     s.send(&[7], 0, 2)?;
///     let ended = posthaste::wait_some(&mut requests)?;
///     assert_eq!((ended.len(), ended[0].0), (1, 1));
///     s.send(&[8], 0, 1).map(drop)
/// })
/// # }
/// ```
#[doc(alias = "MPI_Waitsome")]
pub fn wait_some(requests: &mut [Request<'_>]) -> Result<Vec<(usize, Status)>> {
    Operation::wait_for_one(&awaited(requests).1);
    tell_some(requests)
}

/// As [`wait_some`], but does not wait (`MPI_Testsome`).
///
/// # Errors
/// As [`wait_some`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut buffer = [0];
/// world.scope(|s| {
///     let mut requests = [s.receive(&mut buffer, 0, 0)?];
///     assert!(posthaste::test_some(&mut requests)?.is_empty());
///     s.send(&[7], 0, 0).map(drop)
/// })
/// # }
/// ```
#[doc(alias = "MPI_Testsome")]
pub fn test_some(requests: &mut [Request<'_>]) -> Result<Vec<(usize, Status)>> {
    Operation::find_over(&awaited(requests).1);
    tell_some(requests)
}

/// Waits until all requests are over (`MPI_Waitall`), and tells of each.
///
/// # Errors
/// What went wrong with the first of them that failed; the others are over all the same.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut buffer = [0; 3];
/// world.scope(|s| {
///     let requests = [s.receive(&mut buffer, 0, 0)?, s.send(&[1, 2, 3], 0, 0)?];
///     assert_eq!(posthaste::wait_all(requests)?[0].count::<i32>(), Some(3));
///     Ok(())
/// })
/// # }
/// ```
#[doc(alias = "MPI_Waitall", alias = "wait_all_into")]
pub fn wait_all<'scope>(requests: impl IntoIterator<Item = Request<'scope>>) -> Result<Vec<Status>> {
    let ended: Vec<Result<Status>> = requests.into_iter().map(Request::wait).collect();
    ended.into_iter().collect()
}

/// Awaits the ends of all requests, as [`wait_all`] waits for them. The task is woken for one at a time, so ten thousand cost little
/// more than a wait for each, which is not so with combinators that have a waker for each of their futures.
///
/// # Errors
/// As [`wait_all`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut buffer = [0; 3];
/// world.scope_async(async |s| {
///     let requests = [s.receive(&mut buffer, 0, 0)?, s.send(&[1, 2, 3], 0, 0)?];
///     assert_eq!(posthaste::join_all(requests).await?[0].count::<i32>(), Some(3));
///     Ok(())
/// })
/// # }
/// ```
#[doc(alias = "MPI_Waitall")]
pub async fn join_all<'scope>(requests: impl IntoIterator<Item = Request<'scope>>) -> Result<Vec<Status>> {
    let requests = requests.into_iter();
    let mut ended = Vec::with_capacity(requests.size_hint().0);
    for mut request in requests {
        ended.push(poll_fn(|context| request.poll_patiently(context.waker())).await);
    }
    ended.into_iter().collect()
}

/// Whether all requests are over, and their statuses if so (`MPI_Testall`); again at every later call.
///
/// # Errors
/// As [`wait_all`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut buffer = [0];
/// world.scope(|s| {
///     let mut requests = [s.receive(&mut buffer, 0, 0)?];
///     assert!(posthaste::test_all(&mut requests)?.is_none());
///     s.send(&[7], 0, 0)?;
///     while posthaste::test_all(&mut requests)?.is_none() {}
///     Ok(())
/// })
/// # }
/// ```
#[doc(alias = "MPI_Testall")]
pub fn test_all(requests: &mut [Request<'_>]) -> Result<Option<Vec<Status>>> {
    if !Operation::are_over(&awaited(requests).1) {
        return Ok(None);
    }
    (0..requests.len()).map(|at| tell(requests, at)).collect::<Result<_>>().map(Some)
}

/// Those that nobody has been told of, and their places.
fn awaited<'a, 'scope>(requests: &'a [Request<'scope>]) -> (Vec<usize>, Vec<&'a Operation<'scope>>) {
    let awaited = requests.iter().enumerate().filter_map(|(at, request)| Some((at, request.awaited()?)));
    awaited.unzip()
}

/// Tells of one that is over.
fn tell(requests: &mut [Request<'_>], at: usize) -> Result<Status> {
    loop {
        if let Some(status) = requests[at].test()? {
            return Ok(status);
        }
    }
}

/// Tells of all that are over.
fn tell_some(requests: &mut [Request<'_>]) -> Result<Vec<(usize, Status)>> {
    let is_over = |request: &Request<'_>| request.awaited().is_some_and(Operation::is_over);
    let over: Vec<usize> = (0..requests.len()).filter(|at| is_over(&requests[*at])).collect();
    let told: Vec<Result<(usize, Status)>> =
        over.into_iter().map(|at| tell(requests, at).map(|status| (at, status))).collect();
    told.into_iter().collect()
}
