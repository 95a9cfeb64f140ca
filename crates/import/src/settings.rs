//! Options of an import that hints name: these, and no others. Each is a field of
//! [`ImportConfig`](crate::ImportConfig) or [`InputOptions`](crate::input::InputOptions); who words hints can
//! check that there are words for [`ALL`].

use tegula_machine::Setting;
use tegula_machine::SettingValue::{Any, On, OneOf};

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident = $option:ident: $value:expr;)*) => {
        $($(#[$doc])*
        pub const $name: Setting =
            Setting { option: stringify!($option), value: $value };)*

        /// All of them.
        pub const ALL: &[Setting] = &[$($name),*];
    };
}

settings! {
    /// What is in the files.
    FORMAT = format: Any;
    /// A Parquet table, whatever the file is called.
    FORMAT_PARQUET = format: OneOf(&["parquet"]);
    /// GraphML, whatever the file is called.
    FORMAT_GRAPHML = format: OneOf(&["graphml"]);
    /// GEXF, whatever the file is called.
    FORMAT_GEXF = format: OneOf(&["gexf"]);
    /// Ids are integers, also where several spellings are one.
    IDS_INTEGER = ids: OneOf(&["integer"]);
    /// Ids are strings, also where they are spelled as integers.
    IDS_STRING = ids: OneOf(&["string"]);
    /// The weights are wanted.
    WEIGHTED = weighted: On;
    /// Where the sources are.
    SOURCE_COLUMN = source_column: Any;
    /// Where the targets are.
    TARGET_COLUMN = target_column: Any;
    /// Where the weights are.
    WEIGHT_COLUMN = weight_column: Any;
    /// The first line is an edge.
    NO_HEADER = no_header: On;
    /// What separates columns.
    DELIMITER = delimiter: Any;
    /// How many rows may be passed over.
    SKIP_BAD_ROWS = skip_bad_rows: Any;
    /// Each edge leads both ways.
    UNDIRECTED = undirected: On;
    /// How many vertices there are.
    VERTICES = vertices: Any;
    /// Of edges with the same ends one is kept.
    DROP_DUPLICATES = drop_duplicates: On;
    /// A graph may have no edge.
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
