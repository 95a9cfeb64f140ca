//! The parts of readers: what opens, recognises and splits files.
//!
//! [`Opened`] is a file, standard input or a pipe whose [`Format`] and compression are known. An
//! [`InputStream`] decompresses it, [`text`] splits it into lines and fields, and [`parquet`] reads
//! chosen columns. The readers of [`VertexTable`](crate::VertexTable) and
//! [`AttributeTable`](crate::AttributeTable) are made of these parts, and so are readers of edges.

pub(crate) mod attributes;
mod column_name;
mod decompress;
mod fault;
mod file_name;
mod format;
mod input_stream;
mod opened;
pub mod parquet;
mod properties;
pub mod text;
pub(crate) mod vertices;
pub(crate) mod whole_text;
mod xml_form;

pub use column_name::{is_pandas_index, usual_name};
pub use fault::{bad_at, bad_file};
pub use file_name::{Ending, FileName};
pub use format::Format;
pub use input_stream::InputStream;
pub use opened::{Opened, Stored};
pub use properties::{Properties, RepeatedKey};
pub use xml_form::XmlForm;
