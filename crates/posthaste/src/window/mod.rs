//! Windows: memory of every rank that the others read and write, with or without its help (MPI-5.0 chapter 12).
//!
//! Parts: `epoch`, when there is access; `access`, accesses; `passive`, what only locks allow besides.
//!
//! What must stay true: core's `world` has the windows and the proof that nobody touches memory with a reference to it; the
//! lifetimes of its epochs are those of the epochs here.

mod access;
mod epoch;
mod passive;

use std::fmt;

use posthaste_core::buffer::Equivalence;
use posthaste_core::error::Result as Checked;
use posthaste_core::info::Info;
use posthaste_core::world::{self, Flavor, OwnedWindow};

use crate::communicator::Communicator;
use crate::error::Result;
use crate::group::Group;

pub use access::{Comparable, Epoch, Update};
pub use epoch::{Exposure, Lock};
pub use passive::LockEpoch;

/// A window: `len()` elements of every rank of a communicator, which all of them read and write (`MPI_Win`, MPI-5.0 §12.1).
///
/// It is made by [`Communicator::window`]. Access to it is in *epochs*, which are closures:
///
/// | epoch | who has access | who takes part |
/// |---|---|---|
/// | [`fence`](Window::fence) | all to all | all |
/// | [`start`](Window::start), [`post`](Window::post) | those that start to those that post | these |
/// | [`lock`](Window::lock), [`lock_all`](Window::lock_all) | the one that calls | it alone |
/// | [`lock_own`](Window::lock_own) | the rank to its own elements, as a slice | it alone |
///
/// A buffer that an access has been given belongs to it until the epoch is over: nobody reads what is still to come, and nobody
/// writes what is still to leave.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// let world = universe.world();
/// let (rank, size) = (world.rank(), world.size());
/// let mut window = world.window().allocate::<f64>(10)?;
/// let mine = [rank as f64; 2];
/// window.fence(|epoch| epoch.put(&mine, (rank + 1) % size, 8))?;
/// let came = window.lock_own(|elements| elements[9])?;
/// assert_eq!(came as usize, (rank + size - 1) % size);
/// # Ok(())
/// # }
/// ```
///
/// The own elements are no slice while others have access to them,
///
/// ```compile_fail,E0502
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut window = world.window().allocate::<i32>(4).unwrap();
/// let group = world.group();
/// window.post(&group, |_| {
///     window.lock_own(|elements| elements[0] = 1) // error: cannot borrow as mutable
/// }).unwrap();
/// ```
///
/// nor is there an epoch while they are one;
///
/// ```compile_fail,E0502
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut window = world.window().allocate::<i32>(4).unwrap();
/// window.lock_own(|elements| {
///     window.lock_all(|epoch| epoch.put_one(1, 0, 0)).unwrap() // error: cannot borrow as immutable
/// }).unwrap();
/// ```
///
/// and they do not leave `lock_own`.
///
/// ```compile_fail
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut window = world.window().allocate::<i32>(4).unwrap();
/// let kept: &mut [i32] = window.lock_own(|elements| elements).unwrap(); // error: lifetime may not live long enough
/// ```
///
/// The end of the value is that of the window, for which every rank waits ([`Window::free`]). One that is forgotten is never freed,
/// and its memory neither.
#[doc(alias = "MPI_Win")]
pub struct Window<'u, T: Equivalence, M = ()> {
    /// The window's own.
    communicator: Communicator<'u>,
    window: OwnedWindow<'u, T, M>,
}

/// What is said of a window before it is made ([`Communicator::window`]).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let window = world.window().hints([("same_size", "true")])?.create(vec![1.5; 3])?;
/// assert_eq!(window.lock_all(|epoch| epoch.get_one(world.rank(), 2))?, 1.5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct NewWindow<'c, 'u> {
    communicator: &'c Communicator<'u>,
    info: Info,
}

impl<'u> Communicator<'u> {
    /// Begins to make a window, which all ranks of the communicator do: by [`NewWindow::allocate`],
    /// [`NewWindow::allocate_shared`] or [`NewWindow::create`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let window = world.window().hints([("same_size", "true")])?.allocate::<u64>(100)?;
    /// assert_eq!((window.len(), window.hint("same_size").as_deref()), (100, Some("true")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn window(&self) -> NewWindow<'_, 'u> {
        NewWindow { communicator: self, info: Info::new() }
    }
}

