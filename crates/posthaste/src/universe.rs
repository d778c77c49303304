//! This process's part in the job, from its start to its end.
//!
//! It comes from [`init`]. MPI-5.0 §11.2, §11.4.
//!
//! What must stay true: the value stays on its thread (core's `World` does), so no two calls overlap; its
//! end gives its share of the engine back, and no communicator outlives it.

use std::fmt;
use std::sync::Arc;

use posthaste_core::buffer::{Equivalence, Memory};
use posthaste_core::comm::Comm;
use posthaste_core::error::{Result as Checked, say};
use posthaste_core::instance::{self, Job, Share, Threads};
use posthaste_core::world::{Buffered, Calls, Parents, World};

use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::intercommunicator::Intercommunicator;

/// Exit code of a job that ends because one of its ranks panicked: the one Rust gives to a panic.
const PANICKED: i32 = 101;

/// How blocking functions are called where a hang is explained.
const CALLS: Calls = Calls {
    send: "send",
    send_synchronous: "send_synchronous",
    receive: "receive",
    exchange: "send_receive",
    probe: "probe",
    matched_probe: "receive_vec",
    wait: "wait",
    wait_any: "wait_any",
    finalize: "the end of Universe",
};

/// Joins the job this process was started for (`MPI_Init`, MPI-5.0 §11.2.1).
///
/// Under `mpiexec` or another launcher that speaks PMI-1, the process becomes one of many ranks; started by
/// itself, the only one. The environment variables that said so are removed, so that programs started from here
/// are on their own.
///
/// A process has one engine, and what this gives is a share of it. A second call, an extension that calls this, and the C library
/// between `MPI_Init` and `MPI_Finalize` have shares of the same one: the same rank, and what one sends, another may receive. The
/// first share opens the engine, the end of the last one closes it. After that it can be opened again, which all ranks of the job
/// have to do; between, the process remains a member of its job. (After a `MPI_Finalize` that closed the engine this depends on
/// the launcher: posthaste's `mpiexec` lets a rank in again.)
///
/// A job that another one has started connects with it here ([`Universe::parent`]).
///
/// # Errors
/// When the launcher asked for a job that cannot be joined, or not again; when there is not enough memory; when another thread
/// has the engine and it was not opened for several threads (`MPI_Init_thread` with `MPI_THREAD_MULTIPLE`, or
/// `POSTHASTE_THREADED=1`); when a copy of posthaste of another build is in this process and has its engine, or when this
/// program has another `#[global_allocator]` than that copy.
///
/// ```
/// let universe = posthaste::init()?;
/// let world = universe.world();
/// println!("rank {} of {}", world.rank(), world.size());
/// let second = posthaste::init()?;
/// assert_eq!(second.world().rank(), world.rank());
/// # Ok::<(), posthaste::Error>(())
/// ```
pub fn init() -> Result<Universe> {
    Universe::join("init", Threads::This)
}

/// As [`init`], with a thread that keeps transfers going while the program does not call (as `POSTHASTE_PROGRESS_THREAD=1` has
/// it for every program): for executors that know nothing of posthaste, and for [`Universe::descriptor`].
///
/// # Errors
/// As [`init`]; when the engine is open already and was opened for one thread, or for several that do not call at the same time
/// (`MPI_THREAD_SERIALIZED` and below); when the system gives no thread.
///
/// ```
/// let universe = posthaste::init_with_progress()?;
/// let world = universe.world();
/// let (sent, _) = futures::executor::block_on(world.send_owned(vec![1, 2, 3], None, 0));
/// sent?;
/// # Ok::<(), posthaste::Error>(())
/// ```
pub fn init_with_progress() -> Result<Universe> {
    const CALL: &str = "init_with_progress";
    let universe = Universe::join(CALL, Threads::WithProgress)?;
    universe.world().named(CALL, universe.joined.ensure_progress_thread())?;
    Ok(universe)
}

