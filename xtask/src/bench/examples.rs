//! Small programs that are timed from within: examples of the crate that they measure.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::tegula::command::{Worker, cargo_build};
use crate::tegula::{Result, target_folder};

/// An example that has been built.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    name: &'static str,
}

impl Example {
    /// Builds an example of any crate. That the whole workspace is named lets all examples share what they
    /// are built from: features are those of the crates that a build names.
    ///
    /// # Errors
    /// When that fails.
    pub fn build(root: &Path, name: &'static str) -> Result<Example> {
        cargo_build(root, &["--workspace", "--example", name])?;
        Ok(Example { name })
    }

    /// Builds an example of one crate that needs a feature of it, and with that what no other shares.
    ///
    /// # Errors
    /// When that fails.
    pub fn with_feature(
        root: &Path,
        package: &str,
        feature: &str,
        name: &'static str,
    ) -> Result<Example> {
        cargo_build(root, &["--package", package, "--features", feature, "--example", name])?;
        Ok(Example { name })
    }

    /// Runs it once; what it says.
    ///
    /// # Errors
    /// When it fails.
    pub fn run(self, arguments: &[&str]) -> Result<Value> {
        self.start(arguments)?.answer()
    }

    /// Starts it, to be asked again and again.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(self, arguments: &[&str]) -> Result<Worker> {
        let program = target_folder()?.join("release/examples").join(self.name);
        Worker::start(Command::new(program).args(arguments))
    }
}
