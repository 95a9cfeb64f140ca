//! Texts that are graphs of another kind: read as edges, they would make a graph of nonsense.

use super::fields::{is_passed_over, line_at};

/// What a text that begins so is instead of edges, and how it becomes some; `None` if it may be edges.
pub(super) fn refusal(head: &[u8]) -> Option<&'static str> {
    if is_matrix_market(head) {
        return Some(
            "this is a Matrix Market file: its line of sizes would be read as an edge; drop it with \
             `grep -v '^%' FILE | tail -n +2 > edges.txt`, and where the matrix is symmetric import \
             that with --undirected",
        );
    }
    is_dimacs(head).then_some(
        "this is a DIMACS file: its lines begin with a letter, not with a source; take the edges \
         with `awk '$1 ~ /^[ae]$/ {print $2, $3, $4}' FILE > edges.txt`",
    )
}

/// `%%MatrixMarket matrix coordinate real general`; <https://math.nist.gov/MatrixMarket/formats.html>.
fn is_matrix_market(head: &[u8]) -> bool {
    const BANNER: &[u8] = b"%%MatrixMarket";
    head.get(..BANNER.len()).is_some_and(|start| start.eq_ignore_ascii_case(BANNER))
}

/// Comments `c ..`, and then a line `p sp 264346 733846` with the problem and two sizes;
/// <http://www.diag.uniroma1.it/challenge9/format.shtml>.
fn is_dimacs(head: &[u8]) -> bool {
    let mut at = 0;
    while at < head.len() {
        let (place, next) = line_at(head, at);
        at = next;
        let line = &head[place];
        let is_comment = line == b"c" || line.starts_with(b"c ") || line.starts_with(b"c\t");
        if !is_comment && !is_passed_over(line) {
            return is_problem(line);
        }
    }
    false
}

fn is_problem(line: &[u8]) -> bool {
    let fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let fields: Vec<&[u8]> = fields.take(5).collect();
    let is_size = |field: &[u8]| field.iter().all(u8::is_ascii_digit);
    match fields[..] {
        [b"p", b"sp" | b"max" | b"min" | b"asn" | b"edge" | b"col", vertices, edges] => {
            is_size(vertices) && is_size(edges)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_of_another_kind_are_known_and_edges_are_not_taken_for_them() {
        for (head, name) in [
            (
                "%%MatrixMarket matrix coordinate real general\n% c\n3 3 1\n1 2 0.5\n",
                "Matrix Market",
            ),
            ("%%matrixmarket matrix coordinate pattern symmetric\r\n3 3 1\r\n", "Matrix Market"),
            ("c 9th DIMACS\nc\nc\tc\n\np sp 3 2\na 1 2 7\n", "DIMACS"),
            ("p edge 3 2\r\ne 1 2\r\n", "DIMACS"),
        ] {
            assert!(refusal(head.as_bytes()).is_some_and(|text| text.contains(name)), "{head}");
        }
        for head in [
            "",
            "c\n",
            "% sym unweighted\n1 2\n",
            "c d\np sp\n",
            "c d\na 1 2\np sp 3 2\n",
            "p sp 3 x\n",
            "p q 3 2\n",
            "p sp 3 2 1\n",
            "c,d\np,sp,3,2\n",
        ] {
            assert_eq!(refusal(head.as_bytes()), None, "{head}");
        }
    }
}
