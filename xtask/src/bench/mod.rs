//! `cargo xtask bench`: measures what the project promises, and writes the figures down.
//!
//! Every figure is the median of several rounds, with the least and the greatest. It is measured in
//! turn with what it is compared with, so that a change of the machine affects both. Figures are
//! kept in `bench/results.json`, from which `bench/RESULTS.md` is made. A group that is measured
//! alone replaces its earlier figures; other groups stay.
//!
//! `cargo xtask bench-ablations` does the same for `bench/ABLATIONS.md`: it measures each choice of
//! tegula against its alternatives, and `cargo xtask bench-jobs` for `bench/JOBS.md`: it measures
//! many jobs on one graph. `cargo xtask bench-ranks` does it for `bench/RANKS.md`: it measures runs
//! on ranks. `cargo xtask bench-peers` does it for `bench/PEERS.md`: it measures real graphs beside
//! the libraries that people have today.

mod ablations;
mod curves;
mod dark;
mod disk;
mod estimates;
mod examples;
mod figure;
mod figures;
mod graphs;
mod jobs;
mod lab;
mod libraries;
mod machine;
mod pages;
mod peers;
mod perf;
mod random;
mod ranks;
mod report;
mod results;
mod tracks;

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::outcome::Outcome;
use crate::tegula::arguments::Arguments;
use crate::tegula::command::BINARY_VARIABLE;
use crate::tegula::{Result, target_folder};
pub use estimates::fit_rates;

use ablations::ABLATIONS;
use dark::with_dark_form;
use figures::{GROUPS, Group};
use jobs::JOBS;
use lab::{Lab, SCALE, Settings};
use libraries::LIBRARIES;
use machine::Machine;
use ranks::RANKS;
use results::{Measured, Results};

const OPTIONS: &str = "[[--only] GROUP]... [--scale S] [--vertices LOG2] [--rounds N] [--quick] [--no-peers] | --pages\n  \
    --vertices is for ranks-out-of-core*: log2 of the vertices of their graphs";
const ROUNDS: usize = 5;
const ROUNDS_QUICK: usize = 3;
/// The scale of a quick run.
const SCALE_QUICK: u32 = 20;
/// Smaller graphs leave no room for groups that use even smaller ones.
const SCALE_MIN: u32 = 12;
/// What `--vertices` may be. The ids of such graphs have 32 bits.
const VERTICES_LOG2: RangeInclusive<u32> = 16..=30;
/// The word in the names of groups that install other software.
const PEERS: &str = "peers";
/// The load from which figures are not to be trusted.
const LOAD_MAX: f64 = 0.5;

/// Groups that one task measures and writes to one page.
struct Suite {
    /// The task of xtask.
    task: &'static str,
    /// The file that keeps the figures.
    json: &'static str,
    /// The page that is made from them.
    page: &'static str,
    /// The beginning of the page.
    introduction: &'static str,
    groups: &'static [Group],
}

const FIGURES: Suite = Suite {
    task: "bench",
    json: "results.json",
    page: "RESULTS.md",
    introduction: pages::FIGURES_INTRODUCTION,
    groups: GROUPS,
};

const CHOICES: Suite = Suite {
    task: "bench-ablations",
    json: "ablations.json",
    page: "ABLATIONS.md",
    introduction: pages::ABLATIONS_INTRODUCTION,
    groups: ABLATIONS,
};

const BATCHES: Suite = Suite {
    task: "bench-jobs",
    json: "jobs.json",
    page: "JOBS.md",
    introduction: pages::JOBS_INTRODUCTION,
    groups: JOBS,
};

const CLUSTER: Suite = Suite {
    task: "bench-ranks",
    json: "ranks.json",
    page: "RANKS.md",
    introduction: pages::RANKS_INTRODUCTION,
    groups: RANKS,
};

const BESIDE: Suite = Suite {
    task: "bench-peers",
    json: "peers.json",
    page: "PEERS.md",
    introduction: pages::PEERS_INTRODUCTION,
    groups: LIBRARIES,
};

/// Measures what is promised, and writes `RESULTS.md` and `results.json`.
pub fn run(root: &Path, arguments: &[String]) -> Outcome {
    FIGURES.run(root, arguments)
}

/// Measures choices against their alternatives, and writes `ABLATIONS.md` and `ablations.json`.
pub fn run_ablations(root: &Path, arguments: &[String]) -> Outcome {
    CHOICES.run(root, arguments)
}

/// Measures many jobs on one graph, and writes `JOBS.md` and `jobs.json`.
pub fn run_jobs(root: &Path, arguments: &[String]) -> Outcome {
    BATCHES.run(root, arguments)
}

