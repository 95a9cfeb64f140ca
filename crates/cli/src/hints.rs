//! Hints of algorithms in the words of the command line.

use tegula_algorithms::{Hint, Setting};

/// What may be done: any of these.
pub fn any_of(hints: &[Hint]) -> Option<String> {
    let words: Vec<String> = hints.iter().map(hint).collect();
    (!words.is_empty()).then(|| words.join(", or "))
}

/// What may be done.
fn hint(hint: &Hint) -> String {
    match hint {
        Hint::ImportUndirected => "import it with --undirected".to_owned(),
        Hint::Set(wanted) => format!("use {}", setting(wanted)),
        Hint::Raise { option } => format!("{} allows for more", flag(option)),
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
    use super::*;

    #[test]
    fn hints_name_options_as_they_are_typed() {
        let propagation = Setting { option: "method", values: &["propagation", "traversal"] };
        let hints = [Hint::ImportUndirected, Hint::Set(propagation)];
        let words = "import it with --undirected, or use --method propagation or traversal";
        assert_eq!(any_of(&hints).as_deref(), Some(words));
        assert_eq!(any_of(&[]), None);
        let more = any_of(&[Hint::Raise { option: "max_iterations" }]);
        assert_eq!(more.as_deref(), Some("--max-iterations allows for more"));
        assert_eq!(setting(&Setting { option: "coordinates", values: &[] }), "--coordinates");
    }
}
