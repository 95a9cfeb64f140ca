//! Which lines a text may have.

use crate::input_support::{Edge, folder, import, named, read};
use tegula_import::input::{IdKind, Input, InputOptions};
use tegula_testkit::input_files::put;

/// Returns the edges of a small text, in order of ids.
fn text_edges(
    name: &str,
    text: &str,
    options: &InputOptions,
) -> Vec<(String, String, Option<f32>)> {
    let folder = folder();
    let path = put(&folder, name, text.as_bytes());
    import(&path, options).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[test]
fn comments_blank_lines_and_a_missing_last_newline_are_fine() {
    let expected =
        [("1", "2"), ("3", "4"), ("5", "6")].map(|(s, t)| (s.to_owned(), t.to_owned(), None));
    for text in [
        "# Nodes: 6 Edges: 3\n1\t2\n# in the middle\n3\t4\n\n% other comment\n5\t6",
        "\u{feff}1 2\r\n\r\n3 4\r\n   # indented\r\n5 6",
        "  1   2  \n\t3\t\t4\n5 6 # and more\n",
        "1, 2\n3 ,4\n5,6,extra,columns",
        "1;2\n3;4;;\n5;6\n\n\n",
    ] {
        assert_eq!(text_edges("x.txt", text, &InputOptions::default()), expected, "{text:?}");
    }
}

#[test]
fn an_empty_file_has_no_edges() {
    for (name, bytes) in [
        ("x.txt", &b""[..]),
        ("x.txt", b"# nothing\n\n"),
        ("x.csv", b"src,dst\n"),
        ("x.bin32", b""),
        ("x", b""),
    ] {
        let folder = folder();
        let path = put(&folder, name, bytes);
        let input =
            Input::resolve(&[path], &InputOptions::default()).expect("an empty file is fine");
        assert_eq!(input.ids(), IdKind::Integer);
        assert_eq!(read(&input).expect("and stays fine"), [], "{name}");
    }
}

#[test]
fn a_header_names_the_columns() {
    let weighted = InputOptions { weighted: true, ..InputOptions::default() };
    let plain = InputOptions::default();
    let named = InputOptions {
        source_column: named("follower"),
        target_column: named("followed"),
        weight_column: named("since"),
        weighted: true,
        ..InputOptions::default()
    };
    let expected = [("1".to_owned(), "2".to_owned(), Some(3.5))];
    for (name, text, options) in [
        ("x.csv", "src,dst,weight\n1,2,3.5\n", &weighted),
        ("x.csv", "Weight;Target;Source\n3.5;2;1\n", &weighted),
        ("x.tsv", "from\tto\tnote\tvalue\n1\t2\t\t3.5\n", &weighted),
        (
            "x.csv",
            "# exported\n\n\":START_ID(Person)\",\":TYPE\",\":END_ID(Person)\",weight:float\n\
             \"1\",\"a,b\",\"2\",3.5",
            &weighted,
        ),
        ("x.csv", "a,b,weight\n1,2,3.5\n", &weighted),
        ("x.txt", "node one,node two,w\n1,2,3.5\n", &weighted),
        ("x.txt", "followed since follower\n2 3.5 1\n", &named),
        ("x.txt", "Source Target Weight\n1 2 3.5\n", &weighted),
        ("x", "target\tsource\tw\n2\t1\t3.5\n", &weighted),
        ("x", "source, target, weight\n1, 2, 3.5\n", &weighted),
        ("x", "from;to;value\n1;2;3.5\n", &weighted),
    ] {
        assert_eq!(text_edges(name, text, options), expected, "{text:?}");
    }
    let unweighted = [("1".to_owned(), "2".to_owned(), None)];
    for (name, text) in [
        ("x.csv", "a,b\n1,2\n"),
        ("x.txt", "FromNodeId\tToNodeId\n1\t2\n"),
        ("x", "u,v\n1,2\n"),
        ("x.csv", ",u,v,length\n0,1,2,3.5\n"),
        ("x", "id,u,v\n7,1,2\n"),
        ("x.txt", "one other\n1 2\n"),
    ] {
        assert_eq!(text_edges(name, text, &plain), unweighted, "{text:?}");
    }
    assert_eq!(text_edges("x.csv", "1,2\n", &plain), unweighted);
}

#[test]
fn a_first_line_with_a_number_is_no_header() {
    let weighted = InputOptions { weighted: true, ..InputOptions::default() };
    for (text, options) in
        [("007,ann\nann,bob\n", &InputOptions::default()), ("ann,bob,0.5\nbob,cy,1\n", &weighted)]
    {
        assert_eq!(text_edges("x.csv", text, options).len(), 2, "{text:?}");
    }
}

#[test]
fn no_header_makes_an_edge_of_usual_names() {
    let bare = InputOptions { no_header: true, ..InputOptions::default() };
    for name in ["x.csv", "x"] {
        assert_eq!(text_edges(name, "source,target\n", &bare).len(), 1, "{name}");
    }
}

#[test]
fn ids_are_strings_if_the_first_edge_has_one_or_if_told_so() {
    let names = |edges: Vec<Edge>| {
        edges.into_iter().map(|(s, t, _)| format!("{s}>{t}")).collect::<Vec<_>>()
    };
    let auto = InputOptions::default();
    let told = InputOptions { ids: IdKind::String, ..InputOptions::default() };
    assert_eq!(names(text_edges("x.txt", "ana bob\n7 ana\n", &auto)), ["7>ana", "ana>bob"]);
    assert_eq!(names(text_edges("x.txt", "New York\tSão Paulo\n", &auto)), ["New York>São Paulo"]);
    assert_eq!(
        names(text_edges("x.csv", "source,target\n\"Doe, J\" , bob\n", &auto)),
        ["Doe, J>bob"]
    );
    assert_eq!(
        names(text_edges("x.csv", "source,target\n\"Ann \"\"A\"\" Lee\",\"\"\"\"\n", &auto)),
        ["Ann \"A\" Lee>\""]
    );
    let bare = InputOptions { no_header: true, ..InputOptions::default() };
    assert_eq!(names(text_edges("x.csv", "ana,bob\ncal,dan\n", &bare)), ["ana>bob", "cal>dan"]);
    assert_eq!(names(text_edges("x.txt", "01 1\n1 x\n", &told)), ["01>1", "1>x"]);
    assert_eq!(
        names(text_edges("x.txt", "# caf\u{e9}\n-1 18446744073709551616\n", &auto)),
        ["-1>18446744073709551616"]
    );
}

#[test]
fn bytes_that_are_not_utf8_are_fine_outside_of_ids() {
    let folder = folder();
    let path = put(&folder, "x.csv", b"# caf\xe9\nana,bob,caf\xe9\ncal,dan,\n");
    let bare = InputOptions { no_header: true, ..InputOptions::default() };
    assert_eq!(import(&path, &bare).expect("the ids are UTF-8").len(), 2);
}

#[test]
fn one_file_of_strings_makes_all_ids_strings() {
    let folder = folder();
    let paths = [put(&folder, "a.txt", b"1 2\n"), put(&folder, "b.txt", b"ana bob\n")];
    let input = Input::resolve(&paths, &InputOptions::default()).expect("two texts");
    assert_eq!(input.ids(), IdKind::String);
    assert_eq!(read(&input).expect("well-formed").len(), 2);
}

#[test]
fn a_first_line_may_name_the_delimiter() {
    let folder = folder();
    let options = InputOptions::default();
    for (name, text, source) in [
        ("x.csv", "sep=;\nsrc;dst\n1,5;2\n", "1,5"),
        ("x.csv", "\u{feff}sep=;\r\nsrc;dst\r\n1,5;2\r\n", "1,5"),
        ("x.txt", "SEP=|\nann b|2\n", "ann b"),
        ("x.tsv", "sep=\t\na b\t2\n", "a b"),
    ] {
        let edges = import(&put(&folder, name, text.as_bytes()), &options).expect(text);
        assert_eq!(edges, [(source.to_owned(), "2".to_owned(), None)], "{text:?}");
    }
    let path = put(&folder, "x.csv", b"sep=;\nsrc;dst\n1;2\n3;x\n");
    let error = import(&path, &options).expect_err("no integer").to_string();
    assert!(error.contains("line 4: the id `x`"), "{error}");
    let chosen = InputOptions { delimiter: ",".parse().ok(), ..options };
    let path = put(&folder, "x.csv", b"sep=;\nsrc,dst\n1,2\n");
    assert_eq!(import(&path, &chosen).expect("the user chose"), [("1".into(), "2".into(), None)]);
}
