//! Moves messages between the threads of a rank and MPI, and watches over the other ranks.
//!
//! MPI is initialised with `MPI_THREAD_FUNNELED`, which every library supports, so only one thread
//! calls it. All transfers are non-blocking: no rank, alive or dead, can hold up the pump.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tegula_comm::{Comm, Error};

use crate::envelope::{Kind, read_end, write_end};
use crate::outbox::Outgoing;
use crate::pace::Pace;
use crate::run::Settings;
use crate::transport::Mpi;
use crate::wire::{Arrival, Transfer, Wire};

/// Signs of life within [`Settings::silence`].
const BEATS: u32 = 8;

/// The most messages that are matched before others are looked at.
const MATCHES_MAX: usize = 64;

pub(crate) struct Pump<'m> {
    mpi: &'m Mpi,
    wire: &'m Wire,
    settings: &'m Settings,
    peers: Vec<Peer>,
    outgoing: Vec<Outgoing>,
    /// Reasons for which others end the work. They overtake other messages.
    ends: Vec<Transfer>,
    beaten_at: Instant,
    end: Option<End>,
    has_said_bye: bool,
}

/// Another rank.
struct Peer {
    sending: VecDeque<Transfer>,
    /// In the order in which they were sent. A later one may be complete earlier.
    arriving: VecDeque<(Kind, Transfer)>,
    heard_at: Instant,
    /// Whether it is this rank, or sends no more.
    has_left: bool,
}

/// The end of the work of all ranks.
struct End {
    at: Instant,
    silent: Option<usize>,
}

