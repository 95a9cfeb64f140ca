//! `tegula info`.

use std::collections::BTreeMap;

use tegula_store::graph::{FileEntry, Graph, Manifest};

use crate::args::GraphArgs;
use crate::errors::Result;
use crate::json::{self, Degrees};
use crate::report::{self, Facts};
use crate::session::Session;
use crate::stdout;

/// Bytes that the summary of degrees holds of each vertex.
const BYTES_PER_VERTEX: u64 = 5;

/// Shows what a graph directory holds.
///
/// # Errors
/// Those of opening and reading.
pub fn info(args: &GraphArgs, session: &Session) -> Result<()> {
    stdout::check()?;
    let graph = args.open("the summary of degrees", |graph| {
        BYTES_PER_VERTEX * u64::from(graph.vertex_count())
    })?;
    let degrees = DegreeSummary::read(&graph)?;
    if session.json {
        return session.print_json(&to_json(&graph, &degrees));
    }
    let facts = facts(&graph, &degrees).to_text();
    let mut text = format!("{}\n{facts}\n", report::path(graph.directory()));
    if graph.manifest().edges == 0 {
        return session.print(&format!("{text}\nthe graph has no edge"));
    }
    let name = if graph.manifest().undirected { "degrees" } else { "out-degrees" };
    text += &format!("\n{name}\n{}", report::histogram(&degrees.out.log2_bins));
    if !graph.manifest().undirected {
        text += &format!("\n\nin-degrees\n{}", report::histogram(&degrees.into.log2_bins));
    }
    session.print(&text)
}

/// How the edges are spread over the vertices.
struct DegreeSummary {
    out: Degrees,
    into: Degrees,
    isolated: u64,
}

impl DegreeSummary {
    /// Holds 4 bytes and a bit a vertex.
    fn read(graph: &Graph) -> Result<DegreeSummary> {
        let degrees = graph.out_degrees()?;
        let out = summary_of(&degrees);
        let mut has_edge = vec![0u64; degrees.len().div_ceil(64)];
        for (vertex, _) in degrees.iter().enumerate().filter(|&(_, &degree)| degree > 0) {
            has_edge[vertex / 64] |= 1 << (vertex % 64);
        }
        drop(degrees);
        let degrees = graph.in_degrees()?;
        let is_isolated = |(vertex, &degree): (usize, &u32)| {
            degree == 0 && has_edge[vertex / 64] >> (vertex % 64) & 1 == 0
        };
        let isolated = degrees.iter().enumerate().filter(|&entry| is_isolated(entry)).count();
        Ok(DegreeSummary { out, into: summary_of(&degrees), isolated: isolated as u64 })
    }
}

fn summary_of(degrees: &[u32]) -> Degrees {
    let sum: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
    Degrees {
        min: degrees.iter().copied().min().unwrap_or(0),
        mean: sum as f64 / degrees.len().max(1) as f64,
        max: degrees.iter().copied().max().unwrap_or(0),
        log2_bins: report::log2_bins(degrees),
    }
}

fn total_bytes(manifest: &Manifest) -> u64 {
    manifest.files.iter().map(|file| file.bytes).sum()
}

fn to_json<'a>(graph: &'a Graph, degrees: &'a DegreeSummary) -> json::Info<'a> {
    let manifest = graph.manifest();
    let entry = |file: &'a FileEntry| (file.name.as_str(), file.bytes);
    json::Info {
        schema: "tegula.info.v1",
        format_version: manifest.format_version,
        vertices: manifest.vertices,
        edges: manifest.edges,
        undirected: manifest.undirected,
        weighted: manifest.weighted,
        ids: manifest.ids,
        loops: manifest.loops,
        duplicates: manifest.duplicates,
        bytes: total_bytes(manifest),
        bytes_per_edge: json::bytes_per_edge(&manifest.files, manifest.edges),
        order: &manifest.order.name,
        order_choice: &manifest.order,
        batches: manifest.batches,
        tiles: manifest.tiles,
        out_degree: &degrees.out,
        in_degree: &degrees.into,
        isolated: degrees.isolated,
        snapshots: 1,
        files: manifest.files.iter().map(entry).collect::<BTreeMap<_, _>>(),
    }
}

fn facts(graph: &Graph, degrees: &DegreeSummary) -> Facts {
    let manifest = graph.manifest();
    let mut facts = Facts::default();
    facts.add("vertices", report::count(manifest.vertices));
    let direction = if manifest.undirected { "undirected, both arcs stored" } else { "directed" };
    let weights = if manifest.weighted { "weighted" } else { "unweighted" };
    facts.add("edges", format!("{} ({direction}, {weights})", report::count(manifest.edges)));
    facts.add("ids", report::ids(manifest.ids));
    facts.add("loops", report::count(manifest.loops));
    facts.add("duplicates", report::count(manifest.duplicates));
    if manifest.edges > 0 {
        facts.add("order", format!("{}: {}", manifest.order.name, manifest.order.reason));
    }
    for (layout, bytes) in json::bytes_per_edge(&manifest.files, manifest.edges) {
        let tiles = report::counted(manifest.tiles, "tile", "tiles");
        let batches = report::counted(manifest.batches, "batch", "batches");
        let share = format!("{bytes:.2} bytes per edge, ");
        let share = if manifest.edges == 0 { "" } else { share.as_str() };
        let rows = manifest.row_layouts().find(|(direction, _)| direction.layout() == layout);
        match rows {
            Some((_, rows)) => {
                let chunks = report::counted(rows.chunks, "chunk", "chunks");
                facts.add(layout, format!("{share}{} in {chunks}", rows.encoding.name()));
            }
            None => facts.add(layout, format!("{share}{tiles} in {batches}")),
        }
    }
    if manifest.edges == 0 {
        // There are no degrees to tell.
    } else if manifest.undirected {
        facts.add("degree", range_of(&degrees.out));
    } else {
        facts.add("out-degree", range_of(&degrees.out));
        facts.add("in-degree", range_of(&degrees.into));
    }
    let share = report::percent(degrees.isolated, manifest.vertices);
    facts.add("isolated", format!("{} ({share})", report::count(degrees.isolated)));
    facts.add("snapshots", "1");
    facts.add("on disk", report::bytes(total_bytes(manifest)));
    for file in &manifest.files {
        facts.add(format!("  {}", file.name), report::bytes(file.bytes));
    }
    facts
}

fn range_of(degrees: &Degrees) -> String {
    let max = report::count(u64::from(degrees.max));
    format!("{} to {max}, {:.1} on average", degrees.min, degrees.mean)
}
