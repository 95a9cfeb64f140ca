//! Input that could be read in more than one way is refused, or gives a warning.

use std::sync::Arc;

use crate::input_support::{folder, import, named};
use arrow_array::{ArrayRef, Int64Array};
use tegula_import::input::{IdKind, Input, InputOptions};
use tegula_import::settings::WEIGHTED;
use tegula_store::{Diagnostic, Hint};
use tegula_testkit::input_files::{put, put_table};

fn refusal(name: &str, text: &[u8], options: &InputOptions) -> String {
    let folder = folder();
    let path = put(&folder, name, text);
    match import(&path, options) {
        Err(error) => error.to_string(),
        Ok(edges) => panic!("{:?} is read as {edges:?}", String::from_utf8_lossy(text)),
    }
}

fn warnings(name: &str, text: &[u8], options: &InputOptions) -> Vec<Diagnostic> {
    let folder = folder();
    let path = put(&folder, name, text);
    Input::resolve(&[path], options).unwrap().warnings()
}

#[test]
fn a_header_of_unknown_names_is_not_read_by_position() {
    for (name, text) in [
        ("x.csv", "id,a,b\n7,1,2\n"),
        ("x.csv", ",a,b\n0,ann,bob\n"),
        ("x.txt", "one two three\n1 2 3\n"),
        ("x", "follower,followee,strength\nann,bob,3\n"),
        ("x.tsv", "a\tb\tc\n001\t002\t003\n"),
    ] {
        let said = refusal(name, text.as_bytes(), &InputOptions::default());
        assert!(said.contains("no column is known as the source"), "{said}");
        assert!(said.contains("line 1"), "{said}");
    }
}

#[test]
fn ids_whose_numbers_are_the_same_are_not_joined_unasked() {
    let auto = InputOptions::default();
    for (text, says) in [
        ("7 1\n1 007\n", "line 2: `007` would be the same vertex as `7`"),
        ("00 1\n", "line 1: `00` would be the same vertex as `0`"),
        ("1 2\n3 00000000000000000004\n", "line 2: `00000000000000000004` would be"),
        ("1.0 2.0\n", "line 1: the id `1.0` is not written as an unsigned integer"),
        ("1e3 2\n", "`1e3` is not written as an unsigned integer"),
        ("+7 2\n", "`+7` is not written as an unsigned integer"),
        ("-0 2\n", "the id `-0` is negative"),
    ] {
        let said = refusal("x.txt", text.as_bytes(), &auto);
        assert!(said.contains(says), "{said}");
    }
    let folder = folder();
    let path = put(&folder, "x.txt", "007 1\n1 7\n0 0\n".repeat(9).as_bytes());
    let ends = |ids| {
        let edges = import(&path, &InputOptions { ids, ..InputOptions::default() }).unwrap();
        let mut ids: Vec<String> = edges.into_iter().flat_map(|(s, t, _)| [s, t]).collect();
        ids.sort();
        ids.dedup();
        ids
    };
    assert_eq!(ends(IdKind::Integer), ["0", "1", "7"]);
    assert_eq!(ends(IdKind::String), ["0", "007", "1", "7"]);
}

#[test]
fn rows_over_several_lines_and_hidden_line_ends_are_refused() {
    let auto = InputOptions::default();
    for (text, says) in [
        ("src,dst,note\n1,2,\"two\nlines, of text\"\n3,4,x\n", "line 2: a quote is opened"),
        ("src,dst,note\n1,2,\"a \"\"b\"\"\n\"\n", "line 2: a quote is opened"),
        ("src,dst,note\n1,2,x\r3,4,y\n", "line 2: a carriage return"),
        ("src,dst\nann,bob\rcy,dan\n", "line 2: a carriage return"),
        ("src,dst\rann,bob\r", "line 1: lines end with a carriage return alone"),
    ] {
        let said = refusal("x.csv", text.as_bytes(), &auto);
        assert!(said.contains(says), "{said}");
    }
    // Closed quotes are accepted anywhere.
    let folder = folder();
    let path = put(&folder, "x.csv", b"src,dst,note\n1,2,\"a, \"\"b\"\"\"\r\n3,4,5\" wide\n5,6,\n");
    assert_eq!(import(&path, &auto).unwrap().len(), 3);
    let said = refusal("x.txt", b"\"New York\" Paris\n", &auto);
    assert!(said.contains("quotes have no meaning where blanks separate"), "{said}");
    let mut text = b"ann bob\n".repeat(9000);
    text.extend_from_slice(b"cy d\0n\n");
    let said = refusal("x.txt", &text, &auto);
    assert!(said.contains("line 9001: the id `d\\0n` has a NUL byte"), "{said}");
}

