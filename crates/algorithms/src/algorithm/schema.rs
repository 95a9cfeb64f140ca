//! JSON Schemas of options.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::entry::reads_tables;
use super::interface::{Algorithm, Options};
use crate::side_table::TableOptions;

/// The schema of all options of an algorithm, those of its tables included.
pub(super) fn of<A: Algorithm>() -> Value {
    let mut schema = options_schema::<A>();
    schema["title"] = A::NAME.into();
    schema["description"] = A::DESCRIPTION.summary.into();
    let mut properties = properties_of(&mut schema);
    if reads_tables::<A>() {
        properties.extend(properties_of(&mut options_schema::<TableOptions>()));
    }
    schema["properties"] = properties.into();
    schema
}

/// Returns whether an option names a table or another file.
#[cfg(feature = "clap")]
pub(super) fn names_file<A: Algorithm>(option: &str) -> bool {
    let schema = options_schema::<A>();
    matches!(schema["properties"][option]["format"].as_str(), Some("table" | "file"))
}

/// The schema of a struct of options, without references: a reader needs no second place.
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
