//! Bins, into which edges are sorted on their way to tiles. A bin has about half of what is encoded
//! at once.
//!
//! ```text
//!  column = 2^c targets
//!    bin = its edges from segments that give few               expected edges: at most BIN_EDGES
//!    cell = its edges from a segment that gives many
//!      bin = its edges into batches that take few              the same
//!      unit = the targets of a batch in one window
//!        span = source slices that follow one another        expected edges: BIN_EDGES, or one slice
//!          bin = the span, or of a heavy slice an aligned part of the unit's targets
//! ```
//!
//! Bins follow from the degrees alone, as if each edge met its target by chance: the share of a
//! slice of sources in the edges into a unit is expected to be its share in all edges. So nothing
//! is counted before edges are brought to their bins. Where edges do not meet by chance, bins
//! differ from what was expected, and the [building](mod@crate::encode::build) joins small ones and
//! divides large ones.

mod sources;
#[cfg(test)]
mod tests;

use std::ops::Range;

use tegula_store::tiles::{Batch, Cell, DenseEdge, Grid, TileOrder, VertexNumber, WINDOW_LOG2};

use crate::edge::{Weight, slice_of, source_of, target_of};
use crate::order::batch_plan::{BIN_EDGES, BatchPlan, PlannedBatch, UnitTable};
use sources::{SegmentSources, first_slices, middles, span_of};

/// In a graph with many cells, units with fewer expected edges share bins: there should be few
/// bins, compared with their edges.
const LIGHT_UNIT_EDGES: u64 = BIN_EDGES / 8;

/// The most cells for which a table tells where the bins of each are. The table should stay in a
/// cache.
const SMALL_TABLE_CELLS: usize = 1 << 14;

/// What the edges of a bin, or of a part of a bin, have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Region {
    /// A column, and segments of sources by their [places](Bins::segments).
    Segments { column: u32, segments: Range<u32> },
    /// A cell, and units by their places in the order in which the tiles of a cell are filed.
    Units { cell: Cell, places: Range<u32> },
    /// A cell, a unit, and slices of sources, counted from the first slice of the segment. Targets
    /// may differ in the lowest `target_bits` bits.
    Slices { cell: Cell, unit: u32, slices: Range<u32>, target_bits: u32 },
    /// A cell, a unit, and a slice. Target, source and weight, written one behind the other, may
    /// differ in the lowest `bits` bits.
    Slice { cell: Cell, unit: u32, bits: u32 },
}

/// The targets of a batch in one window: a window of a large batch, or a small batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    /// Index of its batch among the planned batches.
    pub batch: u32,
    /// Its place in the order in which the tiles of a cell are filed, counted through all columns.
    pub place: u32,
}

/// Consecutive bins. Their tiles are mixed with each other's, and with no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub bins: Range<usize>,
    /// Edges that are expected in all these bins.
    pub expected_edges: u64,
}

/// All bins of a graph, in the order of cells, units, sources and targets.
pub(crate) struct Bins {
    pub list: Vec<Region>,
    /// The bins by what stands together in the file.
    pub stretches: Vec<Stretch>,
    pub units: Vec<Unit>,
    /// The unit at each place.
    pub unit_at: Vec<u32>,
    /// The numbers of the segments in which edges begin. The place of a segment is its index in
    /// this list.
    pub segments: Vec<u32>,
    grid: Grid,
    tile_order: TileOrder,
    batches: Vec<Batch>,
    /// The index of each batch in the whole graph.
    batch_indices: Vec<usize>,
    unit_table: UnitTable,
    /// The place of each segment in which edges begin, by its number.
    segment_places: Vec<u32>,
    /// The place of each column with a batch, by its number.
    column_places: Vec<u32>,
    /// For each column, where its entries in `cells` begin, and one more for the end.
    first_cells: Vec<u32>,
    /// Column by column, cells from consecutive segments that have their bins in the same place.
    cells: Vec<Cells>,
    /// The bins of each cell, by the places of its column and segment, if this table is small. It
    /// spares a search for each edge.
    small_table: Vec<CellBins>,
    spans_of_unit: Vec<UnitSpans>,
    spans: Vec<Span>,
    /// Where `middle_of_slice` begins for each segment, by the segment's place.
    first_slices: Vec<u32>,
    /// For each slice of a segment, the part of the edges of the segment whose sources lie before
    /// the middle of the slice, times 2^32.
    middle_of_slice: Vec<u32>,
}

