//! The options of an import that hints may name. Each is a field of
//! [`ImportConfig`](crate::ImportConfig) or [`InputOptions`](crate::input::InputOptions). Code that
//! words hints can check that it has words for [`ALL`].

use tegula_store::Setting;
use tegula_store::SettingValue::{Any, On, OneOf};

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident = $option:ident: $value:expr;)*) => {
        $($(#[$doc])*
        pub const $name: Setting =
            Setting { option: stringify!($option), value: $value };)*

        /// All these options.
        pub const ALL: &[Setting] = &[$($name),*];
    };
}

settings! {
    /// The format of the files.
    FORMAT = format: Any;
    /// A Parquet table, under any file name.
    FORMAT_PARQUET = format: OneOf(&["parquet"]);
    /// GraphML, under any file name.
    FORMAT_GRAPHML = format: OneOf(&["graphml"]);
    /// GEXF, under any file name.
    FORMAT_GEXF = format: OneOf(&["gexf"]);
    /// Ids are integers, even where several spellings stand for one.
    IDS_INTEGER = ids: OneOf(&["integer"]);
    /// Ids are strings, even where they are spelled as integers.
    IDS_STRING = ids: OneOf(&["string"]);
    /// Weights are read.
    WEIGHTED = weighted: On;
    /// The column of the sources.
    SOURCE_COLUMN = source_column: Any;
    /// The column of the targets.
    TARGET_COLUMN = target_column: Any;
    /// The column of the weights.
    WEIGHT_COLUMN = weight_column: Any;
    /// The first line is an edge.
    NO_HEADER = no_header: On;
    /// What separates columns.
    DELIMITER = delimiter: Any;
    /// The number of bad rows that may be skipped.
    SKIP_BAD_ROWS = skip_bad_rows: Any;
    /// Each edge leads both ways.
    UNDIRECTED = undirected: On;
    /// The number of vertices.
    VERTICES = vertices: Any;
    /// Only one of the edges with the same ends is kept.
    DROP_DUPLICATES = drop_duplicates: On;
    /// The graph may have no edge.
    ALLOW_EMPTY = allow_empty: On;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ImportConfig;

    #[test]
    fn every_option_has_the_name_of_a_field() {
        let fields = format!("{:?}", ImportConfig::default());
        // The last two are named by errors of the crate below.
        for option in ALL.iter().map(|setting| setting.option).chain(["force", "memory"]) {
            assert!(fields.contains(&format!(" {option}: ")), "{option}");
        }
    }
}
