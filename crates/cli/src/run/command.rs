//! The command of each algorithm in the catalogue.

use clap::error::ErrorKind;
use clap::{ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use tegula_algorithms::algorithm::Request;
use tegula_algorithms::{CATALOGUE, find};

use super::batch::BatchArgs;
use super::help;
use super::options::RunArgs;
use crate::graph_file::GraphFileArgs;
use crate::output::EDGE_ENDINGS;

/// Help of `--top` for `bridges`: bridges have no order, but articulation points do.
const TOP_POINTS: &str = "Print only K articulation points, those in which most blocks meet, with or without \
                          --articulation-points. A file (-o) has all rows nevertheless";

/// Help of `--output` where the answer is edges, which a graph can hold too.
fn edges_output() -> String {
    format!(
        "Write the edges to a graph directory, whose name ends in .tegula or has no ending, or to a file that ends \
         with {EDGE_ENDINGS}; `-` is standard output"
    )
}

/// What was asked for.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one in a process")]
pub enum Run {
    /// An algorithm.
    One {
        /// The algorithm and its own options.
        request: Request,
        /// The options that every algorithm has.
        args: RunArgs,
    },
    /// Many jobs.
    Batch(BatchArgs),
}

impl Subcommand for Run {
    fn augment_subcommands(command: Command) -> Command {
        let help = help::template(command.get_styles());
        command.help_template(help).subcommands(CATALOGUE.iter().map(|entry| {
            let mut command = entry.command::<RunArgs>();
            let has = |option| entry.option_names().contains(&option);
            if has("model") {
                let input = ArgGroup::new("input").required(true).args(["graph", "model"]);
                command = command.mut_arg("graph", |graph| graph.required(false)).group(input);
            }
            if entry.finds_graph {
                // Documentation of the struct would replace the summary of the algorithm.
                let about = entry.description.summary;
                command = GraphFileArgs::augment_args(command).about(about).long_about(None);
                command = command.mut_arg("output", |output| output.help(edges_output()));
            }
            if has("articulation_points") {
                command = command.mut_arg("top", |top| top.help(TOP_POINTS));
            }
            command
        }))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Run::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        find(name).is_some()
    }
}

impl FromArgMatches for Run {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Run, Error> {
        let missing = || Error::new(ErrorKind::MissingSubcommand);
        // Only the command of a batch has this argument.
        if matches!(matches.try_contains_id("jobs"), Ok(true)) {
            return BatchArgs::from_arg_matches(matches).map(Run::Batch);
        }
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let entry = find(name).ok_or_else(|| Error::new(ErrorKind::InvalidSubcommand))?;
        let request = entry.request_of_arguments(matches)?;
        let mut args = RunArgs::from_arg_matches(matches)?;
        if entry.finds_graph {
            args.graph_file = GraphFileArgs::from_arg_matches(matches)?;
        }
        if entry.option_names().contains(&"top") {
            // There `--top` is an option of the algorithm, and does not change how the answer is
            // printed.
            args.top = None;
        }
        Ok(Run::One { request, args })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Run::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_command_whose_options_all_have_help() {
        let command = Run::augment_subcommands(Command::new("run"));
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let expected: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
        assert_eq!(names, expected);
        for command in command.get_subcommands() {
            let entry = find(command.get_name()).unwrap();
            let arguments: Vec<&str> =
                command.get_arguments().map(|argument| argument.get_id().as_str()).collect();
            // Other callers pass the same options by the same names.
            assert!(arguments.starts_with(&entry.option_names()), "{arguments:?}");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{}: {}", entry.name, argument.get_id());
            }
        }
    }

    #[test]
    fn options_of_an_algorithm_come_first_without_a_heading() {
        let command = Run::augment_subcommands(Command::new("run"));
        for command in command.get_subcommands() {
            let own = find(command.get_name()).unwrap().option_names();
            for argument in
                command.get_arguments().filter(|it| !it.is_positional() && !it.is_hide_set())
            {
                let is_own = own.contains(&argument.get_id().as_str());
                let heading = argument.get_help_heading();
                let id = argument.get_id();
                assert_eq!(is_own, heading.is_none(), "{}: {id}", command.get_name());
            }
        }
    }
}
