//! Tables with a row for each vertex: every format gives the same rows, and malformed tables are
//! refused.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use proptest::prelude::*;
use tegula_machine::threads::Cancel;
use tegula_store::{At, Error, Result};
use tegula_tables::{Presence, ValueColumn, VertexColumns, VertexTable};
use tegula_testkit::input_files::{gzip, put, put_table};
use tempfile::TempDir;

const SETS: VertexColumns = VertexColumns {
    has_integer_ids: false,
    id_names: VertexTable::ID_NAMES,
    values: &[ValueColumn {
        role: "set",
        names: &["set"],
        is_number: false,
        presence: Presence::Required,
    }],
    has_header: false,
    may_be_dimacs: false,
};
const SEEDS: VertexColumns = VertexColumns {
    values: &[ValueColumn {
        role: "weight",
        names: &["weight", "rank"],
        is_number: true,
        presence: Presence::Optional,
    }],
    ..SETS
};
const PLACES: VertexColumns = VertexColumns {
    has_integer_ids: true,
    values: &[
        ValueColumn {
            role: "x",
            names: &["x", "lon"],
            is_number: true,
            presence: Presence::Required,
        },
        ValueColumn {
            role: "y",
            names: &["y", "lat"],
            is_number: true,
            presence: Presence::Required,
        },
    ],
    may_be_dimacs: true,
    ..SETS
};

/// A row: where it is, and its cells.
type Row = (At, Vec<String>);

fn read(path: &Path, columns: &VertexColumns) -> Result<Vec<Row>> {
    let is_vertex = |name: &str| Ok(name == "id");
    rows_of(VertexTable::open(path, columns, &is_vertex, &Cancel::default())?)
}

fn rows_of(table: VertexTable) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    table.read(&Cancel::default(), &mut |row| {
        let cells = std::iter::once(row.id).chain(row.values.into_iter().flatten());
        rows.push((row.at, cells.map(str::to_owned).collect()));
        Ok(())
    })?;
    Ok(rows)
}

/// Returns the cells of a text.
fn cells(name: &str, text: &str, columns: &VertexColumns) -> Vec<Vec<String>> {
    let folder = folder();
    let rows = read(&put(&folder, name, text.as_bytes()), columns).expect(text);
    rows.into_iter().map(|row| row.1).collect()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn every_format_and_compression_gives_the_same_rows() {
    let folder = folder();
    let rows = [("New York", "red"), ("a,b", "b c"), ("say \"hi\"", "1"), ("Ü", "a\tb")];
    let quote = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let text = |separator: &str, end: &str| {
        let rows = rows.map(|(id, set)| quote(id) + separator + &quote(set) + end);
        format!("\u{feff}# sets{end}vertex{separator}set{end}{}", rows.concat())
    };
    let expected: Vec<Row> = (3..)
        .zip(rows)
        .map(|(line, (id, set))| (At::Line(line), vec![id.to_owned(), set.to_owned()]))
        .collect();
    for (name, separator) in [("a.csv", ","), ("b.tsv", "\t"), ("c.csv", ";"), ("d.txt", ",")] {
        for end in ["\n", "\r\n"] {
            let bytes = text(separator, end).into_bytes();
            let zstd = zstd::encode_all(&bytes[..], 1).expect("memory takes it");
            for (name, bytes) in [
                (name.to_owned(), bytes.clone()),
                (format!("{name}.gz"), gzip(&bytes)),
                (format!("{name}.zst"), zstd),
            ] {
                let found = read(&put(&folder, &name, &bytes), &SETS).expect(&name);
                assert_eq!(found, expected, "{name}");
            }
        }
    }
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(rows.map(|row| row.0)));
    let sets: ArrayRef = Arc::new(StringArray::from_iter_values(rows.map(|row| row.1)));
    let path = put_table(&folder, "a.parquet", vec![("set", sets), ("vertex", ids)], 3);
    let found = read(&path, &SETS).expect("a table");
    let expected: Vec<Row> =
        (1..).zip(expected).map(|(row, (_, cells))| (At::Row(row), cells)).collect();
    assert_eq!(found, expected);
}

