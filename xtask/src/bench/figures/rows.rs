//! Rows: how many bits an edge takes, and how fast they are decoded.

use std::fs;
use std::path::{Path, PathBuf};

use super::size::{UNDIRECTED, data_file, edge_lists};
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::graphs::{Made, Model, Recipe};
use crate::bench::lab::{self, Lab};
use crate::tegula::Result;
use crate::tegula::command::{number, numbers, whole};
use crate::tegula::scratch::remove;

/// Bits per edge that the authors of CEESOR give for each graph (University of Cambridge Computer
/// Laboratory, Technical Report 823, Table 2), in their order. The road networks are
/// regions of theirs.
const CEESOR: [(&str, f64); 4] = [
    ("ca-HepPh", 10.26),
    ("p2p-Gnutella31", 11.73),
    ("USA-road-FLA", 5.84),
    ("USA-road-BAY", 5.84),
];
/// Bits per edge in WebGraph's BV format, in the given order, as published with the graph.
const BV: (&str, f64) = ("cnr-2000", 2.897);
/// Targets for bits per edge of rows that copy, and better values.
const COPIED: [(&str, f64, f64); 2] = [("cnr-2000", 3.0, 2.8), ("git-dag-polars", 6.5, 5.9)];
/// Decoding rows that copy may take this many times as long as decoding gaps.
const COPIED_LONGER: f64 = 1.3;
/// The same code may take this many times the bits that its authors report.
const REPRODUCED: f64 = 1.03;
/// The least edges per second that one core decodes.
const DECODED: f64 = 300e6;
/// The path of a graph that is no plain edge list of the data folder.
const GNUTELLA: (&str, &str) = ("p2p-Gnutella31", "p2p-Gnutella31/p2p-31.e.zst");

/// A graph in one encoding and order.
struct Sized {
    graph: PathBuf,
    bits_per_edge: f64,
    index_bytes_per_vertex: f64,
    order: String,
}

/// Programs that compress a graph into WebGraph's BV format.
struct WebGraph {
    arcs: Example,
    bits: Example,
}

impl WebGraph {
    fn build(lab: &Lab<'_>) -> Result<WebGraph> {
        let arcs = Example::build(lab.root, "arcs")?;
        Ok(WebGraph { arcs, bits: Example::build_outside(lab.root, "webgraph-bits")? })
    }

    fn bits_per_edge(&self, lab: &Lab<'_>, graph: &Path) -> Result<f64> {
        let file = lab.scratch.join("arcs.bin32");
        let written = self.arcs.run(&[lab::text(graph)?, lab::text(&file)?])?;
        let vertices = whole(&written, "/vertices")?.to_string();
        let bv = self.bits.run(&[&vertices, lab::text(&file)?])?;
        remove(&file)?;
        number(&bv, "/bits_per_edge")
    }
}

/// Measures every graph of the data folder in every encoding, in depth-first order and in the order
/// that the import chooses; then the rate of decoding.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let webgraph = WebGraph::build(lab)?;
    let mut figures = Vec::new();
    let mut index: f64 = 0.0;
    let mut lists = edge_lists(lab);
    let gnutella = data_file(lab, GNUTELLA.1).map(|path| (GNUTELLA.0.to_owned(), path));
    lists.extend(gnutella);
    for (name, path) in lists {
        for order in ["dfs", "auto"] {
            let [copy, gap, ceesor, plain] = ["copy", "gap", "ceesor", "plain"]
                .map(|encoding| sized(lab, &name, &path, encoding, order));
            let (copy, gap, ceesor, plain) = (copy?, gap?, ceesor?, plain?);
            figures.push(copy_figure(&name, order, &copy, &gap));
            index = index.max(gap.index_bytes_per_vertex);
            figures.push(figure_of(&name, order, &gap, &ceesor, &plain));
            figures.extend(reproduced(&name, order, &ceesor));
            let bits = webgraph.bits_per_edge(lab, &gap.graph)?;
            figures.push(bv_figure(&name, order, bits, &gap));
            for sized in [copy, gap, ceesor, plain] {
                remove(&sized.graph)?;
            }
        }
    }
    let index = Figure::new("index, the largest of these", Unit::BytesPerVertex, vec![index]);
    figures.push(index.at_most(Of::Value, 1.5, None));
    figures.extend(decoding(lab)?);
    Ok(figures)
}

fn sized(lab: &Lab<'_>, name: &str, edges: &Path, encoding: &str, order: &str) -> Result<Sized> {
    let graph = lab.scratch.join(&format!("{encoding}.tegula"));
    let mut arguments = vec!["import", lab::text(edges)?, "-o", lab::text(&graph)?];
    arguments.extend(["--format", "text", "--order", order, "--row-encoding", encoding]);
    if UNDIRECTED.contains(&name) {
        arguments.push("--undirected");
    }
    let report = lab.tegula.json(&arguments)?;
    let bytes = |file: &str| -> Result<f64> { Ok(fs::metadata(graph.join(file))?.len() as f64) };
    Ok(Sized {
        bits_per_edge: 8.0 * bytes("rows.data")? / number(&report, "/edges")?,
        index_bytes_per_vertex: bytes("rows.index")? / number(&report, "/vertices")?,
        order: report.pointer("/order").and_then(|order| order.as_str()).unwrap_or("").to_owned(),
        graph,
    })
}

/// Returns the order that was asked for, and with `auto` the order that was chosen.
fn how(order: &str, sized: &Sized) -> String {
    match order {
        "auto" => format!("auto ({})", sized.order),
        order => order.to_owned(),
    }
}

