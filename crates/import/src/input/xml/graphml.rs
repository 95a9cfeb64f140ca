//! Interprets GraphML (Brandes, Eiglsperger, Herman, Himsolt, Marshall, *GraphML Progress Report*,
//! 2002):
//!
//! ```xml
//! <graphml>
//!   <key id="d0" for="edge" attr.name="weight" attr.type="double"><default>1</default></key>
//!   <graph edgedefault="undirected">
//!     <node id="n0"/> <node id="n1"/>
//!     <edge source="n0" target="n1" directed="false"><data key="d0">0.5</data></edge>
//!   </graph>
//! </graphml>
//! ```
//!
//! Ports are ignored; a hyperedge is refused.

use tegula_store::Diagnostic;

use super::counts::Counts;
use super::document::Element;
use super::item::{Direction, Item, missing};

/// Interprets an element.
pub(super) fn interpret<'a>(element: &'a Element<'_>) -> Result<Item<'a>, Diagnostic> {
    match element.name() {
        "key" => {
            let [id, of, name] = element.attributes(["id", "for", "attr.name"])?;
            // A key without `for` is one for all elements.
            let is_of_edges = of.as_deref().is_none_or(|of| of == "edge" || of == "all");
            match (id, name) {
                (Some(id), Some(name)) if is_of_edges => Ok(Item::Column { id, name }),
                _ => Ok(Item::Nothing),
            }
        }
        "graph" => {
            let [direction, nodes, edges] =
                element.attributes(["edgedefault", "parse.nodes", "parse.edges"])?;
            let direction = match direction.as_deref() {
                Some("directed") => Direction::Directed,
                Some("undirected") => Direction::Undirected,
                Some(other) => return Err(Direction::unknown("edgedefault", other)),
                None => return Err(missing("graph", "edgedefault")),
            };
            let counts = Counts {
                nodes: Counts::number("parse.nodes", nodes.as_deref())?,
                edges: Counts::number("parse.edges", edges.as_deref())?,
            };
            Ok(Item::Graph { direction, counts })
        }
        "node" => {
            let [id] = element.attributes(["id"])?;
            Ok(Item::Node { id: id.ok_or_else(|| missing("node", "id"))? })
        }
        "edge" => {
            let [source, target, direction] =
                element.attributes(["source", "target", "directed"])?;
            let direction = match direction.as_deref() {
                None => None,
                Some("true" | "1") => Some(Direction::Directed),
                Some("false" | "0") => Some(Direction::Undirected),
                Some(other) => return Err(Direction::unknown("directed", other)),
            };
            Ok(Item::Edge {
                source: source.ok_or_else(|| missing("edge", "source"))?,
                target: target.ok_or_else(|| missing("edge", "target"))?,
                direction,
                weight: None,
            })
        }
        "data" => {
            let [column] = element.attributes(["key"])?;
            Ok(column.map_or(Item::Nothing, |column| Item::Value { column, value: None }))
        }
        "hyperedge" => Err("a hyperedge joins more than two vertices; it cannot be read".into()),
        _ => Ok(Item::Nothing),
    }
}