#[test]
fn numbers_of_parquet_become_text_of_the_same_value() {
    let folder = folder();
    let ids: ArrayRef = Arc::new(UInt64Array::from(vec![7, u64::MAX]));
    let ranks: ArrayRef = Arc::new(Float32Array::from(vec![0.1, 1e-9]));
    let path = put_table(&folder, "r.parquet", vec![("vertex", ids), ("rank", ranks)], 3);
    let found = read(&path, &VertexColumns { has_integer_ids: true, ..SEEDS }).expect("a table");
    let ids: Vec<&str> = found.iter().map(|row| &*row.1[0]).collect();
    let ranks: Vec<f32> = found.iter().map(|row| row.1[1].parse().expect("a number")).collect();
    assert_eq!((ids, ranks), (vec!["7", "18446744073709551615"], vec![0.1, 1e-9]));
    let null: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, -1]));
    let path = put_table(&folder, "n.parquet", vec![("id", Arc::clone(&ids)), ("weight", null)], 3);
    let error = read(&path, &SEEDS).expect_err("a null");
    assert!(
        error.to_string().ends_with("n.parquet, row 2: column `weight` is null here"),
        "{error}"
    );
    let path = put_table(&folder, "i.parquet", vec![("weight", ids)], 3);
    let error = read(&path, &SETS).expect_err("one column");
    assert!(
        error.to_string().contains("no column is known as the set; the columns are `weight`"),
        "{error}"
    );
}

#[test]
fn batches_in_memory_give_the_rows_of_the_same_table_in_parquet() {
    const COUNT: u64 = 10_000;
    let folder = folder();
    let ids: ArrayRef = Arc::new(UInt64Array::from_iter_values((0..COUNT).map(|id| id * id)));
    let weight = |row: u64| (!row.is_multiple_of(3)).then_some(1.0 / (1.0 + row as f32));
    let weights: ArrayRef = Arc::new(Float32Array::from_iter((0..COUNT).map(weight)));
    let columns = [("rank", weights), ("other", Arc::clone(&ids)), ("node", ids)];
    let path = put_table(&folder, "a.parquet", columns.to_vec(), 777);
    let mut wanted = VertexColumns { has_integer_ids: true, ..SEEDS };
    let seed = ValueColumn { presence: Presence::MayBeEmpty, ..SEEDS.values[0] };
    wanted.values = Box::leak(Box::new([seed]));
    let expected = read(&path, &wanted).expect("a table");
    assert_eq!((expected.len(), &*expected[3].1[0]), (COUNT as usize, "9"));
    let all = RecordBatch::try_from_iter(columns).expect("columns of one length");
    for rows in [1000, 5000, COUNT as usize] {
        let starts = (0..COUNT as usize).step_by(rows);
        let batches = starts.map(|start| all.slice(start, rows)).collect();
        let name = Path::new("seeds");
        let table = VertexTable::of_batches(name, all.schema_ref(), batches, &wanted);
        let table = table.expect("all columns are known");
        // The text of the ids and weights, and the place of each cell.
        let text: usize = expected.iter().flat_map(|row| &row.1).map(String::len).sum();
        let places = 8 * 2 * COUNT..10 * 2 * COUNT;
        assert!(places.contains(&(table.size() - text as u64)), "{} of {text}", table.size());
        assert!(table.has_header());
        assert_eq!(rows_of(table).expect("all ids are there"), expected, "{rows}");
    }
}

#[test]
fn errors_of_batches_in_memory_name_the_table_and_the_row() {
    let open = |columns: &[(&str, &ArrayRef)]| {
        let rows = RecordBatch::try_from_iter_with_nullable(
            columns.iter().map(|&(name, cells)| (name, Arc::clone(cells), true)),
        );
        let rows = rows.expect("columns of one length");
        // The last row alone, and then all rows.
        let batches = vec![rows.slice(1, 1).slice(0, 0), rows.slice(0, 1), rows.clone()];
        let table = VertexTable::of_batches(Path::new("seeds"), rows.schema_ref(), batches, &SEEDS);
        table.and_then(rows_of).expect_err("something is wrong").to_string()
    };
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, -1]));
    let null: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
    let error = open(&[("id", &ids), ("weight", &null)]);
    assert_eq!(error, "seeds, row 3: column `weight` is null here");
    let error = open(&[("weight", &ids), ("kg", &null), ("cm", &null)]);
    assert!(error.starts_with("seeds: no column is known as the vertex"), "{error}");
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![0.5, 1.5]));
    let error = open(&[("id", &floats), ("weight", &null)]);
    assert_eq!(error, "seeds: column `id` is Float32; ids are integers or strings");
}

