//! Failed reads, flipped bits and cancelled runs end in one error, and nothing hangs.

use std::path::Path;

use crate::support::{AMPLE, import_edges, threads};
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_engine::{Error, RunOptions, estimate, open_graph};
use tegula_generators::{Rmat, edges};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Fault, FaultPlan};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch};

const STOP: Stop = Stop::Iterations(3);

fn skewed(scratch: &Scratch, scale: u32) -> std::path::PathBuf {
    let graph = EdgeList::new(edges(&Rmat::new(scale, 8, 5).unwrap()));
    import_edges(scratch.path(), "skewed", &graph, VertexOrder::Degree)
}

/// Opens a graph with a backend and returns its ranks as bits.
fn run(directory: &Path, backend: Backend, memory: u64) -> Result<Vec<u32>, Error> {
    let graph = open_graph(directory, memory, backend)?;
    let options = RunOptions { memory, threads: 2, ..Default::default() };
    let outcome = PageRank::run(&graph, STOP, &options)?;
    Ok(outcome.states.iter().map(|rank| rank.to_bits()).collect())
}

#[test]
fn the_nth_read_fails_for_every_n() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch, 14);
    let expected = run(&directory, Backend::Auto, AMPLE).unwrap();
    let memory = {
        let graph = open_graph(&directory, AMPLE, Backend::Auto).unwrap();
        estimate::<PageRank>(&graph, 2).needed()
    };
    let mut n = 1;
    loop {
        let plan = FaultPlan::new().nth(n, Fault::Errno(5));
        let result = run(&directory, Backend::Auto.with_faults(&plan), memory);
        if plan.struck() == 0 {
            assert!(result.unwrap() == expected);
            break;
        }
        let error = result.expect_err("the fault surfaces");
        assert!(matches!(error, Error::Machine(MachineError::Io { .. })), "read {n}: {error}");
        n += 1;
    }
    assert!(n > 10, "only {n} reads");
}

#[test]
fn a_bit_that_flips_on_the_way_is_found_in_every_read() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch, 14);
    let expected = run(&directory, Backend::Auto, AMPLE).unwrap();
    let mut found = 0;
    for n in 1.. {
        let plan = FaultPlan::new().nth(n, Fault::FlipBit(7919 * n));
        let result = run(&directory, Backend::Auto.with_faults(&plan), AMPLE);
        if plan.struck() == 0 {
            break;
        }
        match result {
            Err(error) => {
                assert!(
                    matches!(error, Error::Machine(MachineError::Corrupt { .. })),
                    "read {n}: {error}"
                );
                found += 1;
            }
            // The bit was in a part of a page that no one asked for.
            Ok(ranks) => assert!(ranks == expected, "read {n}: a wrong answer"),
        }
    }
    assert!(found > 5, "only {found} reads");
}

#[test]
#[ignore = "long"]
fn a_flipped_bit_in_any_file_is_found() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch, 8);
    let verify = || {
        let graph = open_graph(&directory, AMPLE, Backend::Auto)?;
        graph.verify(&Silent, &Cancel::default())
    };
    verify().unwrap();
    for file in std::fs::read_dir(&directory).unwrap() {
        let path = file.unwrap().path();
        let intact = std::fs::read(&path).unwrap();
        // Flips one bit of every byte; the bit depends on the place.
        for byte in 0..intact.len() {
            let mut damaged = intact.clone();
            damaged[byte] ^= 1 << (byte % 8);
            std::fs::write(&path, &damaged).unwrap();
            let error = verify().expect_err("a flipped bit is found");
            let is_named = matches!(
                error,
                Error::Machine(MachineError::Corrupt { .. })
                    | Error::NotAGraph { .. }
                    | Error::Machine(MachineError::UnsupportedVersion { .. })
            );
            assert!(is_named, "byte {byte} of {}: {error}", path.display());
        }
        std::fs::write(&path, &intact).unwrap();
    }
}

#[test]
fn a_missing_or_shortened_file_is_named() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch, 8);
    for file in std::fs::read_dir(&directory).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let intact = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let error = open_graph(&directory, AMPLE, Backend::Auto).map(drop).unwrap_err();
        assert!(error.to_string().contains(&name), "{name}: {error}");
        std::fs::write(&path, &intact[..intact.len() - 1]).unwrap();
        let error = open_graph(&directory, AMPLE, Backend::Auto).map(drop).unwrap_err();
        assert!(error.to_string().contains(&name), "{name}: {error}");
        std::fs::write(&path, &intact).unwrap();
    }
}

#[test]
fn a_cancelled_run_ends_as_cancelled() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch, 12);
    let graph = open_graph(&directory, AMPLE, Backend::Auto).unwrap();
    let options = threads(2);
    options.cancel.cancel();
    let result = PageRank::run(&graph, STOP, &options);
    assert!(matches!(result, Err(Error::Machine(MachineError::Cancelled))));
}
