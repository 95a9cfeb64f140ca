//! Some rows of a table as edges.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Int32Type, Int64Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use tegula_machine::threads::guarded_foreign;
use tegula_store::{At, Error, Result};
use tegula_tables::read::bad_at;

use super::super::chunk::{Ends, Span, StringColumn};
use super::super::options::IdKind;
use super::super::reader::{Emit, Space};
use super::TableColumns;

/// Rows of a table, with the columns that are read.
pub(super) struct Batch<'a> {
    /// The file, or the name of tables that are in none.
    pub path: &'a Path,
    pub columns: &'a TableColumns,
    /// The columns [`TableColumns::roots`], and no others.
    pub rows: &'a RecordBatch,
    /// The number of the first row, as a user counts.
    pub first: u64,
}

impl Batch<'_> {
    /// Hands out the edges.
    pub fn emit(&self, space: &mut Space, emit: &Emit<'_>) -> Result<()> {
        let ends = self.columns.ends();
        if emit.ids == IdKind::String {
            return self.emit_strings(ends, space, emit);
        }
        let are_short = ends.iter().all(|&end| {
            self.array(end).data_type().primitive_width().is_some_and(|width| width <= 4)
        });
        if are_short {
            self.pairs::<UInt32Type, Int32Type, u32>(ends, &mut space.pairs32)?;
            self.weights(&mut space.weights)?;
            emit.chunk(Ends::Pairs32(&space.pairs32), &space.weights)
        } else {
            self.pairs::<UInt64Type, Int64Type, u64>(ends, &mut space.pairs64)?;
            self.weights(&mut space.weights)?;
            emit.chunk(Ends::Pairs64(&space.pairs64), &space.weights)
        }
    }

    /// Fills `pairs` with ids, which have the type `Unsigned` or fit into the type `Signed`.
    fn pairs<Unsigned, Signed, Id>(&self, ends: [usize; 2], pairs: &mut Vec<[Id; 2]>) -> Result<()>
    where
        Unsigned: ArrowPrimitiveType,
        Signed: ArrowPrimitiveType,
        Id: TryFrom<Unsigned::Native> + TryFrom<Signed::Native> + Default + Copy,
    {
        pairs.clear();
        pairs.resize(self.rows.num_rows(), [Id::default(); 2]);
        for (place, column) in ends.into_iter().enumerate() {
            if self.array(column).data_type().is_unsigned_integer() {
                self.ids::<Unsigned, Id>(column, |row, id| pairs[row][place] = id)?;
            } else {
                self.ids::<Signed, Id>(column, |row, id| pairs[row][place] = id)?;
            }
        }
        Ok(())
    }

    fn ids<T, Id>(&self, column: usize, mut put: impl FnMut(usize, Id)) -> Result<()>
    where
        T: ArrowPrimitiveType,
        Id: TryFrom<T::Native>,
    {
        let array = self.column(column, &T::DATA_TYPE)?;
        for (row, &id) in array.as_primitive::<T>().values().iter().enumerate() {
            // `Id` is as wide as the column or wider, so only a sign can be in the way.
            let unsigned = Id::try_from(id).map_err(|_| {
                let name = self.columns.name(column);
                let problem =
                    format!("the id {id:?} in column `{name}` is negative; ids are unsigned");
                self.bad_row(row, problem)
            })?;
            put(row, unsigned);
        }
        Ok(())
    }

    fn emit_strings(&self, ends: [usize; 2], space: &mut Space, emit: &Emit<'_>) -> Result<()> {
        let [sources, targets] = ends.map(|end| self.column(end, &DataType::LargeUtf8));
        let (sources, targets) = (sources?, targets?);
        let sources = self.strings(ends[0], &sources, &mut space.sources)?;
        let targets = self.strings(ends[1], &targets, &mut space.targets)?;
        self.weights(&mut space.weights)?;
        emit.chunk(Ends::Strings { sources, targets }, &space.weights)
    }

    fn strings<'s>(
        &self,
        column: usize,
        array: &'s ArrayRef,
        spans: &'s mut Vec<Span>,
    ) -> Result<StringColumn<'s>> {
        let array = array.as_string::<i64>();
        let offsets = array.value_offsets();
        // Spans are short, and the rows may be a part of a long table.
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        if last - first > i64::from(u32::MAX) {
            let name = self.columns.name(column);
            let rows = array.len();
            let problem = format!("the ids of {rows} rows of column `{name}` exceed 4 GiB");
            return Err(self.bad_row(0, problem));
        }
        spans.clear();
        for (row, pair) in offsets.windows(2).enumerate() {
            if pair[0] == pair[1] {
                let name = self.columns.name(column);
                return Err(self.bad_row(row, format!("the id in column `{name}` is empty")));
            }
            spans.push(Span::of((pair[0] - first) as usize..(pair[1] - first) as usize));
        }
        Ok(StringColumn::new(&array.value_data()[first as usize..last as usize], spans))
    }

    fn weights(&self, weights: &mut Vec<f32>) -> Result<()> {
        weights.clear();
        let Some(column) = self.columns.columns.weight else { return Ok(()) };
        let array = self.column(column, &DataType::Float32)?;
        weights.extend_from_slice(array.as_primitive::<Float32Type>().values());
        match weights.iter().position(|weight| !weight.is_finite()) {
            None => Ok(()),
            Some(row) => {
                let weight = weights[row];
                let detail =
                    format!("the weight {weight} is not finite; weights are 32-bit floats");
                Err(self.bad_row(row, detail))
            }
        }
    }

    /// Returns a column as `kind`; refuses nulls.
    fn column(&self, column: usize, kind: &DataType) -> Result<ArrayRef> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let bad = |error: &dyn std::fmt::Display| {
            self.bad_row(0, format!("column `{}`: {error}", self.columns.name(column)))
        };
        // The library may panic at damaged values, which is then a fault of these rows.
        let cast = guarded_foreign(|| {
            // Else the whole dictionary would be cast, however few the rows.
            let plain = match self.array(column).data_type() {
                DataType::Dictionary(_, values) => {
                    cast_with_options(self.array(column), values, &strict)
                }
                _ => Ok(ArrayRef::clone(self.array(column))),
            };
            Ok(plain.and_then(|plain| cast_with_options(&plain, kind, &strict)))
        });
        let array = cast.map_err(|panic: Error| bad(&panic))?.map_err(|error| bad(&error))?;
        if let Some(row) =
            (0..array.len()).find(|&row| array.null_count() > 0 && array.is_null(row))
        {
            let name = self.columns.name(column);
            return Err(self.bad_row(row, format!("column `{name}` is null here")));
        }
        Ok(array)
    }

    fn array(&self, column: usize) -> &ArrayRef {
        let before = self.columns.roots().iter().filter(|&&root| root < column).count();
        self.rows.column(before)
    }

    fn bad_row(&self, row: usize, detail: String) -> Error {
        bad_at(self.path, At::Row(self.first + row as u64), detail)
    }
}
