//! Processes that come and go: those that this job starts, and other jobs that it meets.
//!
//! MPI-5.0 §11.8 to §11.10.
//!
//! What must stay true: what only the root knows, only the root is asked for.

use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use posthaste_core::comm::Comm;
use posthaste_core::error::{Error as Cause, ErrorClass, say};
use posthaste_core::meeting::Spec;

use crate::argument;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::intercommunicator::Intercommunicator;
use crate::universe::Universe;

/// A program to be started on so many ranks ([`Communicator::spawn`]).
///
/// ```
/// let solver = posthaste::Command::new("./solver", 4).argument("--fast").hint("wdir", "/tmp");
/// ```
#[derive(Clone, Debug)]
pub struct Command(Spec);

impl Command {
    /// A program and how many ranks are to run it. A name without a slash is looked for in `PATH`.
    pub fn new(program: impl AsRef<Path>, ranks: usize) -> Self {
        let name = program.as_ref().to_string_lossy().into_owned();
        Self(Spec { count: ranks, name, ..Spec::default() })
    }

    /// One more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.0.arguments.push(argument.into());
        self
    }

    /// One more hint: `wdir`, `host`, `path`, `env` and so on (MPI-5.0 §11.8.4, and what mpiexec knows besides). Those that the
    /// launcher does not know are passed over.
    #[must_use]
    pub fn hint(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.info.push((key.into(), value.into()));
        self
    }
}

/// A place where other jobs find this one ([`Universe::open_port`]); closed when dropped.
#[derive(Debug)]
pub struct Port<'u> {
    universe: &'u Universe,
    name: String,
}

impl Port<'_> {
    /// Its name, for [`Communicator::connect`]. Whoever has it gets in, so it belongs where only the right people read it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Port<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.universe.engine().close_port(&self.name) {
            say(format_args!("{error}"));
        }
    }
}

impl<'u> Communicator<'u> {
    /// Starts processes: the communicator with them, and for each whether it runs (`MPI_Comm_spawn`, `MPI_Comm_spawn_multiple`,
    /// MPI-5.0 §11.8). All ranks call it; `commands` counts at the root only. The call returns when all new processes have called
    /// [`init`](crate::init) or `MPI_Init`.
    ///
    /// All that are asked for run, unless the hint `soft` says that fewer will do.
    ///
    /// # Errors
    /// A root that is no rank; no command, or one for no rank; what cannot be started, in the words of the launcher
    /// ([`ErrorClass::Spawn`]), at all ranks.
    ///
    /// ```no_run
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Command;
    /// let (workers, _) = world.spawn(&[Command::new("./worker", 4)], 0)?;
    /// if world.rank() == 0 {
    ///     workers.send(&[42], 3, 0)?;
    /// }
    /// workers.disconnect()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_spawn", alias = "MPI_Comm_spawn_multiple")]
    pub fn spawn(&self, commands: &[Command], root: usize) -> Result<(Intercommunicator<'u>, Vec<bool>)> {
        const CALL: &str = "spawn";
        let specs = || {
            let wrong = |what, expected| Err(Cause::invalid(ErrorClass::Arg, "commands", what, expected));
            match commands.iter().find(|command| command.0.count == 0) {
                _ if commands.is_empty() => wrong("none".into(), "one or more"),
                Some(nobody) => wrong(format!("{} on 0 ranks", nobody.0.name), "one rank or more for each"),
                None => Ok(commands.iter().map(|command| command.0.clone()).collect()),
            }
        };
        let root = self.named(CALL, argument::root(root, self.core().size()))?;
        let (made, runs) = self.engine().spawn(CALL, self.core(), root, specs);
        Ok((self.met(self.named(CALL, made)?), runs))
    }

