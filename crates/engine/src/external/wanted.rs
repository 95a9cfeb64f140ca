//! How many messages a group of columns needs, according to the lists of its cells, and whether
//! they are sent to it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tegula_store::graph::{CellEntry, Graph};

use crate::memory::ArraysPlan;
use crate::options::Messages;

/// A sent message is written and read. A list is read twice: to choose messages and to place them.
const TRANSFERS: u64 = 2;

/// Bytes that a disk reads while processors choose a message, send it and place it: 3 to 5 ns, at a
/// gigabyte a second. So messages of four bytes are sent if about one in three and a half is
/// needed; DFOGraph's threshold is two.
const WORK_PER_MESSAGE: u64 = 4;

/// The messages of a segment that a group of columns needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NeededMessages {
    /// Most sources that are listed.
    pub sources: u64,
    /// Bytes of the lists.
    pub list_bytes: u64,
    /// Bytes of the tiles to which they lead.
    pub tile_bytes: u64,
}

/// The lists of the cells of a graph. A graph with one segment needs none, because all messages
/// stay in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellLists {
    /// In the order of the columns.
    cells: Arc<[ListedCell]>,
    /// The number of sources in each segment.
    segments: Vec<u64>,
    messages: Messages,
    message_size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ListedCell {
    column: u32,
    segment: u32,
    source_count: u32,
    /// 0 if its sources are not listed.
    list_bytes: u32,
    tile_bytes: u64,
}

impl NeededMessages {
    /// Returns the bytes that sending moves if `active` of the `size` sources of a segment have a
    /// message. It sends the messages of all listed sources, or only the messages of the active
    /// ones, with their sources.
    pub fn traffic(&self, active: u64, size: u64, message_size: u64) -> u64 {
        let all = TRANSFERS * (self.sources * message_size + self.list_bytes);
        let pair = message_size + size_of::<u32>() as u64;
        let pairs = (self.likely(active, size) * pair as f64).ceil() as u64;
        // The list is read once here: pairs bring their sources, so nothing has to be placed by it.
        all.min(TRANSFERS * pairs + self.list_bytes)
    }

    /// Returns the bytes that a disk reads while the listed messages are chosen, sent and placed.
    pub fn work(&self) -> u64 {
        WORK_PER_MESSAGE * self.sources
    }

    /// Returns the bytes of tiles that are not read if it is known that none of the active sources
    /// is listed.
    pub fn spared(&self, active: u64, size: u64) -> u64 {
        ((1.0 - self.likely(active, size).min(1.0)) * self.tile_bytes as f64) as u64
    }

    /// Returns how many active sources are listed, if activity and lists are independent.
    fn likely(&self, active: u64, size: u64) -> f64 {
        active as f64 * self.sources as f64 / size.max(1) as f64
    }
}

impl CellLists {
    /// Returns the lists of the cells of a graph, for messages of `message_size` bytes.
    pub fn of(graph: &Graph, message_size: usize, messages: Messages) -> CellLists {
        let (grid, vertex_count) = (graph.grid(), graph.vertex_count());
        let has_lists = graph.manifest().lists_sources() && messages != Messages::Reread;
        let cells: &[CellEntry] = if has_lists { graph.cells() } else { &[] };
        let listed = |entry: &CellEntry| ListedCell {
            column: entry.cell.column,
            segment: entry.cell.segment,
            source_count: entry.source_count,
            list_bytes: entry.sources_size,
            tile_bytes: tile_bytes(graph, entry),
        };
        let segments = 0..grid.segment_count(vertex_count);
        let size = |segment| grid.source_count(segment, vertex_count).into();
        CellLists {
            cells: cells.iter().map(listed).collect(),
            segments: segments.map(size).collect(),
            messages,
            message_size: message_size as u64,
        }
    }

    /// Returns whether messages are sent wherever possible, at any cost.
    pub fn must_send(&self) -> bool {
        self.messages == Messages::Dispatched
    }

