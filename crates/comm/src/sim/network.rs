//! The state of a simulated cluster: clocks, links and messages. Nothing here waits.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tegula_machine::mix;

use super::clocks::{Activity, NEVER, Time, nanoseconds, next_send_min};
use super::config::{Loss, SimConfig};
use crate::comm::Tag;
use crate::error::{Error, Result};

/// The virtual times and the traffic of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimStatistics {
    /// The rank's clock.
    pub clock: Duration,
    /// The part of the clock that was spent waiting for messages, or polling in vain.
    pub waiting: Duration,
    /// The links to each rank, by rank. The one to the rank itself stays empty.
    pub links: Vec<Link>,
}

/// The traffic from one rank to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Link {
    /// Messages that were sent.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
}

/// What a rank finds when it waits for a message.
pub(super) enum Found {
    /// The message arrives at this time.
    Message(Time),
    /// No message can come, because the sender has left.
    Left,
    /// No message can come before the lost rank is noticed.
    Silence,
    /// A message may yet be sent.
    Unknown,
    /// No message can come, unless other threads of the waiting ranks send some.
    Never,
}

pub(super) struct Network {
    seed: u64,
    latency: Time,
    delay_max: Time,
    nanoseconds_per_byte: f64,
    stall_share: f64,
    stall_max: Time,
    poll_time: Time,
    loss: Option<Loss>,
    silence: Time,
    ranks: Vec<Rank>,
    /// Links by `from * ranks.len() + to`.
    links: Vec<Wire>,
    /// Messages by sender, receiver and tag, as they were sent.
    queues: HashMap<(usize, usize, Tag), VecDeque<Message>>,
    /// The time at which the others notice that a rank is lost.
    noticed_at: Option<Time>,
    end: Option<Error>,
    changes: u64,
}

#[derive(Clone, Default)]
struct Rank {
    clock: Time,
    waiting: Time,
    /// Calls so far.
    steps: u64,
    /// The messages that threads of this rank wait for.
    awaited: Vec<(usize, Tag)>,
    has_left: bool,
    bytes_received: u64,
}

#[derive(Clone, Default)]
struct Wire {
    free_at: Time,
    traffic: Link,
}

/// A message. One that arrives before an earlier one with the same sender and tag waits for it.
struct Message {
    arrival: Time,
    bytes: Vec<u8>,
}

impl Network {
    pub(super) fn new(count: usize, config: &SimConfig) -> Network {
        Network {
            seed: config.seed,
            latency: nanoseconds(config.latency).max(1),
            delay_max: nanoseconds(config.delay_max),
            nanoseconds_per_byte: 1e9 / config.bytes_per_second,
            stall_share: config.stall_share,
            stall_max: nanoseconds(config.stall_max),
            poll_time: nanoseconds(config.poll_time).max(1),
            loss: config.loss,
            silence: nanoseconds(config.silence),
            ranks: vec![Rank::default(); count],
            links: vec![Wire::default(); count * count],
            queues: HashMap::new(),
            noticed_at: None,
            end: None,
            changes: 0,
        }
    }

    pub(super) fn size(&self) -> usize {
        self.ranks.len()
    }

    /// Returns how often a rank did something.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Begins a call of a rank, which may stall or be lost.
    pub(super) fn enter(&mut self, rank: usize) -> Result<()> {
        self.changes += 1;
        self.check(rank)?;
        let step = self.ranks[rank].steps;
        self.ranks[rank].steps += 1;
        if self.loss.is_some_and(|loss| loss.rank == rank && loss.step == step) {
            self.noticed_at = Some(self.ranks[rank].clock.saturating_add(self.silence));
            return Err(Error::Lost { rank });
        }
        let random = self.random(&[0, rank as u64, step]);
        if (random as f64) < self.stall_share * u64::MAX as f64 {
            self.move_clock(rank, below(mix(random), self.stall_max));
        }
        self.check_silence(self.ranks[rank].clock)
    }

