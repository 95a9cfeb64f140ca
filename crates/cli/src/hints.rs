//! Puts hints of the libraries into the words of the command line.

use tegula_algorithms::algorithm::Entry;
use tegula_algorithms::find;
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
        Action::Raise { option } => format!("raise {}", flag(option)),
        Action::LeaveOut { option } => format!("leave out {}", flag(option)),
        Action::MakeGraph => "make a graph of an edge list with `tegula import`".to_owned(),
        Action::GatherGraph => "put the graph together with `tegula gather`, and run it on one machine".to_owned(),
        Action::ExportGraph => "to add edges to a graph, export it with `tegula export GRAPH -o FILE`, and import that \
                                file together with the others"
            .to_owned(),
        Action::Import(wanted) => format!("import it with {}", setting(wanted)),
        Action::ImportLayout(layout) => format!("import it with --layouts tiles,{layout}"),
    }
}

/// Returns an option with its possible values: `--method propagation or traversal`.
pub fn setting(setting: &Setting) -> String {
    let flag = flag(setting.option);
    match setting.value {
        SettingValue::On | SettingValue::Any => flag,
        SettingValue::OneOf(values) => format!("{flag} {}", values.join(" or ")),
    }
}

/// Returns an option as it is typed: `--max-iterations`.
pub fn flag(option: &str) -> String {
    format!("--{}", option.replace('_', "-"))
}

/// Returns the warnings of the tables that a run read.
pub fn of_tables(tables: &[TableRead]) -> Vec<String> {
    let of_table = |table: &TableRead| {
        let option = flag(table.option);
        table.warnings().map(move |warning| format!("{option}: {warning}")).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of_table).collect()
}

/// Replaces the option names in backticks in a message of `algorithm` by the options as they are
/// typed.
pub fn typed(message: &str, algorithm: &str) -> String {
    let names = find(algorithm).map(Entry::option_names).unwrap_or_default();
    let typed = |text: String, name: &&str| text.replace(&format!("`{name}`"), &flag(name));
    names.iter().fold(message.to_owned(), typed)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::PathBuf;

    use clap::{CommandFactory, Parser};
    use serde_json::json;
    use tegula_algorithms::CATALOGUE;
    use tegula_algorithms::algorithm::Edges;
    use tegula_import::settings;
    use tegula_machine::Error as MachineError;
    use tegula_store::Error;

    use super::*;
    use crate::command_line::Cli;

    #[test]
    fn hints_name_options_as_they_are_typed() {
        let propagation =
            Setting { option: "method", value: SettingValue::OneOf(&["propagation", "traversal"]) };
        let hints = [Hint::import(Setting::on("undirected")), Hint::set([propagation])];
        let words = "import it with --undirected, or use --method propagation or traversal";
        assert_eq!(any_of(&hints).as_deref(), Some(words));
        assert_eq!(any_of(&[]), None);
        let more = any_of(&[Hint::raise("max_iterations")]);
        assert_eq!(more.as_deref(), Some("raise --max-iterations"));
        let coordinates = Setting { option: "coordinates", value: SettingValue::Any };
        assert_eq!(setting(&coordinates), "--coordinates");
        let ends = [settings::SOURCE_COLUMN, settings::TARGET_COLUMN];
        let both = Hint::set(ends).detail("with two of them");
        let words = "use --source-column and --target-column with two of them";
        assert_eq!(any_of(&[both]).as_deref(), Some(words));
        let layout = any_of(&[Action::ImportLayout("rows").into()]);
        assert_eq!(layout.as_deref(), Some("import it with --layouts tiles,rows"));
        let export = any_of(&[Action::ExportGraph.into()]).unwrap();
        let words = ["tegula", "export", "g.tegula", "-o", "edges.parquet"];
        assert!(export.contains("`tegula export GRAPH -o FILE`"), "{export}");
        assert!(Cli::try_parse_from(words).is_ok());
        let first = Hint::import(settings::UNDIRECTED).detail("and then partition it");
        let words = "import it with --undirected and then partition it";
        assert_eq!(any_of(&[first]).as_deref(), Some(words));
        let kept = Diagnostic::from("it was not read").hint(Hint::set([settings::WEIGHTED]));
        assert_eq!(with_hints(&kept), "it was not read; use --weighted");
        assert_eq!(with_hints(&"all is well".into()), "all is well");
    }

    #[test]
    fn an_algorithm_names_its_options_as_they_are_typed() {
        let said = typed("give either `vertices` or `component`, not `top`", "subgraph");
        assert_eq!(said, "give either --vertices or --component, not `top`");
        assert_eq!(typed("`max_iterations`", "katz"), "--max-iterations");
        assert_eq!(typed("`vertices`", "nothing"), "`vertices`");
    }

    /// The options of a command: `run pagerank`.
    fn flags(words: &str) -> HashSet<String> {
        let mut command = &Cli::command();
        for word in words.split(' ') {
            command = command.find_subcommand(word).unwrap();
        }
        let names = command.get_arguments().filter_map(|argument| argument.get_long());
        names.map(|name| format!("--{name}")).collect()
    }

    #[test]
    fn hints_of_errors_name_options_of_the_commands_that_meet_them() {
        let path = PathBuf::new;
        let budget = Error::over_budget("it", 2, 1);
        let directed = tegula_algorithms::Error::OneDirection {
            what: "it",
            instead: None,
            is_partitioned: false,
            graph: path(),
        };
        for (hints, commands) in [
            (
                Error::from(MachineError::AlreadyExists { path: path() }).hints(),
                &["import", "run wcc", "generate path"][..],
            ),
            (budget.hints(), &["import", "run wcc", "info", "verify"]),
            (Error::MissingLayout { path: path(), layout: "rows" }.hints(), &["import"]),
            (directed.hints(), &["import"]),
            (vec![Hint::raise("max_iterations")], &["run pagerank"]),
        ] {
            let words = any_of(&hints).unwrap();
            let named: Vec<&str> =
                words.split_whitespace().filter(|word| word.starts_with("--")).collect();
            assert_eq!(named.len(), 1, "{words}");
            for command in commands {
                assert!(flags(command).contains(named[0]), "{command}: {words}");
            }
        }
    }

    #[test]
    fn import_options_in_hints_can_be_typed_with_their_values() {
        let import = flags("import");
        for Setting { option, value } in settings::ALL {
            let option = flag(option);
            assert!(import.contains(&option), "{option}");
            let mut words = vec!["tegula", "import", "x", "-o", "g", &option];
            match value {
                SettingValue::Any => continue,
                SettingValue::On => assert!(Cli::try_parse_from(&words).is_ok(), "{words:?}"),
                SettingValue::OneOf(values) => {
                    for value in *values {
                        words.push(value);
                        assert!(Cli::try_parse_from(&words).is_ok(), "{words:?}");
                        words.pop();
                    }
                }
            }
        }
        let words = ["tegula", "import", "x", "-o", "g", "--layouts", "tiles,rows"];
        assert!(Cli::try_parse_from(words).is_ok());
    }

    #[test]
    fn settings_that_algorithms_suggest_can_be_typed() {
        let mut values_seen = 0;
        for entry in CATALOGUE {
            let Ok(request) = entry.request(json!({})) else { continue };
            let Edges::Tiles { instead: Some(setting), .. } = request.edges else {
                continue;
            };
            let SettingValue::OneOf(values) = setting.value else { continue };
            for value in values {
                let words = ["tegula", "run", entry.name, "g", &flag(setting.option), value];
                assert!(Cli::try_parse_from(words).is_ok(), "{words:?}");
                values_seen += 1;
            }
        }
        assert!(values_seen > 0);
    }
}
