//! Reads the edges of a document.

use tegula_store::{Diagnostic, Hint, Result};

use super::super::chunk::{Ends, Span};
use super::super::options::IdKind;
use super::super::reader::{Emit, Part, Reader, Space};
use super::super::text::{check_spelling, integer, weight};
use super::counts::ItemCounter;
use super::document::{Document, Element, Event, UNKNOWN_ENTITY};
use super::item::{Direction, Item, check_name, interpret};
use super::layout::Layout;
use crate::settings::WEIGHTED;

/// A document that is being read. One worker at a time parses it; others pass edges to the sink.
pub(in super::super) struct EdgeReader<'a> {
    layout: &'a Layout,
    document: Document,
    begun: Begun,
}

/// What has begun but not ended.
struct Begun {
    /// The direction of edges that have none of their own; `None` before the graph begins.
    direction: Option<Direction>,
    edge: Option<BegunEdge>,
    /// The text of the edge's weight, and the depth of its element.
    text: Option<(usize, String)>,
    /// Counts the edges in elements that declare their number.
    edges: ItemCounter,
}

/// An edge whose element is still open, so that its weight may follow.
struct BegunEdge {
    /// The depth of its element.
    depth: usize,
    line: u64,
    /// The number of arcs that it becomes.
    arcs: usize,
    weight: Option<f32>,
}

/// The longest text that may be a weight.
const WEIGHT_BYTES_MAX: usize = 256;

impl<'a> EdgeReader<'a> {
    pub fn open(layout: &'a Layout) -> Result<EdgeReader<'a>> {
        let document = layout.source.open()?;
        let edges = ItemCounter::new("edges");
        Ok(EdgeReader {
            layout,
            document,
            begun: Begun { direction: None, edge: None, text: None, edges },
        })
    }

    /// Reads the next event, and adds its edge, if any, to `space`. Returns false at the end.
    fn step(&mut self, space: &mut Space, emit: &Emit<'_>) -> Result<bool> {
        let EdgeReader { layout, document, begun } = self;
        match document.next(emit.cancel)? {
            Event::Start(element) => {
                let begins = begun.begin(&element, layout, space, emit);
                begins.map_err(|problem| element.fault(problem))?;
            }
            Event::Text(part) => {
                if let Some((_, text)) = &mut begun.text {
                    if text.len() <= WEIGHT_BYTES_MAX {
                        text.push_str(&part);
                    } else if !part.trim().is_empty() {
                        // Without this part, the text might be another number.
                        let problem = format!("the weight is longer than {WEIGHT_BYTES_MAX} bytes");
                        return Err(document.fault(document.line(), problem));
                    }
                }
            }
            Event::End => {
                let (depth, line) = (document.depth() + 1, document.line());
                let ends = begun.end(depth, line, layout, space);
                ends.map_err(|(line, problem)| document.fault(line, problem))?;
            }
            Event::UnknownEntity if begun.text.is_some() => {
                return Err(document.fault(document.line(), UNKNOWN_ENTITY));
            }
            Event::UnknownEntity | Event::Other => {}
            Event::Done => return Ok(false),
        }
        Ok(true)
    }
}

impl Begun {
    /// Begins an element.
    fn begin(
        &mut self,
        element: &Element<'_>,
        layout: &Layout,
        space: &mut Space,
        emit: &Emit<'_>,
    ) -> Result<(), Diagnostic> {
        let weights = layout.weight.as_ref();
        match interpret(layout.source.form, element)? {
            Item::Graph { direction, counts } => match self.direction.replace(direction) {
                None => {
                    self.edges.begin(element, counts.edges);
                    Ok(())
                }
                Some(_) => Err(
                    "a second graph begins here; a document with several or nested graphs cannot be read"
                        .into(),
                ),
            },
            Item::List(counts) => {
                self.edges.begin(element, counts.edges);
                Ok(())
            }
            Item::Edge { source, target, direction, weight } => {
                if self.edge.is_some() {
                    return Err("an edge begins within an edge".into());
                }
                let direction = direction.or(self.direction).unwrap_or(Direction::Directed);
                layout.check_direction(direction)?;
                let is_two = direction == Direction::Mutual && !emit.undirected && source != target;
                let arcs = if is_two { 2 } else { 1 };
                for ends in [[&*source, &*target], [&*target, &*source]].into_iter().take(arcs) {
                    layout.push_ends(ends, space, emit)?;
                }
                let weight = weight.filter(|_| weights.is_some_and(|place| place.is_own));
                let weight = weight.map(|text| weight_of(&text)).transpose()?;
                let (depth, line) = (element.depth, element.line);
                self.edges.add(depth);
                self.edge = Some(BegunEdge { depth, line, arcs, weight });
                Ok(())
            }
            Item::Value { column, value } => {
                let is_weight =
                    weights.is_some_and(|place| place.columns.iter().any(|id| *id == column));
                match (&mut self.edge, value) {
                    (Some(edge), Some(text)) if is_weight => edge.weight = Some(weight_of(&text)?),
                    (Some(_), None) if is_weight => {
                        self.text = Some((element.depth, String::new()));
                    }
                    _ => {}
                }
                Ok(())
            }
            Item::Columns { .. } | Item::Column { .. } | Item::Node { .. } => Ok(()),
            Item::Nothing => Ok(()),
        }
    }

