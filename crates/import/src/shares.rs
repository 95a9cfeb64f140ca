//! How the memory of an import is shared out. Every pass takes its limits from this table.
//!
//! A pass that needs more than its share works slice by slice or through the disk. The test below
//! lists for each phase what is held at the same time, and proves that no phase adds up to more
//! than the whole. Besides the shares, a process needs what [`import_run`](crate::import_run) sets
//! aside: memory of its own, and of its workers.

/// A share of the memory of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// In parts of [`WHOLE`].
    parts: u64,
}

/// Parts of the whole: a multiple of every denominator below.
const WHOLE: u64 = 960;

const fn share(numerator: u64, denominator: u64) -> Share {
    assert!(WHOLE.is_multiple_of(denominator) && numerator <= denominator);
    Share { parts: WHOLE / denominator * numerator }
}

impl Share {
    /// Returns the bytes of the share, out of `memory`.
    pub const fn of(self, memory: u64) -> u64 {
        (memory as u128 * self.parts as u128 / WHOLE as u128) as u64
    }

    /// Returns the memory whose share is `needed` bytes.
    pub fn whole_of(self, needed: u64) -> u64 {
        (u128::from(needed) * u128::from(WHOLE)).div_ceil(u128::from(self.parts)) as u64
    }
}

/// The blocks that the writers of one set of piles fill. Every set takes this share while it is
/// written.
pub(super) const WRITING: Share = share(1, 24);

/// The buffers of the readers of the input.
pub(super) const INPUT: Share = share(1, 8);
/// Counters of the degrees by id take 4 bytes an id. So does a section of the table from ids to
/// dense ids. The shares are a little more than a quarter and an eighth. So a budget of 32 bytes an
/// id holds both whole, beside what the process itself takes: 2^27 ids within 4 GiB. Section by
/// section, an import takes 1.7 times as long.
pub(super) const COUNTERS: Share = share(4, 15);
pub(super) const DENSE_IDS: Share = share(2, 15);
/// Ends that wait to be counted in [`COUNTERS`].
pub(super) const COUNTS_WAITING: Share = share(1, 16);
/// Edges that are kept: half of the share for each width of keys. An input has at most two widths.
/// Once ids are small integers, only one width is left.
pub(super) const SPOOL: Share = share(1, 4);
/// Names, while they are collected.
pub(super) const NAMES: Share = share(1, 6);
/// Arcs by both ends, where duplicates are dropped.
pub(super) const ARCS: Share = share(1, 12);
/// The arcs that are sorted at a time.
pub(super) const ARCS_SORTED: Share = share(1, 6);

/// Ids at the ends of edges, in piles.
pub(super) const ID_PILES: Share = share(1, 6);
/// The piles of ids that are sorted at a time, on all threads together.
pub(super) const IDS_SORTED: Share = share(1, 3);
/// Each id once, in order.
pub(super) const IDS: Share = share(1, 8);

/// Each name once, in piles by first bytes.
pub(super) const DISTINCT_NAMES: Share = share(1, 6);
/// The names that are sorted at a time, on all threads together. Sorting takes two more of these
/// shares.
pub(super) const NAMES_SORTED: Share = share(1, 10);
/// The id position of each name.
pub(super) const NAME_POSITIONS: Share = share(1, 12);

/// A slice of the table from ids or names to id positions.
pub(super) const ID_POSITIONS: Share = share(1, 6);
/// Edges between id positions, kept as in [`SPOOL`].
pub(super) const RELABELED_SPOOL: Share = share(1, 5);
/// Counters of the degrees by id position.
pub(super) const ID_POSITION_COUNTERS: Share = share(2, 15);
/// Ends that wait to be counted in [`ID_POSITION_COUNTERS`].
pub(super) const ID_POSITION_COUNTS_WAITING: Share = share(1, 30);
/// Ends of edges by ranges of vertices, where the counters do not suffice.
pub(super) const ENDS: Share = share(1, 8);
/// The degrees of one such range.
pub(super) const RANGE_DEGREES: Share = share(1, 6);
/// All degrees, where they are counted by ranges.
pub(super) const DEGREE_ROWS: Share = share(1, 16);
/// Edges that wait for the slice of a table that has their source, and later for the slice that has
/// their target.
pub(super) const WAITING: Share = share(1, 32);

