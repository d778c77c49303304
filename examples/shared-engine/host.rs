//! A program with the crate linked in that loads the C library and an extension: three copies of posthaste, one engine.
//!
//! `host LIBRARY EXTENSION OPEN CLOSE`: the orders in which the program's own share (`R`), that of the C library (`C`) and that
//! of the extension (`E`) are opened and closed, such as `CER REC`. `host rounds N` opens and closes the engine so often.

mod loaded;

use std::ffi::c_int;

use loaded::Loaded;
use posthaste::Universe;

struct Host {
    library: Loaded,
    extension: Loaded,
    own: Option<Universe>,
}

impl Host {
    fn own(&self) -> &Universe {
        self.own.as_ref().expect("it is open")
    }

    fn open(&mut self, who: char) {
        match who {
            'R' => self.own = Some(posthaste::init().expect("a share for the program")),
            'C' => assert_eq!(self.library.mpi_init(), 0, "MPI_Init"),
            _ => assert_eq!(self.extension.call(c"extension_open", 0, 0), 0, "extension_open"),
        }
    }

    fn close(&mut self, who: char) {
        match who {
            'R' => self.own.take().expect("it is open").finalize().expect("the program's share ends"),
            'C' => assert_eq!(self.library.call(c"MPI_Finalize", 0, 0), 0, "MPI_Finalize"),
            _ => assert_eq!(self.extension.call(c"extension_close", 0, 0), 0, "extension_close"),
        }
    }

    fn rank(&self, who: char) -> c_int {
        match who {
            'R' => self.own().world().rank() as c_int,
            'C' => self.library.mpi_rank(),
            _ => self.extension.call(c"extension_rank", 0, 0),
        }
    }

    fn send(&self, who: char, number: c_int, to: c_int) {
        match who {
            'R' => self.own().world().send(&[number], to as usize, 7).expect("the program sends"),
            'C' => assert_eq!(self.library.mpi_send(number, to), 0, "MPI_Send"),
            _ => assert_eq!(self.extension.call(c"extension_send", number, to), 0, "extension_send"),
        }
    }

    fn receive(&self, who: char, from: c_int) -> c_int {
        match who {
            'R' => {
                let mut number = [0];
                self.own().world().receive(&mut number, from as usize, 7).expect("the program receives");
                number[0]
            }
            'C' => self.library.mpi_receive(from),
            _ => self.extension.call(c"extension_receive", from, 0),
        }
    }

    /// A message from each of those that are open to each of them, on the way round all ranks.
    fn talk(&self, open: &str, ranks: c_int) {
        let Some(first) = open.chars().next() else { return };
        let me = self.rank(first);
        let (next, previous) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
        for (number, (from, to)) in
            open.chars().flat_map(|from| open.chars().map(move |to| (from, to))).enumerate()
        {
            assert_eq!((self.rank(from), self.rank(to)), (me, me), "one rank, whoever is asked");
            let number = number as c_int * 100;
            self.send(from, number + me, next);
            assert_eq!(self.receive(to, previous), number + previous, "from {from} to {to}");
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match texts[..] {
        ["rounds", count] => {
            let round = || {
                let universe = posthaste::init().expect("the engine opens again");
                universe.world().barrier().expect("all are there");
                universe.world().size()
            };
            let sizes: Vec<usize> =
                (0..count.parse().expect("a number of rounds")).map(|_: u32| round()).collect();
            assert!(sizes.windows(2).all(|sizes| sizes[0] == sizes[1]), "{sizes:?}");
            return println!("one engine after another, {} ranks", sizes[0]);
        }
        [library, extension, open, close] => {
            let ranks = std::env::var("PMI_SIZE").map_or(1, |size| size.parse().expect("a number of ranks"));
            let (library, extension) = (Loaded::new(library), Loaded::new(extension));
            let mut host = Host { library, extension, own: None };
            for (at, who) in open.char_indices() {
                host.open(who);
                host.talk(&open[..=at], ranks);
            }
            let mut left = open.to_owned();
            for who in close.chars() {
                host.close(who);
                left.retain(|other| other != who);
                host.talk(&left, ranks);
            }
            // MPI_Init comes once in the life of a process, the others may come again.
            host.open('E');
            host.open('R');
            host.talk("RE", ranks);
            host.close('E');
            host.close('R');
        }
        _ => panic!("usage: host LIBRARY EXTENSION OPEN CLOSE | host rounds N"),
    }
    println!("one engine");
}
