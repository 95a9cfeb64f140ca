//! The properties of a graph of LDBC Graphalytics: which files it has, and whether its edges are directed
//! (Iosup et al., *The LDBC Graphalytics Benchmark*, version 1.0.3, section 2.2).
//!
//! ```text
//! graph.NAME.vertex-file = NAME.v      a vertex a line
//! graph.NAME.edge-file = NAME.e        source, target and perhaps a weight a line
//! graph.NAME.directed = true
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use tegula_machine::{Error, Result};

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

/// Bytes of the file at the most.
const SIZE_MAX: u64 = 1 << 20;

impl Properties {
    /// Reads them; the files are named as seen from theirs.
    pub fn read(path: &Path) -> Result<Properties> {
        let bytes = fs::metadata(path).map_err(Error::io("open", path))?.len();
        if bytes > SIZE_MAX {
            return Err(bad_file(path, "properties of a graph are not as long as this"));
        }
        let text = fs::read(path).map_err(Error::io("read", path))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Properties::parse(&String::from_utf8_lossy(&text), folder)
            .map_err(|problem| bad_file(path, problem))
    }

    fn parse(text: &str, folder: &Path) -> Result<Properties, String> {
        if text.starts_with("#BVGraph properties") {
            return Err("these are the properties of a BVGraph of WebGraph, which is not read: write its arcs as \
                        text with `webgraph to arcs`"
                .to_owned());
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
        let pairs: Vec<(&str, &str)> = lines
            .filter_map(|line| line.split_once(['=', ':']))
            .map(|(key, value)| (key.trim(), value.trim()))
            .collect();
        let value = |name: &str| {
            let is_it = |key: &str| {
                key.strip_prefix("graph.").and_then(|key| key.strip_suffix(name)).is_some()
            };
            let mut found = pairs.iter().filter(|(key, _)| is_it(key)).map(|(_, value)| *value);
            match (found.next(), found.next()) {
                (Some(value), None) => Ok(value),
                (None, _) => Err(format!(
                    "no line is `graph.NAME{name} = ..`, so these are no properties of a graph of Graphalytics"
                )),
                (Some(_), Some(_)) => Err(format!("several lines are `graph.NAME{name} = ..`")),
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
        assert_eq!(Properties::parse(text, Path::new("d")), Ok(expected));
        for (from, to, problem) in [
            ("false", "no", "neither true nor false"),
            ("graph.a.b.edge-file: x/a.e", "", "`graph.NAME.edge-file = ..`"),
            ("# c\n", "graph.c.edge-file = y\n", "several lines"),
            ("# c\n", "#BVGraph properties\n", "BVGraph"),
        ] {
            let told = Properties::parse(&text.replace(from, to), Path::new("d")).unwrap_err();
            assert!(told.contains(problem), "{told}");
        }
    }
}
