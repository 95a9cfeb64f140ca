//! Every malformed input is refused, and the error says where and why.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::input_support::{folder, named};
use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float32Array, Int64Array, StringArray};
use tegula_import::input::{Format, IdKind, Input, InputOptions};
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::{At, Error, Place, Result};
use tegula_testkit::input_files::{gzip, put, put_table};

fn try_import(paths: &[PathBuf], options: &InputOptions) -> Result<()> {
    Input::resolve(paths, options)?.read(&Silent, &Cancel::default(), &|_| Ok(()))?;
    Ok(())
}

/// Asserts that the input is refused at `at` of `path`, in words that include `says`.
fn assert_refused(path: &Path, options: &InputOptions, at: At, says: &str) {
    match try_import(&[path.to_owned()], options) {
        Err(Error::BadInput { place, problem }) => {
            assert_eq!(place, Place { file: path.to_owned(), at }, "{problem}");
            assert!(problem.message.contains(says), "`{problem}` does not say `{says}`");
        }
        other => panic!("{} should be refused, but: {other:?}", path.display()),
    }
}

fn weighted() -> InputOptions {
    InputOptions { weighted: true, ..InputOptions::default() }
}

fn strings() -> InputOptions {
    InputOptions { ids: IdKind::String, ..InputOptions::default() }
}

#[test]
fn a_malformed_line_is_named_by_its_number() {
    let plain = InputOptions::default;
    let folder = folder();
    for (text, options, line, says) in [
        ("1 2\n3\n", plain(), 2, "expected 2 columns separated by blanks, found 1"),
        ("# c\n\n1 2\r\n3 x\r\n", plain(), 4, "`x` is not an integer"),
        ("1 2\n3 4x\n", plain(), 2, "`4x` is not an integer"),
        (
            "1 2\n3.0 4\n",
            plain(),
            2,
            "with a fraction point; write the column with a type of integers",
        ),
        (
            "src,dst\n1,402.0\n",
            plain(),
            2,
            "`402.0` is not written as an unsigned integer but with",
        ),
        (
            "1 2\n1e3 4\n",
            plain(),
            2,
            "`1e3` is not written as an unsigned integer; write it with dig",
        ),
        ("1 2\n3,4\n", plain(), 2, "found 1"),
        ("1 2\n-3 4\n", plain(), 2, "`-3` is negative"),
        ("1 2\n3 18446744073709551616\n", plain(), 2, "does not fit 64 bits"),
        ("1 2\n3 4\r5 6\n", plain(), 2, "a carriage return is within the line"),
        ("1 2\r3 4\r", plain(), 1, "carriage return"),
        ("1,2\n3,\n", plain(), 2, "the target is empty"),
        ("1,2\n,4\n", plain(), 2, "the source is empty"),
        ("1,2\n\"3,4\n", plain(), 2, "not closed"),
        ("1,2\n\"3\"x,4\n", plain(), 2, "follow the closing quote"),
        ("1,2\n\"3\"\"x\",4\n", plain(), 2, "is not an integer"),
        ("1,2\n\"3\"\",4\n", plain(), 2, "not closed"),
        ("1 2 0.5\n3 4\n", weighted(), 2, "expected 3 columns separated by blanks, found 2"),
        ("1 2 0.5\n3 4 x\n", weighted(), 2, "the weight `x` is not a number"),
        ("1 2 0.5\n3 4 1.5x\n", weighted(), 2, "the weight `1.5x` is not a number"),
        ("1 2 +0.5\n3 4 +-5\n", weighted(), 2, "the weight `+-5` is not a number"),
        ("1 2 0.5\n3 4 ++5\n", weighted(), 2, "the weight `++5` is not a number"),
        ("1 2 0.5\n3 4 NaN\n", weighted(), 2, "the weight `NaN` is not a number"),
        ("1 2 0.5\n3 4 -inf\n", weighted(), 2, "the weight `-inf` is infinite"),
        (
            "1 2 0.5\n3 4 1e39\n",
            weighted(),
            2,
            "the weight `1e39` is too large; weights are 32-bit",
        ),
        ("1,2,0.5\n3,4,\n", weighted(), 2, "the weight is empty"),
    ] {
        let path = put(&folder, "x.txt", text.as_bytes());
        assert_refused(&path, &options, At::Line(line), says);
    }
}

