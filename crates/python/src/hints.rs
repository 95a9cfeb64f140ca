//! Puts hints of the libraries into Python's words.

use tegula_algorithms::side_table::TableRead;
use tegula_store::{Action, Diagnostic, Hint, Setting, SettingValue};

/// Returns a message with its hints.
pub fn with_hints(diagnostic: &Diagnostic) -> String {
    let Diagnostic { message, hints } = diagnostic;
    any_of(hints).map_or_else(|| message.clone(), |hints| format!("{message}; {hints}"))
}

/// Joins hints with "or": any one of them helps.
pub fn any_of(hints: &[Hint]) -> Option<String> {
    let words: Vec<String> = hints.iter().map(hint).collect();
    (!words.is_empty()).then(|| words.join(", or "))
}

fn hint(Hint { action: what, detail }: &Hint) -> String {
    match detail {
        Some(detail) => format!("{} {detail}", action(what)),
        None => action(what),
    }
}

fn action(action: &Action) -> String {
    match action {
        Action::Set(settings) => {
            let settings: Vec<String> = settings.iter().map(setting).collect();
            format!("use {}", settings.join(" and "))
        }
        Action::Raise { option } => format!("raise {option}="),
        Action::LeaveOut { option } => format!("leave out {option}="),
        Action::MakeGraph => "make a graph of an edge list with tegula.read()".to_owned(),
        Action::GatherGraph => "put the graph together with the command `tegula gather`".to_owned(),
        Action::ExportGraph => {
            "to add edges to a graph, import its edges together with the new ones".to_owned()
        }
        Action::Import(wanted) => format!("import it with {}", setting(wanted)),
        Action::ImportLayout(layout) => {
            format!("import it with layouts=[\"tiles\", \"{layout}\"]")
        }
    }
}

/// Returns an option with its possible values: `method="propagation" or "traversal"`.
pub fn setting(setting: &Setting) -> String {
    let option = setting.option;
    match setting.value {
        SettingValue::On => format!("{option}=True"),
        SettingValue::Any => format!("{option}="),
        SettingValue::OneOf(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
            format!("{option}={}", values.join(" or "))
        }
    }
}

/// Returns the warnings of the tables that a run read.
pub fn of_tables(tables: &[TableRead]) -> Vec<String> {
    let of_table = |table: &TableRead| {
        let option = table.option;
        table.warnings().map(move |warning| format!("{option}: {warning}")).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of_table).collect()
}
