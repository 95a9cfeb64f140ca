//! Writes a graph file.

use tegula_algorithms::answer::Table;
use tegula_engine::Graph;
use tegula_machine::threads::ProgressUnit;
use tegula_store::Error;
use tegula_tables::Output;

use super::args::GraphFileArgs;
use super::attributes::Attributes;
use super::dot::Dot;
use super::gexf::Gexf;
use super::graphml::GraphMl;
use super::rows::{EdgeRows, GraphText, VertexRows};
use super::syntax::{Shape, Syntax, Unfit};
use crate::errors::{Failure, Result};
use crate::output::{GraphFormat, Target};
use crate::session::Session;

/// The parts of a graph that are written.
pub struct Parts<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The written vertices, in the order of their ids.
    pub vertices: &'a dyn Table,
    /// The written edges: sources, targets, and weights if there are any.
    pub edges: &'a dyn Table,
}

fn syntax(format: GraphFormat) -> &'static dyn Syntax {
    match format {
        GraphFormat::GraphMl => &GraphMl,
        GraphFormat::Gexf => &Gexf,
        GraphFormat::Dot => &Dot,
    }
}

/// Writes parts of a graph; returns the size of the file in bytes.
///
/// # Errors
/// [`Failure::Usage`] for a graph that is too large, or a text that the format cannot hold.
pub fn write(
    parts: &Parts<'_>,
    target: &Target<GraphFormat>,
    args: &GraphFileArgs,
    session: &Session,
) -> Result<u64> {
    let Parts { graph, vertices, edges } = *parts;
    let cancel = &session.cancel;
    let (vertex_count, edge_count) = (vertices.row_count(graph), edges.row_count(graph));
    let format = target.format();
    args.check_size(vertex_count, edge_count, format.name())?;
    let attributes = Attributes::read(&args.attributes, graph, vertices, cancel)?;
    // The attributes stay to the end, so their memory must not be lent to tiles.
    let _held = graph.reader().pool().lease("reading the attributes", attributes.size())?;
    let shape = Shape {
        is_undirected: graph.manifest().undirected,
        vertex_count,
        edge_count,
        is_weighted: graph.is_weighted(),
        attributes: attributes.names_and_kinds(),
    };
    let progress = session.progress();
    progress.begin("writing vertices", Some(vertex_count), ProgressUnit::Vertices);
    let (file, path) = (target.create(cancel)?, target.path().to_owned());
    let mut text = GraphText::new(syntax(format), &shape, file, path, progress);
    let unfit = |unfit: Unfit| refused(&unfit, format);
    text.spell(|syntax, shape, out| syntax.begin(shape, out))?;
    text.check().map_err(unfit)?;
    let mut rows = VertexRows { text: &mut text, attributes: &attributes, count: 0 };
    vertices.write_rows(graph, &mut rows, cancel)?;
    text.check().map_err(unfit)?;
    text.spell(|syntax, shape, out| {
        syntax.turn_to_edges(shape, out);
        Ok(())
    })?;
    progress.end();
    progress.begin("writing edges", Some(edge_count), ProgressUnit::Edges);
    edges.write_rows(graph, &mut EdgeRows { text: &mut text, count: 0 }, cancel)?;
    text.check().map_err(unfit)?;
    text.spell(|syntax, _, out| {
        syntax.end(out);
        Ok(())
    })?;
    let bytes = text.finish()?.finish().map_err(Error::io("write", target.path()))?.commit()?;
    progress.end();
    Ok(bytes)
}

fn refused(Unfit { text, character }: &Unfit, format: GraphFormat) -> Failure {
    let (code, name) = (u32::from(*character), format.name());
    let message = format!("`{text}` has the character U+{code:04X}, which {name} cannot hold");
    let help = match format {
        GraphFormat::GraphMl | GraphFormat::Gexf if *character != '\0' => "write .dot, or a table",
        _ => "write a table",
    };
    Failure::usage_with(message, help)
}
