//! What a file says about its graph before the first edge.

use std::ops::Range;
use std::path::PathBuf;

use tegula_machine::{count, counted};
use tegula_store::{Diagnostic, Hint};

use super::balance::Unmatched;
use crate::settings::UNDIRECTED;

/// What the first lines of a file, or another file that belongs to it, say about its graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Preamble {
    /// The ids of all vertices, with or without an edge.
    pub vertices: Option<Range<u64>>,
    /// The declared number of edges, then other numbers that may be found. Empty if none is
    /// declared.
    pub edges: Vec<u64>,
    /// Whether each edge leads both ways.
    pub undirected: Option<bool>,
    /// The other file that says all this, if it is not the file of edges.
    pub told_by: Option<PathBuf>,
    /// Whether an edge that leads both ways is in both lists. An undirected graph reads one of
    /// them.
    pub has_both_ways: bool,
}

/// What to do about more edges than declared.
const IF_MORE: &str = "correct that number, or remove what was added";

impl Preamble {
    /// Returns what is wrong if `found` edges were read and another number is declared. An edge
    /// that is in both lists is read once if the graph is `undirected`, else as two arcs.
    pub fn mismatch(&self, found: u64, undirected: bool) -> Option<Diagnostic> {
        let &edges = self.edges.first()?;
        if self.edges.contains(&found) {
            return None;
        }
        let declared = counted(edges, "edge", "edges");
        let has = count(found);
        let message = match (self.has_both_ways, undirected) {
            (false, _) | (true, true) if found < edges => {
                format!("it declares {declared} but has {has}; is it cut off?")
            }
            (true, false) => {
                let arcs = edges.saturating_mul(2);
                let end = match found < arcs {
                    true => "is it cut off, or are edges in the list of only one end?",
                    false => IF_MORE,
                };
                format!(
                    "it declares {declared}, which are {} arcs in the lists of both ends, but has {has} arcs; {end}",
                    count(arcs)
                )
            }
            (_, _) => format!("it declares {declared} but has {has}; {IF_MORE}"),
        };
        Some(message.into())
    }

    /// The error for an edge that is in the list of only one end. `mention` is the entry without a
    /// counterpart, if one was found.
    pub fn one_sided(&self, mention: Option<Unmatched>) -> Diagnostic {
        const RULE: &str = "an edge must be in the lists of both of its ends; is the file cut off?";
        let message = match mention {
            None => format!("some edges are in the list of only one end: {RULE}"),
            Some(Unmatched { source, target, weight: None }) => format!(
                "{source} has the neighbour {target}, but {target} does not have the neighbour {source} as often: {RULE}"
            ),
            Some(Unmatched { source, target, weight: Some(weight) }) => format!(
                "{source} has the neighbour {target} with the weight {weight}, but {target} does not have the \
                 neighbour {source} with that weight as often: {RULE}"
            ),
        };
        // A file that says that it is undirected cannot be read otherwise.
        let as_arcs =
            Hint::leave_out(UNDIRECTED.option).detail("to read the lists as directed edges");
        Diagnostic::from(message).hint((self.undirected != Some(true)).then_some(as_arcs))
    }
}
