//! Errors and warnings about an input have hints in terms of options, which every face words
//! itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::input_support::{folder, import};
use arrow_array::{ArrayRef, StringArray};
use tegula_import::input::{IdKind, Input, InputOptions};
use tegula_import::settings::{
    DELIMITER, FORMAT, FORMAT_PARQUET, IDS_INTEGER, IDS_STRING, NO_HEADER, SKIP_BAD_ROWS,
    SOURCE_COLUMN, TARGET_COLUMN, WEIGHT_COLUMN, WEIGHTED,
};
use tegula_store::{Error, Hint};
use tegula_testkit::input_files::{put, put_table};

/// Returns the hints of a refused input.
fn hints(path: &Path, options: &InputOptions) -> Vec<Hint> {
    match import(path, options) {
        Err(error @ Error::BadInput { .. }) => error.hints(),
        other => panic!("{} should be refused, but: {other:?}", path.display()),
    }
}

/// Asserts the hints of files that are refused.
fn assert_hints<const N: usize>(options: &InputOptions, cases: [(&str, &[u8], Vec<Hint>); N]) {
    let folder = folder();
    for (name, bytes, expected) in cases {
        let path = put(&folder, name, bytes);
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(hints(&path, options), expected, "{name}: {text:?}");
    }
}

fn weighted() -> InputOptions {
    InputOptions { weighted: true, ..InputOptions::default() }
}

fn skip() -> Hint {
    Hint::set([SKIP_BAD_ROWS]).detail("to skip such rows")
}

fn ends() -> Hint {
    Hint::set([SOURCE_COLUMN, TARGET_COLUMN])
}

#[test]
fn ids_that_are_no_integers_may_be_strings() {
    let strings = || Hint::set([IDS_STRING]);
    let apart = strings().detail("to keep them apart");
    let one = Hint::set([IDS_INTEGER]).detail("to make them one");
    assert_hints(
        &InputOptions::default(),
        [
            ("x.txt", b"1 2\n3 x\n", vec![strings().detail("if the ids are names")]),
            ("x.txt", b"1 2\n-3 4\n", vec![strings()]),
            ("x.txt", b"1 2\n3 18446744073709551616\n", vec![strings()]),
            ("x.txt", b"7 1\n1 007\n", vec![apart, one]),
            ("x.txt", b"1 2\n3.0 4\n", vec![skip()]),
        ],
    );
}

#[test]
fn ids_of_a_table_may_be_strings() {
    let folder = folder();
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let path = put_table(&folder, "x.parquet", vec![("src", names.clone()), ("dst", names)], 10);
    let integers = InputOptions { ids: IdKind::Integer, ..InputOptions::default() };
    assert_eq!(hints(&path, &integers), [Hint::set([IDS_STRING])]);
}

#[test]
fn columns_that_are_not_known_are_named() {
    let one = |setting| Hint::set([setting]).detail("with one of them");
    let choose = |setting| Hint::set([setting]).detail("with one of them, or its position");
    let no_names = Hint::set([NO_HEADER]).detail("if it has no column names");
    assert_hints(
        &InputOptions::default(),
        [
            ("x.csv", b"id,a,b\n7,1,2\n", vec![ends().detail("with two of them")]),
            ("x.csv", b"src,a,b\n7,1,2\n", vec![one(TARGET_COLUMN)]),
            ("x.csv", b"SRC,src,dst\n7,1,2\n", vec![choose(SOURCE_COLUMN)]),
            ("x.csv", b"ann,bob\n", vec![ends().detail("to name the columns"), no_names]),
        ],
    );
    assert_hints(&weighted(), [("x.csv", b"src,dst,since\n1,2,3\n", vec![one(WEIGHT_COLUMN)])]);
    let by_position = InputOptions {
        source_column: "1".parse().ok(),
        target_column: "2".parse().ok(),
        ..weighted()
    };
    let position = |setting| Hint::set([setting]).detail("with the position of the column");
    assert_hints(&by_position, [("x.txt", b"1 2 5\n", vec![position(WEIGHT_COLUMN)])]);
    let source_alone = InputOptions { target_column: None, ..by_position };
    assert_hints(&source_alone, [("x.txt", b"1 2 5\n", vec![position(TARGET_COLUMN)])]);
}

