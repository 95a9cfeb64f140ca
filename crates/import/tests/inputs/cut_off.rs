//! Texts that are cut off: a row that lacks columns is a bad row, and a last line without its end
//! gives a warning. So does a row with more columns.

use std::path::PathBuf;

use crate::input_support::{Edge, edges_of, folder};
use tegula_import::input::{Input, InputOptions, LineNotes};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::{At, Error, Place, Result};
use tegula_testkit::input_files::{gzip, put};

/// Returns the edges of files, in no order, and the notes on their lines.
fn read(paths: &[PathBuf], options: &InputOptions) -> Result<(Vec<Edge>, LineNotes)> {
    let edges = std::sync::Mutex::new(Vec::new());
    let input = Input::resolve(paths, options)?;
    let line_notes = input.read(&Silent, &Cancel::default(), &|chunk| {
        edges.lock().unwrap().extend(edges_of(chunk));
        Ok(())
    })?;
    Ok((edges.into_inner().unwrap(), line_notes))
}

/// Asserts that a text is refused in a line, in words that include `says`.
#[track_caller]
fn assert_refused(name: &str, text: &str, options: &InputOptions, line: u64, says: &str) {
    let folder = folder();
    for (name, bytes) in
        [(name.to_owned(), text.as_bytes().to_vec()), (format!("{name}.gz"), gzip(text.as_bytes()))]
    {
        let path = put(&folder, &name, &bytes);
        match read(std::slice::from_ref(&path), options) {
            Err(Error::BadInput { place, problem }) => {
                assert_eq!(place, Place { file: path, at: At::Line(line) }, "{text}: {problem}");
                assert!(problem.message.contains(says), "{text}: {problem}");
            }
            other => panic!("{text} is read as {other:?}"),
        }
    }
}

/// Returns the number of edges of a text.
#[track_caller]
fn count(name: &str, text: &str, options: &InputOptions) -> usize {
    let folder = folder();
    let path = put(&folder, name, text.as_bytes());
    read(&[path], options).unwrap_or_else(|error| panic!("{text}: {error}")).0.len()
}

#[test]
fn a_row_with_fewer_columns_than_the_header_is_bad() {
    let plain = InputOptions::default();
    let header = "time,source,target,bytes,label\n";
    let good = "1,host-000001.corp.example,host-000002.corp.example,5,a\n";
    for cut in ["4,host-019447.corp.example,host-001777.corp", "4,a,b,5"] {
        let text = format!("{header}{good}{cut}");
        let found = 1 + cut.matches(',').count();
        let says = format!("expected 5 columns separated by commas, found {found}");
        assert_refused("x.csv", &text, &plain, 3, &says);
    }
    let integers = format!("{header}{}2,3,4,\n", "1,2,3,4,5\n".repeat(70_000));
    assert_refused("x.csv", &integers, &plain, 70_002, "expected 5 columns");
    assert_refused("x.tsv", "src\tdst\tw\n1\t2\t3\n4\t5\n", &plain, 3, "separated by tabs");
    assert_refused("x.txt", "src dst weight\n1 2 0.5\n3 4\n", &plain, 3, "separated by blanks");
    assert_refused("x.txt", "src dst weight\nann bob 1\ncy dan\n", &plain, 3, "by blanks");
}

#[test]
fn a_row_with_fewer_columns_than_the_first_one_is_bad() {
    let plain = InputOptions::default();
    assert_refused("x.csv", "1,2,0.5\n3,4\n", &plain, 2, "expected 3 columns");
    let no_header = InputOptions { no_header: true, ..plain.clone() };
    assert_refused("x.csv", "ann,bob,x,y\ncy,dan,x\n", &no_header, 2, "expected 4 columns");
    assert_refused("x.csv", "1,2,x,\"y\"\n3,4,\"x\"\n", &no_header, 2, "expected 4 columns");
    let piped = InputOptions { delimiter: "|".parse().ok(), ..no_header };
    assert_refused("x", "1|2|3\n4|5\n", &piped, 2, "separated by `|`, found 2");
}

#[test]
fn empty_cells_and_further_columns_are_no_fault() {
    let plain = InputOptions::default();
    let no_header = InputOptions { no_header: true, ..plain.clone() };
    for (name, text, options, edges) in [
        ("x.csv", "src,dst,w,note\n1,2,,\n3,4,5,\n", &plain, 2),
        ("x.csv", "src,dst\n1,2,3\n4,5,6,7\n", &plain, 2),
        // A separator at the end of the first line makes no column.
        ("x.csv", "src,dst,\n1,2\n3,4,\n", &plain, 2),
        ("x.csv", "1,2,,\n3,4\n", &plain, 2),
        // Where blanks separate, the text behind an edge may be left out, and may be several words.
        ("x.txt", "1 2 0.5\n3 4\n", &plain, 2),
        ("x.txt", "1 2 {'weight': 3}\n3 4 {}\n", &plain, 2),
        ("x.txt", "ann bob old friends\ncy dan\n", &no_header, 2),
        ("x.txt", "src dst label\n1 2 a b c\n3  4\td \n", &plain, 2),
    ] {
        assert_eq!(count(name, text, options), edges, "{text}");
    }
}

