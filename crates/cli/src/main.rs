//! The `tegula` command: parses what was asked for, has it done, and says how it went.

mod args;
mod errors;
mod generate;
mod import;
mod info;
mod json;
mod output;
mod probe;
mod progress;
mod report;
mod run;
mod session;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use errors::Failure;
use session::Session;

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| args::with_choices(error).exit());
    let session = Session::start(&cli.common);
    match dispatch(cli.command, &session) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            session.report(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(command: Command, session: &Session) -> Result<(), Failure> {
    match command {
        Command::Import(args) => import::import(&args, session),
        Command::Info(args) => info::info(&args, session),
        Command::Verify(args) => verify::verify(&args, session),
        Command::Run(algorithm) => run::run(&algorithm, session),
        Command::Generate(args) => generate::generate(&args, session),
        Command::Probe(args) => probe::probe(&args, session),
    }
}
