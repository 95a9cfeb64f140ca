//! Fairness among jobs that share a scan.
//!
//! A part is dealt to all jobs that want it. So without credit, a quick job would take as long as a
//! slow one beside it: each part takes the time of both. Every job has a clock that counts the time
//! of the workers on its behalf. A job whose clock is more than a credit ahead of the slowest clock
//! leaves out the batches that come, until the others have caught up. It takes them in a later
//! round. So over time, each job gets an equal share of the workers, and a slow job delays a quick
//! one by no more than its share. This follows start-time fair queuing (Goyal, Vin, Cheng, SIGCOMM
//! 1996), with batches as packets.
//!
//! A batch that is left out may be read once more for the job alone. So there is no limit while
//! workers wait for reads: time of the workers is not what is short then.

use std::time::Duration;

use crate::job::PartStatistics;

/// How far the clock of a job may be ahead.
const CREDIT: Duration = Duration::from_millis(100);
/// Workers wait for reads if they wait for more than `1 / WAITING_SHARE` of their time.
const WAITING_SHARE: u32 = 8;
/// The time of workers over which their waits are counted.
const MEMORY: Duration = Duration::from_secs(1);

/// Decides how far ahead a clock may be, from what the workers have spent lately.
#[derive(Debug, Default)]
pub struct Credit {
    working: Duration,
    waiting: Duration,
}

impl Credit {
    /// Adds what a worker has spent on a part.
    pub fn note(&mut self, spent: &PartStatistics) {
        self.working += spent.working;
        self.waiting += spent.waiting;
        if self.working + self.waiting > MEMORY {
            // Halved together, they keep their ratio, and old times fade.
            self.working /= 2;
            self.waiting /= 2;
        }
    }

    /// Returns the greatest clock, in nanoseconds, of a job that may begin a batch, where the
    /// slowest clock shows `least`.
    pub fn worked_max(&self, least: u64) -> u64 {
        match self.waiting * WAITING_SHARE > self.working + self.waiting {
            true => u64::MAX,
            false => least.saturating_add(CREDIT.as_nanos() as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_limited_only_while_workers_do_not_wait_for_reads() {
        let spent = |working, waiting| PartStatistics {
            working: Duration::from_millis(working),
            waiting: Duration::from_millis(waiting),
            ..PartStatistics::default()
        };
        let mut credit = Credit::default();
        assert_eq!(credit.worked_max(7), 7 + 100_000_000);
        credit.note(&spent(100, 20));
        assert_eq!(credit.worked_max(7), u64::MAX);
        // Old waits are forgotten.
        (0..20).for_each(|_| credit.note(&spent(100, 0)));
        assert_eq!(credit.worked_max(7), 7 + 100_000_000);
    }
}