fn figure_of(name: &str, order: &str, gap: &Sized, ceesor: &Sized, plain: &Sized) -> Figure {
    let how = how(order, gap);
    let reported = CEESOR.iter().find(|(reported, _)| *reported == name).map(|(_, bits)| bits);
    let mut note = format!(
        "plain {:.0} bits; index {:.2} bytes a vertex",
        plain.bits_per_edge, gap.index_bytes_per_vertex
    );
    if let Some(reported) = reported {
        note += &format!("; CEESOR as published {reported}{}", published_of(name));
    }
    let bits = vec![gap.bits_per_edge];
    let figure = Figure::new(format!("{name}, {how}, gap"), Unit::BitsPerEdge, bits)
        .compared_with("ceesor", vec![ceesor.bits_per_edge], Ratio::TimesAsLarge)
        .note(note);
    let figure = match reported {
        Some(_) => figure.at_most(Of::Ratio, 0.8, None),
        None => figure,
    };
    if name == BV.0 && order == "auto" { figure.at_most(Of::Value, 6.0, None) } else { figure }
}

/// Makes a figure of rows that copy from earlier rows, beside rows that do not.
fn copy_figure(name: &str, order: &str, copy: &Sized, gap: &Sized) -> Figure {
    let title = format!("{name}, {}, copy", how(order, copy));
    let figure = Figure::new(title, Unit::BitsPerEdge, vec![copy.bits_per_edge]).compared_with(
        "gap",
        vec![gap.bits_per_edge],
        Ratio::TimesAsLarge,
    );
    match COPIED.iter().find(|(wanted, ..)| *wanted == name && order == "auto") {
        Some(&(_, most, better)) => figure.at_most(Of::Value, most, Some(better)),
        None => figure,
    }
}

/// Says which graph the published figure is for, where it is another one.
fn published_of(name: &str) -> &'static str {
    if name.starts_with("USA-road-") { " for the whole USA" } else { "" }
}

/// Makes a figure of the CEESOR encoding beside the one that its authors report.
fn reproduced(name: &str, order: &str, ceesor: &Sized) -> Option<Figure> {
    let (_, published) = CEESOR.into_iter().find(|(reported, _)| *reported == name)?;
    (order == "dfs").then(|| {
        let bits = vec![ceesor.bits_per_edge];
        Figure::new(format!("{name}, dfs, ceesor"), Unit::BitsPerEdge, bits)
            .compared_with(
                format!("as published{}", published_of(name)),
                vec![published],
                Ratio::TimesAsLarge,
            )
            .at_most(Of::Ratio, REPRODUCED, None)
    })
}

/// Makes a figure of WebGraph's BV format in the same order, with the published figure where there
/// is one.
fn bv_figure(name: &str, order: &str, bits: f64, gap: &Sized) -> Figure {
    let title = format!("{name}, {}, WebGraph's BV", how(order, gap));
    let figure = Figure::new(title, Unit::BitsPerEdge, vec![bits]).compared_with(
        "gap",
        vec![gap.bits_per_edge],
        Ratio::TimesAsLarge,
    );
    if name != BV.0 || gap.order != "given" {
        return figure;
    }
    figure.at_most(Of::Value, BV.1 * REPRODUCED, None).note(format!("as published {}", BV.1))
}

/// Measures the edges per second that one core decodes in memory, row after row.
fn decoding(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let decode = Example::build(lab.root, "decode_rows")?;
    let graph = lab.make(Recipe::new(Model::Rmat(lab.settings.scale)))?;
    let (_, rate) = decoded(lab, &decode, &graph)?;
    let mut figures = vec![rate.at_least(Of::Value, DECODED, None)];
    for (name, ..) in COPIED {
        let Some(edges) = edge_list(lab, name) else { continue };
        let [copy, gap] = ["copy", "gap"].map(|encoding| {
            let title = format!("{name}, {encoding}");
            lab.with_rows(&title, &edges, &["--row-encoding", encoding])
        });
        let (copy, gap) = (copy?, gap?);
        let (mut copy_seconds, mut gap_seconds) = (Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds {
            copy_seconds.push(median(&decoded(lab, &decode, &copy)?.0));
            gap_seconds.push(median(&decoded(lab, &decode, &gap)?.0));
        }
        figures.push(decoded(lab, &decode, &gap)?.1.at_least(Of::Value, DECODED, None));
        let title = format!("{name}, copy, all rows decoded by one core");
        let figure = Figure::new(title, Unit::Seconds, copy_seconds)
            .compared_with("gap", gap_seconds, Ratio::TimesAsLong)
            .at_most(Of::Ratio, COPIED_LONGER, None);
        figures.push(figure);
    }
    Ok(figures)
}

/// Returns the times of decoding all rows, and a figure of the rate.
fn decoded(lab: &Lab<'_>, decode: &Example, graph: &Made) -> Result<(Vec<f64>, Figure)> {
    let passes = lab.settings.rounds.to_string();
    let done = decode.run(&[lab::text(&graph.graph)?, &passes])?;
    let (edges, bits) = (whole(&done, "/edges")?, number(&done, "/bits_per_edge")?);
    let seconds = numbers(&done, "/seconds")?;
    let rates = seconds.iter().map(|seconds| edges as f64 / seconds).collect();
    let title = format!("{}, decoded by one core", graph.title);
    let figure = Figure::new(title, Unit::EdgesPerSecond, rates)
        .note(format!("{bits:.2} bits an edge, {:.2} s in all", median(&seconds)));
    Ok((seconds, figure))
}

/// Returns the path of an edge list of the data folder. If it is missing, adds a remark.
pub fn edge_list(lab: &mut Lab<'_>, name: &str) -> Option<PathBuf> {
    let found = edge_lists(lab).into_iter().find(|(other, _)| other == name);
    if found.is_none() {
        lab.remarks.push(format!("{name} is not there; TEGULA_DATA names its folder."));
    }
    found.map(|(_, path)| path)
}