#[test]
fn a_first_line_of_known_names_is_a_header() {
    let seeds = |name: &str, text: &str| cells(name, text, &SEEDS).concat().join("|");
    assert_eq!(seeds("a.txt", "vertex\tweight\nann\t1\n"), "ann|1");
    assert_eq!(seeds("a.csv", "rank,node\n1,ann\n"), "ann|1");
    assert_eq!(seeds("a.csv", "node\nann\n"), "ann");
    // Although the graph has a vertex `id`, a table with both names has a header.
    assert_eq!(seeds("a.csv", "id\nann\n"), "id|ann");
    assert_eq!(seeds("a.csv", "id,2\nann,1\n"), "id|2|ann|1");
    assert_eq!(seeds("a.csv", "id,weight\nann,1\n"), "ann|1");
    let integers = VertexColumns { has_integer_ids: true, ..SEEDS };
    for name in ["a.csv", "a.txt"] {
        assert_eq!(cells(name, "person,kg\n1,2\n", &integers), [["person", "kg"], ["1", "2"]]);
        let told = VertexColumns { has_header: true, ..integers };
        assert_eq!(cells(name, "person,kg\n1,2\n", &told), [["1", "2"]]);
        assert_eq!(
            cells(name, "kg,id,cm\n1,2,3\n", &VertexColumns { values: &[], ..told }),
            [["2"]]
        );
    }
    assert_eq!(cells("a.csv", ",vertex,weight\n0,18,2\n", &integers), [["18", "2"]]);
    assert_eq!(cells("a.csv", "kg,person_id\n2,18\n", &integers), [["18", "2"]]);
    let names = VertexColumns { has_integer_ids: false, ..PLACES };
    assert_eq!(cells("a.csv", "city,lat,lon\nBerlin,5,1\n", &names), [["Berlin", "1", "5"]]);
}

#[test]
fn a_first_line_of_unknown_names_is_a_row() {
    let list = VertexColumns { values: &[], ..SETS };
    let integers = VertexColumns { has_integer_ids: true, ..list };
    for name in ["a.csv", "a.tsv", "a.txt"] {
        for first in ["99", "7.0", "foo", "-1", "2024-01-01"] {
            assert_eq!(
                cells(name, &format!("{first}\n0\n"), &integers),
                [[first], ["0"]],
                "{name}"
            );
            assert_eq!(
                cells(name, &format!("{first}\nann\n"), &list),
                [[first], ["ann"]],
                "{name}"
            );
        }
        assert_eq!(cells(name, "customer_id\nann\n", &list), [["customer_id"], ["ann"]]);
        assert_eq!(cells(name, "customer_id\n0\n", &integers), [["0"]]);
    }
    assert_eq!(cells("a.csv", "alcie,set\nbob,red\n", &SETS), [["alcie", "set"], ["bob", "red"]]);
}

#[test]
fn a_told_header_of_unknown_names_is_refused_in_every_format() {
    let folder = folder();
    let integers = |columns: &VertexColumns| VertexColumns {
        has_integer_ids: true,
        has_header: true,
        ..*columns
    };
    let column = || -> ArrayRef { Arc::new(Int64Array::from(vec![18, 737])) };
    for (names, columns, says) in [
        (",customer,boost", SEEDS, "the vertex; the columns are `customer`, `boost`: name one"),
        (",customer_id,boost", SEEDS, "no column is known as the weight"),
        ("customer,kg,boost", SEEDS, "name one of them `vertex`, `id`, `node`"),
        ("customer,group,size", SETS, "no column is known as the vertex"),
        ("city,east,lat", PLACES, "no column is known as the vertex"),
    ] {
        let rows = "18,737,1\n737,18,2\n";
        let text = put(&folder, "a.csv", format!("{names}\n{rows}").as_bytes());
        let table = names.split(',').map(|name| (name, column())).collect();
        let parquet = put_table(&folder, "a.parquet", table, 3);
        for path in [text, parquet] {
            let error = read(&path, &integers(&columns)).expect_err(names).to_string();
            assert!(error.contains(says), "{}: {error}", path.display());
        }
    }
}

#[test]
fn a_cell_that_may_be_empty_says_nothing() {
    let folder = folder();
    let column = ValueColumn { presence: Presence::MayBeEmpty, ..SETS.values[0] };
    let columns = VertexColumns { values: Box::leak(Box::new([column])), ..SETS };
    let text = "vertex,set\nann,red\nbob,\ncy,\"\"\n";
    let expected = [vec!["ann", "red"], vec!["bob"], vec!["cy", ""]];
    assert_eq!(cells("a.csv", text, &columns), expected);
    assert_eq!(cells("a.tsv", &text.replace(',', "\t"), &columns), expected);
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["ann", "bob", "cy"]));
    let sets: ArrayRef = Arc::new(StringArray::from(vec![Some("red"), None, Some("")]));
    let path = put_table(&folder, "a.parquet", vec![("vertex", ids), ("set", sets)], 3);
    let found = read(&path, &columns).expect("a table");
    assert_eq!(found.into_iter().map(|row| row.1).collect::<Vec<_>>(), expected);
    let path = put(&folder, "a.csv", b"vertex,set\nann,red\nbob\n");
    assert!(read(&path, &columns).expect_err("no cell").to_string().contains("found 1"));
}