#[test]
fn formats_that_tell_their_columns_want_all_of_them() {
    let plain = InputOptions::default();
    let matrix = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n1 3\n";
    assert_refused("x.mtx", matrix, &plain, 4, "expected 3 columns");
    let complex = "%%MatrixMarket matrix coordinate complex general\n3 3 2\n1 2 1 0\n1 3 1\n";
    assert_refused("x.mtx", complex, &plain, 4, "expected 4 columns");
    let arcs = "p sp 3 2\na 1 2 5\na 2 3\n";
    assert_refused("x.gr", arcs, &plain, 3, "expected 4 columns");
}

#[test]
fn rows_that_lack_columns_are_skipped_where_that_is_allowed() {
    let options = InputOptions { skip_bad_rows: 1, ..InputOptions::default() };
    let folder = folder();
    let path = put(&folder, "x.csv", b"src,dst,w\n1,2,3\n4,5\n6,7,8\n");
    let (edges, line_notes) = read(&[path], &options).unwrap();
    assert_eq!((edges.len(), line_notes.bad_rows.count), (2, 1));
    let (place, problem) = line_notes.bad_rows.first.unwrap();
    assert_eq!(place.at, At::Line(3));
    assert_eq!(problem.hints, []);
}

#[test]
fn a_last_line_without_its_end_is_told_where_the_others_have_one() {
    let plain = InputOptions::default();
    let folder = folder();
    let long = "1 2\n".repeat(200_000);
    for (text, line) in [
        ("1 2\n3 4", Some(2)),
        ("src,dst\n1,2", Some(2)),
        ("ann bob\ncy dan", Some(2)),
        (&*format!("{long}3 4"), Some(200_001)),
        ("1 2\n3 4\n", None),
        ("1 2", None),
        ("1 2\r\n3 4\r\n", None),
        ("1 2\n# the end", None),
        ("1 2\n  ", None),
    ] {
        for (name, bytes) in [("x", text.as_bytes().to_vec()), ("x.gz", gzip(text.as_bytes()))] {
            for threads in [1, 3] {
                let path = put(&folder, name, &bytes);
                let options = InputOptions { threads, memory: 1 << 16, ..plain.clone() };
                let (_, line_notes) = read(std::slice::from_ref(&path), &options).unwrap();
                let place = line.map(|line| Place { file: path, at: At::Line(line) });
                assert_eq!(line_notes.open_ends.first, place);
                assert_eq!(line_notes.open_ends.count, u64::from(line.is_some()));
            }
        }
    }
    let paths = [put(&folder, "a.txt", b"1 2\n3 4"), put(&folder, "b.txt", b"1 2\n\n3 4")];
    let (_, line_notes) = read(&paths, &plain).unwrap();
    assert_eq!(line_notes.open_ends.count, 2);
    let metis = put(&folder, "x.graph", b"2 1\n2\n1");
    let (_, line_notes) = read(&[metis], &plain).unwrap();
    assert_eq!(line_notes.open_ends.count, 1);
}

#[test]
fn rows_with_more_columns_than_the_first_one_are_reported() {
    let plain = InputOptions::default();
    let no_header = InputOptions { no_header: true, ..plain.clone() };
    let weighted = InputOptions { weighted: true, ..plain.clone() };
    let folder = folder();
    let many = "1,2\n".repeat(100_000);
    for (name, text, options, line, count) in [
        ("x.csv", "src,dst\n1,2\n3,4,5\n6,7,8,9\n", &plain, Some(3), 2),
        ("x.csv", "src,dst\n1,2\r\n3,4,x\r\n", &plain, Some(3), 1),
        ("x.csv", "src,dst\n1,\"2\",\"x\"\n3,4,\"\"\n", &plain, Some(2), 1),
        ("x.csv", &*format!("src,dst\n{many}3,4,5\n{many}6,7,8\n"), &plain, Some(100_002), 2),
        ("x.csv", "src,dst,w\n1,2,3\n4,5,6,7\n8,9,1,\n", &weighted, Some(3), 1),
        ("x.csv", "dst,src,w\n1,2,3\n4,5,6,7\n", &plain, Some(3), 1),
        ("x.tsv", "ann\tbob\tx\ncy\tdan\tx\ty\ncy\tdan\t\t\t\n", &no_header, Some(2), 1),
        // Separators at the end make no column, and where blanks separate, words follow.
        ("x.csv", "src,dst\n1,2,\n3,4,, \n", &plain, None, 0),
        ("x.txt", "1 2\n3 4 5\n", &no_header, None, 0),
        // Not all such rows would be seen.
        ("x.csv", "src,dst,w\n1,2,3\n4,5,6,7\n8,9,\"1\",7\n", &plain, None, 0),
    ] {
        for threads in [1, 3] {
            let path = put(&folder, name, text.as_bytes());
            let options = InputOptions { threads, memory: 1 << 16, ..options.clone() };
            let (_, line_notes) = read(std::slice::from_ref(&path), &options).unwrap();
            let place = line.map(|line| Place { file: path, at: At::Line(line) });
            assert_eq!((line_notes.long_rows.first, line_notes.long_rows.count), (place, count));
        }
    }
}
