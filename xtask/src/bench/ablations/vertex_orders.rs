//! The order of the vertices: bytes per edge, and the time of an iteration that reads all edges.

use std::path::PathBuf;

use super::comparison::{beside_first, in_turn};
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::figures::rows::edge_list;
use crate::bench::figures::size::UNDIRECTED;
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::{number, numbers};
use crate::tegula::scratch::remove;

/// Real graphs: a web crawl, a co-author network, a road network.
const REAL: [&str; 3] = ["cnr-2000", "com-dblp.ungraph", "USA-road-FLA"];
/// The scale of the generated graph is lower by this: a depth-first order of a large graph takes
/// long.
const STEPS_DOWN: u32 = 2;
const ITERATIONS: u64 = 10;
const ORDERS: [&str; 4] = ["auto", "given", "degree", "dfs"];

/// Measures each graph in every order.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale - STEPS_DOWN;
    let pairs = lab.scratch.join("ordered.bin32");
    lab.generate(scale, &pairs)?;
    let mut figures = in_every_order(lab, &format!("R-MAT {scale}"), &pairs, &[])?;
    remove(&pairs)?;
    for name in REAL {
        let Some(edges) = edge_list(lab, name) else { continue };
        let options: &[&str] = if UNDIRECTED.contains(&name) { &["--undirected"] } else { &[] };
        figures.extend(in_every_order(lab, name, &edges, options)?);
    }
    Ok(figures)
}

fn in_every_order(
    lab: &Lab<'_>,
    title: &str,
    edges: &std::path::Path,
    options: &[&str],
) -> Result<Vec<Figure>> {
    let mut graphs: Vec<PathBuf> = Vec::new();
    let (mut bytes, mut chosen) = (Vec::new(), String::new());
    for order in ORDERS {
        let graph = lab.scratch.join(&format!("ordered-{order}.tegula"));
        let import = ["import", text(edges)?, "-o", text(&graph)?, "--order", order];
        let report = lab.tegula.json(&[&import[..], options].concat())?;
        bytes.push(vec![number(&report, "/bytes_per_edge/tiles")?]);
        if order == ORDERS[0] {
            let name = report.pointer("/order").and_then(|order| order.as_str());
            chosen = format!("as chosen: {}", name.unwrap_or("unknown"));
        }
        graphs.push(graph);
    }
    let samples = in_turn(lab.settings.rounds, &graphs, |graph| {
        Ok(median(&numbers(&lab.pagerank(graph, ITERATIONS, None)?, "/iteration_seconds")?))
    })?;
    graphs.iter().try_for_each(|graph| remove(graph))?;
    let titles = [&chosen, ORDERS[1], ORDERS[2], ORDERS[3]];
    let sizes = beside_first(title, &titles, &bytes, Unit::BytesPerEdge, Ratio::TimesAsLarge);
    let subject = format!("PageRank iteration, {title}");
    let times = beside_first(&subject, &titles, &samples, Unit::Seconds, Ratio::TimesAsLong);
    Ok(sizes.into_iter().chain(times).collect())
}
