//! Graphs of 10^6 edges, and an R-MAT graph of 7 * 10^7, beside igraph and NetworKit: the time of
//! each algorithm, and how good communities are. Then what needs no library: equal weights, and the
//! choice of executors.

mod auto;
mod calls;
mod communities;
mod equal_weights;
mod library;
mod subject;

use super::figure::Figure;
use super::figures::Group;
use super::lab::Lab;
use crate::tegula::Result;

/// Every group, in the order in which they are measured and shown.
pub const LIBRARIES: &[Group] = &[
    group("peers-com-dblp", "com-dblp, beside libraries", |lab| {
        calls::all(lab, "com-dblp.ungraph")
    }),
    group("peers-slashdot", "soc-sign-Slashdot090221, beside libraries", |lab| {
        calls::all(lab, "soc-sign-Slashdot090221")
    }),
    group("peers-cnr-2000", "cnr-2000, beside libraries", |lab| calls::all(lab, "cnr-2000")),
    group("peers-roads", "USA-road-FLA, beside libraries", |lab| calls::all(lab, "USA-road-FLA")),
    group("peers-enron", "email-Enron, beside libraries", |lab| calls::all(lab, "email-Enron")),
    group("peers-wave", "wave, beside libraries", |lab| calls::all(lab, "wave")),
    group(
        "peers-betweenness",
        "Exact betweenness of wiki-Vote, beside libraries",
        calls::exact_betweenness,
    ),
    group("peers-rmat", "An R-MAT graph, beside NetworKit", calls::of_rmat),
    group("peers-quality-com-dblp", "Communities of com-dblp", |lab| {
        communities::of_data(lab, "com-dblp.ungraph")
    }),
    group("peers-quality-slashdot", "Communities of soc-sign-Slashdot090221", |lab| {
        communities::of_data(lab, "soc-sign-Slashdot090221")
    }),
    group("peers-quality-cnr-2000", "Communities of cnr-2000", |lab| {
        communities::of_data(lab, "cnr-2000")
    }),
    group("peers-quality-roads", "Communities of USA-road-FLA", |lab| {
        communities::of_data(lab, "USA-road-FLA")
    }),
    group("peers-quality-enron", "Communities of email-Enron", |lab| {
        communities::of_data(lab, "email-Enron")
    }),
    group("peers-quality-wave", "Communities of wave", |lab| communities::of_data(lab, "wave")),
    group("peers-lfr-10", "Known communities, mixing 0.1", |lab| communities::of_lfr(lab, 10)),
    group("peers-lfr-20", "Known communities, mixing 0.2", |lab| communities::of_lfr(lab, 20)),
    group("peers-lfr-30", "Known communities, mixing 0.3", |lab| communities::of_lfr(lab, 30)),
    group("peers-lfr-40", "Known communities, mixing 0.4", |lab| communities::of_lfr(lab, 40)),
    group("peers-lfr-50", "Known communities, mixing 0.5", |lab| communities::of_lfr(lab, 50)),
    group("peers-lfr-60", "Known communities, mixing 0.6", |lab| communities::of_lfr(lab, 60)),
    group(
        "equal-weights",
        "Shortest paths with equal weights, beside searches",
        equal_weights::all,
    ),
    group("auto-uniform", "The choice of executors, uniform graph", auto::uniform),
    group("auto-rmat", "The choice of executors, R-MAT", auto::rmat),
    group(
        "auto-rmat-undirected",
        "The choice of executors, R-MAT, undirected",
        auto::rmat_undirected,
    ),
    group("auto-grid", "The choice of executors, grid", auto::grid),
    group("auto-path", "The choice of executors, path", auto::path),
    group("auto-cnr-2000", "The choice of executors, cnr-2000", auto::web),
    group("auto-roads", "The choice of executors, USA-road-FLA", auto::roads),
];

const fn group(
    name: &'static str,
    title: &'static str,
    measure: fn(&mut Lab<'_>) -> Result<Vec<Figure>>,
) -> Group {
    Group { name, title, measure }
}
