//! Recognises files of other kinds of graphs, and files that are not text. Read as edges, they
//! would make a graph of nonsense.

use std::path::Path;

use tegula_store::{Diagnostic, Hint};
use tegula_tables::read::{Ending, FileName, Format, XmlForm, parquet, text};

use super::super::options::InputOptions;
use crate::settings::{FORMAT, FORMAT_GEXF, FORMAT_GRAPHML, FORMAT_PARQUET};

/// Says what a file that begins with `head` is instead of text, and how to make a list of edges
/// from it; `None` if it may be text.
pub(super) fn binary_refusal(
    path: &Path,
    head: &[u8],
    options: &InputOptions,
) -> Option<Diagnostic> {
    let is_asked_for = options.format != Format::Auto && options.format.is_text();
    let delimiter = options.delimiter.map(|delimiter| delimiter.byte());
    // If the user asked for text, it may have control characters.
    let is_control = |&byte: &u8| match byte {
        0 => true,
        b'\t' | b'\n' | b'\r' | 0x0c | b' '.. => false,
        other => !is_asked_for && Some(other) != delimiter,
    };
    let control = head.iter().copied().find(is_control);
    // Printable characters may also begin a text.
    let is_it = |magic: &[u8]| control.is_some() || !magic.iter().all(u8::is_ascii_graphic);
    let begins_so = |magic: &[u8]| head.starts_with(magic) && is_it(magic);
    if begins_so(parquet::MAGIC) {
        let problem =
            Diagnostic::from("this is a Parquet table; decompress it if it was compressed");
        return Some(problem.hint(Hint::set([FORMAT_PARQUET])));
    }
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| begins_so(magic)) {
        return Some(format!("this is {what}").into());
    }
    if let Some(encoding) = utf16(head) {
        let message = format!(
            "this is text in {encoding}; convert it with \
             `iconv -f {encoding} -t UTF-8 FILE > edges.txt`"
        );
        return Some(message.into());
    }
    let control = control?;
    let (what, hint) = match FileName::of(path).ending() {
        Ending::Format(Format::Metis) => {
            ("; a BVGraph of WebGraph needs its properties in the same folder", None)
        }
        Ending::Other(_) | Ending::Format(_) | Ending::Number | Ending::None => {
            ("", Some(Hint::set([FORMAT]).detail("if the file holds raw pairs")))
        }
    };
    let byte = if control == 0 { "NUL bytes".to_owned() } else { format!("a byte {control:#04x}") };
    let message = format!("this is not text: it has {byte}{what}");
    Some(Diagnostic::from(message).hint(hint))
}

/// First bytes of files that are not text, and what these files are.
const MAGIC: [(&[u8], &str); 13] = [
    (b"PK\x03\x04", "a ZIP archive (.zip, .npz, .xlsx); unpack it, and write the edges as text"),
    (b"\x89HDF\r\n", "an HDF5 file; write the edges as Parquet or as text"),
    (
        b"\x93NUMPY",
        "an array of NumPy; write it with its `tofile` and import it as .bin32 or .bin64",
    ),
    (b"ARROW1", "an Arrow or Feather file; write it as Parquet"),
    (b"ORC", "an ORC file; write it as Parquet"),
    (b"Obj\x01", "an Avro file; write it as Parquet"),
    (b"SQLite format 3", "a database of SQLite; write the edges as text with `sqlite3 -csv`"),
    (b"BZh", "compressed with bzip2; decompress it with `bzip2 -d`"),
    (b"\xfd7zXZ", "compressed with xz; decompress it with `xz -d`"),
    (b"\x04\x22\x4d\x18", "compressed with LZ4; decompress it with `lz4 -d`"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it"),
    (b"\x7fELF", "a program"),
    (b"%PDF-", "a PDF document"),
];

/// Recognises a text in UTF-16, by its byte order mark or because every second byte is NUL.
fn utf16(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Some("UTF-16");
    }
    let (pairs, _) = head.as_chunks::<2>();
    let all = |is_meant: fn(&[u8; 2]) -> bool| pairs.len() > 1 && pairs.iter().all(is_meant);
    if all(|[low, high]| *low != 0 && *high == 0) {
        return Some("UTF-16LE");
    }
    all(|[high, low]| *high == 0 && *low != 0).then_some("UTF-16BE")
}

