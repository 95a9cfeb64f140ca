//! All that was measured, as it is kept in `results.json`.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::machine::Machine;
use crate::tegula::Result;

const SCHEMA: &str = "tegula.bench.v1";

/// A group of figures that has been measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measured {
    pub name: String,
    pub title: String,
    pub date: String,
    pub commit: String,
    pub scale: u32,
    pub rounds: usize,
    /// Processes that were running before the first group of the run.
    pub load: f64,
    pub figures: Vec<Figure>,
    pub remarks: Vec<String>,
    /// Why there are no figures.
    pub failure: Option<String>,
}

/// Every group, and the machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Results {
    pub schema: String,
    pub machine: Machine,
    pub groups: Vec<Measured>,
}

impl Results {
    /// Nothing yet.
    pub fn new(machine: Machine) -> Results {
        Results { schema: SCHEMA.to_owned(), machine, groups: Vec::new() }
    }

    /// Those in a file, if it has any that were measured on this machine.
    pub fn earlier(path: &Path, machine: &Machine) -> Option<Results> {
        let found: Results = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (found.schema == SCHEMA && found.machine.is_same(machine)).then_some(found)
    }

    /// Puts a group in the place of an earlier one, or in its place among the others.
    pub fn put(&mut self, group: Measured, order: &[&str]) {
        self.groups.retain(|other| other.name != group.name);
        self.groups.push(group);
        let place = |group: &Measured| order.iter().position(|name| *name == group.name);
        self.groups.sort_by_key(|group| place(group).unwrap_or(usize::MAX));
    }

    /// Writes them down.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        Ok(fs::write(path, text)?)
    }
}