/// This process's part in the job: a share of its engine ([`init`]). The end of the last share is the rank's end
/// (`MPI_Finalize`): it waits for all other ranks. That of an earlier one lets what it has sent leave.
///
/// ```
/// let universe = posthaste::init()?;
/// let (world, own) = (universe.world(), universe.own());
/// assert_eq!(own.size(), 1);
/// println!("{} ranks", world.size());
/// universe.finalize()?;
/// # Ok::<(), posthaste::Error>(())
/// ```
///
/// It stays on the thread that made it:
///
/// ```compile_fail
/// let universe = posthaste::init().unwrap();
/// std::thread::scope(|s| {
///     s.spawn(|| universe.world().rank()); // error: cannot be shared between threads
/// });
/// ```
///
/// When the thread panics while it holds this value and there are other ranks, they would wait for this one in
/// vain; the whole job ends instead, with exit code 101. (In a program built with `panic = "abort"` no destructor
/// runs; there the launcher sees the rank die and ends the job.)
pub struct Universe {
    joined: Share,
    buffered: Buffered,
    /// The communicator with those who started this job lives as long as this value.
    _parents: Option<Arc<Comm>>,
    ended: bool,
}

impl Universe {
    /// One whose share comes and goes on this rank alone.
    pub(crate) fn session() -> Result<Self> {
        let joined = instance::session(Threads::This, CALLS);
        let joined = joined.map_err(|cause| Error::new("Session::begin", None, cause))?;
        Ok(Self::of(joined, None))
    }

    /// One that comes and goes with those of the other ranks.
    fn join(call: &'static str, threads: Threads) -> Result<Self> {
        let joined = instance::share(threads, CALLS).and_then(|joined| match joined.meet_parents(call)? {
            Parents::Nobody => Ok(Self::of(joined, None)),
            Parents::Met(parents) => Ok(Self::of(joined, Some(parents))),
            // An error would end the job of the parents, too.
            Parents::Gone(why) => {
                if joined.rank() == 0 {
                    eprintln!("posthaste: {why}");
                }
                joined.close(Job::Left)?;
                std::process::exit(0)
            }
        });
        joined.map_err(|cause| Error::new(call, None, cause))
    }

    fn of(joined: Share, parents: Option<Arc<Comm>>) -> Self {
        Self { joined, buffered: Buffered::default(), _parents: parents, ended: false }
    }