/// Says what a text that begins with `head` is instead of edges, and how to make edges from it;
/// `None` if it may be edges.
pub(super) fn text_refusal(head: &[u8], options: &InputOptions) -> Option<Diagnostic> {
    // The user said that the first line is an edge.
    if options.no_header {
        return None;
    }
    if let Some(form) = XmlForm::of_content(head) {
        let known = Hint::set([match form {
            XmlForm::GraphMl => FORMAT_GRAPHML,
            XmlForm::Gexf => FORMAT_GEXF,
        }]);
        return Some(Diagnostic::from(format!("this is {}", form.name())).hint(known));
    }
    let kind = KINDS.iter().find(|(is_meant, _)| is_meant(head));
    kind.map(|(_, detail)| Diagnostic::from(*detail))
}

/// Tests for kinds of text, and how to make edges from each kind.
const KINDS: [(fn(&[u8]) -> bool, &str); 6] = [
    (
        is_json,
        "this is JSON; take the ends of each object with \
         `jq -r '[.source, .target] | @tsv' FILE > edges.tsv`, adapted to the names of your fields",
    ),
    (is_xml, "this is XML, perhaps RDF, but neither GraphML nor GEXF; write the edges as text"),
    (
        is_dot,
        "the ends are joined by an arrow, as in DOT; take the edges with \
         `sed -nE 's/^ *\"?([^\" ]+)\"? *-[->] *\"?([^\" ;]+)\"?.*/\\1 \\2/p' FILE > edges.txt`",
    ),
    (
        is_gml,
        "this is a GML file; take the edges with \
         `awk '$1 == \"source\" {s = $2} $1 == \"target\" {print s, $2}' FILE > edges.txt`",
    ),
    (
        is_pajek,
        "this is a Pajek file; take the edges with \
         `awk '/^\\*/ {on = tolower($1) ~ /^.(arcs|edges)$/; next} on {print $1, $2, $3}' FILE > edges.txt`",
    ),
    (
        has_slash_comments,
        "lines that begin with // would be read as edges; drop them with \
         `grep -v '^//' FILE > edges.txt`",
    ),
];

/// `%%MatrixMarket matrix coordinate real general`;
/// <https://math.nist.gov/MatrixMarket/formats.html>.
pub(super) fn is_matrix_market(head: &[u8]) -> bool {
    starts_with_word(head, b"%%matrixmarket")
}

/// Comments `c ..`, then a line such as `p sp 264346 733846` with the problem and two sizes;
/// <http://www.diag.uniroma1.it/challenge9/format.shtml>.
pub(super) fn is_dimacs(head: &[u8]) -> bool {
    let first = lines(head).find(|line| !is_dimacs_comment(line)).unwrap_or_default();
    match words(first)[..] {
        [b"p", b"sp" | b"max" | b"min" | b"asn" | b"edge" | b"col", vertices, edges] => {
            is_size(vertices) && is_size(edges)
        }
        _ => false,
    }
}

/// A line that begins with the word `c`.
pub(super) fn is_dimacs_comment(line: &[u8]) -> bool {
    line == b"c" || line.starts_with(b"c ") || line.starts_with(b"c\t")
}

/// The start of an object or an array.
fn is_json(head: &[u8]) -> bool {
    let first = lines(head).next().unwrap_or_default().trim_ascii();
    let behind = |mark: u8| first.strip_prefix(&[mark]).map(<[u8]>::trim_ascii_start);
    behind(b'{').is_some_and(|rest| rest.is_empty() || matches!(rest[0], b'"' | b'}'))
        || behind(b'[').is_some_and(|rest| {
            rest.is_empty() || matches!(rest[0], b'"' | b'{' | b'[' | b']' | b'0'..=b'9')
        })
}

fn is_xml(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"<")
}

/// `digraph name {`, or ends joined by an arrow or a line: `1 -> 2`, `a -- b;`.
fn is_dot(head: &[u8]) -> bool {
    let words = first_words(head);
    let opens = words.first().is_some_and(|word| {
        let word = word.strip_suffix(b"{").unwrap_or(word);
        [&b"graph"[..], b"digraph", b"strict"].contains(&word)
    });
    let has_brace = words.iter().any(|word| word.ends_with(b"{"));
    let is_joint = |word: &&[u8]| [&b"->"[..], b"--", b"<-", b"=>", b"<->"].contains(word);
    (opens && has_brace) || words.get(1).is_some_and(is_joint)
}

/// `graph [`, perhaps after a line with the creator.
fn is_gml(head: &[u8]) -> bool {
    match first_words(head)[..] {
        [b"graph"] => lines(head).nth(1).is_some_and(|line| line.trim_ascii() == b"["),
        [b"graph", b"[", ..] | [b"graph[", ..] => true,
        [b"Creator" | b"creator", quoted, ..] => quoted.starts_with(b"\""),
        _ => false,
    }
}

/// `*Vertices 82670`.
fn is_pajek(head: &[u8]) -> bool {
    let first = head.trim_ascii_start();
    [&b"*vertices"[..], b"*network", b"*arcs", b"*edges"]
        .iter()
        .any(|word| starts_with_word(first, word))
}

