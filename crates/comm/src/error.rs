//! The error type of this crate: what can go wrong between ranks.

/// Shorthand for results with this error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong between ranks. [`Error::Aborted`], [`Error::Silent`] and [`Error::Stuck`] end
/// the work of all ranks; every later call on any rank returns the same error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rank ended the work of all ranks.
    #[error("rank {rank} ended the work of all ranks: {reason}")]
    Aborted {
        /// The rank that ended the work.
        rank: usize,
        /// Its reason.
        reason: String,
    },
    /// The caller cancelled the work.
    #[error("interrupted")]
    Cancelled,
    /// A rank gave no sign of life, so its process or machine may be dead.
    #[error("rank {rank} gave no sign of life for {seconds} s; see whether its machine still runs")]
    Silent {
        /// The silent rank.
        rank: usize,
        /// How long the others waited for a sign.
        seconds: u64,
    },
    /// A rank ended its work, and a message of it can no longer come.
    #[error("rank {to} waits for a message of rank {from}, which has ended its work")]
    Left {
        /// The rank that has ended its work.
        from: usize,
        /// The rank that waits.
        to: usize,
    },
    /// The simulation ended this rank.
    #[error("the simulation ended rank {rank}")]
    Lost {
        /// The lost rank.
        rank: usize,
    },
    /// In a simulation, all ranks wait for each other.
    #[error("rank {to} waits for a message of rank {from}, and all ranks wait for each other")]
    Stuck {
        /// The rank that does not send.
        from: usize,
        /// The rank that waits.
        to: usize,
    },
    /// A message is longer than one message may be.
    #[error("a message of {size} bytes to rank {to} exceeds the limit of {size_max} bytes")]
    TooLong {
        /// The rank that was to get it.
        to: usize,
        /// Its size in bytes.
        size: usize,
        /// The most bytes of one message.
        size_max: usize,
    },
    /// The packets of a long message do not fit together.
    #[error("a long message of rank {from} to rank {to} is damaged: {detail}")]
    Damaged {
        /// The rank that sent it.
        from: usize,
        /// The rank that received it.
        to: usize,
        /// What does not fit.
        detail: String,
    },
    /// The transport failed.
    #[error("messages cannot be exchanged: {0}")]
    Transport(String),
}

impl Error {
    /// Returns a name of the variant for programs. These names never change.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Aborted { .. } => "aborted",
            Error::Cancelled => "cancelled",
            Error::Silent { .. } => "silent",
            Error::Left { .. } => "left",
            Error::Lost { .. } => "lost",
            Error::Stuck { .. } => "stuck",
            Error::TooLong { .. } => "too_long",
            Error::Damaged { .. } => "damaged",
            Error::Transport(_) => "transport",
        }
    }
}
