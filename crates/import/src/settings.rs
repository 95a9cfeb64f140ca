//! Options of an import that hints name: these, and no others. The compiler checks that each is a field of the
//! struct of options; whoever words hints can check that it has words for [`ALL`].

use tegula_machine::Setting;

use crate::ImportConfig;
use crate::input::InputOptions;

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident = $options:ident . $option:ident [$($value:literal)*];)*) => {
        $($(#[$doc])*
        pub const $name: Setting = {
            let _ = std::mem::offset_of!($options, $option);
            Setting { option: stringify!($option), values: &[$($value),*] }
        };)*

        /// All of them.
        pub const ALL: &[Setting] = &[$($name),*];
    };
}

settings! {
    /// What is in the files.
    FORMAT = InputOptions.format [];
    /// Text, whatever it looks like.
    FORMAT_TEXT = InputOptions.format ["text"];
    /// A Parquet table, whatever the file is called.
    FORMAT_PARQUET = InputOptions.format ["parquet"];
    /// Ids are integers, also where several spellings are one.
    IDS_INTEGER = InputOptions.ids ["integer"];
    /// Ids are strings, also where they are spelled as integers.
    IDS_STRING = InputOptions.ids ["string"];
    /// The weights are wanted.
    WEIGHTED = InputOptions.weighted [];
    /// Where the sources are.
    SOURCE_COLUMN = InputOptions.source_column [];
    /// Where the targets are.
    TARGET_COLUMN = InputOptions.target_column [];
    /// Where the weights are.
    WEIGHT_COLUMN = InputOptions.weight_column [];
    /// The first line is an edge.
    NO_HEADER = InputOptions.no_header [];
    /// What separates columns.
    DELIMITER = InputOptions.delimiter [];
    /// How many rows may be passed over.
    SKIP_BAD_ROWS = InputOptions.skip_bad_rows [];
    /// Each edge leads both ways.
    UNDIRECTED = ImportConfig.undirected [];
}
