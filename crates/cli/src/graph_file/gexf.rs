//! GEXF 1.3, as Gephi, NetworkX and `tegula import` read it.

use tegula_tables::append_float;

use super::syntax::{Edge, Shape, Spelled, Syntax, Vertex, append};
use super::xml::{DECLARATION, append_attribute, type_of};

/// Spells a graph as GEXF.
pub struct Gexf;

impl Syntax for Gexf {
    fn begin(&self, shape: &Shape<'_>, out: &mut Vec<u8>) -> Spelled {
        append(DECLARATION, out);
        append("<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n", out);
        let direction = if shape.is_undirected { "undirected" } else { "directed" };
        append(format!("  <graph defaultedgetype=\"{direction}\">\n"), out);
        if !shape.attributes.is_empty() {
            append("    <attributes class=\"node\">\n", out);
            for (place, attribute) in shape.attributes.iter().enumerate() {
                append(format!("      <attribute id=\"{place}\""), out);
                append_attribute("title", attribute.name, out)?;
                append(format!(" type=\"{}\"/>\n", type_of(attribute.kind)), out);
            }
            append("    </attributes>\n", out);
        }
        append(format!("    <nodes count=\"{}\">\n", shape.vertex_count), out);
        Ok(())
    }

    fn vertex(&self, _shape: &Shape<'_>, vertex: &Vertex<'_>, out: &mut Vec<u8>) -> Spelled {
        append("      <node", out);
        append_attribute("id", vertex.id, out)?;
        append_attribute("label", vertex.id, out)?;
        let mut is_empty = true;
        for (place, value) in vertex.present_values() {
            append(if is_empty { "><attvalues>" } else { "" }, out);
            append(format!("<attvalue for=\"{place}\""), out);
            append_attribute("value", value, out)?;
            append("/>", out);
            is_empty = false;
        }
        append(if is_empty { "/>\n" } else { "</attvalues></node>\n" }, out);
        Ok(())
    }

    fn turn_to_edges(&self, shape: &Shape<'_>, out: &mut Vec<u8>) {
        append("    </nodes>\n", out);
        append(format!("    <edges count=\"{}\">\n", shape.edge_count), out);
    }

    fn edge(&self, _shape: &Shape<'_>, edge: &Edge<'_>, out: &mut Vec<u8>) -> Spelled {
        append(format!("      <edge id=\"{}\"", edge.number), out);
        append_attribute("source", edge.source, out)?;
        append_attribute("target", edge.target, out)?;
        if let Some(weight) = edge.weight {
            append(" weight=\"", out);
            append_float(weight, out);
            append("\"", out);
        }
        append("/>\n", out);
        Ok(())
    }

    fn end(&self, out: &mut Vec<u8>) {
        append("    </edges>\n  </graph>\n</gexf>\n", out);
    }
}
