//! Collective operations on data whose lengths not all ranks know: the lengths travel first.

use posthaste_core::buffer::{Equivalence, zeroed};
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::slice::{Collective, Counts};

use crate::argument;
use crate::communicator::Communicator;
use crate::error::Result;

impl Communicator<'_> {
    /// Makes `data` a copy of the root's, of any length.
    ///
    /// # Errors
    /// A root that is no rank.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut text = if world.rank() == 0 { b"three words long".to_vec() } else { vec![] };
    /// world.broadcast_vec(&mut text, 0)?;
    /// assert_eq!(text, b"three words long");
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Bcast")]
    pub fn broadcast_vec<T: Equivalence>(&self, data: &mut Vec<T>, root: usize) -> Result<()> {
        const CALL: &str = "broadcast_vec";
        let number = self.named(CALL, argument::root(root, self.core().size()))?;
        let mut length = [data.len()];
        self.run(CALL, Collective::bcast(self.core(), &mut length, number))?;
        if self.rank() != root {
            *data = self.named(CALL, room(&length))?;
        }
        self.run(CALL, Collective::bcast(self.core(), data, number))
    }

    /// Collects the ranks' `data`, of any lengths, on the root, in the order of ranks. Returns it there with the length of each
    /// rank's, and elsewhere `None`.
    ///
    /// # Errors
    /// A root that is no rank.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// if let Some((words, lengths)) = world.gather_vec(format!("rank {} ", world.rank()).as_bytes(), 0)? {
    ///     assert!(words.starts_with(b"rank 0 "));
    ///     assert_eq!(lengths.len(), world.size());
    /// }
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Gatherv")]
    pub fn gather_vec<T: Equivalence>(
        &self,
        data: &[T],
        root: usize,
    ) -> Result<Option<(Vec<T>, Vec<usize>)>> {
        const CALL: &str = "gather_vec";
        let number = self.named(CALL, argument::root(root, self.core().size()))?;
        let is_root = self.rank() == root;
        let mut counts = vec![0; if is_root { self.size() } else { 0 }];
        self.run(CALL, Collective::gather(self.core(), &[data.len()], &mut counts, number))?;
        let mut all = self.named(CALL, room(&counts))?;
        let packed = Counts::packed(&counts[..]);
        self.run(CALL, Collective::gatherv(self.core(), data, (&mut all, &packed), number))?;
        Ok(is_root.then_some((all, counts)))
    }

    /// Gives each rank its block of the root's `all`, of a length that only the root knows. `all` and `counts`, the lengths,
    /// are used on the root only.
    ///
    /// # Errors
    /// A root that is no rank. On the root, a block outside of `all`; the root finds out before it sends anything, and the
    /// others wait.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let counts: Vec<usize> = (1..=world.size()).collect();
    /// let all = vec![7; counts.iter().sum()];
    /// assert_eq!(world.scatter_vec(&all, &counts, 0)?, vec![7; world.rank() + 1]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Scatterv")]
    pub fn scatter_vec<'c, T: Equivalence>(
        &self,
        all: &[T],
        counts: impl Into<Counts<'c>>,
        root: usize,
    ) -> Result<Vec<T>> {
        const CALL: &str = "scatter_vec";
        let number = self.named(CALL, argument::root(root, self.core().size()))?;
        let counts = counts.into();
        let lengths = counts.lengths();
        let mut length = [0];
        if self.rank() == root {
            self.named(CALL, counts.check("the length of all", all.len(), self.size()))?;
        }
        self.run(CALL, Collective::scatter(self.core(), lengths, &mut length, number))?;
        let mut data = self.named(CALL, room(&length))?;
        self.run(CALL, Collective::scatterv(self.core(), (all, &counts), &mut data, number))?;
        Ok(data)
    }

    /// Collects the ranks' `data`, of any lengths, on every rank, in the order of ranks; with the length of each rank's.
    ///
    /// # Errors
    /// More data than memory can be asked for.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (all, counts) = world.all_gather_vec(&vec![world.rank(); world.rank() + 1])?;
    /// assert_eq!(counts, Vec::from_iter(1..=world.size()));
    /// assert_eq!(all.last(), Some(&(world.size() - 1)));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Allgatherv")]
    pub fn all_gather_vec<T: Equivalence>(&self, data: &[T]) -> Result<(Vec<T>, Vec<usize>)> {
        const CALL: &str = "all_gather_vec";
        let mut counts = vec![0; self.size()];
        self.run(CALL, Collective::allgather(self.core(), &[data.len()], &mut counts))?;
        let mut all = self.named(CALL, room(&counts))?;
        let packed = Counts::packed(&counts[..]);
        self.run(CALL, Collective::allgatherv(self.core(), data, (&mut all, &packed)))?;
        Ok((all, counts))
    }

    /// Sends each rank its block of `data`, of any length, and returns the blocks of the others, in the order of ranks, with
    /// their lengths.
    ///
    /// # Errors
    /// A block outside of `data`.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // To rank r go r numbers.
    /// let sent: Vec<usize> = (0..world.size()).collect();
    /// let data = vec![world.rank(); sent.iter().sum()];
    /// let (all, received) = world.all_to_all_vec(&data, &sent)?;
    /// assert_eq!(received, vec![world.rank(); world.size()]);
    /// assert_eq!(all.len(), world.rank() * world.size());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Alltoallv")]
    pub fn all_to_all_vec<'c, T: Equivalence>(
        &self,
        data: &[T],
        counts: impl Into<Counts<'c>>,
    ) -> Result<(Vec<T>, Vec<usize>)> {
        const CALL: &str = "all_to_all_vec";
        let sent = counts.into();
        self.named(CALL, sent.check("the length of data", data.len(), self.size()))?;
        let mut received = vec![0; self.size()];
        self.run(CALL, Collective::alltoall(self.core(), sent.lengths(), &mut received))?;
        let mut all = self.named(CALL, room(&received))?;
        let packed = Counts::packed(&received[..]);
        self.run(CALL, Collective::alltoallv(self.core(), (data, &sent), (&mut all, &packed)))?;
        Ok((all, received))
    }
}

/// Room for all blocks. Peers say how long they are, so not even a sum beyond memory may panic.
fn room<T: Equivalence>(counts: &[usize]) -> Checked<Vec<T>> {
    let sum = counts.iter().try_fold(0usize, |sum, count| sum.checked_add(*count));
    let mut all = Vec::new();
    match sum.map(|sum| (sum, all.try_reserve_exact(sum))) {
        Some((sum, Ok(()))) => {
            all.resize(sum, zeroed());
            Ok(all)
        }
        _ => {
            let expected = "lengths that memory has room for";
            Err(Cause::invalid(ErrorClass::NoMem, "the lengths", format_args!("{counts:?}"), expected))
        }
    }
}
