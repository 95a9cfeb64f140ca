//! The names by which options ask for tables, and how a face finds these.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use tegula_store::Result;
use tegula_tables::TablePlace;
use tegula_tables::read::bad_file;

/// The name of a table or of another file that an option asks for. Only a face knows what it stands
/// for: on the command line a path, in Python a path or a data frame. A service must not open a path
/// that a request names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("format" = "table"))]
pub struct TableSource(PathBuf);

impl TableSource {
    /// Makes a source of a name.
    pub fn new(name: impl Into<PathBuf>) -> TableSource {
        TableSource(name.into())
    }

    /// Returns whether it is standard input, which can be read only once.
    pub fn is_standard_input(&self) -> bool {
        self.0.as_os_str() == "-"
    }

    /// Returns the name, as users know it.
    pub fn name(&self) -> &Path {
        &self.0
    }
}

/// A path that is not UTF-8 is written as it is shown to users. Without a form in JSON, all options of
/// the run would be missing in its description, and a checkpoint of other options would fit it.
impl Serialize for TableSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.display())
    }
}

/// On a command line, a source is a path.
#[cfg(feature = "clap")]
impl clap::builder::ValueParserFactory for TableSource {
    type Parser = clap::builder::MapValueParser<
        clap::builder::PathBufValueParser,
        fn(PathBuf) -> TableSource,
    >;

    fn value_parser() -> Self::Parser {
        use clap::builder::TypedValueParser;
        clap::builder::PathBufValueParser::new().map(TableSource)
    }
}

/// Finds what a [`TableSource`] stands for.
pub trait TableSources {
    /// Returns where the table or the file lies that `option` names. A run asks once for each, so
    /// a face may hand out a stream.
    ///
    /// # Errors
    /// A source that this face refuses.
    fn find<'s>(&'s self, option: &'static str, source: &'s TableSource) -> Result<TablePlace<'s>>;
}

impl dyn TableSources + '_ {
    /// Returns the path of a file that is no table of vertices.
    ///
    /// # Errors
    /// A source that this face refuses, and a table in memory.
    pub fn file<'s>(&'s self, option: &'static str, source: &'s TableSource) -> Result<&'s Path> {
        match self.find(option, source)? {
            TablePlace::File(path) => Ok(path),
            TablePlace::Memory(..) => Err(bad_file(source.name(), "name a file here")),
        }
    }
}

/// Sources that are paths on this machine.
#[derive(Debug, Clone, Copy)]
pub struct LocalPaths;

impl TableSources for LocalPaths {
    fn find<'s>(&'s self, _: &'static str, source: &'s TableSource) -> Result<TablePlace<'s>> {
        Ok(TablePlace::File(source.name()))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn every_path_has_a_form_in_json() {
        for (path, expected) in
            [(&b"seeds.csv"[..], "seeds.csv"), (b"seeds-\xff.csv", "seeds-\u{fffd}.csv")]
        {
            let source = TableSource::new(OsStr::from_bytes(path));
            assert_eq!(serde_json::to_value(&source).unwrap(), expected);
        }
    }
}
