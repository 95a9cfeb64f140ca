//! Finds the columns to read in a table with a row for each vertex.

use tegula_store::{At, Result};

use super::super::column_name::{is_pandas_index, usual_name};

/// The most columns that are read beside the ids.
pub const VALUES_MAX: usize = 2;

/// Usual names of the column of ids, in lower case.
pub(in super::super) const ID_NAMES: &[&str] = &["vertex", "id", "node"];

/// The columns to read from a table.
#[derive(Debug, Clone, Copy)]
pub struct VertexColumns {
    /// Whether ids are unsigned 64-bit integers; else they are strings.
    pub has_integer_ids: bool,
    /// Known names of the column of ids, in lower case.
    pub id_names: &'static [&'static str],
    /// The columns beside the ids, at most [`VALUES_MAX`], in the order of a table without names.
    pub values: &'static [ValueColumn],
    /// Whether the first line of a text always names the columns. Otherwise only known names make
    /// it a header.
    pub has_header: bool,
    /// Whether a text may also be DIMACS: lines `v id x y`, comments `c`, and a line `p aux sp co`.
    pub may_be_dimacs: bool,
}

/// A column beside the ids.
#[derive(Debug, Clone, Copy)]
pub struct ValueColumn {
    /// What it says about a vertex, such as "weight".
    pub role: &'static str,
    /// Its known names, in lower case.
    pub names: &'static [&'static str],
    /// Whether its cells are numbers, so that a cell with a name belongs to a header.
    pub is_number: bool,
    /// Which rows have the column.
    pub presence: Presence,
}

/// Which rows of a table have a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Every row.
    Required,
    /// Every row, but the cell may be empty or null, which means no value.
    MayBeEmpty,
    /// The rows that are long enough, if the table has the column at all.
    Optional,
}

impl ValueColumn {
    /// Whether every row must have the column.
    pub fn is_required(&self) -> bool {
        match self.presence {
            Presence::Required | Presence::MayBeEmpty => true,
            Presence::Optional => false,
        }
    }
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub struct VertexRow<'a> {
    /// Its line in text, its row in Parquet.
    pub at: At,
    /// The id as it is written.
    pub id: &'a str,
    /// Whether it begins like a comment: it is a comment unless its id is a vertex.
    pub is_like_comment: bool,
    /// The values of the columns beside the id; `None` if the row lacks the column or its cell is
    /// empty.
    pub values: [Option<&'a str>; VALUES_MAX],
}

/// Positions of the columns of a table, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Places {
    pub id: usize,
    /// `None` if the table does not have that column.
    pub values: [Option<usize>; VALUES_MAX],
}

/// Returns the column with the first of the known names that the table has.
fn position(names: &[String], known: &[&str]) -> Option<usize> {
    known.iter().find_map(|known| names.iter().position(|name| usual_name(name) == *known))
}

/// Returns the column in `left` whose name ends like `customer_id` or `customerId`, if there is
/// exactly one.
fn ends_in_id(names: &[String], left: &[usize]) -> Option<usize> {
    let is_id = |name: &str| {
        let Some((stem, suffix)) =
            name.len().checked_sub(2).and_then(|at| name.split_at_checked(at))
        else {
            return false;
        };
        let is_word = stem.ends_with(['_', '-', ' ', '.'])
            || stem.ends_with(char::is_lowercase) && suffix.starts_with('I');
        is_word && suffix.eq_ignore_ascii_case("id")
    };
    let mut found = left.iter().copied().filter(|&column| is_id(&names[column]));
    found.next().filter(|_| found.next().is_none())
}

/// The message if no column is known as the `role`.
fn unknown(role: &str, known: &[&str], names: &[String]) -> String {
    let there: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !name.trim().is_empty()).collect();
    let (there, known) = (there.join("`, `"), known.join("`, `"));
    format!(
        "no column is known as the {role}; the columns are `{there}`: name one of them `{known}`"
    )
}

impl Places {
    /// The first columns: the ids, then the values.
    pub fn by_position(columns: &VertexColumns) -> Places {
        Places::after(0, columns)
    }

    /// The ids at position `id`, and the values in the columns after it.
    pub fn after(id: usize, columns: &VertexColumns) -> Places {
        let place = |value| (value < columns.values.len()).then_some(id + 1 + value);
        Places { id, values: std::array::from_fn(place) }
    }