/// Cells of a column, from the segment at this place up to where the next ones begin.
#[derive(Debug, Clone, Copy)]
struct Cells {
    first_segment: u32,
    bins: CellBins,
}

/// Where the bins of cells are.
#[derive(Debug, Clone, Copy)]
enum CellBins {
    /// All their edges go to one bin.
    Bin(u32),
    /// Each unit has bins. The spans of the column's first unit are at `first_spans` in
    /// `spans_of_unit`.
    Units { first_spans: u32, first_unit: u32 },
}

/// The `count` spans of a unit, from `first` on, of about equally many edges each.
#[derive(Debug, Clone, Copy)]
struct UnitSpans {
    first: u32,
    count: u32,
}

/// Maps the targets of a span to its bins.
#[derive(Debug, Clone, Copy)]
struct Span {
    first_bin: u32,
    /// The bits of a target that tell it from others of its unit.
    target_mask: u32,
    shift: u32,
}

/// Consecutive segments or units whose edges go to one bin, and the edges expected there.
#[derive(Default)]
struct Joined(Option<(Range<u32>, u64)>);

impl Joined {
    /// Adds the next segments or units. If they are too many for the bin they begin another, and
    /// what was joined before is returned.
    fn add(&mut self, next: Range<u32>, expected: u64) -> Option<(Range<u32>, u64)> {
        match &mut self.0 {
            Some((range, before)) if *before + expected <= BIN_EDGES => {
                range.end = next.end;
                *before += expected;
                None
            }
            full => full.replace((next, expected)),
        }
    }
}

impl Bins {
    /// Returns the bins of a graph with the batches of `plan`.
    pub fn new(plan: &BatchPlan) -> Bins {
        let total = plan.segments.iter().map(|segment| segment.edges).sum();
        let sources_of = |segment| SegmentSources::new(segment, total);
        let segments: Vec<SegmentSources> = plan.segments.iter().map(sources_of).collect();
        let numbers: Vec<u32> = plan.segments.iter().map(|segment| segment.segment).collect();
        let column_of =
            |planned: &PlannedBatch| (planned.batch.target_first >> plan.grid.column_log2) as u32;
        let mut columns: Vec<u32> = plan.batches.iter().map(column_of).collect();
        // Batches ascend, so those of a column are adjacent.
        columns.dedup();
        let (units, unit_at) = units(plan);
        let mut bins = Bins {
            list: Vec::new(),
            stretches: Vec::new(),
            units,
            unit_at,
            grid: plan.grid,
            tile_order: plan.tile_order,
            batches: plan.batches.iter().map(|planned| planned.batch).collect(),
            batch_indices: plan.batches.iter().map(|planned| planned.index).collect(),
            unit_table: plan.units(),
            segment_places: places_of(&numbers),
            segments: numbers,
            column_places: places_of(&columns),
            first_cells: vec![0],
            cells: Vec::new(),
            small_table: Vec::new(),
            spans_of_unit: Vec::new(),
            spans: Vec::new(),
            first_slices: first_slices(&segments),
            middle_of_slice: segments.iter().flat_map(|segment| middles(&segment.starts)).collect(),
        };
        let (mut first_batch, mut first_unit) = (0, 0);
        for batches in plan.batches.chunk_by(|a, b| column_of(a) == column_of(b)) {
            let column = column_of(&batches[0]);
            let unit_edges: Vec<u64> =
                batches.iter().flat_map(|planned| planned.unit_edges.iter().copied()).collect();
            let column =
                Column { column, first_batch, first_unit, unit_edges, batch_count: batches.len() };
            bins.add_column(&column, &segments);
            bins.first_cells.push(bins.cells.len() as u32);
            first_batch += batches.len();
            first_unit += column.unit_edges.len() as u32;
        }
        let segments = segments.len() as u32;
        if columns.len() * segments as usize <= SMALL_TABLE_CELLS {
            let column = |column: usize| (0..segments).map(move |segment| (column, segment));
            let all = (0..columns.len()).flat_map(column);
            bins.small_table = all.map(|(column, segment)| bins.find(column, segment)).collect();
        }
        bins
    }

