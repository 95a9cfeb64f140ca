//! JSON Schemas of options, with the columns of the answer.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::entry::reads_tables;
use super::interface::{Algorithm, Options};
use crate::side_table::TableOptions;

/// Makes the schema of all options of an algorithm, those of its tables included.
pub(super) fn of<A: Algorithm>() -> Value {
    let mut schema = options_schema::<A>();
    schema["title"] = A::NAME.into();
    schema["description"] = A::DESCRIPTION.summary.into();
    let mut properties = properties_of(&mut schema);
    if reads_tables::<A>() {
        properties.extend(properties_of(&mut options_schema::<TableOptions>()));
    }
    properties.values_mut().filter(|option| is_vertex(option)).for_each(take_integers_too);
    schema["properties"] = properties.into();
    // No keyword of JSON Schema, so validators pass over it.
    schema["columns"] = A::DESCRIPTION.columns.iter().map(|column| column.to_json()).collect();
    schema
}

/// Makes the schema of a struct of options. It has no references, so a reader needs no second
/// place.
fn options_schema<O: Options>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<O>().to_value()
}

fn properties_of(schema: &mut Value) -> Map<String, Value> {
    match schema.get_mut("properties").map(Value::take) {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    }
}

/// Writes the ids of vertices that are given as integers as the strings that options hold.
pub(super) fn write_ids<A: Algorithm>(options: &mut Map<String, Value>) {
    if options.values().any(Value::is_u64) {
        let of_options = of::<A>();
        let is_id = |name: &str| is_vertex(&of_options["properties"][name]);
        for (_, id) in options.iter_mut().filter(|(name, value)| value.is_u64() && is_id(name)) {
            *id = id.to_string().into();
        }
    }
}

/// Whether an option is the id of a vertex.
fn is_vertex(option: &Value) -> bool {
    option["format"] == "vertex"
}

/// Lets an id be an integer as well as a string.
fn take_integers_too(option: &mut Value) {
    let kinds = match option["type"].take() {
        Value::Array(kinds) => kinds,
        kind => vec![kind],
    };
    option["type"] = kinds.into_iter().chain([Value::from("integer")]).collect();
}
