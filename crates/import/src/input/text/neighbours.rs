//! Parses the adjacency lists of METIS, one line for each vertex.

use memchr::memchr_iter;
use tegula_machine::counted;
use tegula_tables::read::text::{Excerpt, Field, Fields, Separator, line_at};

use super::super::chunk::Ends;
use super::super::reader::{Emit, Space};
use super::dialect::Lists;
use super::{Fault, Stop, numbers};

/// Counts the lines of a block that are lists of vertices.
pub(super) fn count(block: &[u8]) -> u64 {
    let lines = memchr_iter(b'\n', block).count();
    let begins_line = |&at: &usize| at == 0 || block[at - 1] == b'\n';
    let comments = memchr_iter(b'%', block).filter(begins_line).count();
    (lines - comments) as u64
}

/// Parses a block whose first line is the list of the vertex `first`. For an undirected graph, only
/// mentions with `source <= target` become edges, and all are added to the balance of the part.
pub(super) fn parse(
    block: &[u8],
    lists: Lists,
    first: u64,
    space: &mut Space,
    emit: &Emit<'_>,
) -> Result<(), Stop> {
    let Space { pairs64: pairs, weights, edges, balance, .. } = space;
    if emit.undirected {
        balance.begin();
    }
    pairs.clear();
    weights.clear();
    let (mut at, mut source) = (0, first);
    while at < block.len() {
        let (line, next) = line_at(block, at);
        // A blank line is a list too, that of a vertex without neighbours. So only comments are
        // passed over.
        if block[at] == b'%' {
            at = next;
            continue;
        }
        let fault = |problem: String| Fault::of_line(at, problem);
        let mut fields = Fields::of(block, line, Separator::Blanks);
        for index in 0.. {
            let Some(field) = fields.next_field().map_err(fault)? else { break };
            // Asked only where a line has a number, since blank lines may follow the last list.
            if source > lists.vertices {
                let vertices = counted(lists.vertices, "vertex", "vertices");
                let problem = format!("the header declares {vertices}, but this is one more line");
                return Err(fault(problem).into());
            }
            if index < lists.skipped {
                continue;
            }
            let target = neighbour(&field, block, lists, at)?;
            let weight = match lists.is_weighted {
                true => Some(
                    fields
                        .next_field()
                        .map_err(fault)?
                        .ok_or_else(|| fault(format!("the neighbour {target} has no weight")))?,
                ),
                false => None,
            };
            let weight = weight.filter(|_| emit.weighted);
            let weight = weight.map(|weight| numbers::weight(weight.bytes(block)));
            let weight = weight.transpose().map_err(|problem| Fault::of_value(at, problem))?;
            if emit.undirected {
                balance.add(source, target, weight.unwrap_or(0.0));
                // The mention in the other list gives both arcs.
                if source > target {
                    continue;
                }
            }
            weights.extend(weight);
            pairs.push([source, target]);
            if pairs.len() == emit.sizes.chunk_edges {
                *edges += pairs.len() as u64;
                emit.chunk(Ends::Pairs64(pairs), weights)?;
                pairs.clear();
                weights.clear();
            }
        }
        (at, source) = (next, source + 1);
    }
    *edges += pairs.len() as u64;
    Ok(emit.chunk(Ends::Pairs64(pairs), weights)?)
}

fn neighbour(field: &Field, block: &[u8], lists: Lists, at: usize) -> Result<u64, Fault> {
    let text = field.bytes(block);
    let id = numbers::integer(text).map_err(|problem| Fault::of_value(at, problem.message))?;
    match id {
        id if (1..=lists.vertices).contains(&id) => Ok(id),
        _ => {
            let problem = format!(
                "the neighbour {} is not one of the vertices 1 to {}",
                Excerpt(text),
                lists.vertices
            );
            Err(Fault::of_value(at, problem))
        }
    }
}
