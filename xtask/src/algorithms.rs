//! Writes the page of all algorithms.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Outcome;

/// Where the page lies, from the root of the workspace.
const PAGE: &str = "docs/ALGORITHMS.md";

/// Writes the page from the catalogue.
pub fn run(root: &Path, arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(format!("`algorithms` takes no argument, but there is `{argument}`").into());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--locked", "--package", "tegula-algorithms"])
        .args(["--example", "catalogue_page"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the catalogue could not be printed".into());
    }
    fs::write(root.join(PAGE), output.stdout)?;
    println!("wrote {PAGE}");
    Ok(())
}