    /// Finds columns by the names in a first line or a schema. Known names come first; for the ids,
    /// a name like `customer_id` also counts.
    ///
    /// Columns without known names are taken only where there is no choice:
    ///
    /// * a single column that is left has the ids;
    /// * if no value has a known name, the columns that are left have the values, in their order;
    /// * if no name is known at all, the first column has the ids.
    ///
    /// An unnamed first column, such as the index that pandas writes, is skipped, and then nothing
    /// is guessed. The error says what is missing and which columns there are.
    pub fn by_name(names: &[String], columns: &VertexColumns) -> Result<Places, String> {
        let mut values = [None; VALUES_MAX];
        for (place, value) in values.iter_mut().zip(columns.values) {
            *place = position(names, value.names);
        }
        let has_index = names.len() > 1 && names[0].trim().is_empty();
        let is_index = |column: usize| has_index && column == 0 || is_pandas_index(&names[column]);
        let is_left = |&column: &usize| !(values.contains(&Some(column)) || is_index(column));
        let mut left: Vec<usize> = (0..names.len()).filter(is_left).collect();
        let knows_values = values != [None; VALUES_MAX];
        let has_just_enough =
            left.len() == 1 || (!knows_values && left.len() == 1 + columns.values.len());
        let id = match position(names, columns.id_names).or_else(|| ends_in_id(names, &left)) {
            Some(id) => id,
            None if has_just_enough && !has_index => left[0],
            None => return Err(unknown("vertex", columns.id_names, names)),
        };
        left.retain(|&column| column != id);
        if !knows_values && !has_index && left.len() == columns.values.len() {
            values.iter_mut().zip(left).for_each(|(place, column)| *place = Some(column));
            return Ok(Places { id, values });
        }
        for (place, value) in values.iter().zip(columns.values) {
            if place.is_none() && (value.is_required() || !left.is_empty()) {
                return Err(unknown(value.role, value.names, names));
            }
        }
        Ok(Places { id, values })
    }

    /// Warns of each column of values that was taken although its name is not known.
    pub fn guesses(&self, names: &[String], columns: &VertexColumns) -> Vec<String> {
        let values = self.values.iter().zip(columns.values);
        let guess = |(place, value): (&Option<usize>, &ValueColumn)| {
            let name =
                names.get((*place)?).filter(|name| !value.names.contains(&&*usual_name(name)))?;
            let (role, known) = (value.role, value.names.join("`, `"));
            Some(format!(
                "column `{name}` is taken as the {role}, as there is no other; its known names are `{known}`"
            ))
        };
        values.filter_map(guess).collect()
    }

    /// Whether the first line names the columns, if no option says so. An invalid row is not yet a
    /// header; a header needs known names:
    ///
    /// * the names of the ids and of all other columns;
    /// * the name of the ids alone, unless the line begins with a vertex. It must be in the first
    ///   cell if another column holds names. A name like `customer_id` counts only if ids are
    ///   integers, or if all other columns have known names;
    /// * the names of all other columns, if one of them holds numbers: a row would have a number
    ///   there. The line must not begin with a vertex.
    pub fn are_header(
        cells: &[String],
        columns: &VertexColumns,
        is_vertex: &dyn Fn(&str) -> Result<bool>,
    ) -> Result<bool> {
        let Some(first) = cells.first() else { return Ok(false) };
        if columns.has_integer_ids && first.parse::<u64>().is_ok() {
            return Ok(false);
        }
        let values: Vec<_> =
            columns.values.iter().map(|value| position(cells, value.names)).collect();
        let knows_values = !values.is_empty() && values.iter().all(Option::is_some);
        if let Some(id) = position(cells, columns.id_names) {
            // If values are names, one of them may equal the name of the ids.
            let may_be_name = id > 0 && columns.values.iter().any(|value| !value.is_number);
            return Ok(knows_values || !may_be_name && !is_vertex(first)?);
        }
        let left: Vec<usize> =
            (0..cells.len()).filter(|&column| !values.contains(&Some(column))).collect();
        let is_like_id =
            ends_in_id(cells, &left).is_some() && (columns.has_integer_ids || knows_values);
        let are_no_row = knows_values && columns.values.iter().any(|value| value.is_number);
        Ok((is_like_id || are_no_row) && !is_vertex(first)?)
    }

