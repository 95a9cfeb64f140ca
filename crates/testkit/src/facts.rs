//! Known answers for the graphs of the data folder.
//!
//! Published numbers where they exist, all reproduced by an independent scan. Breadth-first search
//! and PageRank were computed independently.

use crate::EdgeList;
use crate::data;

/// Breadth-first search from the vertex of largest out-degree (the smallest id on ties), along the
/// direction of the edges in directed graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bfs {
    /// The start.
    pub source: u64,
    /// Vertices reached, including the source.
    pub reached: u64,
    /// The largest distance.
    pub depth: u64,
    /// The sum of all distances.
    pub sum: u64,
}

/// One graph of the data folder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// The name; the file is `NAME.txt.zst`.
    pub name: &'static str,
    /// Whether a line is an arc; otherwise, it is an undirected edge.
    pub directed: bool,
    /// Vertices with an edge.
    pub vertices: u64,
    /// Lines of the file that are edges.
    pub lines: u64,
    /// Lines that are loops.
    pub loops: u64,
    /// Weakly connected components.
    pub components: u64,
    /// Vertices of the largest component.
    pub largest_component: u64,
    /// Triangles of the simple undirected graph.
    pub triangles: u64,
    /// Average local clustering coefficient of the simple undirected graph; 0 for degrees below 2.
    pub average_clustering: f64,
    /// A breadth-first search.
    pub bfs: Bfs,
    /// The three largest ranks after 10 rounds of PageRank with damping 0.85, to 10 digits; empty
    /// if unknown.
    pub top_ranks: &'static [(u64, f64)],
}

impl Facts {
    /// Returns the facts about the graph of this name.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(name: &str) -> &'static Self {
        ALL.iter()
            .find(|facts| facts.name == name)
            .unwrap_or_else(|| panic!("no facts about {name}"))
    }

    /// Returns the arcs to which these facts apply: the lines of a directed file, or every line of
    /// an undirected one in both directions, a loop once. (`ca-HepPh` itself lists both directions,
    /// so each arc comes twice.)
    ///
    /// Returns `None`, with a notice, if the file is missing.
    ///
    /// # Panics
    /// If the file cannot be read.
    pub fn graph(&self) -> Option<EdgeList> {
        let path = data::find(&format!("{}.txt.zst", self.name))?;
        let graph = data::read_edge_list(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Some(if self.directed { graph } else { graph.undirected() })
    }
}

