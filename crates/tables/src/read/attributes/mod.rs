//! Tables with a row for each vertex. All their columns are read, whatever their names.

mod columns;
mod lines;
mod parquet;
mod table;

pub use columns::AttributeRow;
pub use table::AttributeTable;