#[test]
fn a_separator_that_is_not_known_is_asked_for() {
    let text = b"New York,San Jose\nLos Angeles,El Paso\n";
    let options = InputOptions { no_header: true, ..InputOptions::default() };
    assert!(refusal("x", text, &options).contains("may be separated by blanks or by `,`"));
    for (delimiter, text, count) in
        [(",", &text[..], 2), ("|", b"1|2\n3|4|x\n", 2), ("tab", b"a b\tc d\n", 1)]
    {
        let folder = folder();
        let path = put(&folder, "x", text);
        let delimiter = delimiter.parse().ok();
        let edges = import(&path, &InputOptions { delimiter, ..options.clone() }).unwrap();
        assert_eq!(edges.len(), count);
    }
    for text in [&b"New York,Paris\nBerlin,Rome\n"[..], b"ann, bob\ncy, dan\n"] {
        let folder = folder();
        let path = put(&folder, "x", text);
        let edges = import(&path, &options).unwrap();
        assert!(edges.iter().all(|(source, _, _)| !source.ends_with(',') && source != "New"));
    }
}

#[test]
fn lists_of_neighbours_are_refused() {
    for text in ["0 1 2 3\n1 0\n2 0 3\n", "4 3\n2 3 4\n1\n1\n1\n", "1,2\n2,3,4\n"] {
        let said = refusal("x.txt", text.as_bytes(), &InputOptions::default());
        assert!(said.contains("lists of neighbours"), "{said}");
    }
    let folder = folder();
    let told = InputOptions { no_header: true, ..InputOptions::default() };
    let path = put(&folder, "x.txt", b"0 1 2 3\n1 0\n2 0 3\n");
    assert_eq!(import(&path, &told).unwrap().len(), 3);
}

#[test]
fn a_warning_tells_what_is_not_read() {
    let plain = InputOptions::default();
    for (name, text, says) in [
        ("x.csv", "u,v,weight\n1,2,3\n", "column `weight` was not read"),
        ("x.txt", "1 2 3\n", "the third column was not read"),
        ("x.txt", "1 2 friend\n", "the columns after the second were not read"),
        ("x.txt", "-1 2\n3 4\n", "the ids are strings, as `-1` is negative"),
        (
            "x.txt",
            "Follower Followee\nann bob\n",
            "line 1, `Follower Followee`, was read as an edge",
        ),
    ] {
        let said = warnings(name, text.as_bytes(), &plain);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].message.contains(says), "{said:?}");
    }
    let weighted = InputOptions { weighted: true, ..InputOptions::default() };
    let by_name = InputOptions {
        source_column: named("a"),
        target_column: named("b"),
        ..InputOptions::default()
    };
    for (text, options) in [
        ("u,v,weight\n1,2,3\n", &weighted),
        ("1 2 3\n", &weighted),
        ("1 2\n", &plain),
        ("u,v,note\n1,2,3\n", &plain),
        ("a,b,c\n1,2,3\n", &by_name),
        ("ann bob\nbob cy\n", &plain),
        ("-ann bob\nbob cy\n", &plain),
    ] {
        assert_eq!(warnings("x", text.as_bytes(), options), Vec::<Diagnostic>::new(), "{text}");
    }
    let folder = folder();
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let columns = vec![("src", column.clone()), ("dst", column.clone()), ("w", column)];
    let table = put_table(&folder, "x.parquet", columns, 1);
    let said = Input::resolve(&[table], &plain).unwrap().warnings();
    assert!(said[0].message.ends_with("x.parquet: column `w` was not read"), "{said:?}");
    assert_eq!(said[0].hints, [Hint::set([WEIGHTED]).detail("to keep it")]);
}

#[test]
fn a_warning_about_several_files_is_given_once() {
    let folder = folder();
    let paths = [
        put(&folder, "a.txt", b"1 2 3\n"),
        put(&folder, "b.txt", b"4 5 6\n"),
        put(&folder, "c.txt", b"4 5 7\n"),
        put(&folder, "d.txt", b"ann bob\nbob cy\n"),
    ];
    let said = Input::resolve(&paths, &InputOptions::default()).unwrap().warnings();
    assert_eq!(said.len(), 2, "{said:?}");
    let said: Vec<String> = said.into_iter().map(|diagnostic| diagnostic.message).collect();
    assert!(said[0].contains("a.txt and 2 other files: the third column"), "{said:?}");
    assert!(said[1].contains("strings because of") && said[1].contains("d.txt"), "{said:?}");
}

#[test]
fn columns_by_position_need_no_header() {
    let folder = folder();
    let path = put(&folder, "x.txt", b"9 1 2 5\n9 2 3 6\n");
    let options = InputOptions {
        source_column: "2".parse().ok(),
        target_column: "3".parse().ok(),
        weight_column: "4".parse().ok(),
        weighted: true,
        ..InputOptions::default()
    };
    let edges = import(&path, &options).unwrap();
    let expected = [("1", "2", 5.0), ("2", "3", 6.0)];
    assert_eq!(edges, expected.map(|(s, t, w)| (s.to_owned(), t.to_owned(), Some(w))));
    let alone = InputOptions { target_column: None, ..options };
    let said = refusal("x.txt", b"9 1 2 5\n", &alone);
    assert!(said.contains("without a header, the target needs a position"), "{said}");
}