/// Ids by id position, where vertices are declared. They are held to the end.
pub(super) const DECLARED_IDS: Share = share(1, 96);

/// Degrees on their way to their dense ids.
pub(super) const DENSE_ROWS: Share = share(1, 12);
/// A slice of these degrees.
pub(super) const DENSE_SLICE: Share = share(1, 12);
/// The tables of the depth-first order.
pub(super) const TREES: Share = share(9, 16);
/// [`TREES`], the degrees, and lists of neighbours.
pub(super) const TREES_AND_LISTS: Share = share(3, 4);

/// Edges by bins, where the input is read again and the table of dense ids is one slice.
pub(super) const SORTED_ALONE: Share = share(13, 30);
/// Edges by bins, where other edges are held at the same time.
pub(super) const SORTED: Share = share(7, 48);
/// The building of tiles takes memory from either share. At least this much of the share is left.
pub(super) const SORTED_MIN: Share = share(1, 8);

/// The expected edges of a group of bins, unless it is a single stretch.
pub(super) const GROUP: Share = share(1, 8);
/// The edges of a group, scattered to bins.
pub(super) const PARTS: Share = share(1, 6);
/// The edges of a bin that is too large, divided by segments, units or slices, and the edges of a
/// slice in cuts.
pub(super) const CUTS: Share = share(1, 24);

// The first share of each pair lies within the second.
const _: () = assert!(SORTED_MIN.parts <= SORTED.parts && GROUP.parts <= PARTS.parts);

