//! The properties of a graph of LDBC Graphalytics: which files it has, and whether its edges are directed
//! (Iosup et al., *The LDBC Graphalytics Benchmark*, version 1.0.3, section 2.2).
//!
//! ```text
//! graph.NAME.vertex-file = NAME.v      a vertex a line
//! graph.NAME.edge-file = NAME.e        source, target and perhaps a weight a line
//! graph.NAME.directed = true
//! ```

use std::path::{Path, PathBuf};

use tegula_machine::Result;

use super::properties;
use super::reader::bad_file;

/// What of the properties is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Properties {
    /// The list of vertices.
    pub vertices: PathBuf,
    /// The edges.
    pub edges: PathBuf,
    /// Whether an edge leads one way alone.
    pub directed: bool,
}

impl Properties {
    /// Makes sense of them; the files are named as seen from theirs.
    pub fn of(path: &Path, told: &properties::Properties) -> Result<Properties> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Properties::within(folder, told).map_err(|problem| bad_file(path, problem))
    }

    fn within(folder: &Path, told: &properties::Properties) -> Result<Properties, String> {
        let value = |name: &str| {
            let is_it = |key: &str| {
                key.strip_prefix("graph.").and_then(|key| key.strip_suffix(name)).is_some()
            };
            match told.only(is_it) {
                Ok(Some(value)) => Ok(value),
                Ok(None) => Err(format!(
                    "no line is `graph.NAME{name} = ..`, so these are no properties of a graph of Graphalytics"
                )),
                Err(properties::Several) => {
                    Err(format!("several lines are `graph.NAME{name} = ..`"))
                }
            }
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
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_direction_are_told() {
        let text = "# c\ngraph.a.b.vertex-file = a.v\r\n graph.a.b.edge-file: x/a.e\n\ngraph.a.b.directed=false\n\
                    graph.a.b.bfs.source-vertex = 1\n";
        let expected =
            Properties { vertices: "d/a.v".into(), edges: "d/x/a.e".into(), directed: false };
        let parse =
            |text: &str| Properties::within(Path::new("d"), &properties::Properties::parse(text));
        assert_eq!(parse(text), Ok(expected));
        for (from, to, problem) in [
            ("false", "no", "neither true nor false"),
            ("graph.a.b.edge-file: x/a.e", "", "`graph.NAME.edge-file = ..`"),
            ("# c\n", "graph.c.edge-file = y\n", "several lines"),
        ] {
            let told = parse(&text.replace(from, to)).unwrap_err();
            assert!(told.contains(problem), "{told}");
        }
    }
}
