//! An entry of the catalogue.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::description::Description;
use super::field_names::field_names;
use super::interface::{Algorithm, Weights};
use super::request::Request;
use crate::error::{Error, Result};
use crate::side_table::TableOptions;

/// An algorithm that a face can offer without knowing its type.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it finds and needs, in words.
    pub description: Description,
    /// How it treats the weights of edges, unless an option says otherwise.
    pub weights: Weights,
    /// Whether the rows of its answer are the edges of a graph.
    pub finds_graph: bool,
    /// The options that name a table of vertices.
    pub tables: &'static [&'static str],
    schema: fn() -> Value,
    option_names: fn() -> Vec<&'static str>,
    request: fn(Value) -> Result<Request>,
    #[cfg(feature = "clap")]
    pub(super) arguments: super::arguments::Arguments,
}

impl Entry {
    /// Makes the entry of an algorithm.
    pub const fn of<A: Algorithm + 'static>() -> Entry {
        Entry {
            name: A::NAME,
            description: A::DESCRIPTION,
            weights: A::WEIGHTS,
            finds_graph: A::ABILITIES.found_edges_max.is_some(),
            tables: A::TABLES,
            schema: super::schema::of::<A>,
            option_names: option_names::<A>,
            request: request::<A>,
            #[cfg(feature = "clap")]
            arguments: super::arguments::Arguments::of::<A>(),
        }
    }

    /// Returns the names of its options, and of [`TableOptions`] where it reads tables.
    pub fn option_names(&self) -> Vec<&'static str> {
        (self.option_names)()
    }

    /// Returns the JSON Schema of its options: types, ranges, defaults and help. The `format` of an
    /// option is `vertex` for the id of a vertex, a string or an integer, `table` for a table, and
    /// `file` for another file.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Returns the algorithm with the fields of a JSON object as its options.
    ///
    /// # Errors
    /// [`Error::BadOptions`] for unknown or missing options and for invalid values; the errors of
    /// [`Algorithm::check`].
    pub fn request(&self, options: Value) -> Result<Request> {
        (self.request)(options)
    }
}

fn request<A: Algorithm + 'static>(mut options: Value) -> Result<Request> {
    let mut of_tables = Map::new();
    if let Some(all) = options.as_object_mut() {
        super::schema::write_ids::<A>(all);
        let names = if reads_tables::<A>() { table_option_names() } else { &[] };
        // Taken out, because an algorithm refuses fields that are not its own.
        of_tables.extend(names.iter().filter_map(|&name| all.remove_entry(name)));
    }
    let algorithm: A = parsed::<A, _>(options)?;
    let tables = parsed::<A, _>(Value::Object(of_tables))?;
    algorithm.check()?;
    Ok(Request::new(algorithm, tables))
}

/// Reads options from the fields of a JSON object.
fn parsed<A: Algorithm, O: DeserializeOwned>(options: Value) -> Result<O> {
    O::deserialize(&options).map_err(|error| {
        let detail = error.to_string();
        let detail = match culprit::<O>(&options, &detail) {
            // The message for an unknown option names it already.
            Some(option) if !detail.contains(&format!("`{option}`")) => {
                format!("{option}: {detail}")
            }
            _ => detail,
        };
        Error::BadOptions { algorithm: A::NAME, detail }
    })
}

/// Returns the option that causes an error: without it, the error is another one. The message does
/// not name it.
fn culprit<'o, O: DeserializeOwned>(options: &'o Value, message: &str) -> Option<&'o str> {
    let all = options.as_object()?;
    let error_without = |option: &String| {
        let others = all.iter().filter(|(name, _)| *name != option);
        let others: Map<String, Value> =
            others.map(|(name, it)| (name.clone(), it.clone())).collect();
        O::deserialize(&Value::Object(others)).err().map(|error| error.to_string())
    };
    let changed = all.keys().filter(|option| error_without(option).as_deref() != Some(message));
    // Without a required option, the error that it is missing hides any other. So such an option
    // comes last.
    let is_missing =
        |option: &&String| error_without(option) == Some(format!("missing field `{option}`"));
    changed.min_by_key(is_missing).map(String::as_str)
}

/// Returns whether an algorithm has the [`TableOptions`].
pub(super) const fn reads_tables<A: Algorithm>() -> bool {
    !A::TABLES.is_empty()
}

/// Returns the names of the [`TableOptions`].
pub(crate) fn table_option_names() -> &'static [&'static str] {
    field_names::<TableOptions>()
}

fn option_names<A: Algorithm>() -> Vec<&'static str> {
    let of_tables = if reads_tables::<A>() { table_option_names() } else { &[] };
    [&A::option_names(), of_tables].concat()
}
