//! CPUs that the launchers of a family of jobs have taken for their ranks: several agents may be on one machine, and spawned
//! jobs come beside running ones, and each would bind to the first CPUs.
//!
//! A claim is a Unix socket bound to an abstract name of family and CPU, so it ends with its process, however that ends.
//! What must stay true: of the launchers of a family on one machine no two claim the same CPU; who gets too few keeps
//! none.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// CPUs that nobody else of the family binds to while this exists.
#[derive(Debug, Default)]
pub(super) struct Claims(Vec<(usize, UnixDatagram)>);

impl Claims {
    /// Claims so many of these CPUs; all or none.
    pub(super) fn new(family: &str, cpus: &[usize], wanted: usize) -> Self {
        let claim = |&cpu: &usize| {
            let name = SocketAddr::from_abstract_name(format!("{family}-cpu-{cpu}")).ok()?;
            Some((cpu, UnixDatagram::bind_addr(&name).ok()?))
        };
        let claimed: Vec<_> = cpus.iter().filter_map(claim).take(wanted).collect();
        if claimed.len() == wanted { Self(claimed) } else { Self::default() }
    }

    /// Which ones.
    pub(super) fn cpus(&self) -> Vec<usize> {
        self.0.iter().map(|(cpu, _)| *cpu).collect()
    }
}

impl Extend<Self> for Claims {
    fn extend<T: IntoIterator<Item = Self>>(&mut self, several: T) {
        self.0.extend(several.into_iter().flat_map(|claims| claims.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_claimed_once_until_it_is_given_back() {
        let job = format!("claims-{}", std::process::id());
        let claim = |wanted| Claims::new(&job, &[1, 3, 5, 7], wanted);
        let (first, second) = (claim(2), claim(1));
        assert_eq!((first.cpus(), second.cpus()), (vec![1, 3], vec![5]));
        assert_eq!(claim(2).cpus(), []);
        assert_eq!(Claims::new("claims-of-another", &[1], 1).cpus(), [1]);
        drop(first);
        assert_eq!(claim(3).cpus(), [1, 3, 7]);
    }
}
