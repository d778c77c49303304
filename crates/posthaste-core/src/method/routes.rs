//! The way to each peer.

use std::sync::Arc;

use super::Route;
use crate::ids::Peer;

/// The ways to all peers. Most of them have one way: pages in which nobody has another one are one page.
#[derive(Clone, Debug)]
pub struct Routes {
    pages: Vec<Arc<[Route; PAGE]>>,
    usual: Arc<[Route; PAGE]>,
    size: u32,
}

/// Peers of a page.
const PAGE: usize = 256;

impl Routes {
    /// The ways to so many peers, all alike so far.
    pub fn new(size: u32, usual: Route) -> Self {
        let usual = Arc::new([usual; PAGE]);
        Self { pages: vec![usual.clone(); (size as usize).div_ceil(PAGE)], usual, size }
    }

    /// The same with another way to one peer.
    #[must_use]
    pub fn with(mut self, peer: Peer, route: Route) -> Self {
        self.set(peer, route);
        self
    }

    /// Makes room for a new peer behind all others, that has this way; its number.
    pub fn add(&mut self, route: Route) -> Peer {
        let peer = Peer(self.size);
        self.set(peer, route);
        peer
    }

    /// Another way to a peer.
    pub(super) fn set(&mut self, peer: Peer, route: Route) {
        self.size = self.size.max(peer.0 + 1);
        self.pages.resize((self.size as usize).div_ceil(PAGE), self.usual.clone());
        if self.to(peer) != route {
            Arc::make_mut(&mut self.pages[peer.index() / PAGE])[peer.index() % PAGE] = route;
        }
    }

    /// The way to a peer. One that somebody has made up, far beyond all others, is not reached by anything but ourselves.
    #[inline(always)]
    pub fn to(&self, peer: Peer) -> Route {
        match self.pages.get(peer.index() / PAGE) {
            Some(page) => page[peer.index() % PAGE],
            None => Route::Loopback,
        }
    }

    /// Number of peers.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Whether some peer has a way for which this holds.
    pub fn any(&self, holds: impl Fn(Route) -> bool) -> bool {
        (0..self.size).any(|peer| holds(self.to(Peer(peer))))
    }
}

impl FromIterator<Route> for Routes {
    /// The way to each peer in turn.
    fn from_iter<I: IntoIterator<Item = Route>>(routes: I) -> Self {
        (0..)
            .map(Peer)
            .zip(routes)
            .fold(Self::new(0, Route::Loopback), |all, (peer, route)| all.with(peer, route))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_peers_have_the_usual_way() {
        let mut routes =
            Routes::new(1_000_000, Route::Tcp).with(Peer(7), Route::Shm(0)).with(Peer(8), Route::Loopback);
        assert_eq!(
            [6, 7, 8, 999_999].map(|peer| routes.to(Peer(peer))),
            [Route::Tcp, Route::Shm(0), Route::Loopback, Route::Tcp]
        );
        assert!(routes.any(|route| route == Route::Tcp) && !routes.any(|route| route == Route::Fabric));
        assert_eq!((routes.add(Route::Sim), routes.to(Peer(1_000_000))), (Peer(1_000_000), Route::Sim));
        assert_eq!(routes.size(), 1_000_001);
        let near = Routes::new(2, Route::Tcp).with(Peer(0), Route::Loopback).with(Peer(1), Route::Shm(1));
        assert!(!near.any(|route| route == Route::Tcp), "nobody has the usual way");
    }
}
