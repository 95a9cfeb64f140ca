//! What can be done about a problem. Each face (command line, service, language) words this for its
//! own options.

use std::fmt;

use tegula_machine::threads::Shortage;

/// Something the user should know, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, or less than the user may expect. It names no option.
    pub message: String,
    /// What can be done: any one of these.
    pub hints: Vec<Hint>,
}

impl Diagnostic {
    /// Adds a hint, if there is one.
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

impl From<Shortage> for Diagnostic {
    fn from(shortage: Shortage) -> Diagnostic {
        shortage.to_string().into()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Something that can be done. Every face has words for every action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What to do.
    pub action: Action,
    /// When, why or how to do it, as the end of a sentence that begins with the action: "if the ids
    /// are names".
    pub detail: Option<&'static str>,
}

/// Something that can be done, mostly with an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Give all of these options other values.
    Set(Vec<Setting>),
    /// Give an option a greater value.
    Raise {
        /// The option's name in the struct of options.
        option: &'static str,
    },
    /// Leave an option out.
    LeaveOut {
        /// The option's name in the struct of options.
        option: &'static str,
    },
    /// Make a graph of an edge list first.
    MakeGraph,
    /// Put the shards of a graph together, and run on one machine.
    GatherGraph,
    /// To add edges to a graph: export its edges, and import them together with the new ones.
    ExportGraph,
    /// Import the graph with an option.
    Import(Setting),
    /// Import the graph with a layout beside the tiles.
    ImportLayout(&'static str),
}

impl Hint {
    /// Hints at giving all of these options other values.
    pub fn set(settings: impl Into<Vec<Setting>>) -> Hint {
        Action::Set(settings.into()).into()
    }

    /// Hints at giving an option a greater value.
    pub fn raise(option: &'static str) -> Hint {
        Action::Raise { option }.into()
    }

    /// Hints at leaving an option out.
    pub fn leave_out(option: &'static str) -> Hint {
        Action::LeaveOut { option }.into()
    }

    /// Hints at importing the graph with an option.
    pub fn import(setting: Setting) -> Hint {
        Action::Import(setting).into()
    }

    /// Adds when, why or how: the end of the hint's sentence.
    pub fn detail(self, detail: &'static str) -> Hint {
        Hint { detail: Some(detail), ..self }
    }
}

impl From<Action> for Hint {
    fn from(action: Action) -> Hint {
        Hint { action, detail: None }
    }
}

/// An option, and the values it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The option's name in the struct of options.
    pub option: &'static str,
    /// The values it may take.
    pub value: SettingValue,
}

/// The values that an option may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingValue {
    /// None: the option is a switch, to be turned on.
    On,
    /// Any that the option accepts.
    Any,
    /// One of these.
    OneOf(&'static [&'static str]),
}

impl Setting {
    /// Turns a switch on.
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
