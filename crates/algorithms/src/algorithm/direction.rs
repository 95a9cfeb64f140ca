//! The direction in which a search follows edges, as an option.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;

/// Which edges a search follows. In an undirected graph, all directions are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum EdgeDirection {
    /// Those out of a vertex, from source to target.
    #[default]
    Out,
    /// Those into a vertex, from target to source.
    In,
    /// Those out of a vertex and those into it.
    Both,
}

impl From<EdgeDirection> for Directions {
    fn from(direction: EdgeDirection) -> Directions {
        match direction {
            EdgeDirection::Out => Directions::Forward,
            EdgeDirection::In => Directions::Reverse,
            EdgeDirection::Both => Directions::Both,
        }
    }
}
