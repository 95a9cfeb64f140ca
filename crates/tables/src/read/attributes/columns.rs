//! The columns of a table of attributes.

use std::borrow::Cow;

use tegula_store::At;

use super::super::column_name::is_pandas_index;
use super::super::vertices::{ID_NAMES, Places, VertexColumns};

/// A row of a table of attributes.
#[derive(Debug, Clone, Copy)]
pub struct AttributeRow<'a> {
    /// Its line in text, its row in Parquet.
    pub at: At,
    /// The id of the vertex as it is written.
    pub id: &'a str,
    /// Whether the row begins like a comment: it is a comment unless its id is a vertex.
    pub is_like_comment: bool,
    /// A cell for each of [`AttributeTable::names`](super::AttributeTable::names); `None` if it is
    /// empty or null.
    pub cells: &'a [Option<Cow<'a, str>>],
}

/// The columns of a table of attributes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AttributeColumns {
    /// The position of the column of vertices, from 0.
    pub id: usize,
    /// The positions of the attributes, ascending.
    pub places: Vec<usize>,
    /// The names of the attributes.
    pub names: Vec<String>,
}

impl AttributeColumns {
    /// Finds the columns of a table with this header. An unnamed first column, such as the index
    /// that pandas writes, is skipped. The error says what is wrong with the names.
    pub fn of(header: &[String]) -> Result<AttributeColumns, String> {
        let only_ids = VertexColumns {
            has_integer_ids: false,
            id_names: ID_NAMES,
            values: &[],
            has_header: true,
            may_be_dimacs: false,
        };
        let id = Places::by_name(header, &only_ids)?.id;
        let is_index = |column: usize| {
            column == 0 && header[0].trim().is_empty() || is_pandas_index(&header[column])
        };
        let is_attribute = |&column: &usize| column != id && !is_index(column);
        let places: Vec<usize> = (0..header.len()).filter(is_attribute).collect();
        let names: Vec<String> =
            places.iter().map(|&place| header[place].trim().to_owned()).collect();
        if names.is_empty() {
            return Err("the only column is that of the vertices".to_owned());
        }
        for (index, name) in names.iter().enumerate() {
            // Only the first column may be the index of pandas. Any other one needs its name, by
            // which attributes are told apart.
            if name.is_empty() {
                return Err(format!("column {} has no name", places[index] + 1));
            }
            if names[..index].contains(name) {
                return Err(format!("two columns have the name `{name}`"));
            }
        }
        Ok(AttributeColumns { id, places, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(header: &str) -> Result<AttributeColumns, String> {
        let header: Vec<String> = header.split(',').map(str::to_owned).collect();
        AttributeColumns::of(&header)
    }

    #[test]
    fn every_column_beside_the_vertices_is_an_attribute() {
        let found = |id, places: &[usize], names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            Ok(AttributeColumns { id, places: places.to_vec(), names })
        };
        assert_eq!(columns("vertex,rank"), found(0, &[1], &["rank"]));
        assert_eq!(columns("name,Id,kg"), found(1, &[0, 2], &["name", "kg"]));
        assert_eq!(columns(",vertex,rank"), found(1, &[2], &["rank"]));
        assert_eq!(columns("customer_id,city"), found(0, &[1], &["city"]));
    }

    #[test]
    fn a_header_without_vertices_or_attributes_is_refused() {
        for (header, why) in [
            ("vertex", "the only column"),
            (",vertex", "the only column"),
            ("city,kg", "no column is known as the vertex"),
            ("vertex,kg,", "column 3 has no name"),
            ("vertex,kg,kg", "two columns have the name `kg`"),
        ] {
            let told = columns(header).unwrap_err();
            assert!(told.contains(why), "{header}: {told}");
        }
    }
}