#[test]
fn a_possible_header_has_hints() {
    let integers = InputOptions { ids: IdKind::Integer, ..InputOptions::default() };
    let strings = || Hint::set([IDS_STRING]).detail("if the ids are names");
    let name = |hint: Hint| hint.detail("to name its columns");
    let text = b"follower followee strength\nann bob strong\n";
    assert_hints(&integers, [("x.txt", text, vec![strings(), name(ends())])]);
    let all = name(Hint::set([SOURCE_COLUMN, TARGET_COLUMN, WEIGHT_COLUMN]));
    let weighted = InputOptions { weighted: true, ..integers };
    assert_hints(&weighted, [("x.txt", text, vec![strings(), all])]);
}

#[test]
fn lines_of_another_width_may_have_other_columns() {
    let separated = Hint::set([DELIMITER]).detail("if something else separates them");
    let told = Hint::set([DELIMITER]).detail("with the one or the other");
    let two = Hint::set([NO_HEADER]).detail("to ignore further columns");
    assert_hints(
        &InputOptions::default(),
        [
            ("x.txt", b"1 2\n3\n", vec![separated, skip()]),
            ("x.txt", b"0 1 2 3\n1 0\n2 0 3\n", vec![two]),
        ],
    );
    let no_header = InputOptions { no_header: true, ..InputOptions::default() };
    let text = b"New York,San Jose\nLos Angeles,El Paso\n";
    assert_hints(&no_header, [("x", text, vec![told])]);
}

#[test]
fn missing_and_unread_weights_have_hints() {
    let leave_out = || Hint::leave_out(WEIGHTED.option);
    assert_hints(
        &weighted(),
        [
            (
                "x.txt",
                b"1 2 0.5\n3 4\n",
                vec![leave_out().detail("if there are no weights"), skip()],
            ),
            ("x.txt", b"1 2 0.5\n3 4 x\n", vec![skip()]),
            ("x.bin64", &[0; 16 * 6], vec![leave_out()]),
            ("x.bin64", &[0; 16 * 6 + 3], vec![]),
        ],
    );
    let plain = InputOptions::default();
    assert_hints(&plain, [("x.bin32", &[0; 12 * 3], vec![Hint::set([WEIGHTED])])]);
}

#[test]
fn files_of_another_kind_may_be_what_the_user_says() {
    assert_hints(
        &InputOptions::default(),
        [
            ("x", b"1 2\n\0", vec![Hint::set([FORMAT]).detail("if the file holds raw pairs")]),
            ("x.txt", b"PAR1\0\0", vec![Hint::set([FORMAT_PARQUET])]),
        ],
    );
    let no_weights = vec![Hint::leave_out(WEIGHTED.option)];
    let pattern = b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n1 2\n";
    assert_hints(
        &weighted(),
        [("x.mtx", &pattern[..], no_weights.clone()), ("x.graph", b"3 2\n2\n1 3\n2\n", no_weights)],
    );
    let folder = folder();
    fs::create_dir(folder.path().join("edges")).expect("the temporary folder is writable");
    put(&folder, "edges/readme.md", b"1 2\n");
    let all = Hint::set([FORMAT]).detail("to read all files");
    assert_eq!(hints(&folder.path().join("edges"), &InputOptions::default()), [all]);
}

#[test]
fn rows_that_may_be_passed_over_have_hints_of_the_first_one() {
    let options = InputOptions { skip_bad_rows: 1, ..InputOptions::default() };
    let strings = Hint::set([IDS_STRING]).detail("if the ids are names");
    let more = Hint::raise(SKIP_BAD_ROWS.option);
    assert_hints(&options, [("x.txt", b"1 2\n3 x\n4\n", vec![strings, more])]);
}

#[test]
fn unread_columns_have_hints() {
    let folder = folder();
    let keep = |why| Hint::set([WEIGHTED]).detail(why);
    for (text, hints) in [
        ("u,v,weight\n1,2,3\n", vec![keep("to keep it")]),
        ("1 2 3\n", vec![keep("to keep it as the weight")]),
        ("1 2 friend\n", vec![]),
        ("Follower Followee\nann bob\n", vec![ends().detail("if it names the columns")]),
    ] {
        let paths: [PathBuf; 1] = [put(&folder, "x", text.as_bytes())];
        let said = Input::resolve(&paths, &InputOptions::default()).expect("a list of edges");
        let [warning] = &said.warnings()[..] else { panic!("{text}: {:?}", said.warnings()) };
        assert_eq!(warning.hints, hints, "{text}");
    }
}