    /// Adds the bins of a column: cell by cell where many edges are expected, and where the graph
    /// has a single segment.
    fn add_column(&mut self, column: &Column, segments: &[SegmentSources]) {
        let edges: u64 = column.unit_edges.iter().sum();
        let mut joined = Joined::default();
        let region = |segments| Region::Segments { column: column.column, segments };
        if segments.len() > 1 && edges <= BIN_EDGES {
            // There may be many columns with few edges, so not each of them looks at all segments.
            let all = 0..segments.len() as u32;
            let bins = CellBins::Bin(self.list.len() as u32);
            self.cells.push(Cells { first_segment: 0, bins });
            return self.push_joined(Some((all, edges)), region);
        }
        for (place, sources) in (0..).zip(segments) {
            let expected = sources.expected_of_all(edges);
            if segments.len() == 1 || expected > BIN_EDGES {
                // Bins are in the order of segments, so the ones before come first.
                self.push_joined(joined.0.take(), region);
                let cell = Cell { column: column.column, segment: self.segments[place as usize] };
                let first_spans = self.spans_of_unit.len() as u32;
                let bins = CellBins::Units { first_spans, first_unit: column.first_unit };
                self.cells.push(Cells { first_segment: place, bins });
                self.add_cell(cell, column, sources, segments.len() > 1);
                continue;
            }
            let is_first = joined.0.is_none();
            let full = joined.add(place..place + 1, expected);
            if is_first || full.is_some() {
                self.push_joined(full, region);
                // The bin is pushed once no more segments join it, and then has this place.
                let bins = CellBins::Bin(self.list.len() as u32);
                self.cells.push(Cells { first_segment: place, bins });
            }
        }
        self.push_joined(joined.0, region);
    }

    /// Adds the bins of a cell, unit by unit. If `may_share`, batches whose units expect few edges
    /// share bins.
    fn add_cell(&mut self, cell: Cell, column: &Column, sources: &SegmentSources, may_share: bool) {
        // By the places of units, which ascend as batches do.
        let mut joined = Joined::default();
        let region = |places| Region::Units { cell, places };
        let mut next_unit = column.first_unit;
        for batch in column.first_batch..column.first_batch + column.batch_count {
            let units =
                next_unit..self.units.partition_point(|unit| unit.batch as usize <= batch) as u32;
            next_unit = units.end;
            let edges_of = |unit: u32| column.unit_edges[(unit - column.first_unit) as usize];
            let expected = sources.expected_of_all(units.clone().map(edges_of).sum());
            let is_light = |unit| sources.expected_of_all(edges_of(unit)) < LIGHT_UNIT_EDGES;
            if !may_share || !units.clone().all(is_light) {
                self.push_joined(joined.0.take(), region);
                let first_bin = self.list.len();
                units.for_each(|unit| self.add_unit(cell, unit, edges_of(unit), sources));
                let bins = first_bin..self.list.len();
                self.stretches.push(Stretch { bins, expected_edges: expected });
                continue;
            }
            self.push_joined(joined.add(units.clone(), expected), region);
            let first_bin = self.list.len() as u32;
            for _ in units {
                self.spans_of_unit.push(UnitSpans { first: self.spans.len() as u32, count: 1 });
                // Without a mask, all targets of the unit have one bin: the shared one, which is
                // pushed here once no more batches join it.
                self.spans.push(Span { first_bin, target_mask: 0, shift: 0 });
            }
        }
        self.push_joined(joined.0, region);
    }

