//! GraphML, as NetworkX, Cytoscape, yEd and `tegula import` read it.

use tegula_tables::append_float;

use super::syntax::{Edge, Shape, Spelled, Syntax, Vertex, append};
use super::xml::{DECLARATION, append_attribute, append_text, type_of};

/// Declares the weights of edges.
const WEIGHT_KEY: &str =
    "  <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n";

/// Spells a graph as GraphML.
pub struct GraphMl;

impl Syntax for GraphMl {
    fn begin(&self, shape: &Shape<'_>, out: &mut Vec<u8>) -> Spelled {
        append(DECLARATION, out);
        append("<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n", out);
        for (place, attribute) in shape.attributes.iter().enumerate() {
            append(format!("  <key id=\"a{place}\" for=\"node\""), out);
            append_attribute("attr.name", attribute.name, out)?;
            append(format!(" attr.type=\"{}\"/>\n", type_of(attribute.kind)), out);
        }
        if shape.is_weighted {
            append(WEIGHT_KEY, out);
        }
        let direction = if shape.is_undirected { "undirected" } else { "directed" };
        append(format!("  <graph edgedefault=\"{direction}\">\n"), out);
        Ok(())
    }

    fn vertex(&self, _shape: &Shape<'_>, vertex: &Vertex<'_>, out: &mut Vec<u8>) -> Spelled {
        append("    <node", out);
        append_attribute("id", vertex.id, out)?;
        let mut is_empty = true;
        for (place, value) in vertex.present_values() {
            append(format!("{}<data key=\"a{place}\">", if is_empty { ">" } else { "" }), out);
            append_text(value, out)?;
            append("</data>", out);
            is_empty = false;
        }
        append(if is_empty { "/>\n" } else { "</node>\n" }, out);
        Ok(())
    }

    fn edge(&self, _shape: &Shape<'_>, edge: &Edge<'_>, out: &mut Vec<u8>) -> Spelled {
        append("    <edge", out);
        append_attribute("source", edge.source, out)?;
        append_attribute("target", edge.target, out)?;
        match edge.weight {
            None => append("/>\n", out),
            Some(weight) => {
                append("><data key=\"weight\">", out);
                append_float(weight, out);
                append("</data></edge>\n", out);
            }
        }
        Ok(())
    }

    fn end(&self, out: &mut Vec<u8>) {
        append("  </graph>\n</graphml>\n", out);
    }
}