/// Tiles that are read while rows are built. The building itself has the rest.
pub(super) const TILES_READ: Share = share(1, 4);

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of dense ids in depth-first order: a quarter of the tables from which it is made.
    const LISTED: Share = Share { parts: TREES.parts / 4 };
    /// Edges that are kept, once only one width of keys is left.
    const KEPT: Share = Share { parts: SPOOL.parts / 2 };
    const RELABELED: Share = Share { parts: RELABELED_SPOOL.parts / 2 };

    /// What is held at the same time, and how often.
    const PHASES: &[(&str, &[(u64, Share)])] = &[
        (
            "reading integers",
            &[(1, INPUT), (1, COUNTERS), (1, COUNTS_WAITING), (1, SPOOL), (2, WRITING)],
        ),
        ("reading names", &[(1, INPUT), (1, NAMES), (1, KEPT), (2, WRITING)]),
        (
            "scattering arcs",
            &[(1, INPUT), (1, COUNTERS), (1, COUNTS_WAITING), (1, NAMES), (1, ARCS), (2, WRITING)],
        ),
        (
            "dropping duplicates",
            &[
                (1, COUNTERS),
                (1, COUNTS_WAITING),
                (1, SPOOL),
                (1, ARCS),
                (1, ARCS_SORTED),
                (2, WRITING),
            ],
        ),
        (
            "dropping duplicates between names",
            &[(1, NAMES), (1, KEPT), (1, ARCS), (1, ARCS_SORTED), (2, WRITING)],
        ),
        ("scattering ids", &[(1, SPOOL), (1, ID_PILES), (1, WRITING)]),
        ("sorting ids", &[(1, SPOOL), (1, ID_PILES), (1, IDS_SORTED), (1, IDS), (1, WRITING)]),
        (
            "finding distinct names",
            &[(1, KEPT), (1, NAMES), (1, DISTINCT_NAMES), (3, NAMES_SORTED), (1, WRITING)],
        ),
        (
            "sorting names",
            &[(1, KEPT), (1, DISTINCT_NAMES), (3, NAMES_SORTED), (1, NAME_POSITIONS), (1, WRITING)],
        ),
        (
            "replacing ids by id positions",
            &[
                (1, SPOOL),
                (1, IDS),
                (1, ID_POSITIONS),
                (1, RELABELED),
                (1, ID_POSITION_COUNTERS),
                (1, ID_POSITION_COUNTS_WAITING),
                (2, WAITING),
                (3, WRITING),
            ],
        ),
        (
            "replacing ids by id positions of many vertices",
            &[
                (1, SPOOL),
                (1, IDS),
                (1, ID_POSITIONS),
                (1, RELABELED),
                (1, ENDS),
                (2, WAITING),
                (4, WRITING),
            ],
        ),
        (
            "replacing names by id positions of many vertices",
            &[
                (1, KEPT),
                (1, NAME_POSITIONS),
                (1, ID_POSITIONS),
                (1, RELABELED),
                (1, ENDS),
                (2, WAITING),
                (4, WRITING),
            ],
        ),
        (
            "counting degrees in ranges",
            &[
                (1, SPOOL),
                (1, RELABELED),
                (1, ENDS),
                (1, RANGE_DEGREES),
                (1, DEGREE_ROWS),
                (1, WRITING),
            ],
        ),
        (
            "setting ids aside",
            &[(1, IDS), (1, RELABELED), (1, ID_POSITION_COUNTERS), (1, DECLARED_IDS), (1, WRITING)],
        ),
        ("growing trees", &[(1, KEPT), (1, TREES_AND_LISTS), (1, WRITING)]),
        (
            "growing trees of declared vertices",
            &[(1, RELABELED), (1, DECLARED_IDS), (1, TREES_AND_LISTS), (1, WRITING)],
        ),
        (
            "planning two orders",
            &[
                (1, COUNTERS),
                (1, KEPT),
                (1, LISTED),
                (2, DENSE_ROWS),
                (2, DENSE_SLICE),
                (2, WRITING),
            ],
        ),
        ("weighing three orders", &[(1, COUNTERS), (1, KEPT), (1, LISTED), (3, DENSE_IDS)]),
        // One slice holds all dense ids. Counters and list are no larger.
        (
            "sorting what is read again",
            &[(1, INPUT), (3, DENSE_IDS), (1, SORTED_ALONE), (1, WRITING)],
        ),
        (
            "sorting what is read again, in slices",
            &[
                (1, INPUT),
                (1, COUNTERS),
                (1, LISTED),
                (1, DENSE_IDS),
                (2, WAITING),
                (1, SORTED),
                (3, WRITING),
            ],
        ),
        (
            "sorting what was kept",
            &[
                (1, KEPT),
                (1, COUNTERS),
                (1, LISTED),
                (1, DENSE_IDS),
                (2, WAITING),
                (1, SORTED),
                (3, WRITING),
            ],
        ),
        // Counters by id position take half the memory of counters by id, which leaves room for the
        // ids.
        (
            "sorting what was kept of declared vertices",
            &[
                (1, RELABELED),
                (1, ID_POSITION_COUNTERS),
                (1, DECLARED_IDS),
                (1, LISTED),
                (1, DENSE_IDS),
                (2, WAITING),
                (1, SORTED),
                (3, WRITING),
            ],
        ),
        ("building tiles", &[(1, SORTED_ALONE), (1, PARTS), (5, CUTS), (4, WRITING)]),
    ];

    #[test]
    fn no_phase_holds_more_than_the_whole() {
        for (phase, held) in PHASES {
            let parts: u64 = held.iter().map(|(count, share)| count * share.parts).sum();
            assert!(parts <= WHOLE, "{phase}: {parts} of {WHOLE}");
        }
    }

    #[test]
    fn a_share_is_rounded_down_and_the_whole_up() {
        let memory = 64 << 20;
        assert_eq!(INPUT.of(memory), 8 << 20);
        assert_eq!(ID_POSITIONS.of(5), 0);
        assert_eq!(ID_POSITIONS.whole_of(ID_POSITIONS.of(memory) + 1), memory + 2);
        assert_eq!(share(1, 1).of(u64::MAX), u64::MAX);
    }
}