    /// The communicator of all ranks (`MPI_COMM_WORLD`).
    pub fn world(&self) -> Communicator<'_> {
        Communicator::new(self, Arc::clone(self.joined.world()))
    }

    /// The communicator of this rank alone (`MPI_COMM_SELF`).
    pub fn own(&self) -> Communicator<'_> {
        Communicator::new(self, Arc::clone(self.joined.own()))
    }

    /// The kinds of hardware by which ranks may be divided ([`Communicator::split_by_hardware`]), the widest first, and whether this rank is
    /// restricted to one of each (`MPI_Get_hw_resource_info`, MPI-5.0 §9.1.2).
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let kinds = universe.hardware();
    /// assert_eq!(kinds[0], ("mpi_shared_memory", true), "every rank is on one host");
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Get_hw_resource_info")]
    pub fn hardware(&self) -> Vec<(&'static str, bool)> {
        let kinds = self.joined.hardware(self.joined.world());
        kinds.iter().filter(|kind| kind.is_known).map(|kind| (kind.name, kind.instance.is_some())).collect()
    }

    /// Those who started this job by [`Communicator::spawn`] or MPI_Comm_spawn, until they are disconnected; `None` for a job that
    /// nobody asked for (`MPI_Comm_get_parent`, MPI-5.0 §11.8.2).
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// assert!(universe.parent().is_none());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Comm_get_parent")]
    pub fn parent(&self) -> Option<Intercommunicator<'_>> {
        self.joined.parents().map(|parents| Intercommunicator::new(Communicator::new(self, parents)))
    }

    /// Memory for `len` numbers, zero at first (`MPI_Alloc_mem`, MPI-5.0 §9.2). Other ranks of this host can reach it, so
    /// that a long message from or into it is copied once. A child process that this rank forks shares it, too.
    ///
    /// # Errors
    /// When there is not so much memory.
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let mut field = universe.allocate::<f64>(1 << 16)?;
    /// field[3] = 1.5;
    /// assert_eq!(field.iter().sum::<f64>(), 1.5);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn allocate<T: Equivalence>(&self, len: usize) -> Result<Memory<T>> {
        let block = self.joined.allocate(Memory::<T>::bytes(len));
        let rank = Some(self.joined.rank() as usize);
        block.map(Memory::new).map_err(|cause| Error::new("allocate", rank, cause))
    }

    /// Allows sends in buffered mode to take this many bytes of memory at the same time, and no more (`MPI_Buffer_attach`, MPI-5.0 §3.6).
    /// Without this they take what they need.
    ///
    /// # Errors
    /// When a buffer is attached already.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// let universe = posthaste::init()?;
    /// universe.attach_buffer(1 << 20)?;
    /// let world = universe.world();
    /// let error = world.send_buffered(&vec![0u8; (1 << 20) + 1], 0, 0).unwrap_err();
    /// assert!(error.to_string().contains("1048577 free bytes"), "{error}");
    /// assert_eq!(universe.detach_buffer()?, Some(1 << 20));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Buffer_attach", alias = "set_buffer_size")]
    pub fn attach_buffer(&self, bytes: usize) -> Result<()> {
        self.named("attach_buffer", self.buffered.attach(bytes))
    }

    /// Waits until all buffered messages have left, and takes the limit away; returns it (`MPI_Buffer_detach`).
    ///
    /// # Errors
    /// What went wrong with a message.
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// assert_eq!(universe.detach_buffer()?, None);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Buffer_detach")]
    pub fn detach_buffer(&self) -> Result<Option<usize>> {
        self.named("detach_buffer", self.buffered.detach(&self.joined))
    }

    /// Waits until all buffered messages have left (`MPI_Buffer_flush`).
    ///
    /// # Errors
    /// What went wrong with a message.
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// universe.world().send_buffered(&[1], None, 0)?;
    /// universe.flush_buffer()?;
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Buffer_flush")]
    pub fn flush_buffer(&self) -> Result<()> {
        self.named("flush_buffer", self.buffered.flush(&self.joined))
    }

    /// Ends this share: what dropping the value does, but errors are reported. The last share blocks until every rank is here.
    ///
    /// # Errors
    /// When the last synchronisation with the other ranks fails.
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// universe.finalize()?;
    /// // The engine can be opened again, by all ranks.
    /// assert_eq!(posthaste::init()?.own().rank(), 0);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Finalize")]
    pub fn finalize(mut self) -> Result<()> {
        self.end()
    }

    /// Ends the whole job, all ranks of it, with this exit code (`MPI_Abort`, MPI-5.0 §9.5). A code of 0 becomes 1.
    ///
    /// ```should_panic
    /// let universe = posthaste::init().unwrap();
    /// universe.abort(3); // the process ends with code 3, as does mpiexec
    /// ```
    #[doc(alias = "MPI_Abort")]
    pub fn abort(&self, code: i32) -> ! {
        self.joined.abort(code)
    }

    #[inline]
    pub(crate) fn engine(&self) -> &World {
        &self.joined
    }

    pub(crate) fn buffered(&self) -> &Buffered {
        &self.buffered
    }

    fn end(&mut self) -> Result<()> {
        self.ended = true;
        let flushed = self.buffered.flush(&self.joined);
        let rank = self.joined.rank() as usize;
        let closed = flushed.and(self.joined.close(Job::Stays));
        closed.map_err(|cause| Error::new("finalize", Some(rank), cause))
    }

    pub(crate) fn named<T>(&self, call: &'static str, result: Checked<T>) -> Result<T> {
        result.map_err(|cause| Error::new(call, Some(self.joined.rank() as usize), cause))
    }
}

impl Drop for Universe {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if std::thread::panicking() {
            if self.joined.world().size() > 1 {
                self.joined.abort(PANICKED);
            }
            return;
        }
        if let Err(error) = self.end() {
            say(format_args!("{error}"));
        }
    }
}

impl fmt::Debug for Universe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let world = self.joined.world();
        write!(f, "Universe(rank {} of {})", world.rank(), world.size())
    }
}
