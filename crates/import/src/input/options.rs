//! How to read an input.

use tegula_machine::threads::Cancel;
use tegula_tables::read::text::Delimiter;
use tegula_tables::read::{Format, InputStream};

use super::columns::ColumnChoice;

/// What the vertex ids of an input are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdKind {
    /// Integers if the first edge's ids are unsigned 64-bit integers, else strings.
    #[default]
    Auto,
    /// Unsigned 64-bit integers.
    Integer,
    /// UTF-8 strings.
    String,
}

/// The width of ids in raw pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairWidth {
    /// 32-bit ids.
    Bits32,
    /// 64-bit ids.
    Bits64,
}

/// How to read an input.
#[derive(Debug, Clone)]
pub struct InputOptions {
    /// The format of all files.
    pub format: Format,
    /// Whether weights are read, which every edge must then have.
    pub weighted: bool,
    /// What the ids are.
    pub ids: IdKind,
    /// The column of sources; by default the one with a usual name, or the first.
    pub source_column: Option<ColumnChoice>,
    /// The column of targets; by default the one with a usual name, or the second.
    pub target_column: Option<ColumnChoice>,
    /// The column of weights, if they are read; by default the one with a usual name, or the third.
    pub weight_column: Option<ColumnChoice>,
    /// The separator of a text's columns; by default found from its first lines.
    pub delimiter: Option<Delimiter>,
    /// The most lines of text that may be skipped because they cannot be understood.
    pub skip_bad_rows: u64,
    /// Whether the first line of a text is an edge even if it looks like a header.
    pub no_header: bool,
    /// The most workers that read at once.
    pub threads: usize,
    /// Bytes that the readers may hold at once, all workers together.
    pub memory: u64,
    /// Ends the wait for a pipe or a terminal that sends nothing.
    pub cancel: Cancel,
}

impl InputOptions {
    /// The default of [`InputOptions::memory`], in bytes.
    pub const MEMORY_DEFAULT: u64 = 64 << 20;

    /// The base-2 logarithm of the largest zstd window that is read: half of a worker's memory, but
    /// at least the usual window.
    pub(super) fn window_log_max(&self) -> u32 {
        let window = self.memory / (2 * self.threads.max(1) as u64);
        window.max(1).ilog2().clamp(InputStream::WINDOW_LOG_USUAL, InputStream::WINDOW_LOG_MAX)
    }
}

impl Default for InputOptions {
    fn default() -> InputOptions {
        InputOptions {
            format: Format::Auto,
            weighted: false,
            ids: IdKind::Auto,
            source_column: None,
            target_column: None,
            weight_column: None,
            delimiter: None,
            skip_bad_rows: 0,
            no_header: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: InputOptions::MEMORY_DEFAULT,
            cancel: Cancel::default(),
        }
    }
}
