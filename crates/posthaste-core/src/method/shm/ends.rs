//! Ranks that have ended, and those that are taken for lost.
//!
//! What must stay true: what a rank has sent is received before its end is reported; a bounce buffer to which a lost rank may
//! still write is nobody else's.

use super::*;

impl Shm {
    /// What comes from a rank that is lost: that it takes this process for lost, too, or nothing that counts.
    #[cold]
    pub(super) fn hear_the_lost(
        &mut self,
        from: usize,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let Some(reader) = self.lost.get_mut(&from) else { return false };
        let (mut taken, mut is_last) = (0, false);
        while taken < TURN
            && let Ok(Some(record)) = reader.peek()
        {
            taken += 1;
            match Packet::parse(&record.header, record.payload) {
                Ok(packet @ Packet::Excluded) => {
                    is_last = true;
                    on(Event::Packet(self.peers[from], packet), counts);
                }
                _ => counts.add(Counter::StalePackets, 1),
            }
            reader.release();
        }
        if reader.has_published() {
            self.doorbell.ring_for_room(from);
        }
        if is_last {
            self.give_back_withheld(from);
        }
        taken > 0
    }

    /// Reports processes that have ended. Whether there was one.
    pub(super) fn look_for_ends(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        self.ask_soon = false;
        let now = machine::now();
        if now.saturating_sub(self.asked) < BETWEEN_QUESTIONS {
            return false;
        }
        self.asked = now;
        if self.finalizing.is_some_and(|since| now.saturating_sub(since) > PATIENCE) {
            self.lives.report_all();
        }
        let ended = self.lives.ended(&self.node);
        for rank in &ended {
            // What it has sent is received; nothing more comes.
            while self.poll_ring(*rank, counts, on) {}
            self.end_drains(*rank).into_iter().for_each(|receiver| on(Event::Received(receiver), counts));
            self.lose(*rank);
            let (peer, pid) = (self.peers[*rank], self.node.pid(*rank));
            let how = if self.node.life(*rank) == Life::Finalised { "finalised and ended" } else { "ended" };
            let name =
                self.other.map_or_else(|| format!("rank {} of the world", peer.0), |name| name.to_string());
            let text = format!("{name}, process {pid} on this host, has {how}");
            on(Event::PeerDown(peer, Error::other(ErrorClass::ProcAborted, text)), counts);
        }
        !ended.is_empty()
    }

    /// A process has ended, or is taken for lost: nothing more goes there or comes from there.
    pub(super) fn lose(&mut self, rank: usize) {
        let peer = self.peers[rank];
        let (node, me) = (&self.node, self.me);
        let reader = self.readers[rank].take();
        self.lost.entry(rank).or_insert_with(|| reader.unwrap_or_else(|| Reader::new(node, me, rank)));
        self.writers[rank].get_or_insert_with(|| Writer::new(node, rank, me)).refuse_messages();
        self.persistent[rank] = Persistent::Never;
        self.filling.retain(|filling| filling.to != rank);
        self.gets.retain(|(from, _)| *from != rank);
        self.puts.retain(|(to, _)| *to != rank);
        self.granted.retain(|(to, _)| *to != rank);
        self.reassembly.lose(peer);
        let lost = self.draining.extract_if(.., |draining| draining.from == rank);
        self.withheld.entry(rank).or_default().extend(lost.filter_map(|draining| draining.borrowed));
        self.incoming[rank] = None;
        if !self.lives.may_live(rank) {
            self.give_back_withheld(rank);
        }
    }

    /// Whether a rank may be inside our memory.
    pub(in crate::method) fn may_live(&self, rank: usize) -> bool {
        self.lives.may_live(rank)
    }

    /// A process that is lost writes no more: its bounce buffers are anybody's again.
    pub(super) fn give_back_withheld(&mut self, rank: usize) {
        let withheld = self.withheld.remove(&rank).into_iter().flatten();
        let wanted = withheld.fold(false, |wanted, mut buffer| wanted | buffer.give_back());
        self.call_if(wanted);
    }
}