/// Measures runs on ranks, and writes `RANKS.md` and `ranks.json`.
pub fn run_ranks(root: &Path, arguments: &[String]) -> Outcome {
    CLUSTER.run(root, arguments)
}

/// Measures real graphs beside other libraries, and writes `PEERS.md` and `peers.json`.
pub fn run_peers(root: &Path, arguments: &[String]) -> Outcome {
    BESIDE.run(root, arguments)
}

impl Suite {
    /// Measures, prints tables, and writes the page.
    fn run(&self, root: &Path, arguments: &[String]) -> Outcome {
        let Some(plan) = Plan::read(self, arguments)? else {
            println!("{}\ngroups:", self.usage());
            self.groups.iter().for_each(|group| println!("  {:<24} {}", group.name, group.title));
            return Ok(());
        };
        let folder = plan.results_folder(root)?;
        let json = folder.join(self.json);
        let mut results = Results::earlier(&json).unwrap_or_else(Results::new);
        if plan.groups.is_empty() {
            return self.write_pages(&folder, &results);
        }
        // Read now: later the results themselves are changes, and measuring is a load.
        let origin = Origin { commit: machine::commit(root), load: machine::load() };
        let mut machine = Machine::describe(root);
        println!("{}", report::machine_lines(&machine));
        if origin.load > LOAD_MAX {
            println!("  Something else is running here: a load of {}.\n", origin.load);
        }
        let mut lab = Lab::open(root, plan.settings)?;
        let order: Vec<&str> = self.groups.iter().map(|group| group.name).collect();
        let mut failures = Vec::new();
        for group in &plan.groups {
            println!("{} ({})", group.title, group.name);
            let mut measured = measure(&mut lab, group, &origin);
            println!("{}", report::terminal(&measured));
            if measured.failure.is_some() {
                failures.push(group.name);
            }
            machine.disk_bytes_per_second = lab.disk_bytes_per_second;
            measured.machine = results.place_of(&machine);
            results.put(measured, &order);
            // Written after each group: whatever happens to the next group keeps this one.
            results.write(&json)?;
            self.write_pages(&folder, &results)?;
        }
        println!("written to {}", folder.join(self.page).display());
        match failures.as_slice() {
            [] => Ok(()),
            _ => Err(format!("could not be measured: {}", failures.join(", ")).into()),
        }
    }

    fn write_pages(&self, folder: &Path, results: &Results) -> Outcome {
        for group in &results.groups {
            if let Some(svg) = curves::svg(group)? {
                fs::write(folder.join(pages::plot_name(group)), with_dark_form(&svg))?;
            }
            for (tracks, title) in tracks::of_group(group) {
                fs::write(folder.join(tracks.plot_name()), with_dark_form(&tracks.svg(title)?))?;
            }
        }
        for page in pages::pages(self.page, self.introduction, results) {
            fs::write(folder.join(&page.name), page.text)?;
        }
        Ok(())
    }

    fn usage(&self) -> String {
        format!("usage: cargo xtask {} {OPTIONS}", self.task)
    }
}

