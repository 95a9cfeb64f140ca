//! Small programs that time themselves: examples of the crate that they measure. A program with
//! many dependencies that the workspace does not need is a package outside of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::tegula::command::{Worker, cargo_build};
use crate::tegula::{Result, target_folder};

/// A built example.
#[derive(Debug, Clone)]
pub struct Example {
    program: PathBuf,
}

impl Example {
    /// Builds an example of any crate. Naming the whole workspace lets all examples share their
    /// dependencies: the features of a build are those of the crates that it names.
    pub fn build(root: &Path, name: &str) -> Result<Example> {
        cargo_build(root, &["--workspace", "--example", name])?;
        Ok(Example { program: target_folder()?.join("release/examples").join(name) })
    }

    /// Builds the package `bench/NAME`, which is outside of the workspace.
    pub fn build_outside(root: &Path, name: &str) -> Result<Example> {
        let target = target_folder()?.join(name);
        let target_text = target.to_str().ok_or("the target folder has no name in UTF-8")?;
        let manifest = format!("bench/{name}/Cargo.toml");
        cargo_build(
            root,
            &["--locked", "--manifest-path", &manifest, "--target-dir", target_text],
        )?;
        Ok(Example { program: target.join("release").join(name) })
    }

    /// Runs it once; returns its answer.
    pub fn run(&self, arguments: &[&str]) -> Result<Value> {
        self.start(arguments)?.answer()
    }

    /// Starts it; the worker answers repeated questions.
    pub fn start(&self, arguments: &[&str]) -> Result<Worker> {
        Worker::start(Command::new(&self.program).args(arguments))
    }
}