impl<'u> NewWindow<'_, 'u> {
    /// Hints (MPI-5.0 §12.2.1): pairs of a key and a value.
    ///
    /// # Errors
    /// A key that is empty or longer than 255 bytes, a value longer than 1023.
    pub fn hints<'h>(self, hints: impl IntoIterator<Item = (&'h str, &'h str)>) -> Result<Self> {
        let set =
            hints.into_iter().try_for_each(|(key, value)| self.info.set(key.as_bytes(), value.as_bytes()));
        self.communicator.named("hints", set)?;
        Ok(self)
    }

    /// A window of memory that the library allocates, of which every number is 0 (`MPI_Win_allocate`, MPI-5.0 §12.2.2). Each rank
    /// says how many elements it has. On one node all ranks reach them by loads and stores.
    ///
    /// # Errors
    /// When there is not so much memory; a rank that has ended.
    #[doc(alias = "MPI_Win_allocate")]
    pub fn allocate<T: Equivalence>(&self, len: usize) -> Result<Window<'u, T>> {
        self.of_library("allocate", len, Flavor::Allocate)
    }

    /// As [`NewWindow::allocate`], for ranks that share memory ([`SplitType::Shared`](crate::SplitType)): all elements lie one behind
    /// the other, in the order of ranks, unless the hint `alloc_shared_noncontig` is `true` (`MPI_Win_allocate_shared`,
    /// MPI-5.0 §12.2.3). [`Epoch::cells`] reaches those of every rank.
    ///
    /// # Errors
    /// As [`NewWindow::allocate`]; when not all ranks share memory ([`ErrorClass::RmaShared`](crate::ErrorClass)).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// use posthaste::SplitType;
    /// let node = universe.world().split_type(SplitType::Shared, 0)?;
    /// let window = node.window().allocate_shared::<u32>(4)?;
    /// let next = (node.rank() + 1) % node.size();
    /// window.lock_all(|epoch| {
    ///     let theirs = epoch.cells(next)?.expect("memory is shared");
    ///     theirs.set(0, node.rank() as u32);
    ///     epoch.sync();
    ///     node.barrier()?;
    ///     epoch.sync();
    ///     let mine = epoch.cells(node.rank())?.expect("memory is shared");
    ///     assert_eq!(mine.get(0) as usize, (node.rank() + node.size() - 1) % node.size());
    ///     Ok(())
    /// })
    /// # }
    /// ```
    #[doc(alias = "MPI_Win_allocate_shared")]
    pub fn allocate_shared<T: Equivalence>(&self, len: usize) -> Result<Window<'u, T>> {
        self.of_library("allocate_shared", len, Flavor::Shared)
    }

    /// A window of elements that the program has (`MPI_Win_create`, MPI-5.0 §12.2.1): a vector, say, or memory of
    /// [`Universe::allocate`](crate::Universe::allocate), which ranks of one node reach by loads and stores. It belongs to the window
    /// until [`Window::free`] gives it back.
    ///
    /// # Errors
    /// As [`NewWindow::allocate`]. The memory is never freed then, because some ranks may have got to know of it.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let window = world.window().create(vec![1.5; 100])?;
    /// let next = (world.rank() + 1) % world.size();
    /// window.lock(next, posthaste::Lock::Exclusive, |epoch| epoch.put_one(2.5, next, 7))?;
    /// let elements: Vec<f64> = window.free()?;
    /// assert_eq!(elements[6..9], [1.5, 2.5, 1.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What is only borrowed cannot be a window: the borrow could end before the window does.
    ///
    /// ```compile_fail,E0597
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut borrowed = vec![1.5; 100];
    /// let window = world.window().create(borrowed.as_mut_slice()).unwrap(); // error: does not live long enough
    /// std::mem::forget(window);
    /// ```
    #[doc(alias = "MPI_Win_create")]
    pub fn create<T: Equivalence, M: AsMut<[T]> + Send + 'static>(
        &self,
        memory: M,
    ) -> Result<Window<'u, T, M>> {
        self.finished("create", self.communicator.engine().create_of_elements(&self.core(), memory))
    }

    fn of_library<T: Equivalence>(
        &self,
        call: &'static str,
        len: usize,
        flavor: Flavor,
    ) -> Result<Window<'u, T>> {
        self.finished(call, self.communicator.engine().allocate_elements(&self.core(), len, flavor))
    }

    fn core(&self) -> world::NewWindow<'_> {
        world::NewWindow { comm: self.communicator.core(), unit: 1, info: &self.info }
    }

    fn finished<T: Equivalence, M>(
        &self,
        call: &'static str,
        made: Checked<OwnedWindow<'u, T, M>>,
    ) -> Result<Window<'u, T, M>> {
        let window = self.communicator.named(call, made)?;
        let comm = window.members().window().comm().clone();
        Ok(Window { communicator: Communicator::new(self.communicator.universe(), comm), window })
    }
}