#[test]
fn a_table_of_names_has_to_say_whether_it_has_a_header() {
    let folder = folder();
    let says = "may be the names of columns or an edge";
    for (name, text) in [
        ("x.csv", "# people\nfollower,followee\nann,bob\n"),
        ("x.tsv", "# people\nann\tbob\n"),
        ("x.csv", "# people\nfollower,followee,strength\nann,bob,strong\n"),
        ("x.txt", "# people\nfollower,followee\nann,bob\n"),
        ("x", "# letters\nu v\nv w\n"),
    ] {
        let path = put(&folder, name, text.as_bytes());
        for options in [InputOptions::default(), strings()] {
            assert_refused(&path, &options, At::Line(2), says);
        }
    }
    let given = InputOptions { format: Format::Csv, ..InputOptions::default() };
    let path = put(&folder, "x", b"ann,bob\n");
    assert_refused(&path, &given, At::Line(1), says);
}

#[test]
fn a_fault_in_a_possible_header_says_so() {
    let folder = folder();
    let integers = InputOptions { ids: IdKind::Integer, ..InputOptions::default() };
    let path = put(&folder, "x.txt", b"# c\nfollower followee\nann bob\n");
    let says = "is not an integer; is this a header?";
    assert_refused(&path, &integers, At::Line(2), says);
    let path = put(&folder, "x.txt", b"a b 1\nc d x\n");
    let Err(error) = try_import(&[path], &weighted()) else { panic!("`x` is no weight") };
    assert!(!error.to_string().contains("header"), "{error}");
}

#[test]
fn ids_that_are_not_utf8_are_refused() {
    let folder = folder();
    let path = put(&folder, "x.txt", b"ana bob\n# \xff is fine here\ncaf\xe9 bob\n");
    assert_refused(&path, &InputOptions::default(), At::Line(3), "is not UTF-8");
}

#[test]
fn the_first_fault_in_the_order_of_the_files_is_reported() {
    let folder = folder();
    let lines: String = (0..200_000).map(|line| format!("{line} 1\n")).collect();
    let paths = [
        put(&folder, "a.txt", lines.as_bytes()),
        put(&folder, "b.txt", format!("{lines}1 x\n{lines}y\n").as_bytes()),
        put(&folder, "c.txt", b"1 2\n\n1 z\n"),
    ];
    for threads in [1, 2, 3, 8] {
        for memory in [64 << 10, 64 << 20] {
            let options = InputOptions { threads, memory, ..InputOptions::default() };
            let Err(Error::BadInput { place, .. }) = try_import(&paths, &options) else {
                panic!("b.txt is malformed")
            };
            assert_eq!(place, Place { file: paths[1].clone(), at: At::Line(200_001) });
        }
    }
}

#[test]
fn missing_columns_are_reported_with_those_there_are() {
    let folder = folder();
    let path = put(&folder, "x.csv", b"# people\nsrc,dst,since\n1,2,3\n");
    let named = InputOptions { source_column: named("who"), ..InputOptions::default() };
    assert_refused(
        &path,
        &named,
        At::Line(2),
        "column `who` does not exist; the columns are `src`, `dst`, `since`",
    );
    assert_refused(
        &path,
        &weighted(),
        At::Line(2),
        "no column is known as the weight; the columns are `src`, `dst`, `since`",
    );
}

#[test]
fn cut_off_raw_pairs_are_refused() {
    let folder = folder();
    let path = put(&folder, "x.bin32", &[0; 8 * 5 + 3]);
    assert_refused(&path, &InputOptions::default(), At::Byte(40), "within a record of 8 bytes");
    let path = put(&folder, "x.bin64", &[0; 16 * 6]);
    assert_refused(&path, &weighted(), At::Byte(80), "within a record of 20 bytes");
    assert_refused(&path, &weighted(), At::Byte(80), "records of 16 bytes, without weights");
    let path = put(&folder, "x.bin32", &[0; 12 * 3]);
    assert_refused(
        &path,
        &InputOptions::default(),
        At::Byte(32),
        "records of 12 bytes, with weights",
    );
}

