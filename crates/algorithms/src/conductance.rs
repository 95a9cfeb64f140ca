//! Conductance: how well sets of vertices are separated from the rest of the graph.
//!
//! ```text
//!  conductance(S) = cut(S) / min(volume(S), volume(rest))
//! ```
//!
//! `cut` counts the edges between S and the rest, `volume` the ends of edges in S, which is the sum of
//! degrees (Bollobas, *Modern Graph Theory*, 1998; as a measure of communities: Leskovec, Lang, Dasgupta,
//! Mahoney, WWW 2008). In a directed graph an edge counts whatever its direction, and a degree is that of
//! both directions. A loop of an undirected graph has one end. Weights are ignored.
//!
//! Sets may overlap. It reads every row once, and at each edge walks the sets of both ends. Memory: 8 bytes
//! a vertex, 4 for each set that a vertex is in, 32 a set, and the index of the rows.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{self, RowsJob, Sequential, estimate_rows, rows_statistics};
use tegula_engine::{Error, Estimate, Graph, Result, RunOptions, RunStatistics, Unit, VertexId};

/// Which sets each vertex is in: for all vertices one behind the other, ascending.
#[derive(Debug, Clone, Default)]
pub struct Memberships {
    /// Where the sets of each vertex begin, and where those of the last one end.
    starts: Vec<u32>,
    sets: Vec<u32>,
    set_count: u32,
}

/// That a vertex is in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Membership {
    /// The vertex.
    pub vertex: VertexId,
    /// The number of the set.
    pub set: u32,
}

impl Memberships {
    /// The sets `0..set_count` of the vertices `0..vertex_count`. One that is named twice counts once.
    ///
    /// # Errors
    /// [`Error::Limit`] beyond 2^32 - 1 memberships.
    ///
    /// # Panics
    /// When there is no such vertex or set.
    pub fn new(
        vertex_count: u32,
        set_count: u32,
        mut members: Vec<Membership>,
    ) -> Result<Memberships> {
        members.sort_unstable();
        members.dedup();
        if members.len() > u32::MAX as usize {
            let (found, limit) = (members.len() as u64, u64::from(u32::MAX));
            return Err(Error::Limit { what: "memberships in sets", found, limit });
        }
        assert!(members.iter().all(|member| member.set < set_count), "a set beyond {set_count}");
        let mut starts = vec![0; vertex_count as usize + 1];
        let mut next = 0;
        for (index, member) in (0..).zip(&members) {
            while next <= member.vertex.index() {
                starts[next] = index;
                next += 1;
            }
        }
        starts[next..].fill(members.len() as u32);
        let sets = members.iter().map(|member| member.set).collect();
        Ok(Memberships { starts, sets, set_count })
    }

    /// The sets of a vertex, ascending.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn of(&self, vertex: VertexId) -> &[u32] {
        let (start, end) = (self.starts[vertex.index()], self.starts[vertex.index() + 1]);
        &self.sets[start as usize..end as usize]
    }

    /// How many sets there are.
    pub fn set_count(&self) -> u32 {
        self.set_count
    }

    /// Bytes that it holds.
    pub fn size(&self) -> u64 {
        4 * (self.starts.len() + self.sets.len()) as u64
    }

    /// Bytes that [`new`](Memberships::new) holds at most, its argument included.
    pub fn building_size(vertex_count: u32, member_count: u64) -> u64 {
        let member_size = size_of::<Membership>() as u64 + 4;
        4 * (u64::from(vertex_count) + 1) + member_size * member_count
    }

    /// The sets of all vertices, by dense id.
    fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.sets[ends[0] as usize..ends[1] as usize])
    }
}

/// What a set has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetFigures {
    /// Vertices in it.
    pub vertices: u64,
    /// Ends of edges in it.
    pub volume: u64,
    /// Edges between it and the rest.
    pub cut: u64,
}

/// The figures of all sets.
#[derive(Debug, Clone)]
pub struct Conductances {
    /// By the number of the set.
    pub sets: Vec<SetFigures>,
    /// Ends of all edges.
    pub volume: u64,
    /// What the run did.
    pub statistics: RunStatistics,
}

impl SetFigures {
    /// The conductance in a graph of so many ends of edges; `None` where there are none in the set, or
    /// none in the rest.
    pub fn conductance(&self, volume: u64) -> Option<f64> {
        let least = self.volume.min(volume.saturating_sub(self.volume));
        (least > 0).then(|| self.cut as f64 / least as f64)
    }
}