    fn check(&self, rank: usize) -> Result<()> {
        if self.is_lost(rank) {
            return Err(Error::Lost { rank });
        }
        self.end.clone().map_or(Ok(()), Err)
    }

    /// Returns whether a rank is lost.
    pub(super) fn has_loss(&self) -> bool {
        self.noticed_at.is_some()
    }

    fn is_lost(&self, rank: usize) -> bool {
        self.noticed_at.is_some() && self.loss.is_some_and(|loss| loss.rank == rank)
    }

    /// Ends the work of all if the loss is noticed by `time`.
    fn check_silence(&mut self, time: Time) -> Result<()> {
        match self.noticed_at {
            Some(noticed_at) if noticed_at <= time => Err(self.end_silent()),
            _ => Ok(()),
        }
    }

    pub(super) fn end_silent(&mut self) -> Error {
        let seconds = self.silence.div_ceil(1_000_000_000);
        let rank = self.loss.map_or(0, |loss| loss.rank);
        self.end(Error::Silent { rank, seconds })
    }

    /// Ends the work of all, and returns the first error that did so.
    pub(super) fn end(&mut self, error: Error) -> Error {
        self.changes += 1;
        self.end.get_or_insert(error).clone()
    }

    pub(super) fn abort(&mut self, rank: usize, reason: &str) {
        // A dead rank tells nobody.
        if !self.is_lost(rank) {
            self.end(Error::Aborted { rank, reason: reason.to_owned() });
        }
    }

    pub(super) fn leave(&mut self, rank: usize) {
        self.changes += 1;
        self.ranks[rank].has_left = true;
    }

    pub(super) fn advance(&mut self, rank: usize, time: Duration) {
        self.move_clock(rank, nanoseconds(time));
    }

    fn move_clock(&mut self, rank: usize, time: Time) {
        let clock = &mut self.ranks[rank].clock;
        *clock = clock.saturating_add(time);
    }

    pub(super) fn begin_wait(&mut self, rank: usize, from: usize, tag: Tag) {
        self.changes += 1;
        self.ranks[rank].awaited.push((from, tag));
    }

    pub(super) fn end_wait(&mut self, rank: usize, from: usize, tag: Tag) {
        self.changes += 1;
        let awaited = &mut self.ranks[rank].awaited;
        if let Some(at) = awaited.iter().position(|&awaited| awaited == (from, tag)) {
            awaited.swap_remove(at);
        }
    }

    pub(super) fn send(&mut self, from: usize, to: usize, tag: Tag, bytes: Vec<u8>) {
        assert!(to < self.size(), "rank {to} of {}", self.size());
        let arrival = self.transmit(from, to, bytes.len());
        self.queues.entry((from, to, tag)).or_default().push_back(Message { arrival, bytes });
    }

    /// Sends bytes along a link, and returns when they arrive.
    fn transmit(&mut self, from: usize, to: usize, bytes: usize) -> Time {
        let clock = self.ranks[from].clock;
        if from == to {
            return clock;
        }
        let number = from * self.size() + to;
        let sent = self.links[number].traffic.messages;
        // Drawn by the number of the message on its link, so that the real order of calls does not
        // matter.
        let delay = below(self.random(&[1, number as u64, sent]), self.delay_max);
        let link = &mut self.links[number];
        link.traffic.messages += 1;
        link.traffic.bytes += bytes as u64;
        let duration = (bytes as f64 * self.nanoseconds_per_byte) as Time;
        link.free_at = link.free_at.max(clock).saturating_add(duration);
        link.free_at.saturating_add(self.latency).saturating_add(delay)
    }

    /// Returns whether the next message has come at the rank's clock, or `None` if that depends on
    /// what others do at earlier times.
    pub(super) fn has_come(&self, rank: usize, from: usize, tag: Tag) -> Result<Option<bool>> {
        assert!(from < self.size(), "rank {from} of {}", self.size());
        self.check(rank)?;
        let clock = self.ranks[rank].clock;
        Ok(match self.next_arrival(rank, from, tag) {
            Some(arrival) => Some(arrival <= clock),
            None if from == rank || self.next_arrival_min(from) > clock => Some(false),
            None => None,
        })
    }

