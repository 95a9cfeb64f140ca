//! Tables that are in no file.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::input_support::{Edge, folder, read, sorted};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int16Array, Int64Array, LargeStringArray, RecordBatch,
    StringViewArray, UInt32Array, UInt64Array,
};
use proptest::prelude::*;
use tegula_import::input::{Columns, EdgeTables, IdKind, Input, InputOptions};
use tegula_import::{Combine, ImportConfig, import, import_tables};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::{At, Error, Place, Result};
use tegula_testkit::input_files::put_table;

const ENDS: Columns = Columns { source: 0, target: 1, weight: None };
const WEIGHTED: Columns = Columns { source: 2, target: 0, weight: Some(1) };

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// Cuts a table into parts of `rows` rows.
fn cut(table: &RecordBatch, rows: usize) -> Vec<RecordBatch> {
    let starts = (0..table.num_rows()).step_by(rows);
    starts.map(|start| table.slice(start, rows.min(table.num_rows() - start))).collect()
}

/// The same parts, in memory and as a stream.
fn both(parts: &[RecordBatch], columns: Columns) -> [EdgeTables; 2] {
    let (schema, parts) = (parts[0].schema(), parts.to_vec());
    let held = EdgeTables::held("data", schema.clone(), columns, parts.clone());
    [held, EdgeTables::stream("data", schema, columns, parts.into_iter().map(Ok))]
}

/// All edges of tables, as [`read`] returns them.
fn edges(tables: EdgeTables, options: &InputOptions) -> Result<Vec<Edge>> {
    read(&Input::from_tables(tables, options)?)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ids_of_all_types_give_the_same_edges(
        ends in prop::collection::vec((0..900i16, 0..900i16), 1..300),
        rows in 1usize..300,
        threads in 1usize..4,
    ) {
        let expected = |weighted: bool| {
            let weight = |s: i16| weighted.then_some(f32::from(s) / 4.0);
            sorted(ends.iter().map(|&(s, t)| (s.to_string(), t.to_string(), weight(s))).collect())
        };
        let (sources, targets): (Vec<i16>, Vec<i16>) = ends.iter().copied().unzip();
        let columns = |ids: &[i16]| -> Vec<ArrayRef> {
            let texts: Vec<String> = ids.iter().map(i16::to_string).collect();
            vec![
                Arc::new(Int16Array::from(ids.to_vec())),
                Arc::new(UInt32Array::from_iter_values(ids.iter().map(|&id| id as u32))),
                Arc::new(Int64Array::from_iter_values(ids.iter().map(|&id| i64::from(id)))),
                Arc::new(UInt64Array::from_iter_values(ids.iter().map(|&id| id as u64))),
                Arc::new(LargeStringArray::from_iter_values(&texts)),
                Arc::new(StringViewArray::from_iter_values(&texts)),
                Arc::new(texts.iter().map(String::as_str).collect::<DictionaryArray<Int32Type>>()),
            ]
        };
        let weights: ArrayRef =
            Arc::new(Float64Array::from_iter_values(sources.iter().map(|&s| f64::from(s) / 4.0)));
        let options = InputOptions { threads, memory: 1 << 20, ..InputOptions::default() };
        for source in columns(&sources) {
            for target in columns(&targets) {
                let plain = table(vec![("from", source.clone()), ("to", target.clone())]);
                for tables in both(&cut(&plain, rows), ENDS) {
                    prop_assert_eq!(edges(tables, &options).expect("edges"), expected(false));
                }
                let columns = vec![("t", target), ("w", weights.clone()), ("s", source.clone())];
                for tables in both(&cut(&table(columns), rows), WEIGHTED) {
                    prop_assert_eq!(edges(tables, &options).expect("edges"), expected(true));
                }
            }
        }
    }
}

