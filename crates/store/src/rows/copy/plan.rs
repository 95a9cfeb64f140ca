//! Chooses which rows of a chunk copy from which, and fits the codes.
//!
//! A reference does not copy. So the rows of a chunk are divided into those that others may copy
//! from and those that copy, such that the chunk takes the fewest bits. First, each row takes the
//! cheapest reference among the earlier rows that do not copy. Then rows change sides, one at a
//! time, as long as that saves bits.

use super::super::bits::BitWriter;
use super::super::class_code::{CLASSES, ClassCode};
use super::super::codes::CodeWriter;
use super::super::fit_code::{Histogram, fit_code};
use super::super::gap::GapCode;
use super::{CopyCode, HeadCodes, REACH_BITS, REFERENCE_EDGES_MAX};

/// Greatest distance from a row to a reference, in vertices. The classes of a reference with a
/// width reach this far.
const DISTANCE_MAX: usize = 28;

/// References measured for a row: those with the most neighbours in common.
const CANDIDATES: usize = 4;

/// Rounds in which rows change sides. After these, few would.
const ROUNDS: usize = 3;

/// Rows of a chunk copy if that saves one bit in `GAIN_MIN`: they take 1.3 to 1.6 times as long to
/// decode.
const GAIN_MIN: u64 = 4;

/// No plan is made where fewer than one in `COMMON_MIN` of all neighbours is in an earlier row. One
/// neighbour of each row does not count, because copying a single one saves nothing.
const COMMON_MIN: usize = 4;

/// A plan takes longer than coding in gaps. So a sample is planned first: one neighbour in
/// `SAMPLE_SHARE`, and at least `SAMPLE_ROWS_MIN` rows. The rest is planned if copying pays for the
/// sample.
const SAMPLE_SHARE: usize = 16;
const SAMPLE_ROWS_MIN: usize = 64;
/// In the sample it suffices to save one bit in `SAMPLE_GAIN_MIN`: the others may save more.
const SAMPLE_GAIN_MIN: u64 = 2 * GAIN_MIN;

/// Widths of the code of runs before it is fitted.
const RUN_WIDTHS: [u8; CLASSES - 1] = [0, 1, 2, 3, 4, 5, 8];

/// The rows of a chunk, and what each copies from.
#[derive(Debug)]
pub(in crate::rows) struct CopyPlan {
    rows: Vec<PlannedRow>,
    targets: Vec<u32>,
    /// Number of rows already encoded.
    done: usize,
}

/// A row that is not empty.
#[derive(Debug, Default)]
struct PlannedRow {
    source: u32,
    /// The end of its targets among those of all rows.
    end: usize,
    /// Rows that may be its reference.
    candidates: [Candidate; CANDIDATES],
    /// Bits without a reference.
    bits: u32,
    /// The candidate that it copies from.
    chosen: Option<u8>,
    /// The bit where it begins, after encoding.
    start: u64,
}

/// An earlier row.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    /// Distance in rows, without empty ones; 0 if there is no candidate.
    back: usize,
    /// Bits of the row with this reference.
    bits: u32,
}

impl PlannedRow {
    fn chosen(&self) -> Option<&Candidate> {
        self.chosen.map(|number| &self.candidates[usize::from(number)])
    }

    fn bits_chosen(&self) -> u32 {
        self.chosen().map_or(self.bits, |candidate| candidate.bits)
    }
}

impl CopyPlan {
    /// Bytes to plan a chunk and to hold the plan.
    pub fn size(edges: u64, sources: u64) -> u64 {
        // Targets; and either links to search them, or the residuals that codes are fitted to.
        let edge_size = size_of::<u32>() + size_of::<Link>().max(size_of::<(u32, u32)>());
        // The list of rows grows by doubling. The sample is taken after the list has shrunk, and
        // has at most half of the neighbours.
        let row_size = 2 * size_of::<PlannedRow>();
        edges * edge_size as u64 + sources * row_size as u64 + Links::TABLE_SIZE
    }

    /// Plans a chunk of these arcs, to which `gap` was fitted, and returns the code. `None` if
    /// copying saves too little.
    pub fn new(
        arcs: impl Iterator<Item = (u32, u32)> + Clone,
        gap: &GapCode,
    ) -> Option<(Self, CopyCode)> {
        let all = Self::gather(arcs);
        if let Some(sample) = all.sample() {
            sample.planned(gap, SAMPLE_GAIN_MIN)?;
        }
        all.planned(gap, GAIN_MIN)
    }

