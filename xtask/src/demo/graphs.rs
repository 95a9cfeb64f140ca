//! The graphs of the demo, and what is known about them.

/// The option that has each edge stored in both directions.
const UNDIRECTED: &str = "--undirected";

/// Where a graph comes from.
#[derive(Debug, Clone, Copy)]
pub enum Origin {
    /// An edge list in `data/`, and the options with which it is imported.
    File { name: &'static str, options: &'static [&'static str] },
    /// Made on the spot.
    Rmat { scale: u32 },
}

/// What must come out.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Vertices within reach of the source, and the hops to the last of them.
    pub reached: u64,
    pub depth: u64,
    pub components: u64,
    pub largest: u64,
    /// The vertices with the greatest ranks after ten iterations.
    pub top: [&'static str; 3],
}

/// A graph.
#[derive(Debug, Clone)]
pub struct Graph {
    pub name: String,
    pub about: String,
    pub origin: Origin,
    /// Where the breadth-first search starts: a vertex with many edges; else that with the greatest rank.
    pub source: Option<&'static str>,
    pub known: Option<Known>,
}

impl Graph {
    /// Whether each edge is stored in both directions.
    pub fn is_undirected(&self) -> bool {
        matches!(self.origin, Origin::File { options, .. } if options.contains(&UNDIRECTED))
    }
}

/// All of them; the generated one has this scale.
pub fn graphs(scale: u32) -> Vec<Graph> {
    vec![
        Graph {
            name: "wiki-Vote".into(),
            about: "who voted on whom to become an administrator of Wikipedia; directed".into(),
            origin: Origin::File { name: "wiki-Vote.txt.zst", options: &[] },
            source: Some("2565"),
            known: Some(Known {
                reached: 2316,
                depth: 4,
                components: 24,
                largest: 7066,
                top: ["4037", "15", "6634"],
            }),
        },
        Graph {
            name: "com-dblp".into(),
            about: "who wrote papers on computer science with whom; undirected".into(),
            origin: Origin::File { name: "com-dblp.ungraph.txt.zst", options: &[UNDIRECTED] },
            source: Some("38868"),
            known: Some(Known {
                reached: 317_080,
                depth: 13,
                components: 1,
                largest: 317_080,
                top: ["57571", "6737", "96321"],
            }),
        },
        Graph {
            name: "USA-road-BAY".into(),
            about: "the roads around the San Francisco Bay; undirected, with rows for searches"
                .into(),
            // A search along roads follows few edges at a time, hundreds of times.
            origin: Origin::File {
                name: "USA-road-BAY.txt.zst",
                options: &[UNDIRECTED, "--layouts", "tiles,rows"],
            },
            source: Some("5323"),
            known: Some(Known {
                reached: 321_270,
                depth: 540,
                components: 1,
                largest: 321_270,
                top: ["90225", "94818", "283888"],
            }),
        },
        Graph {
            name: format!("R-MAT {scale}"),
            about: "random, with skewed degrees, as in the Graph500 benchmark; directed".into(),
            origin: Origin::Rmat { scale },
            source: None,
            known: None,
        },
    ]
}