    /// Adds one bin for the joined range, if there is one. The bin is a stretch by itself.
    fn push_joined(
        &mut self,
        joined: Option<(Range<u32>, u64)>,
        region: impl Fn(Range<u32>) -> Region,
    ) {
        if let Some((range, expected_edges)) = joined {
            let bins = self.list.len()..self.list.len() + 1;
            self.list.push(region(range));
            self.stretches.push(Stretch { bins, expected_edges });
        }
    }

    /// Adds the spans and bins of a unit with `edges` in-edges, for one segment of sources.
    fn add_unit(&mut self, cell: Cell, unit: u32, edges: u64, sources: &SegmentSources) {
        let target_bits = self.target_bits(unit);
        let expected = sources.expected_of_all(edges);
        let count = expected.div_ceil(BIN_EDGES).clamp(1, u64::from(u32::MAX)) as u32;
        self.spans_of_unit.push(UnitSpans { first: self.spans.len() as u32, count });
        let place = self.segment_places[cell.segment as usize];
        let first_slice = self.first_slices[place as usize] as usize;
        let middles = first_slice..first_slice + sources.starts.len() - 1;
        let mut start = 0;
        for span in 0..count {
            let is_before = |&middle: &u32| span_of(middle, count) <= span;
            let end = self.middle_of_slice[middles.clone()].partition_point(is_before);
            let expected = sources.expected(edges, start..end);
            // A span of several slices expects about a bin of edges. Only a heavy slice that is a
            // span by itself is cut, along its targets.
            let cut_bits = match end - start {
                1 => expected.div_ceil(BIN_EDGES).max(1).next_power_of_two().ilog2(),
                _ => 0,
            };
            let bin_bits = target_bits.saturating_sub(cut_bits);
            let target_mask = (1 << target_bits) - 1;
            let first_bin = self.list.len() as u32;
            self.spans.push(Span { first_bin, target_mask, shift: bin_bits });
            // A heavy slice may reach over several spans. Only the one with its middle has a bin.
            if start < end {
                let slices = start as u32..end as u32;
                let bin = Region::Slices { cell, unit, slices, target_bits: bin_bits };
                self.list.extend(std::iter::repeat_n(bin, 1 << (target_bits - bin_bits)));
            }
            start = end;
        }
    }

    /// Returns the bin of an edge.
    #[inline]
    pub fn bin_of<N: VertexNumber, W: Weight>(&self, edge: &DenseEdge<N, W>) -> usize {
        let (source, target) = (source_of(edge), target_of(edge));
        let column = self.column_places[(target >> self.grid.column_log2) as usize] as usize;
        let segment = self.segment_place(source);
        let bins = match self.small_table.get(column * self.segments.len() + segment as usize) {
            Some(&bins) => bins,
            None => self.find(column, segment),
        };
        match bins {
            CellBins::Bin(bin) => bin as usize,
            CellBins::Units { first_spans, first_unit } => {
                let unit = first_spans + (self.unit_table.get(target) - first_unit);
                let UnitSpans { first, count } = self.spans_of_unit[unit as usize];
                let slice = self.first_slices[segment as usize] + slice_of(edge, self.grid);
                let middle = self.middle_of_slice[slice as usize];
                let span = self.spans[(first + span_of(middle, count)) as usize];
                let part = (target as u32 & span.target_mask) >> span.shift;
                span.first_bin as usize + part as usize
            }
        }
    }

    /// Finds the bins of a cell by the places of its column and segment.
    fn find(&self, column: usize, segment: u32) -> CellBins {
        let cells = self.first_cells[column] as usize..self.first_cells[column + 1] as usize;
        let cells = &self.cells[cells];
        cells[cells.partition_point(|cells| cells.first_segment <= segment) - 1].bins
    }

    /// Returns the unit of a target, counted through all columns.
    pub fn unit_of(&self, target: u64) -> u32 {
        self.unit_table.get(target)
    }

    /// Returns the index of the batch of a unit among all batches of the graph.
    pub fn batch_index(&self, unit: u32) -> usize {
        self.batch_indices[self.units[unit as usize].batch as usize]
    }