/// Computes the figures of all sets, while the caller holds `beside` further bytes, as for their names.
///
/// # Errors
/// Those of [`traverse::run`] and of reading.
///
/// # Panics
/// When the memberships are those of another number of vertices.
pub fn run(
    graph: &Graph,
    members: &Memberships,
    beside: u64,
    options: &RunOptions<'_>,
) -> Result<Conductances> {
    assert_eq!(members.iter().len(), graph.vertex_count() as usize, "sets for each vertex");
    let held = size(graph, members) + beside;
    traverse::run(graph, false, held, options, |job| count_all(graph, members, job, options))
}

/// Counts vertices, volumes and cuts of all sets.
fn count_all(
    graph: &Graph,
    members: &Memberships,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Conductances> {
    let started = Instant::now();
    let is_directed = !graph.manifest().undirected;
    let set_count = members.set_count() as usize;
    let mut sets = vec![SetFigures::default(); set_count];
    members.sets.iter().for_each(|&set| sets[set as usize].vertices += 1);
    let mut add_volume = |degrees: Vec<u32>| {
        for (own, degree) in members.iter().zip(degrees) {
            own.iter().for_each(|&set| sets[set as usize].volume += u64::from(degree));
        }
    };
    add_volume(graph.out_degrees()?);
    if is_directed {
        add_volume(graph.in_degrees()?);
    }
    let cuts: Vec<AtomicU64> = std::iter::repeat_with(AtomicU64::default).take(set_count).collect();
    options.progress.begin("visiting", Some(graph.edge_count()), Unit::Edges);
    let counting = Counting { job, members, cuts: &cuts, is_directed };
    job.for_each_range(|_, ids| counting.count(ids, options))?;
    options.progress.end();
    sets.iter_mut().zip(cuts).for_each(|(set, cut)| set.cut = cut.into_inner());
    let statistics = rows_statistics(job.rows(), vec![started.elapsed()], graph.edge_count());
    let volume = graph.edge_count() * if is_directed { 2 } else { 1 };
    Ok(Conductances { sets, volume, statistics })
}

/// What a run needs of memory, the memberships included.
pub fn estimate(graph: &Graph, members: &Memberships) -> Estimate {
    estimate_rows(graph, false, size(graph, members))
}

/// The memberships, a degree of each vertex, and the figures of the sets.
fn size(graph: &Graph, members: &Memberships) -> u64 {
    members.size() + 4 * u64::from(graph.vertex_count()) + 32 * u64::from(members.set_count())
}

/// What the workers share.
struct Counting<'c> {
    job: &'c RowsJob<'c>,
    members: &'c Memberships,
    cuts: &'c [AtomicU64],
    is_directed: bool,
}

impl Counting<'_> {
    /// Counts the edges of a range of sources that leave their sets. Where an edge is stored in one
    /// direction only, it is counted for the sets of its target too.
    fn count(&self, ids: Range<u32>, options: &RunOptions<'_>) -> Result<()> {
        let mut traversal = self.job.traversal(Sequential::new(ids));
        let mut edges = 0;
        // How many edges leave each set of a source.
        let mut leaving: Vec<u64> = Vec::new();
        while let Some((row, _)) = traversal.next_row()? {
            let own = self.members.of(row.source());
            leaving.clear();
            leaving.resize(own.len(), 0);
            row.for_each(|target| {
                edges += 1;
                let others = self.members.of(target);
                if own == others {
                    return;
                }
                for_each_missing(own, others, |index| leaving[index] += 1);
                if self.is_directed {
                    for_each_missing(others, own, |index| self.add(others[index], 1));
                }
            })?;
            own.iter().zip(&leaving).for_each(|(&set, &edges)| self.add(set, edges));
        }
        options.progress.advance(edges);
        Ok(())
    }

    fn add(&self, set: u32, edges: u64) {
        if edges > 0 {
            self.cuts[set as usize].fetch_add(edges, Ordering::Relaxed);
        }
    }
}

/// Visits the positions in `of` of what is not in `other`; both ascend. Takes as many steps as both have
/// entries.
#[inline]
fn for_each_missing(of: &[u32], other: &[u32], mut visit: impl FnMut(usize)) {
    let mut rest = other.iter().peekable();
    for (index, set) in of.iter().enumerate() {
        while rest.next_if(|&other| other < set).is_some() {}
        if rest.peek() != Some(&set) {
            visit(index);
        }
    }
}