    /// Waits until another job calls [`Communicator::connect`] with the name of this port, or MPI_Comm_connect: the communicator
    /// with its ranks (`MPI_Comm_accept`, MPI-5.0 §11.9.2). All ranks call it; `port`, opened by the root, and `limit` count at the
    /// root only. Without a limit it waits as long as it takes.
    ///
    /// # Errors
    /// A root that is no rank or has no port; a limit that is over ([`ErrorClass::Port`]), at all ranks.
    #[doc(alias = "MPI_Comm_accept")]
    pub fn accept(
        &self,
        port: Option<&Port<'_>>,
        root: usize,
        limit: Option<Duration>,
    ) -> Result<Intercommunicator<'u>> {
        const CALL: &str = "accept";
        let port = || match port {
            Some(port) => Ok((port.name.clone(), limit)),
            None => Err(Cause::invalid(ErrorClass::Port, "port", "None at the root", "a port of the root")),
        };
        let root = self.named(CALL, argument::root(root, self.core().size()))?;
        self.named(CALL, self.engine().accept(CALL, self.core(), root, port)).map(|made| self.met(made))
    }

    /// The other side of [`Communicator::accept`] (`MPI_Comm_connect`, MPI-5.0 §11.9.3). `port`, the name of one, and `limit` count at
    /// the root only; without a limit it waits for `POSTHASTE_CONNECT_S` (180 s).
    ///
    /// # Errors
    /// A root that is no rank; a port where nobody listens, or a limit that is over ([`ErrorClass::Port`]), at all ranks.
    ///
    /// ```no_run
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let name = if world.rank() == 0 { universe.look_up("ocean")? } else { String::new() };
    /// let ocean = world.connect(&name, 0, None)?;
    /// ocean.send(&[20.5], world.rank() % ocean.remote_size(), 0)?;
    /// ocean.disconnect()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_connect")]
    pub fn connect(&self, port: &str, root: usize, limit: Option<Duration>) -> Result<Intercommunicator<'u>> {
        const CALL: &str = "connect";
        let root = self.named(CALL, argument::root(root, self.core().size()))?;
        let made = self.engine().connect(CALL, self.core(), root, || Ok((port.to_owned(), limit)));
        self.named(CALL, made).map(|made| self.met(made))
    }

    /// As [`Intercommunicator::disconnect`]: of a communicator that came from [`Intercommunicator::merge`], say.
    ///
    /// # Errors
    /// A rank that has ended.
    #[doc(alias = "MPI_Comm_disconnect")]
    pub fn disconnect(self) -> Result<()> {
        self.named("disconnect", self.engine().disconnect(self.core()))
    }

    fn met(&self, made: Arc<Comm>) -> Intercommunicator<'u> {
        Intercommunicator::new(Self::new(self.universe(), made))
    }
}

impl Universe {
    /// Opens a port at which other jobs find this process (`MPI_Open_port`, MPI-5.0 §11.9.2).
    ///
    /// # Errors
    /// When the system gives none.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// use std::time::Duration;
    /// let port = universe.open_port()?;
    /// let error = universe.own().accept(Some(&port), 0, Some(Duration::ZERO)).unwrap_err();
    /// assert_eq!(error.class(), posthaste::ErrorClass::Port);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Open_port", alias = "MPI_Close_port")]
    pub fn open_port(&self) -> Result<Port<'_>> {
        let name = self.named("open_port", self.engine().open_port())?;
        Ok(Port { universe: self, name })
    }

    /// The communicator with the process at the other end of a stream socket, which calls this, too, or MPI_Comm_join (`MPI_Comm_join`,
    /// MPI-5.0 §11.10.5). The socket stays the program's, which must not use it meanwhile; whoever can read what goes through it can
    /// connect as well.
    ///
    /// # Errors
    /// A socket that is no connected stream; what became of it.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let universe = posthaste::init()?;
    /// let socket = std::net::TcpStream::connect(("localhost", 4711))?;
    /// let other = universe.meet_over(&socket)?;
    /// other.send(&[1.5], 0, 0)?;
    /// other.disconnect()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_join")]
    pub fn meet_over(&self, socket: impl AsFd) -> Result<Intercommunicator<'_>> {
        let made = self.named("meet_over", self.engine().join_over(socket.as_fd().as_raw_fd()))?;
        Ok(Intercommunicator::new(Communicator::new(self, made)))
    }

    /// Lets all jobs of this user find a port by the name of a service (`MPI_Publish_name`, MPI-5.0 §11.9.4), until it is taken back or
    /// this process ends.
    ///
    /// # Errors
    /// A name that is published already ([`ErrorClass::Service`]).
    #[doc(alias = "MPI_Publish_name")]
    pub fn publish(&self, service: &str, port: &Port<'_>) -> Result<()> {
        const CALL: &str = "publish";
        self.named(CALL, self.engine().publish_name(CALL, service, &port.name))
    }

    /// Takes a name back (`MPI_Unpublish_name`).
    ///
    /// # Errors
    /// A name that is not published, or for another port ([`ErrorClass::Service`]).
    #[doc(alias = "MPI_Unpublish_name")]
    pub fn unpublish(&self, service: &str, port: &Port<'_>) -> Result<()> {
        const CALL: &str = "unpublish";
        self.named(CALL, self.engine().unpublish_name(CALL, service, &port.name))
    }

    /// The name of the port that is published under the name of a service (`MPI_Lookup_name`).
    ///
    /// # Errors
    /// None is ([`ErrorClass::Name`]).
    ///
    /// ```no_run
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let port = universe.open_port()?;
    /// universe.publish("ocean", &port)?;
    /// let found: String = universe.look_up("ocean")?;
    /// assert!(found == port.name());
    /// universe.unpublish("ocean", &port)?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Lookup_name")]
    pub fn look_up(&self, service: &str) -> Result<String> {
        const CALL: &str = "look_up";
        self.named(CALL, self.engine().look_up_name(CALL, service))
    }
}
