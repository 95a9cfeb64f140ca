//! Writes the page of all algorithms.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use cargo_metadata::MetadataCommand;

use crate::outcome::Outcome;

/// Where the page lies, from the root of the workspace.
const PAGE: &str = "docs/ALGORITHMS.md";
/// The example that prints it.
const EXAMPLE: &str = "catalogue_page";

/// Writes the page from the catalogue.
pub fn run(root: &Path, arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(format!("`algorithms` takes no argument, but there is `{argument}`").into());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Of the whole workspace, so that the tests have built the same already.
    let is_built = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--workspace", "--example", EXAMPLE])
        .current_dir(root)
        .status()?
        .success();
    if !is_built {
        return Err("the catalogue does not build".into());
    }
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    let example = metadata.target_directory.join("debug/examples").join(EXAMPLE);
    let output = Command::new(example).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("the catalogue could not be printed".into());
    }
    fs::write(root.join(PAGE), output.stdout)?;
    println!("wrote {PAGE}");
    Ok(())
}
