//! Hints of the libraries in the words of the command line.

use tegula_machine::{Action, Diagnostic, Hint, Setting};

/// A message, and what may be done about it.
pub fn told(diagnostic: &Diagnostic) -> String {
    let Diagnostic { message, hints } = diagnostic;
    any_of(hints).map_or_else(|| message.clone(), |hints| format!("{message}; {hints}"))
}

/// What may be done: any of these.
pub fn any_of(hints: &[Hint]) -> Option<String> {
    let words: Vec<String> = hints.iter().map(hint).collect();
    (!words.is_empty()).then(|| words.join(", or "))
}

/// What may be done.
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
        Action::Import(wanted) => format!("import it with {}", setting(wanted)),
        Action::ImportLayout(layout) => format!("import it with --layouts tiles,{layout}"),
    }
}

/// An option with the values that it may be given: `--method propagation or traversal`.
pub fn setting(setting: &Setting) -> String {
    let Setting { option, values } = setting;
    format!("{} {}", flag(option), values.join(" or ")).trim_end().to_owned()
}

/// An option as it is typed: `--max-iterations`.
pub fn flag(option: &str) -> String {
    format!("--{}", option.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::PathBuf;

    use clap::{Command, CommandFactory, Parser};
    use serde_json::json;
    use tegula_algorithms::CATALOGUE;
    use tegula_algorithms::algorithm::Edges;
    use tegula_import::settings;

    use super::*;
    use crate::command_line::Cli;
    use crate::errors::Failure;
    use crate::errors::tests::failures;

    #[test]
    fn hints_name_options_as_they_are_typed() {
        let propagation = Setting { option: "method", values: &["propagation", "traversal"] };
        let hints = [Hint::import(Setting::of("undirected")), Hint::set([propagation])];
        let words = "import it with --undirected, or use --method propagation or traversal";
        assert_eq!(any_of(&hints).as_deref(), Some(words));
        assert_eq!(any_of(&[]), None);
        let more = any_of(&[Hint::raise("max_iterations")]);
        assert_eq!(more.as_deref(), Some("raise --max-iterations"));
        assert_eq!(setting(&Setting::of("coordinates")), "--coordinates");
        let ends = ["source_column", "target_column"].map(Setting::of);
        let both = Hint::set(ends).detail("with two of them");
        let words = "use --source-column and --target-column with two of them";
        assert_eq!(any_of(&[both]).as_deref(), Some(words));
        let layout = any_of(&[Action::ImportLayout("rows").into()]);
        assert_eq!(layout.as_deref(), Some("import it with --layouts tiles,rows"));
        let kept = Diagnostic::from("it was not read").hint(Hint::set([settings::WEIGHTED]));
        assert_eq!(told(&kept), "it was not read; use --weighted");
        assert_eq!(told(&"all is well".into()), "all is well");
    }

    /// All options of a command and of those under it.
    fn flags(command: &Command) -> HashSet<String> {
        let own = command.get_arguments().filter_map(|argument| argument.get_long());
        let own = own.map(|name| format!("--{name}"));
        own.chain(command.get_subcommands().flat_map(flags)).collect()
    }

    #[test]
    fn every_option_that_hints_name_is_one_of_a_command() {
        let flags = flags(&Cli::command());
        let one_direction = tegula_algorithms::Error::OneDirection {
            what: "it",
            instead: None,
            graph: PathBuf::new(),
        };
        let of_errors = failures().into_iter().filter_map(|(failure, _)| match failure {
            Failure::Store(error) => Some(error.hints()),
            _ => None,
        });
        let hints: Vec<Hint> = of_errors.chain([one_direction.hints()]).flatten().collect();
        assert!(hints.len() >= 4, "{hints:?}");
        for hint in &hints {
            let words = any_of(std::slice::from_ref(hint)).unwrap();
            let named: Vec<&str> =
                words.split_whitespace().filter(|word| word.starts_with("--")).collect();
            assert!(named.iter().all(|&flag| flags.contains(flag)), "{words}");
            assert_eq!(named.len(), 1, "{words}");
        }
    }

    #[test]
    fn every_option_of_an_import_that_hints_name_can_be_typed_with_its_values() {
        let cli = Cli::command();
        let import = flags(cli.find_subcommand("import").unwrap());
        for Setting { option, values } in settings::ALL {
            assert!(import.contains(&flag(option)), "{option}");
            for value in *values {
                let option = flag(option);
                let words = ["tegula", "import", "x", "-o", "g", &option, value];
                assert!(Cli::try_parse_from(words).is_ok(), "{words:?}");
            }
        }
        let words = ["tegula", "import", "x", "-o", "g", "--layouts", "tiles,rows"];
        assert!(Cli::try_parse_from(words).is_ok());
    }

    #[test]
    fn what_an_algorithm_says_to_do_instead_can_be_typed() {
        let mut values_seen = 0;
        for entry in CATALOGUE {
            let Ok(request) = entry.request(json!({})) else { continue };
            let Edges::Tiles { instead: Some(setting), .. } = request.edges() else { continue };
            for value in setting.values {
                let words = ["tegula", "run", entry.name, "g", &flag(setting.option), value];
                assert!(Cli::try_parse_from(words).is_ok(), "{words:?}");
                values_seen += 1;
            }
        }
        assert!(values_seen > 0);
    }
}
