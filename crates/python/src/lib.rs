//! The Python module `tegula._internal`, beneath the package in `python/tegula`.
//!
//! It has what needs the libraries: open graphs, runs, tables, imports. The package gives that its
//! names and types. Objects without a class of their own cross as JSON.
//!
//! | | |
//! | --- | --- |
//! | `work` | work on a thread of its own, which Ctrl-C ends |
//! | `graph` | open graphs, and runs on them |
//! | `jobs` | many runs at the same time |
//! | `answer` | what a run found |
//! | `table` | tables in memory, and their columns |
//! | `rows` | tables that are read while they are made |
//! | `file` | tables that are written to files |
//! | `stream` | tables of other libraries |
//! | `given_tables` | tables that options are given as objects |
//! | `import` | edge lists and tables that become graph directories |
//! | `home` | which process an object belongs to |
//! | `ending` | what the end of the interpreter waits for |
//! | `failure`, `hints` | errors, in Python's words |

// `cargo test --lib` would link a program, which nothing gives the symbols of Python.
#![cfg(not(test))]

mod answer;
mod ending;
mod failure;
mod file;
mod given_tables;
mod graph;
mod hints;
mod home;
mod import;
mod jobs;
mod rows;
mod stream;
mod table;
mod work;

use std::ffi::OsString;

use pyo3::prelude::*;
use serde_json::{Value, json};

/// Returns the catalogue of algorithms as a JSON array: name, JSON Schema of the options, family,
/// and what the algorithm needs, in words.
#[pyfunction]
fn catalogue() -> String {
    let entries = tegula_algorithms::CATALOGUE.iter().map(|entry| {
        let description = entry.description;
        json!({
            "name": entry.name,
            "family": description.family.title(),
            "summary": description.summary,
            "memory": description.memory,
            "source": description.source,
            "schema": entry.schema(),
            "options": entry.option_names(),
        })
    });
    entries.collect::<Value>().to_string()
}

/// Runs the command `tegula` with these words, of which the first is its name. Returns the exit
/// code. It is all that the process does.
#[pyfunction]
fn run_command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| tegula_cli::run_command(&words))
}

/// The module.
#[pymodule]
fn _internal(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<jobs::Jobs>()?;
    module.add_class::<jobs::Job>()?;
    module.add_class::<answer::Found>()?;
    module.add_class::<rows::Batches>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<table::Column>()?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(run_command, module)?)?;
    module.add_function(wrap_pyfunction!(ending::end_calls, module)?)?;
    module.add_function(wrap_pyfunction!(import::read, module)?)?;
    module.add_function(wrap_pyfunction!(import::from_tables, module)?)?;
    module.add_function(wrap_pyfunction!(stream::write_table, module)?)
}