/// All graphs with known answers.
#[rustfmt::skip]
pub const ALL: &[Facts] = &[
    Facts {
        name: "cnr-2000",
        directed: true,
        vertices: 325_557,
        lines: 3_216_152,
        loops: 87_442,
        components: 1,
        largest_component: 325_557,
        triangles: 20_977_629,
        average_clustering: 0.452944,
        bfs: Bfs { source: 217_849, reached: 325_557, depth: 35, sum: 5_426_851 },
        top_ranks: &[(60595, 1.646482043e-02), (60597, 1.646482043e-02), (285152, 7.010065051e-03)],
    },
    Facts {
        name: "ca-HepPh",
        directed: false,
        vertices: 12_008,
        lines: 237_010,
        loops: 32,
        components: 278,
        largest_component: 11_204,
        triangles: 3_358_499,
        average_clustering: 0.611483,
        bfs: Bfs { source: 71_788, reached: 11_204, depth: 8, sum: 34_723 },
        top_ranks: &[(19732, 8.088168953e-04), (71788, 7.872550064e-04), (28271, 7.185916191e-04)],
    },
    Facts {
        name: "soc-Epinions1",
        directed: true,
        vertices: 75_879,
        lines: 508_837,
        loops: 0,
        components: 2,
        largest_component: 75_877,
        triangles: 1_624_481,
        average_clustering: 0.137756,
        bfs: Bfs { source: 645, reached: 47_676, depth: 9, sum: 137_602 },
        top_ranks: &[(18, 4.539729752e-03), (737, 3.135886623e-03), (118, 2.120834480e-03)],
    },
    Facts {
        name: "wiki-Vote",
        directed: true,
        vertices: 7115,
        lines: 103_689,
        loops: 0,
        components: 24,
        largest_component: 7066,
        triangles: 608_389,
        average_clustering: 0.140898,
        bfs: Bfs { source: 2565, reached: 2316, depth: 4, sum: 4050 },
        top_ranks: &[(4037, 4.607189718e-03), (15, 3.679898493e-03), (6634, 3.582756099e-03)],
    },
    Facts {
        name: "email-Enron",
        directed: false,
        vertices: 36_692,
        lines: 183_831,
        loops: 0,
        components: 1065,
        largest_component: 33_696,
        triangles: 727_044,
        average_clustering: 0.496983,
        bfs: Bfs { source: 5038, reached: 33_696, depth: 8, sum: 107_294 },
        top_ranks: &[(5038, 1.225175442e-02), (273, 3.242334254e-03), (140, 3.014648874e-03)],
    },
    Facts {
        name: "ego-twitter-undirected",
        directed: false,
        vertices: 81_306,
        lines: 1_342_310,
        loops: 14,
        components: 1,
        largest_component: 81_306,
        triangles: 13_082_506,
        average_clustering: 0.565311,
        bfs: Bfs { source: 7510, reached: 81_306, depth: 5, sum: 202_367 },
        top_ranks: &[(7510, 1.407352194e-03), (1513, 1.294227655e-03), (109, 9.034269226e-04)],
    },
    Facts {
        name: "com-dblp.ungraph",
        directed: false,
        vertices: 317_080,
        lines: 1_049_866,
        loops: 0,
        components: 1,
        largest_component: 317_080,
        triangles: 2_224_385,
        average_clustering: 0.632431,
        bfs: Bfs { source: 38_868, reached: 317_080, depth: 13, sum: 1_454_839 },
        top_ranks: &[(57571, 1.064054868e-04), (6737, 9.063755031e-05), (96321, 8.439377176e-05)],
    },
    Facts {
        name: "soc-sign-Slashdot090221",
        directed: true,
        vertices: 82_140,
        lines: 549_202,
        loops: 0,
        components: 1,
        largest_component: 82_140,
        triangles: 579_565,
        average_clustering: 0.058787,
        bfs: Bfs { source: 8895, reached: 67_266, depth: 9, sum: 227_921 },
        top_ranks: &[(80, 4.548396659e-03), (47, 4.462837385e-03), (191, 2.998588563e-03)],
    },
    Facts {
        name: "USA-road-FLA",
        directed: false,
        vertices: 1_070_376,
        lines: 1_343_951,
        loops: 0,
        components: 1,
        largest_component: 1_070_376,
        triangles: 22_327,
        average_clustering: 0.020629,
        bfs: Bfs { source: 316_607, reached: 1_070_376, depth: 1444, sum: 469_154_557 },
        top_ranks: &[(316607, 2.890668481e-06), (650846, 2.667003102e-06), (509444, 2.603913089e-06)],
    },
    Facts {
        name: "USA-road-BAY",
        directed: false,
        vertices: 321_270,
        lines: 397_415,
        loops: 0,
        components: 1,
        largest_component: 321_270,
        triangles: 5505,
        average_clustering: 0.016567,
        bfs: Bfs { source: 5323, reached: 321_270, depth: 540, sum: 84_584_274 },
        top_ranks: &[(90225, 8.284985007e-06), (94818, 7.824975233e-06), (283888, 7.447672575e-06)],
    },
    Facts {
        name: "cal.weighted",
        directed: false,
        vertices: 21_048,
        lines: 21_693,
        loops: 0,
        components: 1,
        largest_component: 21_048,
        triangles: 2,
        average_clustering: 0.000071,
        bfs: Bfs { source: 14_300, reached: 21_048, depth: 471, sum: 3_962_701 },
        top_ranks: &[],
    },
    Facts {
        name: "wave",
        directed: false,
        vertices: 156_317,
        lines: 1_059_331,
        loops: 0,
        components: 1,
        largest_component: 156_317,
        triangles: 1_813_283,
        average_clustering: 0.423494,
        bfs: Bfs { source: 153_981, reached: 156_317, depth: 36, sum: 3_251_142 },
        top_ranks: &[(153981, 2.190963253e-05), (153992, 2.079526812e-05), (69773, 2.052962977e-05)],
    },
    Facts {
        name: "git-dag-polars",
        directed: true,
        vertices: 651_987,
        lines: 6_269_507,
        loops: 0,
        components: 1,
        largest_component: 651_987,
        triangles: 176_280,
        average_clustering: 0.002621,
        bfs: Bfs { source: 635_527, reached: 1379, depth: 4, sum: 2094 },
        top_ranks: &[(104834, 6.513763411e-03), (103373, 4.620101609e-03), (583, 3.786466849e-03)],
    },
];
