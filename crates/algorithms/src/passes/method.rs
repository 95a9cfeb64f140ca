//! The choice between rows and passes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::Graph;
use tegula_engine::traverse::Directions;

use crate::algorithm::Edges;
use crate::error::{Setting, SettingValue};

/// Where the edges come from. Results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Method {
    /// From rows. Ranks make passes instead.
    #[default]
    Rows,
    /// From tiles, in passes, with arrays on disk where memory has no room for them. Edges that the
    /// tiles do not have in the needed direction are written to disk first.
    Passes,
}

impl Method {
    /// Returns whether a run on a graph makes passes.
    pub fn makes_passes(self, graph: &Graph) -> bool {
        self == Method::Passes || graph.is_for_ranks()
    }

    /// Returns where the edges of an algorithm come from that follows rows in these directions, or
    /// makes passes.
    pub fn edges(self, directions: Directions) -> Edges {
        match self {
            Method::Rows => Edges::Rows(directions),
            Method::Passes => Method::edges_of_passes(),
        }
    }

    /// Returns where the edges of passes come from.
    pub fn edges_of_passes() -> Edges {
        let value = SettingValue::OneOf(&["rows"]);
        let instead = Some(Setting { option: "method", value });
        Edges::Tiles { why: "passes go over tiles", instead }
    }
}