/// Returns the bytes of all files of a graph.
fn files(graph: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(graph).expect("a folder").map(|entry| entry.expect("a file").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut files: Vec<_> =
        entries.map(|path| (name(&path), fs::read(&path).expect("a readable file"))).collect();
    files.sort();
    files
}

#[test]
fn a_graph_of_tables_is_that_of_a_file_byte_for_byte() {
    let folder = folder();
    let count = 300_000u32;
    let random = |seed: u32| (0..count).map(move |at| (at ^ seed).wrapping_mul(0x9e37_79b1) >> 14);
    let weights: ArrayRef =
        Arc::new(Float64Array::from_iter_values(random(9).map(|weight| f64::from(weight % 8))));
    let numbers = |seed| -> ArrayRef { Arc::new(UInt32Array::from_iter_values(random(seed))) };
    let names = |seed| -> ArrayRef {
        let names = random(seed).map(|id| format!("v{id}"));
        Arc::new(LargeStringArray::from_iter_values(names))
    };
    for (source, target) in [(numbers(1), numbers(2)), (names(3), names(4))] {
        let columns = vec![("t", target), ("w", weights.clone()), ("s", source)];
        let rows = table(columns.clone());
        let file = put_table(&folder, "edges.parquet", columns, 1 << 16);
        for drop_duplicates in [None, Some(Combine::Sum)] {
            let config = |threads| {
                let mut config = ImportConfig {
                    memory: 64 << 20,
                    threads,
                    drop_duplicates,
                    ..ImportConfig::default()
                };
                config.force = true;
                config.input.weighted = true;
                config.input.source_column = Some("s".parse().expect("a name"));
                config.input.target_column = Some("t".parse().expect("a name"));
                config
            };
            let graph = folder.path().join("g.tegula");
            let cancel = Cancel::default();
            import(std::slice::from_ref(&file), &graph, &config(1), &Silent, &cancel)
                .expect("a graph");
            let expected = files(&graph);
            for (tables, threads) in both(&cut(&rows, 100_000), WEIGHTED).into_iter().zip([2, 3]) {
                import_tables(tables, &graph, &config(threads), &Silent, &cancel).expect("a graph");
                assert!(files(&graph) == expected, "{threads} threads, {drop_duplicates:?}");
            }
        }
    }
}

/// Returns the place and the words of the error that `tables` give.
fn refusal(tables: EdgeTables, options: &InputOptions) -> (At, String) {
    match edges(tables, options).expect_err("bad tables") {
        Error::BadInput { place: Place { file, at }, problem } => {
            assert_eq!(file, Path::new("data"));
            (at, problem.message)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_rows_are_refused_by_their_number_from_0() {
    let good: ArrayRef = Arc::new(Int64Array::from_iter_values(0..200_000));
    let wrong = |at: i64, id: Option<i64>| -> ArrayRef {
        Arc::new(
            (0..200_000).map(|row| if row == at { id } else { Some(row) }).collect::<Int64Array>(),
        )
    };
    for (source, row, message) in [
        (wrong(150_000, None), 150_000, "column `from` is null here"),
        (wrong(70_000, Some(-7)), 70_000, "the id -7 in column `from` is negative"),
        (wrong(0, Some(i64::MIN)), 0, "is negative"),
    ] {
        let rows = table(vec![("from", source), ("to", good.clone())]);
        for parts in [cut(&rows, 200_000), cut(&rows, 33_333)] {
            for tables in both(&parts, ENDS) {
                let options = InputOptions { threads: 2, ..InputOptions::default() };
                let (at, found) = refusal(tables, &options);
                assert_eq!(at, At::Row(row));
                assert!(found.contains(message), "{found}");
            }
        }
    }
}

#[test]
fn later_tables_are_like_the_first() {
    let numbers: ArrayRef = Arc::new(UInt32Array::from(vec![1, 2]));
    let longer: ArrayRef = Arc::new(Int64Array::from(vec![1 << 40, 2]));
    let texts: ArrayRef = Arc::new(LargeStringArray::from(vec!["1", "2"]));
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let first = table(vec![("from", numbers.clone()), ("to", numbers.clone())]);
    let then = |columns| both(&[first.clone(), table(columns)], ENDS);
    let options = InputOptions::default();
    for (columns, message) in [
        (vec![("to", numbers.clone()), ("from", numbers.clone())], "has the columns `to`, `from`"),
        (vec![("from", numbers.clone())], "has the columns `from`, but the first one has"),
        (vec![("from", floats), ("to", numbers.clone())], "column `from` is Float64"),
        (
            vec![("from", numbers.clone()), ("to", texts.clone())],
            "ids of the first table are integers",
        ),
    ] {
        for tables in then(columns) {
            let (at, found) = refusal(tables, &options);
            assert_eq!(at, At::Row(2));
            assert!(found.contains(message), "{found}");
        }
    }
    for tables in then(vec![("from", longer), ("to", numbers.clone())]) {
        assert_eq!(edges(tables, &options).expect("integers").len(), 4);
    }
    let strings = InputOptions { ids: IdKind::String, ..options };
    for tables in then(vec![("from", texts), ("to", numbers)]) {
        assert_eq!(edges(tables, &strings).expect("strings").len(), 4);
    }
}

#[test]
fn a_stream_is_read_once_and_let_go() {
    let ids: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..1000));
    let rows = table(vec![("from", ids.clone()), ("to", ids)]);
    let (alive, asked) = (Arc::new(()), Arc::new(AtomicUsize::new(0)));
    let tables = {
        let (rows, asked, alive) = (rows.clone(), Arc::clone(&asked), Arc::clone(&alive));
        (0..50).map(move |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            let _ = &alive;
            Ok(rows.clone())
        })
    };
    let tables = EdgeTables::stream("data", rows.schema(), ENDS, tables);
    let input = Input::from_tables(tables, &InputOptions::default()).expect("two columns");
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    assert!(!input.is_quick_to_reread() && !input.is_repeatable());
    assert_eq!(read(&input).expect("edges").len(), 50_000);
    assert_eq!(Arc::strong_count(&alive), 1);
    assert!(matches!(read(&input), Err(Error::BadInput { .. })));
}

#[test]
fn the_first_error_of_a_stream_ends_the_import_and_leaves_nothing() {
    let folder = folder();
    let ids: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..1000));
    let rows = table(vec![("from", ids.clone()), ("to", ids)]);
    let fault = || Error::bad_input(Place { file: "there".into(), at: At::File }, "it broke");
    let parts = [Ok(rows.clone()), Ok(rows.clone()), Err(fault()), Ok(rows.clone())];
    let tables = EdgeTables::stream("data", rows.schema(), ENDS, parts.into_iter());
    let config = ImportConfig { memory: 64 << 20, ..ImportConfig::default() };
    let output = folder.path().join("g.tegula");
    let error = import_tables(tables, &output, &config, &Silent, &Cancel::default());
    assert_eq!(error.expect_err("a broken stream").to_string(), fault().to_string());
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
}