fn has_slash_comments(head: &[u8]) -> bool {
    lines(head).any(|line| line.trim_ascii_start().starts_with(b"//"))
}

/// The lines that are neither blank nor comments.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    text::lines(head).map(|line| &head[line.place])
}

/// The words of a line.
pub(super) fn words(line: &[u8]) -> Vec<&[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect()
}

fn first_words(head: &[u8]) -> Vec<&[u8]> {
    lines(head).next().map(words).unwrap_or_default()
}

fn is_size(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit)
}

/// Whether a text begins with a word, in upper or lower case.
fn starts_with_word(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, head: &[u8]) -> Option<Diagnostic> {
        let (path, options) = (Path::new(name), InputOptions::default());
        binary_refusal(path, head, &options).or_else(|| text_refusal(head, &options))
    }

    #[test]
    fn other_kinds_of_graphs_are_recognised() {
        for (name, head, kind) in [
            ("x", "{\"source\": 1, \"target\": 2}\n", "JSON"),
            ("x", "[\n  {\n", "JSON"),
            ("x", "{\n  \"nodes\": [\n", "JSON"),
            ("x", "[1, 2]\n", "JSON"),
            ("x", "<?xml version=\"1.0\"?>\n<graphml>\n", "GraphML"),
            ("x", "\n<gexf>\n", "GEXF"),
            ("x", "<?xml version=\"1.0\"?>\n<rdf:RDF>\n", "XML"),
            ("x", "<http://a> <http://p> <http://b> .\n", "XML"),
            ("x", "digraph g {\n 1 -> 2\n}\n", "DOT"),
            ("x", "strict graph{\n", "DOT"),
            ("x", "digraph { a -> b }\n", "DOT"),
            ("x", "graph [ node [ id 1 ] ]\n", "GML"),
            ("x", "graph {\n", "DOT"),
            ("x", "1 -> 2\n", "DOT"),
            ("x", "a -- b;\n", "DOT"),
            ("x", "graph\n[\n  directed 1\n", "GML"),
            ("x", "Creator \"x\"\ngraph [\n", "GML"),
            ("x", "*Vertices 3\n1 \"a\"\n", "Pajek"),
            ("x", "*network n\n", "Pajek"),
            ("x", "// from to\n1 2\n", "//"),
        ] {
            assert!(
                refusal(name, head.as_bytes()).is_some_and(|told| told.message.contains(kind)),
                "{head}"
            );
        }
    }

    #[test]
    fn files_that_are_not_text_are_recognised() {
        for (name, head, kind) in [
            ("x", &b"PK\x03\x04\0\0"[..], "ZIP"),
            ("x", b"\x89HDF\r\n\x1a\n", "HDF5"),
            ("x", b"\xff\xfe1\0 \x002\0", "UTF-16"),
            ("x", b"1\0 \x002\0\n\0", "`iconv -f UTF-16LE"),
            ("x", b"\x001\0 \x002\0\n", "`iconv -f UTF-16BE"),
            ("x", b"1 2\n3 \x01\n", "0x01"),
            ("x.txt", b"1 2\n\0\0\0", "NUL bytes"),
            ("x.graph", b"\x17\x02\0", "BVGraph"),
        ] {
            let told = refusal(name, head);
            assert!(told.is_some_and(|told| told.message.contains(kind)), "{head:?}");
        }
    }

    #[test]
    fn dimacs_is_recognised_by_its_line_of_sizes() {
        for head in ["c 9th DIMACS\nc\nc\tc\n\np sp 3 2\na 1 2 7\n", "p edge 3 2\r\ne 1 2\r\n"] {
            assert!(is_dimacs(head.as_bytes()), "{head}");
        }
        for head in [
            "c\n",
            "c d\np sp\n",
            "c d\na 1 2\np sp 3 2\n",
            "p sp 3 x\n",
            "p q 3 2\n",
            "p sp 3 2 1\n",
            "c,d\np,sp,3,2\n",
        ] {
            assert!(!is_dimacs(head.as_bytes()), "{head}");
        }
    }

    #[test]
    fn edges_are_not_taken_for_another_kind() {
        for head in [
            "",
            "c\n",
            "% sym unweighted\n1 2\n",
            "graph theory\n",
            "strict parent\n",
            "{a} {b}\n",
            "[a] [b]\n",
            "creator work\n",
            "a-b c--d\n",
            "http://a http://b\n",
            "3 2\n2 1\n",
        ] {
            assert_eq!(refusal("x.txt", head.as_bytes()), None, "{head}");
        }
    }
}
