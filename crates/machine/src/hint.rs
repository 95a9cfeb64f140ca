//! What may be done about something, for faces that have words of their own for options: a command line, a
//! service, a language.

use std::fmt;

/// What somebody should know, and what may be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, or less than may have been expected. It names no option.
    pub message: String,
    /// What may be done: any of these.
    pub hints: Vec<Hint>,
}

impl Diagnostic {
    /// The same with one more hint, if there is one.
    pub fn hint(mut self, hint: impl Into<Option<Hint>>) -> Diagnostic {
        self.hints.extend(hint.into());
        self
    }
}

impl From<String> for Diagnostic {
    fn from(message: String) -> Diagnostic {
        Diagnostic { message, hints: Vec::new() }
    }
}

impl From<&str> for Diagnostic {
    fn from(message: &str) -> Diagnostic {
        message.to_owned().into()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What may be done. Every face has words for every action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What.
    pub action: Action,
    /// When, why or how, as the end of a sentence that begins with the action: "if the ids are names".
    pub detail: Option<&'static str>,
}

/// What is done with options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Give options other values, all of these.
    Set(Vec<Setting>),
    /// Give an option a greater value.
    Raise {
        /// The option, as it is named in the struct of options.
        option: &'static str,
    },
    /// Leave an option out.
    LeaveOut {
        /// The option, as it is named in the struct of options.
        option: &'static str,
    },
    /// Make a graph of an edge list first.
    MakeGraph,
    /// Export the edges of the graph, and import them together with other files: so edges are added to it.
    ExportGraph,
    /// Import the graph with an option.
    Import(Setting),
    /// Import the graph with an option, and give an option of the run another value.
    ImportAndSet {
        /// The option of the import.
        import: Setting,
        /// The option of the run.
        set: Setting,
    },
    /// Import the graph with a layout beside the tiles.
    ImportLayout(&'static str),
}

impl Hint {
    /// Give options other values, all of these.
    pub fn set(settings: impl Into<Vec<Setting>>) -> Hint {
        Action::Set(settings.into()).into()
    }

    /// Give an option a greater value.
    pub fn raise(option: &'static str) -> Hint {
        Action::Raise { option }.into()
    }

    /// Leave an option out.
    pub fn leave_out(option: &'static str) -> Hint {
        Action::LeaveOut { option }.into()
    }

    /// Import the graph with an option.
    pub fn import(setting: Setting) -> Hint {
        Action::Import(setting).into()
    }

    /// The same, and when, why or how: the end of its sentence.
    pub fn detail(self, detail: &'static str) -> Hint {
        Hint { detail: Some(detail), ..self }
    }
}

impl From<Action> for Hint {
    fn from(action: Action) -> Hint {
        Hint { action, detail: None }
    }
}

/// An option, and values that it may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The option, as it is named in the struct of options.
    pub option: &'static str,
    /// What it may be given.
    pub value: SettingValue,
}

/// What an option may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingValue {
    /// Nothing: it is a switch, which is turned on.
    On,
    /// Whatever it takes.
    Any,
    /// One of these.
    OneOf(&'static [&'static str]),
}

impl Setting {
    /// A switch that is turned on.
    pub const fn on(option: &'static str) -> Setting {
        Setting { option, value: SettingValue::On }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.option)?;
        match self.value {
            SettingValue::On | SettingValue::Any => Ok(()),
            SettingValue::OneOf(values) => write!(f, " {}", values.join(" or ")),
        }
    }
}
