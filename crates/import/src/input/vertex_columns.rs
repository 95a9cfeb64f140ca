//! Which columns of a table with a row for each vertex are read.

use tegula_machine::At;

use super::columns::usual;
use super::options::IdKind;

/// The most columns that a table has beside its ids.
pub const VALUES_MAX: usize = 2;

/// Names by which the column of ids is known, in lower case.
pub(super) const ID_NAMES: &[&str] = &["vertex", "id", "node"];

/// What is read of a table.
#[derive(Debug, Clone, Copy)]
pub struct VertexColumns {
    /// What the ids of the graph are; anything but [`IdKind::Integer`] means strings.
    pub ids: IdKind,
    /// The columns beside the ids, in the order that they have where none has a name; at most
    /// [`VALUES_MAX`].
    pub values: &'static [ValueColumn],
    /// Whether a text may also be of DIMACS: lines `v id x y` among comments `c` and a line
    /// `p aux sp co`.
    pub may_be_dimacs: bool,
}

/// A column beside the ids.
#[derive(Debug, Clone, Copy)]
pub struct ValueColumn {
    /// What it says of a vertex: "weight".
    pub role: &'static str,
    /// Names by which it is known, in lower case.
    pub names: &'static [&'static str],
    /// Which rows have it.
    pub presence: Presence,
}

/// Which rows of a table have a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Every row.
    Required,
    /// Every row, but the cell may be empty, or null, and then says nothing.
    MayBeEmpty,
    /// The rows that are long enough, in a table that has the column.
    Optional,
}

impl ValueColumn {
    /// Whether a row cannot do without it.
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
    /// Its line in a text, its row in Parquet.
    pub at: At,
    /// The id as it is written.
    pub id: &'a str,
    /// Whether it begins as a comment does: it is one unless its id is a vertex.
    pub is_like_comment: bool,
    /// What the columns beside it say; none where the row does not have one, or has nothing in it.
    pub values: [Option<&'a str>; VALUES_MAX],
}

/// Where the columns of a table are, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    pub id: usize,
    /// None where the table does not have that column.
    pub values: [Option<usize>; VALUES_MAX],
}

/// The first column with one of the known names, in their order.
fn position(names: &[String], known: &[&str]) -> Option<usize> {
    known.iter().find_map(|known| names.iter().position(|name| usual(name) == *known))
}

/// The only column of `left` whose name ends as `customer_id` or `customerId` does.
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

/// That no column is known for something.
fn unknown(role: &str, known: &[&str], names: &[String]) -> String {
    let there: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !name.trim().is_empty()).collect();
    let (there, known) = (there.join("`, `"), known.join("`, `"));
    format!("no column is known as the {role}; there are `{there}`: name one of them `{known}`")
}

impl Places {
    /// The first columns, in their order.
    pub fn by_position(columns: &VertexColumns) -> Places {
        Places::after(0, columns)
    }

    /// The id, and the columns after it.
    pub fn after(id: usize, columns: &VertexColumns) -> Places {
        let place = |value| (value < columns.values.len()).then_some(id + 1 + value);
        Places { id, values: std::array::from_fn(place) }
    }

    /// The columns of a table whose first line, or whose schema, names them: by usual names, the ids also
    /// by one as `customer_id`. What is not known so is what is left, where there is no choice: the columns
    /// beside the ids in their order, or the ids beside columns that are known; the ids are the first one
    /// where no name is known at all.
    ///
    /// An unnamed first column, as pandas writes its index, is passed over, and then nothing is guessed.
    /// The error says what is missing and which columns there are.
    pub fn by_name(names: &[String], columns: &VertexColumns) -> Result<Places, String> {
        let mut values = [None; VALUES_MAX];
        for (place, value) in values.iter_mut().zip(columns.values) {
            *place = position(names, value.names);
        }
        let has_index = names.len() > 1 && names[0].trim().is_empty();
        let is_left =
            |&column: &usize| !(values.contains(&Some(column)) || has_index && column == 0);
        let mut left: Vec<usize> = (0..names.len()).filter(is_left).collect();
        let knows_values = values != [None; VALUES_MAX];
        let has_just_enough =
            left.len() == 1 || (!knows_values && left.len() == 1 + columns.values.len());
        let id = match position(names, ID_NAMES).or_else(|| ends_in_id(names, &left)) {
            Some(id) => id,
            None if has_just_enough && !has_index => left[0],
            None => return Err(unknown("vertex", ID_NAMES, names)),
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

    /// Whether a first line of these names is a header: `Some` if it is by the usual names of all columns, or
    /// if it has none of ids and not all of the others; `None` if it is one unless it is a row, for the usual
    /// name of the ids or those of all other columns are in it.
    pub fn are_header(names: &[String], columns: &VertexColumns) -> Option<bool> {
        let knows_id = position(names, ID_NAMES).is_some();
        let knows_values =
            columns.values.iter().all(|value| position(names, value.names).is_some());
        (knows_id == knows_values).then_some(knows_id)
    }

    /// The position of the last column that a row cannot do without.
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
        ids: IdKind::Integer,
        values: &[
            ValueColumn { role: "x", names: &["x", "lon"], presence: Presence::Required },
            ValueColumn { role: "y", names: &["y", "lat"], presence: Presence::Required },
        ],
        may_be_dimacs: false,
    };
    const SEED: VertexColumns = VertexColumns {
        values: &[ValueColumn { role: "weight", names: &["weight"], presence: Presence::Optional }],
        ..PLACE
    };

    fn by_name(names: &str, columns: &VertexColumns) -> Result<Places, String> {
        let names: Vec<String> = names.split(',').map(str::to_owned).collect();
        Places::by_name(&names, columns)
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
    fn other_names_will_do_where_there_is_no_choice() {
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
}
