//! What is told of a graph, and of a run before it starts. Fields have the names that `--json`
//! prints.

use std::time::Duration;

use serde::Serialize;
use tegula_algorithms::algorithm::{Needs, StreamedLayout};
use tegula_engine::Graph;
use tegula_machine::disk::Speed;
use tegula_machine::threads::Cancel;
use tegula_store::Checked;
use tegula_store::graph::{IdType, OrderChoice};

use super::shared::Shared;
use crate::failure::Result;

/// Serializes an object whose fields all have a form in JSON.
pub fn json(object: &impl Serialize) -> String {
    serde_json::to_string(object).unwrap_or_default()
}

/// What a graph holds.
#[derive(Debug, Serialize)]
struct Info<'a> {
    format_version: u32,
    vertices: u64,
    edges: u64,
    undirected: bool,
    weighted: bool,
    ids: IdType,
    loops: u64,
    duplicates: u64,
    bytes: u64,
    order: &'a str,
    order_choice: &'a OrderChoice,
    layouts: Vec<&'static str>,
    batches: u64,
    tiles: u64,
    out_degree: Degrees,
    in_degree: Degrees,
    /// Vertices without an edge.
    isolated: u64,
}

/// The degrees of all vertices in one direction.
#[derive(Debug, Clone, Serialize)]
struct Degrees {
    min: u32,
    mean: f64,
    max: u32,
    /// How many vertices have degree 0, how many 1, 2 to 3, 4 to 7 and so on.
    histogram: Vec<u64>,
}

impl Degrees {
    /// Before the first degree.
    const NONE: Degrees = Degrees { min: u32::MAX, mean: 0.0, max: 0, histogram: Vec::new() };

    fn add(&mut self, degrees: &[u32]) {
        for &degree in degrees {
            (self.min, self.max) = (self.min.min(degree), self.max.max(degree));
            self.count((u32::BITS - degree.leading_zeros()) as usize, 1);
        }
    }

    fn count(&mut self, bar: usize, vertices: u64) {
        self.histogram.resize(self.histogram.len().max(bar + 1), 0);
        self.histogram[bar] += vertices;
    }

    /// Returns the degrees of `vertices` vertices, of which `others` were not seen: they have none.
    fn of(mut self, edges: u64, vertices: u64, others: u64) -> Degrees {
        self.count(0, others);
        let min = if others > 0 || vertices == 0 { 0 } else { self.min };
        Degrees { min, mean: edges as f64 / vertices.max(1) as f64, ..self }
    }
}

/// Returns what a graph holds, as JSON.
pub fn info(graph: &Graph, cancel: &Cancel) -> Result<String> {
    let manifest = graph.manifest();
    let (mut out, mut into) = (Degrees::NONE, Degrees::NONE);
    let (mut seen, mut isolated) = (0, 0);
    graph.for_each_degrees(|_, out_degrees, in_degrees| {
        cancel.check()?;
        out.add(out_degrees);
        into.add(in_degrees);
        seen += out_degrees.len() as u64;
        let degrees = out_degrees.iter().zip(in_degrees);
        isolated += degrees.filter(|&(out, into)| out | into == 0).count() as u64;
        Ok(())
    })?;
    let (vertices, edges) = (manifest.vertices, manifest.edges);
    // Vertices that were not visited have no edge.
    let others = vertices - seen;
    let rows = manifest.row_layouts().map(|(direction, _)| direction.layout());
    let info = Info {
        format_version: manifest.format_version,
        vertices,
        edges,
        undirected: manifest.undirected,
        weighted: manifest.weighted,
        ids: manifest.ids,
        loops: manifest.loops,
        duplicates: manifest.duplicates,
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
        order: &manifest.order.name,
        order_choice: &manifest.order,
        layouts: std::iter::once("tiles").chain(rows).collect(),
        batches: manifest.batches,
        tiles: manifest.tiles,
        out_degree: out.of(edges, vertices, others),
        in_degree: into.of(edges, vertices, others),
        isolated: isolated + others,
    };
    Ok(json(&info))
}

/// What was found sound.
#[derive(Debug, Serialize)]
pub struct CheckedFacts {
    files: u64,
    bytes: u64,
    tiles: u64,
    edges: u64,
    seconds: f64,
}

impl CheckedFacts {
    /// Joins what was checked with the time that it took.
    pub fn of(checked: &Checked, time: Duration) -> CheckedFacts {
        let Checked { files, bytes, tiles, edges } = *checked;
        CheckedFacts { files, bytes, tiles, edges, seconds: time.as_secs_f64() }
    }
}

/// What a run needs.
#[derive(Debug, Serialize)]
pub struct EstimateFacts {
    algorithm: &'static str,
    vertex_bytes: u64,
    stream_bytes_min: u64,
    overhead_bytes: u64,
    needed_bytes: u64,
    layout: &'static str,
    layout_bytes: u64,
    why_in_memory: Option<&'static str>,
    iteration_bytes: u64,
    moved_bytes: u64,
    lists_bytes: u64,
    seconds: Option<f64>,
    memory_bytes: u64,
    fits: bool,
    layout_fits: bool,
}

impl EstimateFacts {
    /// Returns what a run needs within the budget of a graph.
    pub fn of(
        needs: &Needs,
        algorithm: &'static str,
        shared: &Shared,
        speed: &Speed,
    ) -> EstimateFacts {
        let (estimate, memory) = (&needs.estimate, shared.memory);
        EstimateFacts {
            algorithm,
            vertex_bytes: estimate.vertex_bytes,
            stream_bytes_min: estimate.stream_bytes_min,
            overhead_bytes: estimate.overhead_bytes,
            needed_bytes: needs.needed(),
            layout: match needs.layout {
                StreamedLayout::None => "none",
                StreamedLayout::Tiles => "tiles",
                StreamedLayout::Rows => "rows",
            },
            layout_bytes: estimate.layout_bytes,
            why_in_memory: needs.why_in_memory,
            iteration_bytes: needs.iteration_bytes(memory),
            moved_bytes: needs.bytes_moved(memory) as u64,
            lists_bytes: needs.lists_bytes,
            seconds: needs.seconds(memory, shared.threads, speed),
            memory_bytes: memory,
            fits: needs.needed() <= memory,
            layout_fits: needs.holds_layout(memory),
        }
    }
}
