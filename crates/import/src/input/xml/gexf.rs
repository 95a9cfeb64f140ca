//! Interprets GEXF, as Gephi and NetworkX write it (*GEXF 1.3 Primer*, 2022):
//!
//! ```xml
//! <gexf>
//!   <graph defaultedgetype="directed">
//!     <attributes class="edge"><attribute id="0" title="length" type="float"/></attributes>
//!     <nodes count="2"> <node id="0"/> <node id="1"/> </nodes>
//!     <edges>
//!       <edge source="0" target="1" weight="2"><attvalues><attvalue for="0" value="0.5"/></attvalues></edge>
//!     </edges>
//!   </graph>
//! </gexf>
//! ```
//!
//! Nodes within nodes are nodes like others. Times, such as `start` and `end`, are ignored.

use tegula_store::Diagnostic;

use super::counts::Counts;
use super::document::Element;
use super::item::{Direction, Item, missing};

/// Interprets an element.
pub(super) fn interpret<'a>(element: &'a Element<'_>) -> Result<Item<'a>, Diagnostic> {
    match element.name() {
        "graph" => {
            let [direction] = element.attributes(["defaultedgetype"])?;
            let direction = direction.as_deref().map(|text| direction_of("defaultedgetype", text));
            let direction = direction.transpose()?.unwrap_or(Direction::Undirected);
            Ok(Item::Graph { direction, counts: Counts::default() })
        }
        "nodes" => Ok(Item::List(Counts { nodes: count(element)?, ..Counts::default() })),
        "edges" => Ok(Item::List(Counts { edges: count(element)?, ..Counts::default() })),
        "attributes" => {
            let [class] = element.attributes(["class"])?;
            Ok(Item::Columns { are_of_edges: class.as_deref() == Some("edge") })
        }
        "attribute" => match element.attributes(["id", "title"])? {
            [Some(id), Some(name)] => Ok(Item::Column { id, name }),
            _ => Ok(Item::Nothing),
        },
        "node" => {
            let [id] = element.attributes(["id"])?;
            Ok(Item::Node { id: id.ok_or_else(|| missing("node", "id"))? })
        }
        "edge" => {
            let [source, target, direction, weight] =
                element.attributes(["source", "target", "type", "weight"])?;
            let direction = direction.as_deref().map(|text| direction_of("type", text));
            Ok(Item::Edge {
                source: source.ok_or_else(|| missing("edge", "source"))?,
                target: target.ok_or_else(|| missing("edge", "target"))?,
                direction: direction.transpose()?,
                weight,
            })
        }
        "attvalue" => {
            // Before version 1.1, `id` named the column.
            let [column, old, value] = element.attributes(["for", "id", "value"])?;
            let value = Some(value.unwrap_or_default());
            let column = column.or(old);
            Ok(column.map_or(Item::Nothing, |column| Item::Value { column, value }))
        }
        _ => Ok(Item::Nothing),
    }
}

/// Returns the number of items that a list declares.
fn count(element: &Element<'_>) -> Result<Option<u64>, Diagnostic> {
    let [count] = element.attributes(["count"])?;
    Counts::number("count", count.as_deref())
}

fn direction_of(attribute: &str, text: &str) -> Result<Direction, Diagnostic> {
    match text {
        "directed" => Ok(Direction::Directed),
        "undirected" => Ok(Direction::Undirected),
        "mutual" => Ok(Direction::Mutual),
        other => Err(Direction::unknown(attribute, other)),
    }
}