    /// Chooses what each row copies and fits the code. `None` if copying does not save one bit in
    /// `gain_min`.
    fn planned(mut self, gap: &GapCode, gain_min: u64) -> Option<(Self, CopyCode)> {
        if self.find_candidates() * COMMON_MIN < self.targets.len() {
            return None;
        }
        let alone = (0..self.rows.len()).map(|index| {
            bits_of(|visit| gap.for_each_code(self.rows[index].source, self.targets(index), visit))
        });
        let alone: u64 = alone.map(u64::from).sum();
        let mut code = CopyCode { gap: gap.clone(), head: HeadCodes::new(RUN_WIDTHS) };
        let mut bits = 0;
        // Choices depend on the code and the code on the choices: two rounds are enough.
        for _ in 0..2 {
            self.choose(&code);
            bits = self.drop_what_is_too_far();
            code = self.fit(gap);
        }
        (bits + alone / gain_min < alone).then_some((self, code))
    }

    fn gather(arcs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut targets = Vec::with_capacity(arcs.clone().count());
        let mut rows = Vec::<PlannedRow>::new();
        arcs.for_each(|(source, target)| {
            targets.push(target);
            let end = targets.len();
            match rows.last_mut() {
                Some(row) if row.source == source => row.end = end,
                _ => rows.push(PlannedRow { source, end, ..PlannedRow::default() }),
            }
        });
        // `size` counts on this.
        rows.shrink_to_fit();
        Self { rows, targets, done: 0 }
    }

    /// The targets of the row with this number.
    fn targets(&self, index: usize) -> &[u32] {
        let start = index.checked_sub(1).map_or(0, |before| self.rows[before].end);
        &self.targets[start..self.rows[index].end]
    }

    /// Returns a plan of rows in the middle, with one in [`SAMPLE_SHARE`] of all neighbours. `None`
    /// if these are more than half.
    fn sample(&self) -> Option<Self> {
        let len = self.targets.len();
        let row_of = |place: usize| self.rows.partition_point(|row| row.end <= place);
        let [first, end] =
            [len - len / SAMPLE_SHARE, len + len / SAMPLE_SHARE].map(|place| row_of(place / 2));
        let first = first.min(self.rows.len().saturating_sub(SAMPLE_ROWS_MIN));
        let rows = self.rows.get(first..end.max(first + SAMPLE_ROWS_MIN))?;
        let start = first.checked_sub(1).map_or(0, |before| self.rows[before].end);
        let end = rows.last()?.end;
        if end - start > len / 2 {
            return None;
        }
        let copy = |row: &PlannedRow| PlannedRow {
            source: row.source,
            end: row.end - start,
            ..PlannedRow::default()
        };
        let rows = rows.iter().map(copy).collect();
        Some(Self { rows, targets: self.targets[start..end].to_vec(), done: 0 })
    }

    /// For each row, finds the earlier rows with the most neighbours in common. Returns the number
    /// of neighbours shared with the best of these, less one for each row.
    fn find_candidates(&mut self) -> usize {
        let mut links = Links::new(self.targets.len());
        let (mut start, mut common_all) = (0, 0);
        for index in 0..self.rows.len() {
            let PlannedRow { source, end, .. } = self.rows[index];
            let is_near = |row: &PlannedRow| (source - row.source) as usize <= DISTANCE_MAX;
            let back_max = self.rows[..index].iter().rev();
            let back_max = back_max.take(DISTANCE_MAX).take_while(|row| is_near(row));
            let first = index - back_max.count();
            let mut common: [(u32, usize); DISTANCE_MAX + 1] =
                std::array::from_fn(|back| (0, back));
            // No row copies from a longer one.
            let is_reference = end - start <= REFERENCE_EDGES_MAX;
            for place in start..end {
                let visit = |row: usize| common[index - row].0 += 1;
                links.look_up(&self.targets, place, first, visit);
                links.add(&self.targets, place, index, is_reference);
            }
            // A row with repeated neighbours finds itself.
            common[0].0 = 0;
            common.sort_unstable_by_key(|&(count, back)| (std::cmp::Reverse(count), back));
            common_all += common[0].0.saturating_sub(1) as usize;
            for (candidate, (count, back)) in self.rows[index].candidates.iter_mut().zip(common) {
                candidate.back = if count > 0 { back } else { 0 };
            }
            start = end;
        }
        common_all
    }

    /// Chooses references such that the rows take few bits with `code`.
    fn choose(&mut self, code: &CopyCode) {
        self.measure(code);
        for index in 0..self.rows.len() {
            self.rows[index].chosen = self.cheapest(index).1;
        }
        for _ in 0..ROUNDS {
            let changed = (0..self.rows.len()).filter(|&index| self.change_side(index)).count();
            if changed == 0 {
                break;
            }
        }
    }