impl<T: Equivalence, M> Window<'_, T, M> {
    /// This process's rank in the window.
    pub fn rank(&self) -> usize {
        self.communicator.rank()
    }

    /// Number of ranks of the window.
    pub fn size(&self) -> usize {
        self.communicator.size()
    }

    /// Number of elements of this rank.
    pub fn len(&self) -> usize {
        // Its own rank exists.
        self.len_of(self.rank()).unwrap_or(0)
    }

    /// Whether this rank has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of elements of a rank, which is asked for that where the window has thousands of members.
    ///
    /// # Errors
    /// A rank that does not exist; a lost member.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let window = world.window().allocate::<u16>(if world.rank() == 0 { 5 } else { 0 })?;
    /// assert_eq!(window.len_of(0)?, 5);
    /// assert!(window.len_of(world.size()).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn len_of(&self, rank: usize) -> Result<usize> {
        // What is no rank of core is none of the window.
        let len = self.window.members().len(i32::try_from(rank).unwrap_or(i32::MAX));
        self.communicator.named("len_of", len)
    }

    /// The ranks of the window as a group (`MPI_Win_get_group`, MPI-5.0 §12.2.6).
    #[doc(alias = "MPI_Win_get_group")]
    pub fn group(&self) -> Group {
        self.communicator.group()
    }

    /// The window's name, for diagnostics; empty when it has none (`MPI_Win_get_name`, MPI-5.0 §7.8).
    #[doc(alias = "MPI_Win_get_name")]
    pub fn name(&self) -> String {
        self.window.members().window().name()
    }

    /// Names the window on this rank (`MPI_Win_set_name`). Of a name that is too long for MPI, the beginning is kept.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let window = universe.world().window().allocate::<u8>(1)?;
    /// window.set_name("flags");
    /// assert_eq!(window.name(), "flags");
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Win_set_name")]
    pub fn set_name(&self, name: &str) {
        self.window.members().window().set_name(name);
    }

    /// A hint that is in use (`MPI_Win_get_info`, MPI-5.0 §12.2.7).
    #[doc(alias = "MPI_Win_get_info")]
    pub fn hint(&self, key: &str) -> Option<String> {
        let value = self.window.members().window().hints().shown().get(key.as_bytes())?;
        Some(String::from_utf8_lossy(&value).into_owned())
    }

    /// Gives hints (`MPI_Win_set_info`, MPI-5.0 §12.2.7): pairs of a key and a value.
    ///
    /// # Errors
    /// A key that is empty or longer than 255 bytes, a value longer than 1023.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let window = universe.world().window().allocate::<u8>(1)?;
    /// window.set_hints([("accumulate_ordering", "none")])?;
    /// assert_eq!(window.hint("accumulate_ordering").as_deref(), Some("none"));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Win_set_info")]
    pub fn set_hints<'h>(&self, hints: impl IntoIterator<Item = (&'h str, &'h str)>) -> Result<()> {
        let info = Info::new();
        let set = hints.into_iter().try_for_each(|(key, value)| info.set(key.as_bytes(), value.as_bytes()));
        self.communicator.named("set_hints", set)?;
        self.window.members().window().hints().set(&info);
        Ok(())
    }

    /// Revokes the window (`MPIX_Win_revoke`): whatever its ranks wait for in an epoch ends with [`ErrorClass::Revoked`], and so does every
    /// epoch that they begin later. One rank calls it, and the others hear of it, whatever they wait for. The memory of a revoked window
    /// is never freed, because a rank that has not heard of it may still have access.
    ///
    /// [`ErrorClass::Revoked`]: crate::ErrorClass::Revoked
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let mut window = universe.world().window().allocate::<u8>(1)?;
    /// window.revoke();
    /// let error = window.fence(|_| Ok(())).unwrap_err();
    /// assert!(window.is_revoked() && error.class() == posthaste::ErrorClass::Revoked);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPIX_Win_revoke")]
    pub fn revoke(&self) {
        self.communicator.engine().revoke_window(self.window.members().window());
    }

    /// Whether this rank has heard that the window is revoked (`MPIX_Win_is_revoked`).
    #[doc(alias = "MPIX_Win_is_revoked")]
    pub fn is_revoked(&self) -> bool {
        self.communicator.engine().is_window_revoked(self.window.members().window())
    }

    /// Ends the window when every rank has come here, and gives back the memory that it was made of (`MPI_Win_free`,
    /// MPI-5.0 §12.2.5). The end of the value does the same, but nobody hears of its errors.
    ///
    /// # Errors
    /// A rank that has ended; a synchronisation that has failed before. The memory is never freed then, because somebody may have
    /// access to it.
    #[doc(alias = "MPI_Win_free")]
    pub fn free(self) -> Result<M> {
        let Self { communicator, window } = self;
        communicator.named("free", window.free())
    }
}

impl<T: Equivalence, M> fmt::Debug for Window<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Window({} elements of rank {} of {})", self.len(), self.rank(), self.size())
    }
}