#[test]
fn weights_of_raw_pairs_are_finite() {
    let folder = folder();
    let record = |weight: f32| [&[0; 8][..], &weight.to_le_bytes()].concat();
    for weight in [f32::NAN, f32::INFINITY] {
        let path = put(&folder, "x.bin32", &[record(1.0), record(2.0), record(weight)].concat());
        assert_refused(&path, &weighted(), At::Byte(24), "is not finite");
    }
}

#[test]
fn every_member_of_a_gzip_file_is_checked() {
    let folder = folder();
    let member = gzip("1 2\n3 4\n".repeat(5000).as_bytes());
    let whole = [&member[..], &member].concat();
    for sum in [member.len() - 6, whole.len() - 6] {
        let mut damaged = whole.clone();
        damaged[sum] ^= 1;
        let path = put(&folder, "x.txt.gz", &damaged);
        assert_refused(&path, &InputOptions::default(), At::File, "not valid gzip data");
    }
    for (left, plain) in [(member.len() + 5, 40_000), (whole.len() - 3, 80_000)] {
        let path = put(&folder, "x.txt.gz", &whole[..left]);
        let says = format!("the gzip data is cut off after {plain} bytes of text; download it");
        assert_refused(&path, &InputOptions::default(), At::File, &says);
    }
}

#[test]
fn cut_off_and_damaged_compressed_text_is_refused() {
    let folder = folder();
    let text: String =
        (0..50_000u64).map(|line| format!("{line} {}\n", line * line % 9973)).collect();
    let zstd = zstd::encode_all(text.as_bytes(), 3).expect("memory takes it");
    for (name, stored, format) in
        [("x.txt.gz", gzip(text.as_bytes()), "gzip"), ("x.txt.zst", zstd, "zstd")]
    {
        for left in [stored.len() - 1, stored.len() / 2, 20] {
            let path = put(&folder, name, &stored[..left]);
            assert_refused(
                &path,
                &InputOptions::default(),
                At::File,
                &format!("the {format} data is cut off"),
            );
        }
        let path = put(&folder, name, &[&stored[..], b"rubbish"].concat());
        assert_refused(&path, &InputOptions::default(), At::File, format);
        let path = put(&folder, name, b"1 2\n3 4\n1 2\n3 4\n1 2\n3 4\n");
        assert_refused(
            &path,
            &InputOptions::default(),
            At::File,
            &format!("the name says {format}, but the content is plain"),
        );
    }
}

#[test]
fn files_that_are_no_text_are_refused() {
    let folder = folder();
    let path = put(&folder, "unknown", b"\x07\0\0\0\0\0\0\0");
    assert_refused(
        &path,
        &InputOptions::default(),
        At::File,
        "this is not text: it has a byte 0x07",
    );
    let path = put(&folder, "x.csv.gz", &gzip(b"PK\x03\x04 and so on"));
    assert_refused(&path, &InputOptions::default(), At::File, "ZIP archive");
    let path = put(
        &folder,
        "x.txt",
        "1 2\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>().as_slice(),
    );
    assert_refused(&path, &InputOptions::default(), At::File, "text in UTF-16LE");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = folder();
    let missing = folder.path().join("missing.txt");
    let result = try_import(std::slice::from_ref(&missing), &InputOptions::default());
    assert!(
        matches!(result, Err(Error::Machine(MachineError::Io { action: "open", path, .. })) if path == missing)
    );
    assert_refused(folder.path(), &InputOptions::default(), At::File, "the folder has no files");
}

#[test]
fn only_text_may_be_compressed() {
    let folder = folder();
    let path = put(&folder, "x.bin32.gz", &gzip(&[0; 80]));
    assert_refused(&path, &InputOptions::default(), At::File, "only text may be compressed");
}

#[test]
fn raw_pairs_cannot_be_strings() {
    let folder = folder();
    let path = put(&folder, "x.bin32", &[0; 80]);
    assert_refused(&path, &strings(), At::File, "raw pairs hold integer ids");
}