    /// Ends an element at this depth, on this line. The error has the line of the fault.
    fn end(
        &mut self,
        depth: usize,
        line: u64,
        layout: &Layout,
        space: &mut Space,
    ) -> Result<(), (u64, Diagnostic)> {
        self.edges.end(depth)?;
        if let Some((_, text)) = self.text.take_if(|(begun, _)| *begun == depth)
            && let Some(edge) = &mut self.edge
        {
            edge.weight = Some(weight_of(&text).map_err(|problem| (line, problem))?);
        }
        let Some(edge) = self.edge.take_if(|edge| edge.depth == depth) else { return Ok(()) };
        if let Some(place) = &layout.weight {
            let Some(weight) = edge.weight.or(place.default) else {
                let none = Diagnostic::from("the edge has no weight");
                let hint = Hint::leave_out(WEIGHTED.option).detail("if there are no weights");
                return Err((edge.line, none.hint(hint)));
            };
            space.weights.extend(std::iter::repeat_n(weight, edge.arcs));
        }
        Ok(())
    }
}

fn weight_of(text: &str) -> Result<f32, Diagnostic> {
    Ok(weight(text.trim().as_bytes())?)
}

impl Layout {
    /// Refuses an edge that is undirected if the first one is directed, or the other way round.
    fn check_direction(&self, direction: Direction) -> Result<(), Diagnostic> {
        let problem = match (direction.is_undirected(), self.is_undirected) {
            (true, false) => "this edge is undirected, but the first one is directed",
            (false, true) => "this edge is directed, but the first one is undirected",
            (true, true) | (false, false) => return Ok(()),
        };
        Err(format!("{problem}; a graph with both cannot be read").into())
    }

    /// Adds an edge to `space`.
    fn push_ends(
        &self,
        ends: [&str; 2],
        space: &mut Space,
        emit: &Emit<'_>,
    ) -> Result<(), Diagnostic> {
        let Space { block, pairs64: pairs, sources, targets, .. } = space;
        match emit.ids {
            IdKind::String => {
                ends.into_iter().try_for_each(check_name)?;
                let [source, target] = ends.map(|id| {
                    let start = block.len();
                    block.extend_from_slice(id.as_bytes());
                    Span::of(start..block.len())
                });
                sources.push(source);
                targets.push(target);
            }
            IdKind::Integer | IdKind::Auto => {
                let [source, target] = ends.map(|id| self.integer(id));
                pairs.push([source?, target?]);
            }
        }
        Ok(())
    }

    fn integer(&self, id: &str) -> Result<u64, Diagnostic> {
        let number = integer(id.as_bytes())?;
        if !self.joins_spellings {
            check_spelling(id.as_bytes())?;
        }
        Ok(number)
    }
}

impl<'a> Reader<'a> for EdgeReader<'a> {
    fn claim(&mut self, space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>> {
        space.block.clear();
        space.pairs64.clear();
        space.sources.clear();
        space.targets.clear();
        space.weights.clear();
        // An edge may become two arcs.
        let most = emit.sizes.chunk_edges.saturating_sub(1);
        let mut has_more = true;
        while has_more {
            let edges = space.pairs64.len() + space.sources.len();
            let is_full = edges >= most || space.block.len() >= emit.sizes.block_bytes;
            // The weight of an open edge may still follow, and must come into the same chunk.
            if is_full && self.begun.edge.is_none() {
                break;
            }
            has_more = self.step(space, emit)?;
        }
        emit.progress.advance(self.document.stored_bytes_since());
        if !has_more && space.pairs64.is_empty() && space.sources.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(|space, emit| {
            let Space { block, pairs64: pairs, sources, targets, weights, edges, .. } = space;
            *edges = (pairs.len() + sources.len()) as u64;
            match emit.ids {
                IdKind::String => emit.strings(block, sources, targets, weights),
                IdKind::Integer | IdKind::Auto => emit.chunk(Ends::Pairs64(pairs), weights),
            }
        })))
    }
}