#[test]
fn integers_may_be_read_as_strings_but_not_strings_as_integers() {
    let numbers: ArrayRef = Arc::new(UInt32Array::from(vec![10, 9]));
    let names: ArrayRef = Arc::new(LargeStringArray::from(vec!["a", "b"]));
    let of_ids = |ids| InputOptions { ids, ..InputOptions::default() };
    let rows = table(vec![("from", numbers.clone()), ("to", numbers.clone())]);
    for tables in both(&[rows], ENDS) {
        let input = Input::from_tables(tables, &of_ids(IdKind::String)).expect("two columns");
        assert_eq!((input.ids(), input.is_quick_to_reread()), (IdKind::String, false));
        assert_eq!(read(&input).expect("edges").len(), 2);
    }
    let rows = table(vec![("from", numbers), ("to", names)]);
    for tables in both(&[rows], ENDS) {
        let refused = Input::from_tables(tables, &of_ids(IdKind::Integer)).expect_err("strings");
        assert!(refused.to_string().contains("the ids are strings, not integers"), "{refused}");
    }
}

#[test]
fn tables_without_rows_are_passed_over() {
    let ids: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..10));
    let rows = table(vec![("from", ids.clone()), ("to", ids)]);
    let none = rows.slice(0, 0);
    let parts = [none.clone(), rows.clone(), none.clone(), none.clone(), rows, none.clone()];
    for tables in both(&parts, ENDS) {
        assert_eq!(edges(tables, &InputOptions::default()).expect("edges").len(), 20);
    }
    for tables in both(&[none.clone(), none], ENDS) {
        assert_eq!(edges(tables, &InputOptions::default()).expect("no edges").len(), 0);
    }
}
