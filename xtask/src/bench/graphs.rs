//! Graphs with rows, made on first use.

use std::path::{Path, PathBuf};

use super::lab::{Lab, text};
use crate::tegula::command::{vertex, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Edges a vertex of a uniform graph.
const UNIFORM_DEGREE: u64 = 16;

/// How edges are generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// R-MAT, with its scale.
    Rmat(u32),
    /// Edges between random vertices, with the vertex and edge counts of R-MAT of this scale.
    Uniform(u32),
    /// A square grid, with the vertices of a side.
    Grid(u64),
    /// A path, with its vertices.
    Path(u64),
}

/// How a graph is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    pub model: Model,
    /// Whether each edge is stored in both directions.
    pub is_undirected: bool,
    pub is_weighted: bool,
}

/// A graph directory with tiles and rows.
#[derive(Debug, Clone)]
pub struct Made {
    pub title: String,
    pub graph: PathBuf,
    pub vertices: u64,
    pub edges: u64,
    /// The source of searches: a hub of an R-MAT graph, a corner of a grid, the end of a path.
    pub source: String,
}

impl Made {
    /// Returns the path of the file with the rows.
    pub fn rows(&self) -> PathBuf {
        self.graph.join("rows.data")
    }
}

impl Recipe {
    /// The model's edges, directed and without weights.
    pub fn new(model: Model) -> Recipe {
        Recipe { model, is_undirected: false, is_weighted: false }
    }

    /// Stores each edge in both directions.
    pub fn undirected(self) -> Recipe {
        Recipe { is_undirected: true, ..self }
    }

    /// Adds weights from 0 to 1.
    pub fn weighted(self) -> Recipe {
        Recipe { is_weighted: true, ..self }
    }

    /// Describes the graph in words.
    pub fn title(&self) -> String {
        let model = match self.model {
            Model::Rmat(scale) => format!("R-MAT {scale}"),
            Model::Uniform(scale) => format!("uniform 2^{scale}"),
            Model::Grid(width) => format!("grid of {width} x {width}"),
            Model::Path(vertices) => format!("path of {}", units::count(vertices)),
        };
        let undirected =
            if self.is_undirected && matches!(self.model, Model::Rmat(_) | Model::Uniform(_)) {
                ", undirected"
            } else {
                ""
            };
        let weighted = if self.is_weighted { ", weighted" } else { "" };
        model + undirected + weighted
    }

    fn model_arguments(&self) -> Vec<String> {
        match self.model {
            Model::Rmat(scale) => vec!["rmat".into(), "--scale".into(), scale.to_string()],
            Model::Uniform(scale) => {
                let [vertices, edges] = [1u64 << scale, UNIFORM_DEGREE << scale];
                let vertices = ["--vertices".into(), vertices.to_string()];
                let edges = ["--edges".into(), edges.to_string()];
                ["erdos-renyi".into()].into_iter().chain(vertices).chain(edges).collect()
            }
            Model::Grid(width) => {
                let width = width.to_string();
                vec!["grid".into(), "--width".into(), width.clone(), "--height".into(), width]
            }
            Model::Path(count) => vec!["path".into(), "--vertices".into(), count.to_string()],
        }
    }
}

impl Lab<'_> {
    /// Returns the graph of a recipe, which is made on first use.
    pub fn make(&mut self, recipe: Recipe) -> Result<Made> {
        let title = recipe.title();
        if let Some(made) = self.made.iter().find(|made| made.title == title) {
            return Ok(made.clone());
        }
        // Binary pairs hold no weights.
        let edges = self.scratch.join(if recipe.is_weighted { "edges.wel" } else { "edges.bin32" });
        let mut arguments = vec!["generate".to_owned()];
        arguments.extend(recipe.model_arguments());
        arguments.extend(["-o".into(), text(&edges)?.to_owned()]);
        arguments.extend(recipe.is_weighted.then(|| "--weighted".to_owned()));
        self.tegula.json(&arguments)?;
        let flags = [(recipe.is_undirected, "--undirected"), (recipe.is_weighted, "--weighted")];
        let options: Vec<&str> =
            flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| *flag).collect();
        let made = self.with_rows(&title, &edges, &options)?;
        remove(&edges)?;
        let source = match recipe.model {
            Model::Rmat(_) => {
                vertex(&self.pagerank(&made.graph, 2, None)?, "/summary/top/0/vertex")?
            }
            Model::Uniform(_) | Model::Grid(_) | Model::Path(_) => made.source,
        };
        let made = Made { source, ..made };
        self.made.push(made.clone());
        Ok(made)
    }

    /// Imports an edge list into tiles and rows of both directions; searches begin at vertex 0.
    pub fn with_rows(&self, title: &str, edges: &Path, options: &[&str]) -> Result<Made> {
        let name = title.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let graph = self.scratch.join(&format!("{name}.tegula"));
        let mut arguments = vec!["import", text(edges)?, "-o", text(&graph)?];
        arguments.extend(["--layouts", "tiles,rows,reverse", "--force"]);
        arguments.extend(options);
        let report = self.tegula.json(&arguments)?;
        Ok(Made {
            title: title.to_owned(),
            vertices: whole(&report, "/vertices")?,
            edges: whole(&report, "/edges")?,
            source: "0".to_owned(),
            graph,
        })
    }

    /// Removes the graphs that `is_done_with` selects.
    pub fn discard(&mut self, is_done_with: impl Fn(&Made) -> bool) -> Result<()> {
        let (done, kept) = self.made.drain(..).partition(is_done_with);
        self.made = kept;
        let done: Vec<Made> = done;
        done.iter().try_for_each(|made| Ok(remove(&made.graph)?))
    }
}
