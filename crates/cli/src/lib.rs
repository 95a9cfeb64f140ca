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
mod partition;
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
use errors::{Failure, Result, guarded};
use session::Session;
use tegula_comm::{Comm, Tag};
use tegula_machine::threads::{Cancel, is_in_foreign_code};

/// For messages about whether a rank runs an algorithm.
const COMMAND: Tag = Tag(203);

/// Runs the command that these words are; the first word is the name of the program. Returns the
/// exit code. A process calls it only once: it sets up what a process has once, such as the
/// handlers of signals.
pub fn run_command(words: &[OsString]) -> u8 {
    allocator::keep_little();
    quieten_foreign_panics();
    session::prepare();
    // A copy, because an error needs the words again for its tips.
    let outcome = match Cli::of_words(words.to_vec()) {
        Ok(cli) => call(cli),
        Err(error) => refusal::answer(refusal::in_plain_words(refusal::with_choices(error, words))),
    };
    outcome.map_or_else(|failure| failure.exit_code(), |()| 0)
}

/// Runs the command as one of several ranks, which are processes. The first rank reports, and
/// writes the answer unless each rank writes its own rows. A failure is reported by the rank in
/// which it happened. Returns the exit code: 0 for a rank that ended because another one failed, so
/// that the code of that one is the code of all. The work stops soon after `cancel` is set.
pub fn run_command_on_rank(words: &[OsString], comm: &dyn Comm, cancel: &Cancel) -> u8 {
    allocator::keep_little();
    quieten_foreign_panics();
    // Only the first rank prints the object of `--json`.
    if comm.rank() == 0 {
        session::prepare();
    }
    let parsed = Cli::of_words(words.to_vec());
    let runs = parsed.as_ref().is_ok_and(|cli| cli.command.runs_an_algorithm());
    let outcome = match parsed {
        // The first rank that runs no algorithm answers for all.
        _ if first_without_run(comm, runs, cancel).is_some_and(|rank| rank != comm.rank()) => {
            Ok(())
        }
        Ok(cli) => call_on_rank(cli, comm, cancel),
        Err(error) => refusal::answer(refusal::in_plain_words(refusal::with_choices(error, words))),
    };
    outcome.map_or_else(|failure| failure.exit_code(), |()| 0)
}

/// Returns the first rank that runs no algorithm: its words ask for help or something else, or they
/// do not parse. `None` also where the ranks cannot tell each other; a run then says why.
fn first_without_run(comm: &dyn Comm, runs: bool, cancel: &Cancel) -> Option<usize> {
    let all = comm.all_gather(vec![u8::from(runs)], COMMAND, cancel).ok()?;
    all.iter().position(|runs| *runs != [1])
}

/// Runs the command of a rank. A failure that it returns has been reported already.
fn call_on_rank(cli: Cli, comm: &dyn Comm, cancel: &Cancel) -> Result<()> {
    let session = Session::start_on_rank(&cli.common, comm.rank(), cancel);
    let outcome = match &cli.command {
        Command::Run(run) => run::run_on_rank(run, comm, &session),
        _ => Err(Failure::usage_with(
            "only `run` runs on ranks",
            "use `tegula` for all other commands",
        )),
    };
    match outcome {
        Err(failure) if failure.is_of_another_rank() => Ok(()),
        outcome => outcome.inspect_err(|failure| session.report(failure)),
    }
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
    // Whatever the command has said, nobody may miss that threads did not start.
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
        Command::Partition(args) => partition::partition(&args, session),
        Command::Gather(args) => partition::gather(&args, session),
        Command::Generate(args) => generate::generate(&args, session),
        Command::Probe(args) => probe::probe(&args, session),
        Command::Completions(args) => completions::completions(&args, session),
    }
}