    /// Cancels the copying of rows whose reference begins too far before them. Returns the bits of
    /// all rows.
    fn drop_what_is_too_far(&mut self) -> u64 {
        let mut start = 0;
        for index in 0..self.rows.len() {
            self.rows[index].start = start;
            let back = self.rows[index].chosen().map_or(0, |candidate| candidate.back);
            if start - self.rows[index - back].start > REACH_BITS {
                self.rows[index].chosen = None;
            }
            start += u64::from(self.rows[index].bits_chosen());
        }
        start
    }

    /// Measures each row with each of its candidates.
    fn measure(&mut self, code: &CopyCode) {
        let mut split = Split::default();
        for index in 0..self.rows.len() {
            let mut bits = |plan: &Self, back: usize| {
                let reference = if back == 0 { &[] } else { plan.targets(index - back) };
                split.divide(plan.targets(index), reference);
                let (source, distance) = (plan.rows[index].source, plan.distance(index, back));
                bits_of(|visit| code.for_each_code(source, distance, &split, visit))
            };
            self.rows[index].bits = bits(self, 0);
            for number in 0..CANDIDATES {
                let back = self.rows[index].candidates[number].back;
                if back > 0 {
                    self.rows[index].candidates[number].bits = bits(self, back);
                }
            }
        }
    }

    /// Returns the distance in vertices from a row to the one `back` rows before.
    fn distance(&self, index: usize, back: usize) -> u32 {
        self.rows[index].source - self.rows[index - back].source
    }

    /// The fewest bits of a row, and the candidate that gives them.
    fn cheapest(&self, index: usize) -> (u32, Option<u8>) {
        let row = &self.rows[index];
        let is_free = |candidate: &Candidate| {
            candidate.back > 0 && self.rows[index - candidate.back].chosen.is_none()
        };
        let candidates = (0..).zip(&row.candidates).filter(|(_, candidate)| is_free(candidate));
        let bits = candidates.map(|(number, candidate)| (candidate.bits, Some(number)));
        bits.chain([(row.bits, None)]).min().unwrap_or_default()
    }

    /// The rows that may copy from this one, with their bits if they do.
    fn users(&self, index: usize) -> impl Iterator<Item = (usize, u32)> + use<'_> {
        let behind = self.rows.iter().enumerate().skip(index + 1).take(DISTANCE_MAX);
        behind.filter_map(move |(user, row)| {
            let candidate = row.candidates.iter().find(|candidate| candidate.back == user - index);
            candidate.map(|candidate| (user, candidate.bits))
        })
    }

    /// Makes a row copy that did not, or the other way round, if that saves bits over all rows
    /// concerned. Returns whether it did.
    fn change_side(&mut self, index: usize) -> bool {
        let row = &self.rows[index];
        let (before, chosen) = (i64::from(row.bits_chosen()), row.chosen);
        let copied_bits = |plan: &Self| -> i64 {
            let users = plan.users(index).filter(|&(user, _)| plan.rows[user].chosen.is_some());
            users.map(|(user, _)| i64::from(plan.cheapest(user).0)).sum()
        };
        if chosen.is_none() && self.cheapest(index).1.is_none() {
            return false;
        }
        let others = copied_bits(self);
        let (bits, next) =
            if chosen.is_some() { (self.rows[index].bits, None) } else { self.cheapest(index) };
        self.rows[index].chosen = next;
        if i64::from(bits) + copied_bits(self) >= before + others {
            self.rows[index].chosen = chosen;
            return false;
        }
        // Collected, because the rows that this borrows change below.
        let users: [Option<usize>; DISTANCE_MAX] = {
            let mut users = self.users(index).map(|(user, _)| user);
            std::array::from_fn(|_| users.next())
        };
        for user in users.into_iter().flatten() {
            if self.rows[user].chosen.is_some() {
                self.rows[user].chosen = self.cheapest(user).1;
            }
        }
        true
    }

    /// Fits the code to the chosen references. The code can also hold a row without its reference.
    fn fit(&self, gap: &GapCode) -> CopyCode {
        let mut runs = Histogram::new();
        let mut split = Split::default();
        let mut residuals = Vec::with_capacity(self.targets.len());
        for (index, row) in self.rows.iter().enumerate() {
            let reference = row.chosen().map(|candidate| self.targets(index - candidate.back));
            split.divide(self.targets(index), reference.unwrap_or_default());
            if reference.is_some() {
                split.for_each_run_code(|number| runs.add(number));
            }
            residuals.extend(split.residuals.iter().map(|&target| (row.source, target)));
        }
        let (_, runs) = fit_code(&runs);
        let [widths @ .., _] = runs.to_bytes();
        let all = (0..self.rows.len()).flat_map(|index| {
            self.targets(index).iter().map(move |&target| (self.rows[index].source, target))
        });
        CopyCode { gap: gap.fit_again(residuals.into_iter(), all), head: HeadCodes::new(widths) }
    }

    /// Appends the row of `source`. Rows come in order; empty rows may be left out.
    pub fn encode(&mut self, code: &CopyCode, source: u32, out: &mut BitWriter) {
        let index = self.done;
        if self.rows.get(index).is_none_or(|row| row.source != source) {
            return;
        }
        let start = out.len();
        self.rows[index].start = start;
        // Rows between the two may take more bits than planned.
        let is_within_reach = |back: usize| start - self.rows[index - back].start <= REACH_BITS;
        let back = self.rows[index].chosen().map(|candidate| candidate.back);
        let back = back.filter(|&back| is_within_reach(back)).unwrap_or(0);
        let mut split = Split::default();
        split.divide(self.targets(index), if back == 0 { &[] } else { self.targets(index - back) });
        let mut codes = CodeWriter::new(split.runs.len() + split.residuals.len() + 2);
        let distance = self.distance(index, back);
        code.for_each_code(source, distance, &split, |code, number| {
            codes.write(code, number, out);
        });
        codes.finish(out);
        self.done += 1;
    }
}