    /// Returns the place of the segment of a source.
    #[inline]
    pub fn segment_place(&self, source: u64) -> u32 {
        self.segment_places[(source >> self.grid.segment_log2) as usize]
    }

    /// Returns the region of all edges from a segment into a unit.
    pub fn whole_unit(&self, cell: Cell, unit: u32) -> Region {
        let slices_log2 = self.grid.segment_log2 - self.grid.slice_log2();
        let slices = 0..1 << slices_log2;
        Region::Slices { cell, unit, slices, target_bits: self.target_bits(unit) }
    }

    /// Returns the number of low bits in which the targets of a unit may differ.
    fn target_bits(&self, unit: u32) -> u32 {
        self.batches[self.units[unit as usize].batch as usize].log2.min(WINDOW_LOG2)
    }

    /// The grid in which the edges are filed.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Returns the places of the units of a column.
    pub fn places(&self, column: u32) -> Range<u32> {
        let first_of = |unit: &Unit| self.batches[unit.batch as usize].target_first;
        let column_of = |unit: &Unit| (first_of(unit) >> self.grid.column_log2) as u32;
        let start = self.units.partition_point(|unit| column_of(unit) < column);
        let end = self.units.partition_point(|unit| column_of(unit) <= column);
        start as u32..end as u32
    }

    /// Returns where the tiles of a bin are filed: by cell, batch, and in the order of tiles.
    pub fn file_order(&self, bin: &Region) -> (Cell, u32, u64) {
        match bin {
            Region::Segments { column, segments } => {
                (Cell { column: *column, segment: self.segments[segments.start as usize] }, 0, 0)
            }
            Region::Units { cell, places } => {
                let unit = self.unit_at[places.start as usize];
                (*cell, self.units[unit as usize].batch, 0)
            }
            Region::Slices { cell, unit, slices, .. } => {
                let Unit { batch, .. } = self.units[*unit as usize];
                let source = slices.start << self.grid.slice_log2();
                let target = self.target_first(*unit);
                let batch_of = &self.batches[batch as usize];
                (*cell, batch, batch_of.tile_position(self.tile_order, source, target))
            }
            Region::Slice { cell, unit, .. } => (*cell, self.units[*unit as usize].batch, 0),
        }
    }

    /// Returns the first target of a unit.
    fn target_first(&self, unit: u32) -> u64 {
        let batch = self.units[unit as usize].batch;
        let first_of_batch = self.units.partition_point(|unit| unit.batch < batch) as u32;
        let target = self.batches[batch as usize].target_first;
        target + (u64::from(unit - first_of_batch) << WINDOW_LOG2)
    }
}

/// A column: its batches and units, and the edges into each unit.
struct Column {
    column: u32,
    first_batch: usize,
    batch_count: usize,
    first_unit: u32,
    unit_edges: Vec<u64>,
}

/// Returns the units of all batches, and the units by their places in the order of the file.
fn units(plan: &BatchPlan) -> (Vec<Unit>, Vec<u32>) {
    let (mut units, mut unit_at) = (Vec::new(), Vec::new());
    let mut order = Vec::new();
    for (batch, planned) in (0..).zip(&plan.batches) {
        order.clear();
        for window in 0..planned.unit_edges.len() as u64 {
            let target = planned.batch.target_first + (window << WINDOW_LOG2);
            let position = planned.batch.tile_position(plan.tile_order, 0, target);
            order.push((position, units.len() as u32));
            units.push(Unit { batch, place: 0 });
        }
        order.sort_unstable();
        unit_at.extend(order.iter().map(|&(_, unit)| unit));
    }
    for (place, &unit) in (0..).zip(&unit_at) {
        units[unit as usize].place = place;
    }
    (units, unit_at)
}

/// Maps ascending numbers to their places among each other.
fn places_of(numbers: &[u32]) -> Vec<u32> {
    let mut places = vec![u32::MAX; numbers.last().map_or(0, |&last| last as usize + 1)];
    for (place, &number) in (0..).zip(numbers) {
        places[number as usize] = place;
    }
    places
}
