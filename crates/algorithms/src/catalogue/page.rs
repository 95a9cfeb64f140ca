//! The catalogue as a page for readers, in Markdown.

use std::fmt::Write;

use serde_json::{Map, Value};
use tegula_engine::traverse::Directions;

use super::CATALOGUE;
use crate::algorithm::{Column, Edges, Entry, Family, Weights, table_option_names};

/// The text above the first family.
const INTRODUCTION: &str = include_str!("introduction.md");

/// Writes the page. For each algorithm it has what it finds, its options, the columns of its
/// answer, what it needs, and its source.
///
/// # Panics
/// When an example of the catalogue is refused, which a test rules out.
pub fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    for family in Family::ALL {
        let _ = write!(page, "\n* {}:", family.title());
        for (index, entry) in of_family(family).enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(page, "{comma} [`{name}`](#{name})", name = entry.name);
        }
    }
    page.push('\n');
    page.push_str(&options_of_tables());
    for family in Family::ALL {
        let _ = writeln!(page, "\n## {}", family.title());
        of_family(family).for_each(|entry| page.push_str(&section(entry)));
    }
    page
}

fn of_family(family: Family) -> impl Iterator<Item = &'static Entry> {
    CATALOGUE.iter().filter(move |entry| entry.description.family == family)
}

/// The options that every algorithm with a table has.
fn options_of_tables() -> String {
    let reads_tables = |entry: &&Entry| !entry.tables.is_empty();
    let schema = CATALOGUE.iter().find(reads_tables).map(Entry::schema).unwrap_or_default();
    let options = options(&schema, table_option_names());
    format!(
        "\nAn algorithm with an option that names a *table* has these options too:\n\n{options}"
    )
}

fn section(entry: &Entry) -> String {
    let about = &entry.description;
    let mut text = format!("\n### {}\n\n{}.\n", entry.name, about.summary);
    let example: Map<String, Value> = serde_json::from_str(about.example).expect("a JSON object");
    let flags: String = example.iter().map(|(name, value)| argument(name, value)).collect();
    let _ = writeln!(text, "\n```sh\ntegula run {} GRAPH{flags}\n```\n", entry.name);
    let is_own = |name: &&str| !table_option_names().contains(name);
    let own: Vec<&str> = entry.option_names().into_iter().filter(is_own).collect();
    if !own.is_empty() {
        let _ = writeln!(text, "{}", options(&entry.schema(), &own));
    }
    text.push_str("| column | type | says |\n| --- | --- | --- |\n");
    about.columns.iter().for_each(|column| text.push_str(&row(column)));
    let request = entry.request(example.into()).expect("an example that is accepted");
    let _ = writeln!(text, "\n* Memory: {}.", about.memory);
    let _ = writeln!(text, "* Edges: {}.", edges(&request.edges));
    let _ = writeln!(text, "* Weights: {}.", weights(entry.weights));
    if let Some(source) = about.source {
        let _ = writeln!(text, "* Source: {source}.");
    }
    text
}

/// An option as it is typed, with its value.
fn argument(name: &str, value: &Value) -> String {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!(" --{} {value}", name.replace('_', "-"))
}

/// A table of options.
fn options(schema: &Value, names: &[&str]) -> String {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut text = String::from("| option | value | default | |\n| --- | --- | --- | --- |\n");
    for &name in names {
        let option = &schema["properties"][name];
        let default = match &option["default"] {
            Value::Null | Value::Bool(false) if required.contains(&name.into()) => {
                "required".into()
            }
            Value::Null | Value::Bool(false) => String::new(),
            Value::String(text) => format!("`{text}`"),
            value => format!("`{value}`"),
        };
        let help = option["description"].as_str().unwrap_or_default().replace('\n', " ");
        let flag = name.replace('_', "-");
        let _ = writeln!(text, "| `--{flag}` | {} | {default} | {help} |", value_of(option));
    }
    text
}

/// The kind of value that an option takes.
fn value_of(option: &Value) -> String {
    if let Some(format) = option["format"].as_str()
        && matches!(format, "vertex" | "table" | "file")
    {
        return format.to_owned();
    }
    if let Some(choices) = choices(option) {
        return choices;
    }
    let kind = match &option["type"] {
        Value::Array(kinds) => kinds.first().cloned().unwrap_or_default(),
        kind => kind.clone(),
    };
    let (low, above) = (&option["minimum"], &option["exclusiveMinimum"]);
    let (high, below) = (&option["maximum"], &option["exclusiveMaximum"]);
    let mut text = match kind.as_str() {
        Some("boolean") => return String::new(),
        Some("array") => return "numbers".to_owned(),
        Some("integer") => "integer".to_owned(),
        _ => "number".to_owned(),
    };
    let is_integer = text == "integer";
    for (limit, word) in [(low, "from"), (above, "above"), (high, "to"), (below, "below")] {
        // 0, and the greatest number of an integer type, say nothing of the option.
        let is_of_type = is_integer
            && limit.as_u64().is_some_and(|limit| limit == 0 || limit >= u64::from(u16::MAX));
        if limit.is_number() && !is_of_type {
            let _ = write!(text, " {word} {limit}");
        }
    }
    text
}

/// The words that an option accepts, if it accepts words.
fn choices(option: &Value) -> Option<String> {
    let variants = option.get("oneOf").or_else(|| option["anyOf"].get(0)?.get("oneOf"));
    let words: Vec<String> = match (variants, option.get("enum")) {
        (Some(Value::Array(variants)), _) => {
            let names = variants.iter().filter_map(|variant| variant["const"].as_str());
            names.map(|name| format!("`{name}`")).collect()
        }
        (_, Some(Value::Array(names))) => {
            names.iter().filter_map(Value::as_str).map(|name| format!("`{name}`")).collect()
        }
        _ => return None,
    };
    Some(words.join(", "))
}

fn row(column: &Column) -> String {
    let name = if column.repeats {
        format!("`{0}0`, `{0}1`, ..", column.name)
    } else {
        format!("`{}`", column.name)
    };
    let when = column.when.map(|when| format!(" ({})", flags(when))).unwrap_or_default();
    format!("| {name} | {} | {}{when} |\n", column.kind.word(), column.about)
}

/// A text in which options are named as they are typed.
fn flags(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    let named = pieces.map(|(index, piece)| match index % 2 {
        0 => piece.to_owned(),
        _ => format!("`--{}`", piece.replace('_', "-")),
    });
    named.collect()
}

fn edges(edges: &Edges) -> String {
    match edges {
        Edges::None => "none, only the degrees".to_owned(),
        Edges::Tiles { .. } => "tiles".to_owned(),
        Edges::Rows(directions) => rows(*directions).to_owned(),
        Edges::Either { directions, .. } => format!("tiles, or {}", rows(*directions)),
    }
}

fn rows(directions: Directions) -> &'static str {
    match directions {
        Directions::Forward => "rows by source",
        Directions::Reverse => "rows by target",
        Directions::Both => "rows by source and, of a directed graph, by target",
    }
}

fn weights(weights: Weights) -> String {
    match weights {
        Weights::Used => "used; without any, every edge weighs 1".to_owned(),
        Weights::Ignored { instead } => format!("ignored: {}", flags(instead)),
        Weights::Irrelevant => "irrelevant".to_owned(),
    }
}