/// A row, divided into copied targets and residuals.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// Lengths of the runs of the reference, in turn copied and left out, without the last.
    pub runs: Vec<u64>,
    pub residuals: Vec<u32>,
}

impl Split {
    /// Divides the targets of a row by those of its reference; both ascend.
    fn divide(&mut self, targets: &[u32], reference: &[u32]) {
        self.runs.clear();
        self.residuals.clear();
        let (mut is_copied, mut len) = (true, 0);
        let mut next = 0;
        for &other in reference {
            while next < targets.len() && targets[next] < other {
                self.residuals.push(targets[next]);
                next += 1;
            }
            let is_common = targets.get(next) == Some(&other);
            if is_common != is_copied {
                self.runs.push(len);
                (is_copied, len) = (is_common, 0);
            }
            len += 1;
            next += usize::from(is_common);
        }
        self.residuals.extend_from_slice(&targets[next..]);
    }

    /// Visits the runs as numbers: their count, the first length, then each further length less 1.
    pub fn for_each_run_code(&self, mut visit: impl FnMut(u64)) {
        visit(self.runs.len() as u64);
        for (index, run) in self.runs.iter().enumerate() {
            visit(run - u64::from(index > 0));
        }
    }
}

/// Bits of a row with these codes.
fn bits_of(codes: impl FnOnce(&mut dyn FnMut(&ClassCode, u64))) -> u32 {
    let (mut bits, mut spared) = (0, 0);
    codes(&mut |code, number| {
        let (len, zeros) = code.bits_of(number);
        bits += len;
        // Only the last offset goes without its leading zeros.
        spared = zeros;
    });
    bits - spared
}

/// Finds the earlier rows that have the same neighbour.
struct Links {
    /// The last neighbour with each hash, plus 1.
    last: Vec<u32>,
    links: Vec<Link>,
}

/// A neighbour of a row.
#[derive(Clone, Copy)]
struct Link {
    /// The previous neighbour with the same hash, plus 1.
    before: u32,
    row: u32,
}

impl Links {
    const TABLE_LOG2: u32 = 15;
    const TABLE_SIZE: u64 = 4 << Self::TABLE_LOG2;

    fn new(count: usize) -> Self {
        Self { last: vec![0; 1 << Self::TABLE_LOG2], links: Vec::with_capacity(count) }
    }

    fn hash(target: u32) -> usize {
        (target.wrapping_mul(0x9e37_79b1) >> (32 - Self::TABLE_LOG2)) as usize
    }

    /// Visits the rows from `first` on that have the neighbour at `place`.
    fn look_up(&self, targets: &[u32], place: usize, first: usize, mut visit: impl FnMut(usize)) {
        let mut before = self.last[Self::hash(targets[place])];
        while let Some(other) = before.checked_sub(1) {
            let link = self.links[other as usize];
            if (link.row as usize) < first {
                break;
            }
            if targets[other as usize] == targets[place] {
                visit(link.row as usize);
            }
            before = link.before;
        }
    }

    /// Adds the neighbour at the next place, which belongs to `row`. Later look-ups find it if
    /// `is_reference`.
    fn add(&mut self, targets: &[u32], place: usize, row: usize, is_reference: bool) {
        let last = &mut self.last[Self::hash(targets[place])];
        self.links.push(Link { before: *last, row: row as u32 });
        if is_reference {
            *last = place as u32 + 1;
        }
    }
}
