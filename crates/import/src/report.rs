//! The report of an import.

use tegula_machine::{count, counted};
use tegula_store::graph::{FileEntry, IdType, Manifest, OrderChoice};
use tegula_store::{Diagnostic, Hint};

use crate::count::intake::ArcCounts;
use crate::input::{ColumnsTaken, Input, LineNotes, Noted};
use crate::relabel::NullVertex;
use crate::settings;

/// What an import did.
#[derive(Debug, Clone)]
pub struct ImportReport {
    /// Vertices: the ids that occur in an edge, and those that are declared.
    pub vertices: u64,
    /// Stored arcs: an edge of an undirected input is two, its loop one.
    pub edges: u64,
    /// Whether each edge leads both ways, because the user or the input says so.
    pub undirected: bool,
    /// The share of the listed edges of an undirected graph that stand both ways, as `a b` and `b
    /// a`; loops do not count. `None` for a directed graph, and for a list that has only loops. It
    /// is exact for up to 131,072 edges, and estimated within about half a percentage point for
    /// more.
    pub both_ways_share: Option<f64>,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Stored arcs that are loops.
    pub loops: u64,
    /// Stored arcs that repeat the ends of another one.
    pub duplicates: u64,
    /// Loops of the input that were left out.
    pub dropped_loops: u64,
    /// Arcs that were left out because they repeat the ends of another one.
    pub dropped_duplicates: u64,
    /// The type of the ids.
    pub ids: IdType,
    /// The columns that were read, for each file that has columns.
    pub columns: Vec<ColumnsTaken>,
    /// What a user should know about how the input was read.
    pub warnings: Vec<Diagnostic>,
    /// Rows that could not be parsed and were skipped.
    pub bad_rows: u64,
    /// The vertex order, and why it was chosen.
    pub order: OrderChoice,
    /// The files of the graph.
    pub files: Vec<FileEntry>,
    /// Seconds that each stage took.
    pub seconds: StageSeconds,
}

/// Seconds that each stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StageSeconds {
    /// Reading the input, counting degrees.
    pub reading: f64,
    /// Sorting ids and replacing them by id positions, where they are no small integers.
    pub relabeling: f64,
    /// Choosing the order and writing the files of vertices.
    pub ordering: f64,
    /// Giving edges their dense ids and sorting them into bins.
    pub sorting: f64,
    /// Encoding and writing tiles.
    pub building: f64,
    /// Building the layouts `rows` and `reverse` from the tiles.
    pub rows: f64,
}

/// The report warns if at least this share of the edges stands both ways.
const BOTH_WAYS_SHARE_TOLD: f64 = 1.0 / 3.0;

/// Warns of comments after the first edge or the first vertex of a list, which may be more of them.
fn skipped_as_comments(comments: &Noted, after: &str) -> Option<Diagnostic> {
    let place = comments.first.as_ref()?;
    let message = format!(
        "{place}: skipped this line as a comment, the first of {} after the first {after}; \
         where an id begins with # or %, put it in quotes, with commas or tabs between the columns",
        comments.count
    );
    Some(Diagnostic::from(message))
}

/// Returns the report of the import that has written `manifest`.
pub(super) fn report(
    manifest: Manifest,
    input: &Input,
    counts: &ArcCounts,
    LineNotes { bad_rows, comments, listed_comments, long_rows, open_ends }: &LineNotes,
    nulls: &[NullVertex],
    seconds: StageSeconds,
) -> ImportReport {
    let mut warnings = input.warnings();
    warnings.extend(bad_rows.first.as_ref().map(|(place, problem)| {
        let count = counted(bad_rows.count, "bad row", "bad rows");
        let message = format!("{place}: {problem}; skipped this row, the first of {count}");
        Diagnostic { message, hints: problem.hints.clone() }
    }));
    warnings.extend(skipped_as_comments(comments, "edge"));
    warnings.extend(skipped_as_comments(listed_comments, "vertex"));
    warnings.extend(further_columns(long_rows));
    warnings.extend(open_ends.first.as_ref().map(|place| {
        let others = match open_ends.count {
            1 => String::new(),
            2 => "; the same holds for 1 other file".to_owned(),
            count => format!("; the same holds for {} other files", count - 1),
        };
        let message = format!(
            "{place}: the last line does not end with a line feed, but the lines before it do; the file may be cut off\
             {others}"
        );
        Diagnostic::from(message)
    }));
    warnings.extend(null_vertices(nulls));
    if manifest.edges == 0 && counts.dropped_loops == 0 {
        warnings.push("the input has no edges".into());
    }
    // Once duplicates are left out, an edge that stands both ways is one edge.
    let share = counts.both_ways_share.filter(|_| counts.dropped_duplicates == 0);
    if let Some(share) = share.filter(|&share| share >= BOTH_WAYS_SHARE_TOLD) {
        let message = format!(
            "{:.1} % of the edges are in the list in both directions, as `a b` and as `b a`, and each such pair became two edges",
            100.0 * share
        );
        let once =
            Hint::set([settings::DROP_DUPLICATES]).detail("to keep one edge of each such pair");
        warnings.push(Diagnostic::from(message).hint(once));
    }
    ImportReport {
        vertices: manifest.vertices,
        edges: manifest.edges,
        undirected: manifest.undirected,
        both_ways_share: counts.both_ways_share,
        weighted: manifest.weighted,
        loops: manifest.loops,
        duplicates: manifest.duplicates,
        dropped_loops: counts.dropped_loops,
        dropped_duplicates: counts.dropped_duplicates,
        ids: manifest.ids,
        columns: input.columns_taken().cloned().collect(),
        warnings,
        bad_rows: bad_rows.count,
        order: manifest.order,
        files: manifest.files,
        seconds,
    }
}

/// Warns of rows with more columns than the first row.
fn further_columns(long_rows: &Noted) -> Option<Diagnostic> {
    long_rows.first.as_ref().map(|place| {
        let others = match long_rows.count {
            1 => String::new(),
            count => format!(", and {} like it", counted(count - 1, "row", "rows")),
        };
        let message = format!(
            "{place}: this row has more columns than the first row of the file{others}: the further \
             columns were not read"
        );
        Diagnostic::from(message)
    })
}

/// Warns of vertices whose names often mark a missing value.
fn null_vertices(nulls: &[NullVertex]) -> Option<Diagnostic> {
    let shown = |null: &NullVertex| format!("`{}` ({})", null.name, count(null.arcs));
    let names: Vec<String> = nulls.iter().map(shown).collect();
    (!nulls.is_empty()).then(|| {
        let message = format!(
            "these ids often mark a missing value but are read as vertices (number of edges): {}; \
             remove their rows if no vertices are meant",
            names.join(", ")
        );
        Diagnostic::from(message)
    })
}
