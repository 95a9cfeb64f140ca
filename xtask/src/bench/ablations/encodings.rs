//! Encodings of rows: bits per edge, the time of a search, and the time of decoding all rows.

use std::path::Path;

use super::comparison::{ROUNDS_MAX, beside_first, in_turn};
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::figures::rows::edge_list;
use crate::bench::figures::size::UNDIRECTED;
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::{number, numbers, vertex, whole};
use crate::tegula::scratch::remove;

/// The encodings of rows, tegula's own first. Plain rows are compressed sparse rows (CSR).
const ENCODINGS: [&str; 4] = ["copy", "gap", "ceesor", "plain"];
const REAL: [&str; 4] = ["cnr-2000", "git-dag-polars", "ca-HepPh", "USA-road-FLA"];
/// The cache of a search from disk is the plain rows' size divided by this.
const CACHE_SHARE: u64 = 20;

/// A generated graph: its title, its model, and the bits per edge that the authors of CEESOR report
/// (Cambridge TR 823, Table 2), first for CEESOR and then for plain rows.
struct Synthetic {
    title: &'static str,
    model: fn(u64) -> Vec<String>,
    reported: (f64, f64),
}

/// The reported graphs have 100 edges per vertex, the third one 50.
const SYNTHETIC: [Synthetic; 3] = [
    Synthetic {
        title: "Erdos-Renyi",
        model: |vertices| {
            let edges = (100 * vertices).to_string();
            words(&["erdos-renyi", "--vertices", &vertices.to_string(), "--edges", &edges])
        },
        reported: (23.49, 25.0),
    },
    Synthetic {
        title: "Watts-Strogatz",
        model: |vertices| {
            words(&["watts-strogatz", "--vertices", &vertices.to_string(), "--neighbours", "100"])
        },
        reported: (20.39, 25.0),
    },
    Synthetic {
        title: "scale-free (R-MAT)",
        model: |vertices| {
            let scale = vertices.ilog2().to_string();
            words(&["rmat", "--scale", &scale, "--edge-factor", "50"])
        },
        reported: (25.65, 27.0),
    },
];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Measures every graph in every encoding.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let decode = Example::build(lab.root, "decode_rows")?;
    let mut figures = Vec::new();
    for name in REAL {
        let Some(edges) = edge_list(lab, name) else { continue };
        let undirected = UNDIRECTED.contains(&name).then_some("--undirected");
        let order = if name == "cnr-2000" { "given" } else { "dfs" };
        let options: Vec<&str> = ["--order", order].into_iter().chain(undirected).collect();
        figures.extend(in_every_encoding(lab, &decode, name, &edges, &options)?);
    }
    // 2^20 vertices at the scale of targets.
    let vertices = 1u64 << lab.settings.scale.saturating_sub(4);
    for Synthetic { title, model, reported: (theirs, plain) } in SYNTHETIC {
        let edges = lab.scratch.join("synthetic.bin32");
        let mut generate = words(&["generate"]);
        generate.extend(model(vertices));
        generate.extend(words(&["-o", text(&edges)?]));
        lab.tegula.json(&generate)?;
        let title = format!("{title}, {vertices} vertices");
        let found = in_every_encoding(lab, &decode, &title, &edges, &["--order", "dfs"])?;
        remove(&edges)?;
        lab.remarks.push(format!(
            "{title}: the paper has {theirs} bits an edge, {:.2} of its plain ones, on a larger graph.",
            theirs / plain
        ));
        figures.extend(found);
    }
    Ok(figures)
}

fn in_every_encoding(
    lab: &Lab<'_>,
    decode: &Example,
    title: &str,
    edges: &Path,
    options: &[&str],
) -> Result<Vec<Figure>> {
    let (mut graphs, mut bits) = (Vec::new(), Vec::new());
    for encoding in ENCODINGS {
        let graph = lab.scratch.join(&format!("{encoding}.tegula"));
        let import = ["import", text(edges)?, "-o", text(&graph)?, "--row-encoding", encoding];
        let report = lab.tegula.json(&[&import[..], options].concat())?;
        let size = std::fs::metadata(graph.join("rows.data"))?.len() as f64;
        bits.push(vec![8.0 * size / number(&report, "/edges")?]);
        graphs.push(graph);
    }
    let rounds = lab.settings.rounds.min(ROUNDS_MAX);
    let decoded = in_turn(rounds, &graphs, |graph| {
        Ok(median(&numbers(&decode.run(&[text(graph)?, "3"])?, "/seconds")?))
    })?;
    let searched = searches(lab, &graphs, rounds)?;
    graphs.iter().try_for_each(|graph| remove(graph))?;
    let figures = [
        ("", &bits, Unit::BitsPerEdge, Ratio::TimesAsLarge),
        (", all rows decoded by one core", &decoded, Unit::Seconds, Ratio::TimesAsLong),
        (", search along rows from disk", &searched, Unit::Seconds, Ratio::TimesAsLong),
    ];
    let figures = figures.into_iter().flat_map(|(what, samples, unit, ratio)| {
        beside_first(&format!("{title}{what}"), &ENCODINGS, samples, unit, ratio)
    });
    Ok(figures.collect())
}

/// Measures a breadth-first search along rows from disk in each graph, with the same memory for
/// all.
fn searches(lab: &Lab<'_>, graphs: &[std::path::PathBuf], rounds: usize) -> Result<Vec<Vec<f64>>> {
    let Some(plain) = graphs.last() else { return Ok(Vec::new()) };
    let source = vertex(&lab.pagerank(plain, 1, None)?, "/summary/top/0/vertex")?;
    let options = ["--source", source.as_str(), "--executor", "seek"];
    // The graph with the greatest needs decides.
    let mut memory = 0;
    for graph in graphs {
        let estimate = lab.run("bfs", graph, None, &[&options[..], &["--estimate"]].concat())?;
        let cache = whole(&estimate, "/layout_bytes")? / CACHE_SHARE;
        memory = memory.max(whole(&estimate, "/needed_bytes")? + cache);
    }
    in_turn(rounds, graphs, |graph| {
        number(&lab.run("bfs", graph, Some(memory), &options)?, "/seconds/run")
    })
}
