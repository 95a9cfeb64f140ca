//! Damaged inputs are refused, and nothing in this workspace panics at them. Libraries may panic in
//! calls that turn a panic into an error about the file.

mod input_support;

use std::fs;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, StringArray, UInt64Array};
use input_support::{folder, import};
use tegula_import::input::InputOptions;
use tegula_machine::Error as MachineError;
use tegula_machine::threads::is_in_foreign_code;
use tegula_store::Error;
use tegula_testkit::input_files::{put, put_table};

/// Panics that a user would be told of.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Calls `work` and returns the panics that a user would be told of. The tests run in one process,
/// so these may include panics of another test.
fn panics_told(work: impl FnOnce()) -> Vec<String> {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        if !is_in_foreign_code() {
            TOLD.lock().unwrap().push(panic.to_string());
            usual(panic);
        }
    }));
    work();
    TOLD.lock().unwrap().clone()
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn no_worker_reads_on_in_a_file_with_a_fault() {
    let folder = folder();
    let told = fs::read_to_string(data("web.properties")).unwrap();
    // One vertex too few: the last neighbours are out of range, which a worker notices late in its
    // part.
    put(&folder, "x.properties", told.replace("nodes=120", "nodes=119").as_bytes());
    let path = put(&folder, "x.graph", &fs::read(data("web.graph")).unwrap());
    let options = InputOptions { threads: 8, memory: 8 << 20, ..InputOptions::default() };
    let panics = panics_told(|| {
        for _ in 0..300 {
            let refused = import(&path, &options);
            assert!(matches!(refused, Err(Error::BadInput { .. })), "{refused:?}");
        }
    });
    assert_eq!(panics, [""; 0]);
}

#[test]
fn a_damaged_table_is_an_error_and_no_panic() {
    let folder = folder();
    let names = |factor: u64| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            (0..90).map(|row| format!("n{}", row * factor % 37)),
        ))
    };
    let ids = |factor: u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values((0..90).map(|row| row * factor % 1009)))
    };
    let panics = panics_told(|| {
        for (name, columns) in [
            ("names.parquet", vec![("src", names(7)), ("dst", names(31))]),
            ("ids.parquet", vec![("src", ids(7)), ("dst", ids(31))]),
        ] {
            let whole = fs::read(put_table(&folder, name, columns, 40)).unwrap();
            for byte in 0..whole.len() {
                let mut damaged = whole.clone();
                damaged[byte] ^= 1 << (byte % 8);
                let path = put(&folder, name, &damaged);
                // The damaged bytes may still be a table.
                match import(&path, &InputOptions::default()) {
                    Ok(_)
                    | Err(Error::BadInput { .. } | Error::Machine(MachineError::Io { .. })) => {}
                    Err(error) => panic!("{name}, byte {byte}: {error}"),
                }
            }
        }
    });
    assert_eq!(panics, [""; 0]);
}