    /// Returns the bytes of a message.
    pub fn message_size(&self) -> usize {
        self.message_size as usize
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Returns the bytes of the longest list.
    pub fn list_bytes_max(&self) -> u64 {
        self.cells.iter().map(|cell| u64::from(cell.list_bytes)).max().unwrap_or(0)
    }

    /// Returns what a group of columns needs from each segment. `None` if not all of it is listed,
    /// or if sending would cost more than reading all messages again.
    pub fn wanted(&self, columns: Range<u32>) -> Vec<Option<NeededMessages>> {
        let nothing = (!self.cells.is_empty()).then(NeededMessages::default);
        let mut wanted = vec![nothing; self.segments.len()];
        let behind = |column| self.cells.partition_point(|cell| cell.column < column);
        let of_cells = self.wanted_by(&self.cells[behind(columns.start)..behind(columns.end)]);
        of_cells.into_iter().for_each(|(segment, it)| wanted[segment] = it);
        wanted
    }

    /// Returns the same for each group of columns but the first, for the segments from which it has
    /// edges.
    pub fn wanted_by_further_groups(
        &self,
        plan: &ArraysPlan,
    ) -> impl Iterator<Item = BTreeMap<usize, Option<NeededMessages>>> {
        let group_of = |cell: &ListedCell| plan.group_of(cell.column);
        let groups = self.cells.chunk_by(move |one, next| group_of(one) == group_of(next));
        groups.filter(move |cells| group_of(&cells[0]) > 0).map(|cells| self.wanted_by(cells))
    }

    fn wanted_by(&self, cells: &[ListedCell]) -> BTreeMap<usize, Option<NeededMessages>> {
        let mut wanted = BTreeMap::new();
        for cell in cells {
            let place =
                wanted.entry(cell.segment as usize).or_insert(Some(NeededMessages::default()));
            // One cell without a list is enough for a group to need all messages.
            *place = place.filter(|_| cell.list_bytes > 0).map(|wanted| NeededMessages {
                sources: wanted.sources + u64::from(cell.source_count),
                list_bytes: wanted.list_bytes + u64::from(cell.list_bytes),
                tile_bytes: wanted.tile_bytes + cell.tile_bytes,
            });
        }
        for (&segment, place) in &mut wanted {
            let size = self.segments[segment];
            // Several columns may list the same source, so the sum may exceed the segment.
            let capped = place.map(|it| NeededMessages { sources: it.sources.min(size), ..it });
            *place = capped.filter(|wanted| {
                let sent = wanted.traffic(size, size, self.message_size);
                self.sends(sent + wanted.work(), size * self.message_size)
            });
        }
        wanted
    }

    /// Returns the bytes of messages that an iteration moves if all vertices are active. `held` is
    /// the share of the messages to read again that stays in memory.
    pub fn traffic(&self, plan: &ArraysPlan, held: f64) -> MessageTraffic {
        let mut traffic = MessageTraffic::default();
        if self.segments.len() == 1 {
            return traffic;
        }
        let all =
            |segment: usize| (self.segments[segment] * self.message_size) as f64 * (1.0 - held);
        if plan.groups > 1 && (!plan.sends || self.cells.is_empty()) {
            // Each is kept once, and read again by all groups but the first, which generates it
            // from the states.
            let of_each = (0..self.segments.len()).map(|segment| all(segment) as u64);
            traffic.reread = of_each.sum::<u64>() * u64::from(plan.groups);
            return traffic;
        }
        let mut is_kept = vec![false; self.segments.len()];
        let mut reread = |segment: usize| {
            // Keeping is paid once, by the first group that reads the messages again.
            let to_keep = if std::mem::replace(&mut is_kept[segment], true) { 1.0 } else { 2.0 };
            traffic.reread += (to_keep * all(segment)) as u64;
        };
        for wanted in self.wanted_by_further_groups(plan) {
            for (segment, wanted) in wanted {
                let size = self.segments[segment];
                let sent = wanted
                    .map(|wanted| (wanted.traffic(size, size, self.message_size), wanted.work()));
                match sent.filter(|(sent, work)| self.sends(sent + work, all(segment) as u64)) {
                    Some((sent, work)) => {
                        traffic.sent += sent;
                        traffic.work += work;
                    }
                    None => reread(segment),
                }
            }
        }
        traffic
    }

    /// Returns whether messages are sent if that costs `sent` bytes, and reading all of them again
    /// `reread` bytes.
    pub fn sends(&self, sent: u64, reread: u64) -> bool {
        self.must_send() || sent < reread
    }
}

/// Bytes of messages that an iteration moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageTraffic {
    /// Bytes that are written to keep messages, and read again.
    pub reread: u64,
    /// Bytes that are written to send messages to the groups that need them, and read there.
    pub sent: u64,
    /// Bytes that a disk would read while processors send them.
    pub work: u64,
}

/// Returns the bytes of the tiles of a cell, which are consecutive.
fn tile_bytes(graph: &Graph, cell: &CellEntry) -> u64 {
    match &graph.tiles()[cell.tiles.clone()] {
        [] => 0,
        [first, .., last] => last.offset + u64::from(last.size) - first.offset,
        [only] => only.size.into(),
    }
}

/// Yields the cells of some columns in a segment.
pub fn cells_of(
    graph: &Graph,
    columns: Range<u32>,
    segment: u32,
) -> impl Iterator<Item = &CellEntry> {
    let cells = graph.cells();
    let behind = |column: u32| cells.partition_point(|entry| entry.cell.column < column);
    cells[behind(columns.start)..behind(columns.end)]
        .iter()
        .filter(move |entry| entry.cell.segment == segment)
}
