//! `tegula info`.

use std::collections::BTreeMap;

use tegula_store::graph::{FileEntry, Graph, Manifest};

use crate::args::GraphArgs;
use crate::errors::Result;
use crate::json::{self, Degrees};
use crate::report::{self, EdgeCount, Facts};
use crate::session::Session;
use crate::stdout;

/// Shows what a graph directory holds.
pub fn info(args: &GraphArgs, session: &Session) -> Result<()> {
    stdout::check()?;
    let graph = args.open("the summary of degrees", |_| Ok(0))?;
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

/// How edges are distributed over vertices.
struct DegreeSummary {
    out: Degrees,
    into: Degrees,
    isolated: u64,
}

impl DegreeSummary {
    /// Reads the degrees in one pass.
    fn read(graph: &Graph) -> Result<DegreeSummary> {
        let (mut out, mut into) = (Census::default(), Census::default());
        let (mut shown, mut isolated) = (0, 0);
        graph.for_each_degrees(|_, out_degrees, in_degrees| {
            out.add(out_degrees);
            into.add(in_degrees);
            shown += out_degrees.len() as u64;
            let degrees = out_degrees.iter().zip(in_degrees);
            isolated += degrees.filter(|&(out, into)| out | into == 0).count() as u64;
            Ok(())
        })?;
        // Vertices that were not visited have no edge.
        let others = graph.vertex_count() - shown;
        let summary = |census: Census| census.summary(graph, others);
        Ok(DegreeSummary { out: summary(out), into: summary(into), isolated: isolated + others })
    }
}

/// Statistics of a stream of degrees.
struct Census {
    sum: u64,
    min: u32,
    max: u32,
    log2_bins: [u64; report::LOG2_BINS],
}

impl Default for Census {
    fn default() -> Census {
        Census { sum: 0, min: u32::MAX, max: 0, log2_bins: [0; report::LOG2_BINS] }
    }
}

impl Census {
    fn add(&mut self, degrees: &[u32]) {
        for &degree in degrees {
            self.sum += u64::from(degree);
            (self.min, self.max) = (self.min.min(degree), self.max.max(degree));
            self.log2_bins[report::log2_bin(degree)] += 1;
        }
    }

    /// Returns the statistics, with `others` vertices without an edge added.
    fn summary(mut self, graph: &Graph, others: u64) -> Degrees {
        self.log2_bins[0] += others;
        let used = self.log2_bins.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        Degrees {
            min: if self.log2_bins[0] > 0 || used == 0 { 0 } else { self.min },
            mean: self.sum as f64 / graph.vertex_count().max(1) as f64,
            max: self.max,
            log2_bins: self.log2_bins[..used].to_vec(),
        }
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
        shard: manifest.partition.as_ref().map(|partition| json::ShardOf {
            rank: partition.rank,
            ranks: partition.ranks(),
            vertices: partition.vertices().end - partition.vertices().start,
            whole_edges: partition.whole.edges,
        }),
        snapshots: 1,
        files: manifest.files.iter().map(entry).collect::<BTreeMap<_, _>>(),
    }
}

fn facts(graph: &Graph, degrees: &DegreeSummary) -> Facts {
    let manifest = graph.manifest();
    let mut facts = Facts::default();
    facts.add("vertices", report::count(manifest.vertices));
    if let Some(partition) = &manifest.partition {
        let (ranks, own) = (partition.ranks(), partition.vertices());
        let own = report::count(own.end - own.start);
        facts.add("shard", format!("rank {} of {ranks}, which has {own} of them", partition.rank));
    }
    let edges = EdgeCount::of(manifest);
    facts.add("edges", edges.with_kind(manifest.weighted));
    if let Some(weight) = manifest.equal_weight {
        facts.add("weights", format!("all {weight}"));
    }
    facts.add("ids", report::ids(manifest.ids));
    facts.add("loops", report::count(manifest.loops));
    facts.add(edges.duplicates(), report::count(manifest.duplicates));
    if manifest.edges > 0 {
        facts.add("order", format!("{}: {}", manifest.order.name, manifest.order.reason));
    }
    for (layout, bytes) in json::bytes_per_edge(&manifest.files, manifest.edges) {
        let tiles = report::counted(manifest.tiles, "tile", "tiles");
        let batches = report::counted(manifest.batches, "batch", "batches");
        let share = format!("{bytes:.2} bytes per {}, ", edges.stored_unit().one);
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
        // There are no degrees to show.
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
