//! What is simulated.

use std::time::Duration;

use crate::comm::MESSAGE_SIZE_MAX;

/// What a simulated cluster is like. All times are virtual, except where they are said to be real.
#[derive(Debug, Clone, PartialEq)]
pub struct SimConfig {
    /// Chooses all random numbers.
    pub seed: u64,
    /// From the end of sending a message to its arrival, at least 1 ns.
    pub latency: Duration,
    /// The longest random delay on top of the latency.
    pub delay_max: Duration,
    /// Bandwidth of each link, which leads from one rank to another.
    pub bytes_per_second: f64,
    /// The share of calls that stall their rank, from 0 to 1.
    pub stall_share: f64,
    /// The longest stall. A stall delays a rank, but never makes it count as silent.
    pub stall_max: Duration,
    /// How long a poll in vain takes, at least 1 ns.
    pub poll_time: Duration,
    /// The rank that is lost, if any.
    pub loss: Option<Loss>,
    /// How long after the loss the other ranks notice it.
    pub silence: Duration,
    /// The real time for which all ranks may wait for each other, before they fail with
    /// [`Error::Stuck`](crate::Error::Stuck).
    pub stuck_after: Duration,
    /// The most bytes of a message.
    pub message_size_max: usize,
}

/// A rank that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The rank.
    pub rank: usize,
    /// The calls of this rank that succeed before it is lost: sends, polls, receives, advances.
    pub step: u64,
}

impl Default for SimConfig {
    /// Ethernet with 10 Gbit/s in one rack, with disturbances.
    fn default() -> SimConfig {
        SimConfig {
            seed: 0,
            latency: Duration::from_micros(20),
            delay_max: Duration::from_micros(100),
            bytes_per_second: 1.25e9,
            stall_share: 0.01,
            stall_max: Duration::from_millis(1),
            poll_time: Duration::from_micros(1),
            loss: None,
            silence: Duration::from_secs(60),
            stuck_after: Duration::from_secs(10),
            message_size_max: MESSAGE_SIZE_MAX,
        }
    }
}
