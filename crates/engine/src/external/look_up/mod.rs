//! Looks up values by number, for all vertices: `out[i] = values[numbers[i]]`.
//!
//! Numbers come in any order, so values must be in memory when they are looked up. If they do not
//! fit there, numbers are sorted roughly, through blocks on disk:
//!
//! ```text
//!  numbers --split by range of values--> entries of range 0, 1, ..
//!  entries of a range --look up, with the values of the range in memory--> found of range 0, 1, ..
//!  numbers again: the next one found in the range of each --> out
//! ```
//!
//! So entries and found values are written and read once. Their places are not stored, because
//! found values are in the order of the numbers. If there are more ranges than lists with blocks in
//! memory, a range is split in turn.
//!
//! The alternative is to go through all numbers again for each range that fits, and to write `out`
//! as often. This moves fewer bytes for a single range, where nothing is sorted here either. For
//! two ranges it moves as many bytes as here, except for the entries.

use std::marker::PhantomData;
use std::ops::Range;

use tegula_machine::disk::{Caching, Directory, Reader, WriteBehind};
use tegula_machine::threads::Cancel;
use tegula_store::Result;
use tegula_store::tiles::VertexNumber;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

use super::lists::{Disk, Finished, Lists};
use crate::memory::{LookUpPlan, Split, WRITE_BEHIND};
use crate::program::Value;

/// Numbers passed on at a time.
const CHUNK: usize = 1 << 12;

/// A request for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookUpRequest {
    /// The number of the value, or [`LookUpRequest::NOTHING`].
    pub number: u64,
    /// The place of the number among all.
    pub place: u64,
}

impl LookUpRequest {
    /// Requests no value: the result is zeroes.
    pub const NOTHING: u64 = u64::MAX;
}

/// Numbers in a fixed order, which can be visited several times.
pub trait Numbers {
    /// Returns how many there are.
    fn len(&self) -> usize;

    /// Visits all numbers in chunks.
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[LookUpRequest]) -> Result<()>) -> Result<()>;
}

/// Visits items as numbers; the first one has place `first`.
pub fn for_each_chunk_of<T>(
    first: usize,
    items: &[T],
    number_of: impl Fn(&T) -> u64,
    visit: &mut dyn FnMut(&[LookUpRequest]) -> Result<()>,
) -> Result<()> {
    let mut chunk = Vec::with_capacity(CHUNK);
    for (items, first) in items.chunks(CHUNK).zip((first as u64..).step_by(CHUNK)) {
        let wanted = items
            .iter()
            .zip(first..)
            .map(|(item, place)| LookUpRequest { number: number_of(item), place });
        chunk.clear();
        chunk.extend(wanted);
        visit(&chunk)?;
    }
    Ok(())
}

/// The values to look up.
pub trait Values {
    /// The form of a number while it is sorted.
    type Entry: Entry;
    /// The type of a value.
    type Value: Value;

    /// Loads the values of a range of numbers.
    fn load(&mut self, numbers: Range<usize>) -> Result<Vec<Self::Value>>;

    /// Returns the result for a number at this place.
    fn find(value: &mut Self::Value, place: u64) -> Self::Value;
}

/// A number within a range, while it is sorted.
pub trait Entry: Value {
    /// Makes an entry of a number, and of its place if the entry keeps places.
    fn of(number: u32, place: u64) -> Self;

    /// Returns the entry as a request.
    fn wanted(&self) -> LookUpRequest;
}

/// A number alone.
impl Entry for u32 {
    fn of(number: u32, _: u64) -> u32 {
        number
    }

    fn wanted(&self) -> LookUpRequest {
        LookUpRequest { number: u64::from(*self), place: 0 }
    }
}

/// A number within a range, and its place.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
pub struct Placed<N> {
    number: u32,
    place: N,
}

impl<N: VertexNumber> Entry for Placed<N> {
    fn of(number: u32, place: u64) -> Placed<N> {
        Placed { number, place: N::of(place) }
    }

    fn wanted(&self) -> LookUpRequest {
        LookUpRequest { number: u64::from(self.number), place: self.place.into() }
    }
}

/// Values that are returned as they are loaded.
pub struct Loaded<F>(pub F);

impl<V: Value, F: FnMut(Range<usize>) -> Result<Vec<V>>> Values for Loaded<F> {
    type Entry = u32;
    type Value = V;

    fn load(&mut self, numbers: Range<usize>) -> Result<Vec<V>> {
        self.0(numbers)
    }

    #[inline(always)]
    fn find(value: &mut V, _: u64) -> V {
        *value
    }
}

/// Looks up, for each number, the first place that has it.
pub struct FirstPlaces<N>(pub PhantomData<fn() -> N>);

impl<N: VertexNumber + Value> Values for FirstPlaces<N> {
    type Entry = Placed<N>;
    type Value = N;

    fn load(&mut self, numbers: Range<usize>) -> Result<Vec<N>> {
        Ok(vec![N::NONE; numbers.len()])
    }

