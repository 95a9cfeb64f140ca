//! The properties of an LDBC Graphalytics graph: its files, and whether its edges are directed
//! (Iosup et al., *The LDBC Graphalytics Benchmark*, version 1.0.3, section 2.2).
//!
//! ```text
//! graph.NAME.vertex-file = NAME.v      one vertex on each line
//! graph.NAME.edge-file = NAME.e        source, target and perhaps a weight on each line
//! graph.NAME.directed = true
//! graph.NAME.meta.vertices = 4         the number of vertices; optional
//! graph.NAME.meta.edges = 3            the number of edges; optional
//! ```

use std::path::{Path, PathBuf};

use tegula_store::Result;
use tegula_tables::read::{self, bad_file};

/// The properties that are read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Properties {
    /// The list of vertices.
    pub vertices: PathBuf,
    /// The edges.
    pub edges: PathBuf,
    /// Whether an edge leads only one way.
    pub directed: bool,
    /// The declared number of vertices, if any.
    pub vertex_count: Option<u64>,
    /// The declared number of edges, if any.
    pub edge_count: Option<u64>,
}

impl Properties {
    /// Interprets the properties in the file at `path`, to which the names of files are relative.
    pub fn of(path: &Path, told: &read::Properties) -> Result<Properties> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Properties::of_folder(folder, told).map_err(|problem| bad_file(path, problem))
    }

    fn of_folder(folder: &Path, told: &read::Properties) -> Result<Properties, String> {
        let found = |name: &str| {
            let is_it = |key: &str| {
                key.strip_prefix("graph.").and_then(|key| key.strip_suffix(name)).is_some()
            };
            let several =
                |read::RepeatedKey| format!("it has several lines `graph.NAME{name} = ..`");
            told.only(is_it).map_err(several)
        };
        let value = |name: &str| {
            found(name)?.ok_or_else(|| {
                format!(
                    "the line `graph.NAME{name} = ..` is missing, so these are not the properties of a Graphalytics graph"
                )
            })
        };
        let count = |name: &str| {
            let number = |text: &str| {
                let refuse =
                    |_| format!("{} is `{}`, not a number", &name[1..], text.escape_debug());
                text.parse().map_err(refuse)
            };
            found(name)?.map(number).transpose()
        };
        Ok(Properties {
            vertices: folder.join(value(".vertex-file")?),
            edges: folder.join(value(".edge-file")?),
            directed: match value(".directed")? {
                "true" => true,
                "false" => false,
                other => {
                    return Err(format!(
                        "directed is `{}`, neither true nor false",
                        other.escape_debug()
                    ));
                }
            },
            vertex_count: count(".meta.vertices")?,
            edge_count: count(".meta.edges")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_give_files_and_direction() {
        let text = "# c\ngraph.a.b.vertex-file = a.v\r\n graph.a.b.edge-file: x/a.e\n\ngraph.a.b.directed=false\n\
                    graph.a.b.bfs.source-vertex = 1\ngraph.a.b.meta.edges = 7\n";
        let expected = Properties {
            vertices: "d/a.v".into(),
            edges: "d/x/a.e".into(),
            directed: false,
            vertex_count: None,
            edge_count: Some(7),
        };
        let parse =
            |text: &str| Properties::of_folder(Path::new("d"), &read::Properties::parse(text));
        assert_eq!(parse(text), Ok(expected));
        for (from, to, problem) in [
            ("false", "no", "neither true nor false"),
            ("graph.a.b.edge-file: x/a.e", "", "`graph.NAME.edge-file = ..`"),
            ("# c\n", "graph.c.edge-file = y\n", "several lines"),
            ("7", "seven", "meta.edges is `seven`, not a number"),
        ] {
            let told = parse(&text.replace(from, to)).unwrap_err();
            assert!(told.contains(problem), "{told}");
        }
    }
}
