//! Runs a program on all ranks of a transport.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use tegula_comm::{Comm, MESSAGE_SIZE_MAX, Sim, SimConfig, Threads};
use tegula_machine::threads::Cancel;

/// The real time after which a run counts as hanging. It is cancelled, so that its test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the ranks are connected by.
#[derive(Debug, Clone)]
pub enum Transport {
    Threads { message_size_max: usize },
    Sim(SimConfig),
}

impl Transport {
    /// Returns all transports, the simulated one with several seeds.
    pub fn all() -> Vec<Transport> {
        let sims = (0..4).map(|seed| Transport::Sim(disturbed(seed)));
        [Transport::Threads { message_size_max: MESSAGE_SIZE_MAX }]
            .into_iter()
            .chain(sims)
            .collect()
    }

    /// Makes the ranks.
    pub fn ranks(&self, count: usize) -> Vec<Box<dyn Comm>> {
        match self {
            Transport::Threads { message_size_max } => {
                boxed(Threads::with_message_size_max(count, *message_size_max))
            }
            Transport::Sim(config) => boxed(Sim::ranks(count, config)),
        }
    }

    /// Runs a program on each of `count` ranks. Returns by rank what it returns.
    pub fn run<R: Send>(
        &self,
        count: usize,
        work: impl Fn(&dyn Comm, &Cancel) -> R + Sync,
    ) -> Vec<R> {
        run_on(self.ranks(count), |comm, cancel| work(&**comm, cancel))
            .into_iter()
            .map(|joined| joined.unwrap())
            .collect()
    }
}

fn boxed<C: Comm + 'static>(ranks: Vec<C>) -> Vec<Box<dyn Comm>> {
    ranks.into_iter().map(|rank| Box::new(rank) as Box<dyn Comm>).collect()
}

/// Returns a cluster with long delays and many stalls.
pub fn disturbed(seed: u64) -> SimConfig {
    SimConfig { seed, stall_share: 0.1, ..SimConfig::default() }
}

/// Runs a program on each rank. Returns by rank what it returns, or its panic. A rank leaves when
/// its program returns.
pub fn run_on<C: Send, R: Send>(
    ranks: Vec<C>,
    work: impl Fn(&C, &Cancel) -> R + Sync,
) -> Vec<thread::Result<R>> {
    let cancel = Cancel::default();
    let (work, cancel) = (&work, &cancel);
    thread::scope(|scope| {
        let run = |rank: C| scope.spawn(move || work(&rank, cancel));
        let running: Vec<_> = ranks.into_iter().map(run).collect();
        let (end, ended) = channel::<()>();
        scope.spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                cancel.cancel();
            }
        });
        let joined = running.into_iter().map(|rank| rank.join()).collect();
        drop(end);
        joined
    })
}