    #[inline(always)]
    fn find(value: &mut N, place: u64) -> N {
        // Places ascend.
        if *value == N::NONE {
            *value = N::of(place);
        }
        *value
    }
}

/// Where numbers are sorted, if necessary.
#[derive(Clone, Copy)]
pub struct SortingPlace<'p> {
    /// The folder for files.
    pub folder: &'p Directory,
    /// The reader of the disk, whose pool has the memory.
    pub reader: &'p Reader,
    /// Whether files stay in the page cache.
    pub caching: Caching,
}

/// Looks up all numbers, and passes the results to `out` in their order.
///
/// # Errors
/// Failed reads and writes; errors of the numbers, of the values and of `out`;
/// [`OverBudget`](tegula_machine::Error::OverBudget) if there is less memory than planned;
/// cancellation.
pub fn look_up<V: Values>(
    plan: LookUpPlan,
    numbers: &dyn Numbers,
    values: V,
    SortingPlace { folder, reader, caching }: SortingPlace<'_>,
    cancel: &Cancel,
    out: &mut dyn FnMut(&[V::Value]) -> Result<()>,
) -> Result<()> {
    let _lease = reader.pool().lease("sorting the result", plan.memory())?;
    let writer = WriteBehind::start(reader, WRITE_BEHIND * plan.block_size(), caching);
    let disk = Disk { folder, reader, writer: &writer };
    LookUp { plan, disk, cancel, values }.range(numbers, 0..plan.value_count(), out)
}

/// A look-up at work.
struct LookUp<'a, V> {
    plan: LookUpPlan,
    disk: Disk<'a>,
    cancel: &'a Cancel,
    values: V,
}

impl<V: Values> LookUp<'_, V> {
    /// Looks up numbers that count from the first value of a range.
    fn range(
        &mut self,
        numbers: &dyn Numbers,
        range: Range<usize>,
        out: &mut dyn FnMut(&[V::Value]) -> Result<()>,
    ) -> Result<()> {
        let Some(split) = self.plan.split(range.len()) else {
            return self.loaded(numbers, range, out);
        };
        let Split { log2, count } = split;
        let layout = self.plan.lists(split);
        let mut entries = Lists::create(layout, numbers.len(), self.disk)?;
        numbers.for_each_chunk(&mut |chunk| {
            self.cancel.check()?;
            let chunk = chunk.iter().filter(|wanted| wanted.number != LookUpRequest::NOTHING);
            chunk.into_iter().try_for_each(|&LookUpRequest { number, place }| {
                let local = number & ((1 << log2) - 1);
                entries.push((number >> log2) as usize, V::Entry::of(local as u32, place))
            })
        })?;
        let entries = entries.finish()?;
        let mut found = Lists::create(layout, numbers.len(), self.disk)?;
        for list in 0..count {
            let start = range.start + (list << log2);
            let values = start..range.end.min(start + (1 << log2));
            let numbers = List { entries: &entries, list };
            self.range(&numbers, values, &mut |values| found.extend(list, values))?;
            found.close(list)?;
        }
        drop(entries);
        let found = found.finish()?;
        let mut next = found.cursors();
        self.hand_on(numbers, out, |number, _| next.next((number >> log2) as usize))
    }

    /// Looks up numbers in a range of values that fits in memory.
    fn loaded(
        &mut self,
        numbers: &dyn Numbers,
        range: Range<usize>,
        out: &mut dyn FnMut(&[V::Value]) -> Result<()>,
    ) -> Result<()> {
        if numbers.len() == 0 {
            return Ok(());
        }
        // Loaded only now: a range without look-ups needs no values.
        let mut values = self.values.load(range)?;
        self.hand_on(numbers, out, |number, place| Ok(V::find(&mut values[number as usize], place)))
    }

    /// Passes on the result for each number.
    fn hand_on(
        &self,
        numbers: &dyn Numbers,
        out: &mut dyn FnMut(&[V::Value]) -> Result<()>,
        mut find: impl FnMut(u64, u64) -> Result<V::Value>,
    ) -> Result<()> {
        let mut found = Vec::with_capacity(CHUNK);
        numbers.for_each_chunk(&mut |chunk| {
            self.cancel.check()?;
            found.clear();
            for &LookUpRequest { number, place } in chunk {
                found.push(match number {
                    LookUpRequest::NOTHING => V::Value::new_zeroed(),
                    number => find(number, place)?,
                });
            }
            out(&found)
        })
    }
}

/// The entries of one range.
struct List<'l, E> {
    entries: &'l Finished<E>,
    list: usize,
}

impl<E: Entry> Numbers for List<'_, E> {
    fn len(&self) -> usize {
        self.entries.len(self.list)
    }

    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[LookUpRequest]) -> Result<()>) -> Result<()> {
        let mut wanted = Vec::with_capacity(CHUNK);
        self.entries.for_each_block(self.list, &mut |entries| {
            entries.chunks(CHUNK).try_for_each(|entries| {
                wanted.clear();
                wanted.extend(entries.iter().map(Entry::wanted));
                visit(&wanted)
            })
        })
    }
}

#[cfg(test)]
mod tests;