#[test]
fn separators_are_those_of_the_first_lines() {
    let seeds = |name: &str, text: &str| cells(name, text, &SEEDS).concat().join("|");
    assert_eq!(seeds("a.csv", "New York\nSan Jose\n"), "New York|San Jose");
    assert_eq!(seeds("a.tsv", "New York\t2\nSan Jose\n"), "New York|2|San Jose");
    assert_eq!(seeds("a.csv", "New York\nSan Jose,2\n"), "New York|San Jose|2");
    assert_eq!(seeds("a", "ann 1 more\nbob\n"), "ann|1|bob");
    let integers = VertexColumns { has_integer_ids: true, ..SETS };
    assert_eq!(cells("a.txt", "7\tNew York\n", &integers), [["7", "New York"]]);
    assert_eq!(cells("a.csv", "7 red\n", &integers), [["7", "red"]]);
    assert_eq!(cells("a.txt", "  7 \t red\n", &integers), [["7", "red"]]);
    assert_eq!(cells("a.txt", "7, red\n", &integers), [["7", "red"]]);
}

#[test]
fn coordinates_of_dimacs_are_a_table_too() {
    let text = "c 1 2\nc of 7\np aux sp co 2\nc\nv 7 1 -2\nv 8 0 5\n";
    assert_eq!(cells("a.co", text, &PLACES), [["7", "1", "-2"], ["8", "0", "5"]]);
    assert_eq!(cells("a.co", "v 7 1 -2\nc\n", &PLACES), [["7", "1", "-2"]]);
    assert_eq!(cells("a.csv", "lat,id,lon\n5,7,1\n", &PLACES), [["7", "1", "5"]]);
    let names = VertexColumns { has_integer_ids: false, ..PLACES };
    assert_eq!(cells("a.txt", "c 1 2\nv 3 4\n", &names), [["c", "1", "2"], ["v", "3", "4"]]);
}

#[test]
fn a_window_that_takes_much_memory_is_refused() {
    let folder = folder();
    let mut out = zstd::Encoder::new(Vec::new(), 1).expect("memory takes it");
    out.window_log(27).expect("a window that zstd has");
    std::io::Write::write_all(&mut out, b"ann,1\n").expect("memory takes it");
    let path = put(&folder, "long.csv.zst", &out.finish().expect("memory takes it"));
    let error = read(&path, &SETS).expect_err("128 MiB").to_string();
    assert!(error.contains("takes too much memory") && error.contains("--long"), "{error}");
}

#[test]
fn a_row_that_makes_no_sense_is_refused_with_its_line() {
    let folder = folder();
    let long = format!("ann,{}\n", "x".repeat(3 << 20));
    for (text, words) in [
        ("ann,1\n\nbob\n", "line 3: expected 2 columns separated by commas, found 1"),
        ("ann,1\n,2\n", "line 2: the id is empty"),
        ("ann,1\nbob,\n", "line 2: the value is empty"),
        ("ann,1\n\"bob,2\n", "line 2: a quote is opened"),
        ("ann,1\rbob,2\r", "line 1: lines end with a carriage return alone"),
        (&*long, "line 1: the line is longer than 1.0 MiB"),
        ("vertex,colour,size\nann,1,2\n", "no column is known as the set"),
    ] {
        let path = put(&folder, "bad.csv", text.as_bytes());
        let error = read(&path, &SETS).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    let path = put(&folder, "bad.csv", b"ann,1\nb\xff,2\n");
    let error = read(&path, &SETS).expect_err("no UTF-8").to_string();
    assert!(error.contains("line 2") && error.contains("UTF-8"), "{error}");
    let empty = put(&folder, "quoted.csv", b"\"\",\"\"\n");
    assert_eq!(
        read(&empty, &SETS).expect("a name of no letters"),
        [(At::Line(1), vec![String::new(); 2])]
    );
    for name in ["a.bin32", "a.parquet"] {
        let path = put(&folder, name, &[0; 16]);
        assert!(matches!(read(&path, &SETS), Err(Error::BadInput { .. })), "{name}");
    }
    assert!(matches!(read(folder.path(), &SETS), Err(Error::BadInput { .. })));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in proptest::collection::vec(proptest::sample::select(&b"1a\n \r\t,;\"#v\xff"[..]), 0..200),
        csv: bool,
    ) {
        let folder = folder();
        let path = put(&folder, if csv { "a.csv" } else { "a.txt" }, &bytes);
        for columns in [&SETS, &SEEDS, &PLACES] {
            let result = read(&path, columns);
            prop_assert!(matches!(result, Ok(_) | Err(Error::BadInput { .. })), "{:?}", result);
        }
    }
}