impl<'m> Pump<'m> {
    pub(crate) fn new(mpi: &'m Mpi, wire: &'m Wire, settings: &'m Settings) -> Pump<'m> {
        let now = Instant::now();
        let peer = |rank| Peer {
            sending: VecDeque::new(),
            arriving: VecDeque::new(),
            heard_at: now,
            has_left: rank == mpi.rank(),
        };
        Pump {
            mpi,
            wire,
            settings,
            peers: (0..mpi.size()).map(peer).collect(),
            outgoing: Vec::new(),
            ends: Vec::new(),
            beaten_at: now,
            end: None,
            has_said_bye: false,
        }
    }

    /// Exchanges messages until all ranks have left. Returns whether they left in good order.
    pub(crate) fn run(mut self) -> bool {
        let mut pace = Pace::new();
        loop {
            // The end is looked at after this: work that aborts does so before it is done.
            let is_work_done = self.mpi.outbox.take(&mut self.outgoing);
            let now = Instant::now();
            let mut is_busy = self.send_outgoing();
            is_busy |= self.finish_sends();
            is_busy |= self.match_arrivals(now);
            is_busy |= self.finish_arrivals();
            self.watch(now);
            self.announce_end(now);
            if is_work_done {
                self.say_bye();
            } else if self.has_ended_for(2 * self.settings.farewell_max, now) {
                // Ranks whose work has returned have had the time to say why.
                self.wire.abort(self.settings.exit_code.into());
            }
            if let Some(is_orderly) = self.departure(now) {
                return is_orderly;
            }
            if is_busy {
                pace.quicken();
            } else {
                pace.rest(now, &self.mpi.outbox);
            }
        }
    }

    fn send_outgoing(&mut self) -> bool {
        let has_messages = !self.outgoing.is_empty();
        for Outgoing { to, mpi_tag, bytes } in self.outgoing.drain(..) {
            // Nobody takes messages after the end.
            if self.end.is_none() {
                self.peers[to].sending.push_back(self.wire.send(to, mpi_tag, bytes));
            }
        }
        has_messages
    }

    /// Frees the bytes of messages that were sent. Messages to one rank are sent about in order.
    fn finish_sends(&mut self) -> bool {
        let mut is_busy = false;
        for peer in &mut self.peers {
            while peer.sending.front_mut().is_some_and(Transfer::is_complete) {
                peer.sending.pop_front();
                is_busy = true;
            }
        }
        is_busy
    }

    fn match_arrivals(&mut self, now: Instant) -> bool {
        let mut is_busy = false;
        for _ in 0..MATCHES_MAX {
            let Some(Arrival { from, mpi_tag, transfer }) = self.wire.next_arrival() else { break };
            let peer = &mut self.peers[from];
            peer.heard_at = now;
            match Kind::of(mpi_tag) {
                Kind::End => self.ends.push(transfer),
                kind => peer.arriving.push_back((kind, transfer)),
            }
            is_busy = true;
        }
        is_busy
    }

    fn finish_arrivals(&mut self) -> bool {
        let mailbox = &self.mpi.mailbox;
        let mut is_busy = false;
        for mut end in self.ends.extract_if(.., Transfer::is_complete) {
            mailbox.end(read_end(&end.take_received()));
            is_busy = true;
        }
        for (rank, peer) in self.peers.iter_mut().enumerate() {
            let is_complete = |(_, transfer): &mut (Kind, Transfer)| transfer.is_complete();
            while let Some((kind, mut transfer)) = peer.arriving.pop_front_if(is_complete) {
                is_busy = true;
                match kind {
                    Kind::Data(tag) => mailbox.deliver(rank, tag, transfer.take_received()),
                    Kind::Bye => {
                        peer.has_left = true;
                        mailbox.leave(rank);
                    }
                    // A sign of life was noted when it was matched, and ends are in `ends`.
                    Kind::Beat | Kind::End => {}
                }
            }
        }
        is_busy
    }

    /// Gives signs of life, and looks for signs of the other ranks.
    fn watch(&mut self, now: Instant) {
        let silence = self.settings.silence;
        let since = now.saturating_duration_since(self.beaten_at);
        if since < silence / BEATS {
            return;
        }
        self.beaten_at = now;
        // A rank that has said bye is no longer watched, and sends no more.
        if !self.has_said_bye {
            self.send_to_all(Kind::Beat, &[]);
        }
        if since > silence / 2 {
            // This process itself stood still, so it cannot tell who else did.
            self.peers.iter_mut().for_each(|peer| peer.heard_at = now);
        }
        let is_silent =
            |peer: &Peer| !peer.has_left && now.saturating_duration_since(peer.heard_at) > silence;
        if let Some(rank) = self.peers.iter().position(is_silent) {
            let seconds = silence.as_secs_f64().ceil() as u64;
            self.mpi.end(Error::Silent { rank, seconds });
        }
    }

    /// Tells the others once that the work has ended. All ranks do so, even if the others know it
    /// by now: whichever rank leaves first has told the reason before.
    fn announce_end(&mut self, now: Instant) {
        if self.end.is_some() {
            return;
        }
        let Err(end) = self.mpi.mailbox.check() else { return };
        let silent = match end {
            Error::Silent { rank, .. } => Some(rank),
            _ => None,
        };
        self.end = Some(End { at: now, silent });
        self.settings.cancel.cancel();
        if !self.has_said_bye {
            self.send_to_all(Kind::End, &write_end(&end));
        }
    }

    fn say_bye(&mut self) {
        if !self.has_said_bye {
            self.send_to_all(Kind::Bye, &[]);
            self.has_said_bye = true;
        }
    }

    fn send_to_all(&mut self, kind: Kind, bytes: &[u8]) {
        // The pumps' own kinds have small tags.
        let Some(mpi_tag) = kind.mpi_tag(i32::MAX) else { return };
        for (rank, peer) in self.peers.iter_mut().enumerate() {
            if rank != self.mpi.rank() {
                peer.sending.push_back(self.wire.send(rank, mpi_tag, bytes.to_vec()));
            }
        }
    }

    /// Returns whether the work of all ranks has ended longer ago than `time`.
    fn has_ended_for(&self, time: Duration, now: Instant) -> bool {
        self.end.as_ref().is_some_and(|end| now.saturating_duration_since(end.at) > time)
    }

    /// Returns whether the ranks have left in good order; `None` as long as they may still do so.
    fn departure(&self, now: Instant) -> Option<bool> {
        if !self.has_said_bye {
            return None;
        }
        let has_left = |peer: &Peer| peer.has_left && peer.sending.is_empty();
        if self.peers.iter().all(has_left) {
            return Some(true);
        }
        let silent = self.end.as_ref().and_then(|end| end.silent);
        let mut others = self.peers.iter().enumerate().filter(|(rank, _)| Some(*rank) != silent);
        let is_only_silent_left = silent.is_some() && others.all(|(_, peer)| has_left(peer));
        let is_over = self.has_ended_for(self.settings.farewell_max, now);
        (is_only_silent_left || is_over).then_some(false)
    }
}
