//! The `tegula` command: parses the command line, runs the command, and reports how it went. The
//! program `tegula` is this, and so is the command that comes with the Python package.

mod allocator;
mod args;
mod command_line;
mod completions;
mod errors;
mod escape;
mod export;
mod generate;
mod graph_file;
mod hints;
mod import;
mod info;
mod json;
mod output;
mod probe;
mod progress;
mod refusal;
mod report;
mod run;
mod session;
mod signals;
mod stdout;
mod verify;

use std::ffi::OsString;

pub use allocator::OrEnd;
use command_line::{Cli, Command};
use errors::{Result, guarded};
use session::Session;
use tegula_machine::threads::is_in_foreign_code;

/// Runs the command that these words are, of which the first is the name of the program. Returns
/// the exit code. A process calls it once, for all that it does: it sets up what a process has once,
/// such as the handlers of signals.
pub fn run_command(words: &[OsString]) -> u8 {
    allocator::keep_little();
    quieten_foreign_panics();
    session::prepare();
    let outcome = match Cli::of_words(words.to_vec()) {
        Ok(cli) => call(cli),
        Err(error) => refusal::answer(refusal::in_plain_words(refusal::with_choices(error, words))),
    };
    outcome.map_or_else(|failure| failure.exit_code(), |()| 0)
}

/// Silences panics of libraries that read a possibly damaged file: they become errors of the file.
fn quieten_foreign_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_in_foreign_code() {
            print(panic);
        }
    }));
}

/// Runs the command. A failure that it returns has been reported already.
fn call(cli: Cli) -> Result<()> {
    let session = Session::start(&cli.common);
    let outcome = guarded(|| dispatch(cli.command, &session));
    session.tell(Vec::new());
    outcome.inspect_err(|failure| session.report(failure))
}

fn dispatch(command: Command, session: &Session) -> Result<()> {
    if session.json {
        stdout::check()?;
    }
    match command {
        Command::Import(args) => import::import(&args, session),
        Command::Info(args) => info::info(&args, session),
        Command::Verify(args) => verify::verify(&args, session),
        Command::Export(args) => export::export(&args, session),
        Command::Run(run) => run::run(&run, session),
        Command::Generate(args) => generate::generate(&args, session),
        Command::Probe(args) => probe::probe(&args, session),
        Command::Completions(args) => completions::completions(&args, session),
    }
}
