//! Every long stage of an import reports its progress.

use std::fs;
use std::sync::Mutex;

use tegula_import::{ImportConfig, import};
use tegula_machine::threads::{Cancel, Progress, ProgressUnit};
use tegula_testkit::Scratch;

/// A stage: its name, the work to do, the work done, and whether it has ended.
type Stage = (String, Option<u64>, u64, bool);

/// Remembers the stages.
#[derive(Default)]
struct Stages(Mutex<Vec<Stage>>);

impl Progress for Stages {
    fn begin(&self, stage: &str, total: Option<u64>, _unit: ProgressUnit) {
        self.0.lock().unwrap().push((stage.to_owned(), total, 0, false));
    }

    fn advance(&self, done: u64) {
        let mut stages = self.0.lock().unwrap();
        let current = stages.last_mut().unwrap();
        assert!(!current.3, "{} has ended", current.0);
        current.2 += done;
    }

    fn end(&self) {
        self.0.lock().unwrap().last_mut().unwrap().3 = true;
    }
}

/// Imports a text; returns the names of the stages.
fn stages_of(text: &str, memory: u64) -> Vec<String> {
    let scratch = Scratch::new();
    let (input, output) = (scratch.join("edges.txt"), scratch.join("g.tegula"));
    fs::write(&input, text).unwrap();
    let stages = Stages::default();
    let config = ImportConfig { memory, threads: 1, ..Default::default() };
    import(&[input], &output, &config, &stages, &Cancel::default()).unwrap();
    stages.0.into_inner().unwrap().into_iter().map(|(name, ..)| name).collect()
}

#[test]
fn sparse_ids_are_sorted_whatever_the_memory() {
    for memory in [ImportConfig::MEMORY_MIN, 1 << 30] {
        let stages = stages_of("0 1000000\n1 2\n", memory);
        assert!(stages.iter().any(|stage| stage == "sorting ids"), "{stages:?}");
        let stages = stages_of("0 3\n1 2\n", memory);
        assert!(!stages.iter().any(|stage| stage == "sorting ids"), "{stages:?}");
    }
}

#[test]
fn each_stage_reports_its_progress() {
    let scratch = Scratch::new();
    let input = scratch.join("edges.csv");
    let of_names = ["gathering names", "sorting names", "relabeling edges"];
    let of_ids = ["gathering ids", "sorting ids", "relabeling edges"];
    let name = |number: u64| format!("host-{number}");
    let large = |number: u64| format!("{}", number << 40);
    let edges: [(&dyn Fn(u64) -> String, [&str; 3]); 2] = [(&name, of_names), (&large, of_ids)];
    for (id, expected) in edges {
        let line = |number: u64| format!("{},{}\n", id(number % 997), id(number * 31 % 887));
        let lines = (0..60_000).map(line).collect::<String>();
        fs::write(&input, format!("source,target\n{lines}")).unwrap();
        let stages = Stages::default();
        // Tables in one slice, and in several.
        for memory in [512 << 20, ImportConfig::MEMORY_MIN] {
            let config = ImportConfig { memory, threads: 2, force: true, ..Default::default() };
            let output = scratch.join("g.tegula");
            import(std::slice::from_ref(&input), &output, &config, &stages, &Cancel::default())
                .unwrap();
        }
        let stages = stages.0.into_inner().unwrap();
        for (stage, total, done, has_ended) in &stages {
            assert!(*has_ended, "{stage}");
            assert_eq!(Some(*done), *total, "{stage}");
        }
        let names: Vec<&str> = stages.iter().map(|(name, ..)| name.as_str()).collect();
        assert!(expected.iter().all(|stage| names.contains(stage)), "{names:?}");
    }
}