    /// Looks for the message that a rank waits for.
    pub(super) fn find(&self, rank: usize, from: usize, tag: Tag) -> Result<Found> {
        assert!(from < self.size(), "rank {from} of {}", self.size());
        self.check(rank)?;
        if let Some(arrival) = self.next_arrival(rank, from, tag) {
            return Ok(Found::Message(arrival));
        }
        let arrival_min = if from == rank { NEVER } else { self.next_arrival_min(from) };
        Ok(match self.noticed_at {
            _ if self.ranks[from].has_left && !self.is_lost(from) => Found::Left,
            Some(noticed_at) if arrival_min > noticed_at => Found::Silence,
            _ if arrival_min == NEVER => Found::Never,
            _ => Found::Unknown,
        })
    }

    fn next_arrival(&self, rank: usize, from: usize, tag: Tag) -> Option<Time> {
        Some(self.queues.get(&(from, rank, tag))?.front()?.arrival)
    }

    /// Returns a time before which nothing arrives that `from` has not sent yet.
    fn next_arrival_min(&self, from: usize) -> Time {
        let state = |rank: usize| {
            let Rank { clock, awaited, has_left, .. } = &self.ranks[rank];
            let activity = match awaited.last() {
                _ if *has_left || self.is_lost(rank) => Activity::Gone,
                None => Activity::Running,
                Some(&(from, tag)) => match self.next_arrival(rank, from, tag) {
                    Some(arrival) => Activity::Woken(arrival),
                    None => Activity::WaitsFor(from),
                },
            };
            (*clock, activity)
        };
        next_send_min(from, self.size(), self.latency, state).saturating_add(self.latency)
    }

    /// Moves the clock of a rank to the arrival of its message.
    pub(super) fn wait_until(&mut self, rank: usize, arrival: Time) -> Result<()> {
        self.check_silence(arrival)?;
        let state = &mut self.ranks[rank];
        state.waiting += arrival.saturating_sub(state.clock);
        state.clock = state.clock.max(arrival);
        Ok(())
    }

    pub(super) fn poll_in_vain(&mut self, rank: usize) -> Result<()> {
        let clock = self.ranks[rank].clock;
        self.wait_until(rank, clock.saturating_add(self.poll_time))
    }

    /// Takes a message that was found.
    pub(super) fn take(&mut self, rank: usize, from: usize, tag: Tag) -> Vec<u8> {
        let queue = self.queues.get_mut(&(from, rank, tag));
        let message = queue.and_then(VecDeque::pop_front);
        let bytes = message.expect("the message was found under the same lock").bytes;
        if from != rank {
            self.ranks[rank].bytes_received += bytes.len() as u64;
        }
        bytes
    }

    pub(super) fn bytes_sent(&self, rank: usize) -> u64 {
        self.links_of(rank).map(|link| link.bytes).sum()
    }

    pub(super) fn bytes_received(&self, rank: usize) -> u64 {
        self.ranks[rank].bytes_received
    }

    pub(super) fn statistics(&self, rank: usize) -> SimStatistics {
        let &Rank { clock, waiting, .. } = &self.ranks[rank];
        SimStatistics {
            clock: Duration::from_nanos(clock),
            waiting: Duration::from_nanos(waiting),
            links: self.links_of(rank).collect(),
        }
    }

    fn links_of(&self, rank: usize) -> impl Iterator<Item = Link> {
        let first = rank * self.size();
        self.links[first..first + self.size()].iter().map(|link| link.traffic)
    }

    fn random(&self, numbers: &[u64]) -> u64 {
        numbers.iter().fold(mix(self.seed), |state, &number| mix(state ^ mix(number)))
    }
}

/// Returns a random time from 0 to `max`.
fn below(random: u64, max: Time) -> Time {
    ((u128::from(random) * (u128::from(max) + 1)) >> 64) as Time
}