#[test]
fn malformed_tables_are_refused_by_row() {
    let folder = folder();
    let good: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
    let negative: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, -3, 4]));
    let null: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)]));
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), Some("c"), None]));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true; 4]));
    let float: ArrayRef = Arc::new(Float32Array::from(vec![1.0; 4]));
    let empty: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "", "c"]));
    let mut lists = ListBuilder::new(Int64Builder::new());
    (0..4).for_each(|id| lists.append_value([Some(id)]));
    let lists: ArrayRef = Arc::new(lists.finish());
    let nan: ArrayRef = Arc::new(Float32Array::from(vec![1.0, f32::NAN, f32::INFINITY, 1.0]));
    let plain = InputOptions::default;
    let integers = InputOptions { ids: IdKind::Integer, ..plain() };
    for (columns, options, at, says) in [
        (
            vec![("src", good.clone()), ("dst", negative)],
            plain(),
            At::Row(3),
            "-3 in column `dst` is negative",
        ),
        (vec![("src", float), ("dst", good.clone())], plain(), At::File, "a type of integers"),
        (vec![("src", lists), ("dst", good.clone())], plain(), At::File, "`src` is List"),
        (vec![("src", empty), ("dst", good.clone())], plain(), At::Row(3), "`src` is empty"),
        (vec![("src", null), ("dst", good.clone())], plain(), At::Row(2), "`src` is null"),
        (vec![("src", names.clone()), ("dst", good.clone())], plain(), At::Row(4), "`src` is null"),
        (vec![("src", names), ("dst", good.clone())], integers, At::File, "are strings"),
        (
            vec![("src", good.clone()), ("dst", flags.clone())],
            plain(),
            At::File,
            "`dst` is Boolean",
        ),
        (
            vec![("a", good.clone()), ("b", good.clone()), ("dst", good.clone())],
            plain(),
            At::File,
            "no column is known as the source; the columns are `a`, `b`, `dst`",
        ),
        (
            vec![("src", good.clone()), ("dst", good.clone())],
            weighted(),
            At::File,
            "no column has weights; the only columns are `src`, `dst`",
        ),
        (
            vec![("src", good.clone()), ("dst", good.clone()), ("weight", flags)],
            weighted(),
            At::File,
            "weights are numbers",
        ),
        (
            vec![("src", good.clone()), ("dst", good.clone()), ("weight", nan)],
            weighted(),
            At::Row(2),
            "NaN is not finite",
        ),
    ] {
        let path = put_table(&folder, "x.parquet", columns, 1 << 20);
        assert_refused(&path, &options, at, says);
    }
}

#[test]
fn damaged_tables_are_refused() {
    let folder = folder();
    let column = |factor: i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..20_000).map(|n| n * factor % 9973)))
    };
    let path =
        put_table(&folder, "x.parquet", vec![("src", column(7)), ("dst", column(31))], 1 << 20);
    let whole = fs::read(&path).expect("it was written");
    for left in [0, 3, whole.len() / 2, whole.len() - 1] {
        let path = put(&folder, "cut.parquet", &whole[..left]);
        assert_refused(&path, &InputOptions::default(), At::File, "not a whole Parquet file");
    }
    let mut outcomes = 0;
    for at in (4..whole.len()).step_by(whole.len() / 97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        let path = put(&folder, "damaged.parquet", &damaged);
        // Pages carry no checksum: damage may go unnoticed, but must never make a worker panic.
        match try_import(&[path], &InputOptions::default()) {
            Ok(()) => {}
            Err(Error::BadInput { .. }) => outcomes += 1,
            Err(other) => panic!("damage at byte {at}: {other:?}"),
        }
    }
    assert!(outcomes > 0);
}

#[test]
fn a_table_under_another_format_is_refused() {
    let folder = folder();
    let path = put(&folder, "x.txt", b"1 2\n");
    let options = InputOptions { format: Format::Parquet, ..InputOptions::default() };
    assert_refused(&path, &options, At::File, "not a whole Parquet file");
}
