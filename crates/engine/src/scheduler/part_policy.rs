//! Which part comes next: the order in which a scan deals parts out.
//!
//! No result depends on the order. A policy only chooses when each part is read, and thus how many
//! jobs share the read.

use crate::job::ScanDirection;

/// The parts that jobs want at the moment.
pub trait WantedParts {
    /// Returns the number of parts of the graph.
    fn count(&self) -> usize;

    /// Returns the direction of the scan.
    fn direction(&self) -> ScanDirection;

    /// Returns whether any job wants the part, and no worker has claimed it.
    fn is_wanted(&self, part: usize) -> bool;

    /// Returns whether a wanted part belongs to a batch that has begun. A policy takes such parts
    /// first: the reductions of the
    /// batch take memory until its last part.
    fn goes_on(&self, part: usize) -> bool;

    /// Calls `visit` once for each job that wants a part, with the number of parts that the job
    /// still needs in its iteration.
    fn for_each_job(&self, part: usize, visit: &mut dyn FnMut(usize));
}

/// Chooses the next part.
pub trait PartPolicy: Send {
    /// Returns one of the parts that are wanted; `None` if there is none.
    fn next(&mut self, wanted: &dyn WantedParts) -> Option<usize>;
}

/// Which part of a scan is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartOrder {
    /// Round and round, in the direction of the scan, so that reads are sequential.
    #[default]
    RoundRobin,
    /// The part with the highest priority of GraphM (Zhao et al., SC 2019, section 4).
    Priority,
}

impl PartOrder {
    /// Makes the policy.
    pub(super) fn policy(self) -> Box<dyn PartPolicy> {
        match self {
            PartOrder::RoundRobin => Box::new(RoundRobin::default()),
            PartOrder::Priority => Box::new(Priority),
        }
    }
}

/// Goes round and round through the parts. Reads are sequential, and jobs join at any position.
#[derive(Debug, Default)]
pub struct RoundRobin {
    /// The part chosen last, and the direction of the scan then.
    last: Option<(usize, ScanDirection)>,
}

impl PartPolicy for RoundRobin {
    fn next(&mut self, wanted: &dyn WantedParts) -> Option<usize> {
        let (count, direction) = (wanted.count(), wanted.direction());
        // The number of steps along the direction, from its first part.
        let step_of = |part: usize| match direction {
            ScanDirection::FirstToLast => part,
            ScanDirection::LastToFirst => count - 1 - part,
        };
        let last = self.last.filter(|&(_, before)| before == direction);
        let first = last.map_or(0, |(part, _)| step_of(part) + 1);
        let mut parts = (0..count).map(|step| step_of((first + step) % count));
        let begun = (0..count).map(step_of).find(|&part| going_on(part, wanted));
        if begun.is_some() {
            // `last` stays, so that the round goes on where it was.
            return begun;
        }
        let next = parts.find(|&part| wanted.is_wanted(part))?;
        self.last = Some((next, direction));
        Some(next)
    }
}

/// Takes the part with the highest priority (Zhao et al., GraphM, SC 2019, section 4):
///
/// ```text
///  Pri(P) = max over jobs j that want P of 1/N(j)  *  number of jobs that want P
/// ```
///
/// `N(j)` is the number of parts that job `j` still needs in its iteration. So a job that is near
/// the end of its iteration gets there, and comes back to share the parts of the next one; and
/// parts that many jobs want come early.
/// While workers wait for reads, a job that needs few parts in each of many iterations may hold
/// another one back.
#[derive(Debug)]
pub struct Priority;

impl PartPolicy for Priority {
    fn next(&mut self, wanted: &dyn WantedParts) -> Option<usize> {
        let begun = (0..wanted.count()).find(|&part| going_on(part, wanted));
        if begun.is_some() {
            return begun;
        }
        let parts = || (0..wanted.count()).filter(|&part| wanted.is_wanted(part));
        // The first one of equal priority, so that reads are as sequential as they can be.
        let best = parts()
            .map(|part| (priority(part, wanted), part))
            .reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.map(|(_, part)| part)
    }
}

/// Returns whether a part is wanted and belongs to a batch that has begun.
fn going_on(part: usize, wanted: &dyn WantedParts) -> bool {
    wanted.goes_on(part) && wanted.is_wanted(part)
}

fn priority(part: usize, wanted: &dyn WantedParts) -> f64 {
    let (mut jobs, mut least_left) = (0, usize::MAX);
    wanted.for_each_job(part, &mut |left| {
        jobs += 1;
        least_left = least_left.min(left);
    });
    f64::from(jobs) / least_left as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs by the parts that each still needs, in batches of one part.
    struct Jobs {
        count: usize,
        direction: ScanDirection,
        needed: Vec<Vec<usize>>,
        going_on: Option<usize>,
    }

    impl WantedParts for Jobs {
        fn count(&self) -> usize {
            self.count
        }

        fn direction(&self) -> ScanDirection {
            self.direction
        }

        fn is_wanted(&self, part: usize) -> bool {
            self.needed.iter().any(|parts| parts.contains(&part))
        }

        fn goes_on(&self, part: usize) -> bool {
            self.going_on == Some(part)
        }

        fn for_each_job(&self, part: usize, visit: &mut dyn FnMut(usize)) {
            self.needed.iter().filter(|parts| parts.contains(&part)).for_each(|it| visit(it.len()));
        }
    }

    fn jobs(needed: &[&[usize]]) -> Jobs {
        let needed = needed.iter().map(|parts| parts.to_vec()).collect();
        Jobs { count: 5, direction: ScanDirection::FirstToLast, needed, going_on: None }
    }

    #[test]
    fn a_round_finds_wanted_parts_in_the_direction_of_the_scan() {
        let mut order = RoundRobin::default();
        let mut wanted = jobs(&[&[0, 1, 2, 4]]);
        let found: Vec<_> = (0..7).map(|_| order.next(&wanted)).collect();
        assert_eq!(found, [0, 1, 2, 4, 0, 1, 2].map(Some));
        assert_eq!(order.next(&jobs(&[])), None);
        wanted.direction = ScanDirection::LastToFirst;
        let found: Vec<_> = (0..5).map(|_| order.next(&wanted)).collect();
        assert_eq!(found, [4, 2, 1, 0, 4].map(Some));
        let begun = Jobs { going_on: Some(1), ..wanted };
        assert_eq!(order.next(&begun), Some(1), "a batch at work goes on");
    }

    #[test]
    fn the_priority_is_that_of_the_paper() {
        // Part 3 has one job that needs two parts: 1/2. Part 1 has two jobs, the nearest to its end
        // needs three: 2/3.
        let wanted = jobs(&[&[0, 1, 2], &[1, 2, 4, 0], &[3, 4]]);
        let priorities: Vec<f64> = (0..5).map(|part| priority(part, &wanted)).collect();
        assert_eq!(priorities, [2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 0.5, 1.0]);
        assert_eq!(Priority.next(&wanted), Some(4));
        assert_eq!(Priority.next(&jobs(&[&[2, 3]])), Some(2), "the first one of equal priority");
        assert_eq!(Priority.next(&jobs(&[])), None);
        let begun = Jobs { going_on: Some(1), ..wanted };
        assert_eq!(Priority.next(&begun), Some(1), "a batch at work goes on");
    }
}
