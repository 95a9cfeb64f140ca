//! DOT, as Graphviz reads it.
//!
//! Names are in double quotes. There DOT has an escape for the quote but none for the backslash:
//! Graphviz keeps two backslashes in a name and shows one. So each backslash is written twice, also
//! in names that other programs read.

use tegula_tables::append_float;

use super::syntax::{Edge, Shape, Spelled, Syntax, Unfit, Vertex, append};

/// Spells a graph in DOT.
pub struct Dot;

impl Syntax for Dot {
    fn begin(&self, shape: &Shape<'_>, out: &mut Vec<u8>) -> Spelled {
        append(if shape.is_undirected { "graph {\n" } else { "digraph {\n" }, out);
        Ok(())
    }

    fn vertex(&self, shape: &Shape<'_>, vertex: &Vertex<'_>, out: &mut Vec<u8>) -> Spelled {
        append("  ", out);
        append_quoted(vertex.id, out)?;
        let mut before = " [";
        for (place, value) in vertex.present_values() {
            append(before, out);
            append_quoted(shape.attributes[place].name, out)?;
            append("=", out);
            append_quoted(value, out)?;
            before = ", ";
        }
        append(if before == ", " { "];\n" } else { ";\n" }, out);
        Ok(())
    }

    fn edge(&self, shape: &Shape<'_>, edge: &Edge<'_>, out: &mut Vec<u8>) -> Spelled {
        append("  ", out);
        append_quoted(edge.source, out)?;
        append(if shape.is_undirected { " -- " } else { " -> " }, out);
        append_quoted(edge.target, out)?;
        if let Some(weight) = edge.weight {
            append(" [weight=", out);
            append_weight(weight, out);
            append("]", out);
        }
        append(";\n", out);
        Ok(())
    }

    fn end(&self, out: &mut Vec<u8>) {
        append("}\n", out);
    }
}

/// Appends a weight. A bare number of DOT has no exponent, so a weight with one is in quotes.
fn append_weight(weight: f32, out: &mut Vec<u8>) {
    let start = out.len();
    append_float(weight, out);
    if out[start..].contains(&b'e') {
        out.insert(start, b'"');
        out.push(b'"');
    }
}

/// Appends a text in double quotes.
///
/// # Errors
/// [`Unfit`] for a NUL, because Graphviz ends the file there.
fn append_quoted(text: &str, out: &mut Vec<u8>) -> Spelled {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            0 => return Err(Unfit { text: text.to_owned(), character: '\0' }),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            other => out.push(other),
        }
    }
    out.push(b'"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_with_an_exponent_is_in_quotes() {
        for (weight, expected) in
            [(0.5, "0.5"), (-1.0, "-1"), (1e-6, "\"1e-6\""), (1e16, "\"1e16\"")]
        {
            let mut out = Vec::new();
            append_weight(weight, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn quotes_and_backslashes_are_escaped_and_nul_is_refused() {
        let mut out = Vec::new();
        append_quoted("a\"b\\ é\n&", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\"a\\\"b\\\\ é\n&\"");
        let unfit = append_quoted("a\0", &mut Vec::new()).unwrap_err();
        assert_eq!(unfit, Unfit { text: "a\0".into(), character: '\0' });
    }
}
