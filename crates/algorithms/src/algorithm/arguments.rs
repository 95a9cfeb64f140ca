//! Options as arguments of a command.

use std::any::TypeId;

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches, ValueHint};

use super::entry::reads_tables;
use super::{Algorithm, Entry, Request};
use crate::side_table::{TableOptions, TableSource};

/// Turns the options of an algorithm into arguments, and arguments into its options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arguments {
    augment: fn(Command) -> Command,
    request: fn(&ArgMatches) -> Result<Request, clap::Error>,
}

impl Arguments {
    pub(super) const fn of<A: Algorithm + 'static>() -> Arguments {
        Arguments { augment: augment::<A>, request: request::<A> }
    }
}

/// Makes a group of options of which exactly one must be given. If none is given, the error names
/// them all.
pub(crate) fn one_of<const N: usize>(options: [&'static str; N]) -> ArgGroup {
    // No option has such a name.
    ArgGroup::new("one of").required(true).args(options)
}

fn augment<A: Algorithm>(command: Command) -> Command {
    let names_file = |arg: &Arg| arg.get_value_parser().type_id() == TypeId::of::<TableSource>();
    let command = A::augment_args(command).mut_args(|arg| match names_file(&arg) {
        true => arg.value_hint(ValueHint::FilePath),
        false => arg,
    });
    if reads_tables::<A>() { TableOptions::augment_args(command) } else { command }
}

fn request<A: Algorithm + 'static>(matches: &ArgMatches) -> Result<Request, clap::Error> {
    let tables = match reads_tables::<A>() {
        true => TableOptions::from_arg_matches(matches)?,
        false => TableOptions::default(),
    };
    Ok(Request::new(A::from_arg_matches(matches)?, tables))
}

impl Entry {
    /// Makes a command with the options of the algorithm and those of `R` that it does not have
    /// itself.
    pub fn command<R: Args>(&self) -> Command {
        let own = (self.arguments.augment)(Command::new(self.name));
        let names = self.option_names();
        let others = R::augment_args(Command::new(self.name));
        // Where both have an option, the one of the algorithm counts.
        let others =
            others.get_arguments().filter(|other| !names.contains(&other.get_id().as_str()));
        // The documentation of a struct is for developers.
        own.args(others.cloned()).about(self.description.summary).long_about(None)
    }

    /// Returns the algorithm with the options that a command was given. Whether they make sense
    /// together is still to be [checked](super::AnyAlgorithm::check).
    pub fn request_of_arguments(&self, matches: &ArgMatches) -> Result<Request, clap::Error> {
        (self.arguments.request)(matches)
    }
}