fn measure(lab: &mut Lab<'_>, group: &Group, origin: &Origin) -> Measured {
    let found = (group.measure)(lab);
    let (figures, failure) = match found {
        Ok(figures) => (figures, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    Measured {
        name: group.name.to_owned(),
        title: group.title.to_owned(),
        date: machine::today(),
        commit: origin.commit.clone(),
        machine: 0,
        load: origin.load,
        scale: lab.settings.scale,
        rounds: lab.settings.rounds,
        figures,
        remarks: std::mem::take(&mut lab.remarks),
        failure,
    }
}

/// The commit, and the load of the machine before the run.
struct Origin {
    commit: String,
    load: f64,
}

/// What to measure, and how.
struct Plan {
    settings: Settings,
    groups: Vec<&'static Group>,
}

impl Plan {
    /// Returns `None` if only help is wanted.
    fn read(suite: &Suite, arguments: &[String]) -> Result<Option<Plan>> {
        let usage = suite.usage();
        let mut arguments = Arguments::new(arguments, &usage);
        let (mut scale, mut vertices_log2, mut rounds) = (None, None, None);
        let (mut is_quick, mut has_peers, mut is_pages) = (false, true, false);
        let mut only: Vec<String> = Vec::new();
        while let Some(option) = arguments.next() {
            match option {
                "--scale" => scale = Some(arguments.value("--scale")?),
                "--vertices" => vertices_log2 = Some(arguments.value("--vertices")?),
                "--rounds" => rounds = Some(arguments.value("--rounds")?),
                "--quick" => is_quick = true,
                "--only" => only.push(arguments.value("--only")?),
                "--no-peers" => has_peers = false,
                "--pages" => is_pages = true,
                "--help" | "-h" => return Ok(None),
                name if !name.starts_with('-') => only.push(name.to_owned()),
                _ => return arguments.unknown(option),
            }
        }
        let scale: u32 = scale.unwrap_or(if is_quick { SCALE_QUICK } else { SCALE });
        if !(SCALE_MIN..=28).contains(&scale) {
            return Err(format!("--scale is {scale}, must be {SCALE_MIN} to 28").into());
        }
        if vertices_log2.is_some_and(|log2: u32| !VERTICES_LOG2.contains(&log2)) {
            let (least, most) = VERTICES_LOG2.into_inner();
            return Err(format!("--vertices is a log2, must be {least} to {most}").into());
        }
        let groups = suite.groups;
        if let Some(name) = only.iter().find(|name| groups.iter().all(|group| group.name != **name))
        {
            let names: Vec<&str> = groups.iter().map(|group| group.name).collect();
            return Err(format!("no group is called {name}: there are {}", names.join(", ")).into());
        }
        let is_wanted = |group: &&Group| {
            let is_named = only.iter().any(|name| name == group.name);
            let is_usual = has_peers || group.name.split('-').all(|word| word != PEERS);
            !is_pages && if only.is_empty() { is_usual } else { is_named }
        };
        let groups = groups.iter().filter(is_wanted).collect();
        let rounds: usize = rounds.unwrap_or(if is_quick { ROUNDS_QUICK } else { ROUNDS });
        if rounds == 0 {
            return Err("--rounds is 0, must be at least 1".into());
        }
        let settings = Settings { scale, rounds, is_quick, vertices_log2 };
        Ok(Some(Plan { settings, groups }))
    }

    /// Returns the folder of the results. Figures of another size or another binary never replace
    /// those of full runs.
    fn results_folder(&self, root: &Path) -> Result<PathBuf> {
        let is_full = self.settings.scale == SCALE
            && !self.settings.is_quick
            && self.settings.vertices_log2.is_none()
            && self.settings.rounds == ROUNDS
            && std::env::var_os(BINARY_VARIABLE).is_none();
        let folder =
            if is_full { root.join("bench") } else { target_folder()?.join("bench-results") };
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(words: &[&str]) -> Result<Option<Plan>> {
        Plan::read(&FIGURES, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_decide_what_is_measured() {
        let full = plan(&[]).unwrap().unwrap();
        assert_eq!((full.settings.scale, full.settings.rounds), (24, 5));
        assert_eq!(full.groups.len(), GROUPS.len());
        let quick = plan(&["--quick", "--no-peers"]).unwrap().unwrap();
        assert_eq!((quick.settings.scale, quick.settings.rounds), (20, 3));
        assert!(quick.groups.iter().all(|group| group.name != "peers"));
        for words in [&["--only", "bfs", "--scale", "16"][..], &["bfs", "--vertices", "26"]] {
            let one = plan(words).unwrap().unwrap();
            assert_eq!(one.groups.iter().map(|group| group.name).collect::<Vec<_>>(), ["bfs"]);
        }
        assert!(plan(&["--help"]).unwrap().is_none());
    }

    #[test]
    fn groups_of_all_tasks_have_names_of_their_own_for_plots() {
        let mut plots = Vec::new();
        for suite in [&FIGURES, &CHOICES, &BATCHES, &CLUSTER, &BESIDE] {
            plots.extend(suite.groups.iter().map(|group| group.name));
        }
        let count = plots.len();
        plots.sort_unstable();
        plots.dedup();
        assert_eq!(plots.len(), count);
    }

    #[test]
    fn groups_that_install_libraries_can_be_left_out() {
        let alone = Plan::read(&BESIDE, &["--no-peers".to_owned()]).unwrap().unwrap();
        let names: Vec<&str> = alone.groups.iter().map(|group| group.name).collect();
        let of_generated =
            ["auto-uniform", "auto-rmat", "auto-rmat-undirected", "auto-grid", "auto-path"];
        let of_data = ["auto-cnr-2000", "auto-roads"];
        assert_eq!(names, [&["equal-weights"][..], &of_generated, &of_data].concat());
    }

    #[test]
    fn pages_alone_measure_nothing() {
        assert!(plan(&["--pages"]).unwrap().unwrap().groups.is_empty());
    }

    #[test]
    fn wrong_options_are_refused() {
        for words in [
            &["--only", "nothing"][..],
            &["nothing"],
            &["--vertices", "31"],
            &["--rounds", "0"],
            &["--scale", "2"],
            &["--scale"],
            &["--fast"],
        ] {
            assert!(plan(words).is_err(), "{words:?}");
        }
    }
}
