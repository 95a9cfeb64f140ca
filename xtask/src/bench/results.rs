//! All measurements, as `results.json` keeps them.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::machine::Machine;
use crate::tegula::Result;

const SCHEMA: &str = "tegula.bench.v2";

/// A measured group of figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measured {
    pub name: String,
    pub title: String,
    pub date: String,
    pub commit: String,
    /// Its index among the machines.
    pub machine: usize,
    pub scale: u32,
    pub rounds: usize,
    /// The load before the first group of the run.
    pub load: f64,
    pub figures: Vec<Figure>,
    pub remarks: Vec<String>,
    /// Why there are no figures, if measuring failed.
    pub failure: Option<String>,
}

#[cfg(test)]
impl Measured {
    /// A group with these figures, for tests.
    pub fn sample(name: &str, figures: Vec<Figure>) -> Measured {
        Measured {
            name: name.into(),
            title: name.into(),
            date: "2026-01-01".into(),
            commit: "0123456".into(),
            machine: 0,
            scale: 24,
            rounds: 1,
            load: 0.1,
            figures,
            remarks: Vec::new(),
            failure: None,
        }
    }
}

/// Every group, and all machines on which groups were measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Results {
    pub schema: String,
    pub machines: Vec<Machine>,
    pub groups: Vec<Measured>,
}

impl Results {
    /// No results yet.
    pub fn new() -> Results {
        Results { schema: SCHEMA.to_owned(), machines: Vec::new(), groups: Vec::new() }
    }

    /// Reads the results in a file, if there are any.
    pub fn earlier(path: &Path) -> Option<Results> {
        let found: Results = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (found.schema == SCHEMA).then_some(found)
    }

    /// Returns the index of a machine; its description replaces the earlier one.
    pub fn place_of(&mut self, machine: &Machine) -> usize {
        match self.machines.iter().position(|other| other.is_same(machine)) {
            Some(place) => {
                let earlier = &mut self.machines[place];
                let rate = machine.disk_bytes_per_second.or(earlier.disk_bytes_per_second);
                *earlier = Machine { disk_bytes_per_second: rate, ..machine.clone() };
                place
            }
            None => {
                self.machines.push(machine.clone());
                self.machines.len() - 1
            }
        }
    }

    /// Puts a group into the place that `order` gives it, instead of an earlier group of the same
    /// name. Forgets groups that are not in `order`, and machines without groups.
    pub fn put(&mut self, group: Measured, order: &[&str]) {
        let place = |group: &Measured| order.iter().position(|name| *name == group.name);
        self.groups.retain(|other| other.name != group.name && place(other).is_some());
        self.groups.push(group);
        self.groups.sort_by_key(place);
        for machine in (0..self.machines.len()).rev() {
            if self.groups.iter().all(|group| group.machine != machine) {
                self.machines.remove(machine);
                let behind = self.groups.iter_mut().filter(|group| group.machine > machine);
                behind.for_each(|group| group.machine -= 1);
            }
        }
    }

    /// Writes the results to a file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        Ok(fs::write(path, text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cpu: &str, rate: Option<f64>) -> Machine {
        Machine {
            cpu: cpu.into(),
            cores: 2,
            caches: String::new(),
            vectors: String::new(),
            memory_bytes: 1,
            kernel: String::new(),
            rustc: String::new(),
            page_cache: String::new(),
            disk_bytes_per_second: rate,
        }
    }

    fn measured(name: &str, machine: usize) -> Measured {
        Measured { machine, ..Measured::sample(name, Vec::new()) }
    }

    #[test]
    fn figures_of_several_machines_stand_side_by_side() {
        let mut results = Results::new();
        for (name, cpu) in [("b", "one"), ("a", "one"), ("c", "two"), ("b", "two")] {
            let place = results.place_of(&machine(cpu, None));
            results.put(measured(name, place), &["a", "b", "c"]);
        }
        let groups = results.groups.iter().map(|group| (&*group.name, group.machine));
        assert_eq!(groups.collect::<Vec<_>>(), [("a", 0), ("b", 1), ("c", 1)]);
        // The first machine has no group left, and the group `b` is not measured any more.
        let place = results.place_of(&machine("two", Some(1.0)));
        results.put(measured("a", place), &["a", "c"]);
        assert_eq!(results.groups.len(), 2);
        assert!(results.groups.iter().all(|group| group.machine == 0));
        assert_eq!(results.machines.len(), 1);
        assert_eq!(results.place_of(&machine("two", None)), 0);
        assert_eq!(results.machines[0].disk_bytes_per_second, Some(1.0));
    }
}