    /// The position of the last column that every row must have.
    pub fn last_required(&self, columns: &VertexColumns) -> usize {
        let values = self.values.iter().zip(columns.values);
        let required = values.filter(|(_, value)| value.is_required());
        required.filter_map(|(place, _)| *place).fold(self.id, usize::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: VertexColumns = VertexColumns {
        has_integer_ids: true,
        id_names: ID_NAMES,
        values: &[
            number("x", &["x", "lon"], Presence::Required),
            number("y", &["y", "lat"], Presence::Required),
        ],
        has_header: false,
        may_be_dimacs: false,
    };
    const SEED: VertexColumns =
        VertexColumns { values: &[number("weight", &["weight"], Presence::Optional)], ..PLACE };
    const SET: VertexColumns = VertexColumns {
        values: &[ValueColumn {
            role: "set",
            names: &["set", "label"],
            is_number: false,
            presence: Presence::Required,
        }],
        ..PLACE
    };
    const LIST: VertexColumns = VertexColumns { values: &[], ..PLACE };

    const fn number(
        role: &'static str,
        names: &'static [&'static str],
        presence: Presence,
    ) -> ValueColumn {
        ValueColumn { role, names, is_number: true, presence }
    }

    fn by_name(names: &str, columns: &VertexColumns) -> Result<Places, String> {
        let names: Vec<String> = names.split(',').map(str::to_owned).collect();
        Places::by_name(&names, columns)
    }

    #[test]
    fn columns_that_are_taken_without_a_known_name_are_told() {
        let guesses = |names: &str| {
            let names: Vec<String> = names.split(',').map(str::to_owned).collect();
            Places::by_name(&names, &SEED).unwrap().guesses(&names, &SEED)
        };
        assert!(guesses("vertex,Weight").is_empty() && guesses("vertex").is_empty());
        let told = guesses("vertex,age");
        assert!(told[0].starts_with("column `age` is taken as the weight"), "{told:?}");
    }

    #[test]
    fn columns_are_found_by_their_names_in_any_order() {
        let places = |id, values| Ok(Places { id, values });
        assert_eq!(by_name("lat,Node,of,lon", &PLACE), places(1, [Some(3), Some(0)]));
        assert_eq!(by_name("id:ID,x:double,y:double", &PLACE), places(0, [Some(1), Some(2)]));
        assert_eq!(by_name("weight,id", &SEED), places(1, [Some(0), None]));
        assert_eq!(by_name("ID", &SEED), places(0, [None, None]));
        assert_eq!(by_name("x,y,name", &PLACE), places(2, [Some(0), Some(1)]));
        assert_eq!(by_name("city,lat,lon", &PLACE), places(0, [Some(2), Some(1)]));
        assert_eq!(by_name("customer,weight", &SEED), places(0, [Some(1), None]));
        assert_eq!(by_name("boost,customer_id", &SEED), places(1, [Some(0), None]));
        assert_eq!(by_name("kg,customerId", &SEED), places(1, [Some(0), None]));
    }

    #[test]
    fn the_unnamed_index_of_a_table_is_no_column() {
        let places = |id, values| Ok(Places { id, values });
        assert_eq!(by_name(",vertex,weight", &SEED), places(1, [Some(2), None]));
        assert_eq!(by_name(",vertex", &SEED), places(1, [None, None]));
        assert_eq!(by_name(",lat,lon,id", &PLACE), places(3, [Some(2), Some(1)]));
    }

    #[test]
    fn unknown_names_are_taken_if_there_is_no_choice() {
        let places = |id, values| Ok(Places { id, values });
        assert_eq!(by_name("east,vertex,north", &PLACE), places(1, [Some(0), Some(2)]));
        assert_eq!(by_name("vertex,rank", &SEED), places(0, [Some(1), None]));
        assert_eq!(by_name("person,kg", &SEED), places(0, [Some(1), None]));
        assert_eq!(by_name("person", &SEED), places(0, [None, None]));
        for (names, columns, role) in [
            ("vertex,in_degree,out_degree", &SEED, "weight"),
            ("vertex,x,north", &PLACE, "the y"),
            ("vertex,east,north,up", &PLACE, "the x"),
            ("vertex", &PLACE, "the x"),
            ("person,kg,cm", &SEED, "the vertex"),
            ("weight", &SEED, "the vertex"),
            ("city,lat,east", &PLACE, "the vertex"),
            (",customer_id,boost", &SEED, "the weight"),
            (",customer,boost", &SEED, "the vertex"),
            (",customer", &SEED, "the vertex"),
            (",vertex,boost", &SEED, "the weight"),
        ] {
            let detail = by_name(names, columns).expect_err(names);
            assert!(
                detail.contains(role)
                    && detail.contains(&names.trim_start_matches(',').replace(',', "`, `")),
                "{detail}"
            );
        }
    }

    #[test]
    fn a_header_needs_known_names() {
        let strings =
            |columns: &VertexColumns| VertexColumns { has_integer_ids: false, ..*columns };
        // A line, its table, and whether it is a header if ids are integers or strings.
        for (line, columns, among_integers, among_strings) in [
            ("vertex", &LIST, true, true),
            ("Node", &LIST, true, true),
            ("ann", &LIST, false, false),
            ("foo", &LIST, false, false),
            ("99", &LIST, false, false),
            ("7.0", &LIST, false, false),
            ("customer_id", &LIST, true, false),
            ("id,name", &LIST, true, true),
            ("vertex,weight", &SEED, true, true),
            ("weight,customer_id", &SEED, true, true),
            ("customer_id,boost", &SEED, true, false),
            ("person,kg", &SEED, false, false),
            ("person,weight", &SEED, true, true),
            ("ann,weight", &SEED, true, false),
            ("99,weight", &SEED, false, true),
            ("99,id", &SEED, false, true),
            ("city,lat,lon", &PLACE, true, true),
            ("city,east,lat", &PLACE, false, false),
            ("vertex,set", &SET, true, true),
            ("ann,label", &SET, false, false),
            ("alcie,label", &SET, false, false),
            ("person_id,label", &SET, true, true),
            ("vertex,colour", &SET, true, true),
            ("alcie,node", &SET, false, false),
        ] {
            let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            let is_header = |columns: &VertexColumns| {
                let is_vertex = |name: &str| Ok(name == "ann" && !columns.has_integer_ids);
                Places::are_header(&cells, columns, &is_vertex).expect("nothing fails")
            };
            assert_eq!(is_header(columns), among_integers, "{line} among integers");
            assert_eq!(is_header(&strings(columns)), among_strings, "{line} among strings");
        }
    }
}
