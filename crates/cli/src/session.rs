//! What lasts as long as the process: the interrupt switch, the progress bars, and the one place
//! where everything is printed.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tegula_algorithms::answer::List;
use tegula_machine::disk::Unfinished;
use tegula_machine::threads::{self, Cancel, Progress, Silent};
use tegula_store::Error;
use tracing_subscriber::EnvFilter;

use crate::args::Common;
use crate::errors::{self, Failure, Result};
use crate::progress::{Bars, JobBar, StageLog};
use crate::{escape, hints, json, report, signals, stdout};

/// Whether `--json` was given, for code that ends the process without a session.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// One call of the command.
pub struct Session {
    /// Set by Ctrl-C.
    pub cancel: Cancel,
    /// Whether standard output is one JSON object and nothing else.
    pub json: bool,
    quiet: bool,
    bars: Option<Bars>,
    log: Option<StageLog>,
    has_told_shortage: AtomicBool,
}

impl Session {
    /// Starts to listen for interrupts and to log.
    pub fn start(common: &Common) -> Session {
        Session::start_with(common, Cancel::default())
    }

    fn start_with(common: &Common, cancel: Cancel) -> Session {
        IS_JSON.store(common.json, Ordering::Relaxed);
        start_logging(common.verbose);
        cancel_on_interrupt(&cancel);
        // A bar would tear the lines of a log.
        let has_log = tracing::enabled!(tracing::Level::INFO);
        let has_bars = !common.quiet && !has_log && io::stderr().is_terminal();
        Session {
            cancel,
            json: common.json,
            quiet: common.quiet,
            bars: has_bars.then(Bars::default),
            log: has_log.then(StageLog::default),
            has_told_shortage: AtomicBool::new(false),
        }
    }

    /// Starts the session of a rank that is a process. Only the first rank says anything but
    /// failures.
    pub fn start_on_rank(common: &Common, rank: usize, cancel: &Cancel) -> Session {
        let session = Session::start_with(common, cancel.clone());
        if rank == 0 { session } else { session.of_other_rank() }
    }

    /// Returns the session of another rank, which is silent.
    pub fn of_other_rank(&self) -> Session {
        Session {
            cancel: self.cancel.clone(),
            json: self.json,
            quiet: true,
            bars: None,
            log: None,
            // The first rank says it for all.
            has_told_shortage: AtomicBool::new(true),
        }
    }

    /// Returns the receiver of progress.
    pub fn progress(&self) -> &dyn Progress {
        match (&self.bars, &self.log) {
            (Some(bars), _) => bars,
            (None, Some(log)) => log,
            (None, None) => &Silent,
        }
    }

    /// Returns the receiver of the progress of one of many jobs, which runs `iterations` if that is
    /// known.
    pub fn job_bar<'s>(&'s self, name: &str, iterations: Option<u64>) -> JobBar<'s> {
        JobBar::new(self.bars.as_ref(), name, iterations)
    }

    /// Prints why one of many jobs failed: in words, and with `--json` also as an object.
    pub fn report_job(&self, name: &str, failure: &Failure) {
        if self.json {
            let failed = json::FailedJob { name, failed: failure.to_json() };
            // If this cannot be written, the exit code still tells of the failure.
            let _ = stdout::object(&failed);
        }
        let text = format!("{}:\n{}", escape::line(name), errors::render(failure, is_coloured()));
        let print = || to_stderr(&text);
        self.bars.as_ref().map_or_else(print, |bars| bars.pause_for(print));
    }

    /// Whether summaries are shown.
    pub fn has_notes(&self) -> bool {
        !self.quiet && !self.json
    }

    /// Prints a summary for a person on standard error.
    pub fn note(&self, text: &str) {
        if self.has_notes() {
            let print = || to_stderr(&escape::lines(text));
            self.bars.as_ref().map_or_else(print, |bars| bars.pause_for(print));
        }
    }

    /// Warns on standard error that the result falls short of what may have been expected. A
    /// warning is neither progress nor a summary, so `--quiet` does not suppress it. `--json` also
    /// lists it.
    pub fn warn(&self, text: &str) {
        let print = || to_stderr(&escape::lines(&format!("warning: {text}")));
        self.bars.as_ref().map_or_else(print, |bars| bars.pause_for(print));
    }

    /// Prints warnings, and once that threads were missing. Returns all of them for `--json`.
    pub fn tell(&self, mut warnings: Vec<String>) -> Vec<String> {
        let shortage =
            threads::shortage().filter(|_| !self.has_told_shortage.swap(true, Ordering::Relaxed));
        warnings.extend(shortage.map(|shortage| hints::with_hints(&shortage.into())));
        warnings.iter().for_each(|warning| self.warn(warning));
        warnings
    }

    /// Prints for a person what the command was asked for.
    pub fn print(&self, text: &str) -> Result<()> {
        stdout::write(&format!("{}\n", escape::lines(text)))
    }

    /// Prints a report that `--quiet` suppresses: the exit code says the same.
    pub fn print_report(&self, text: &str) -> Result<()> {
        if self.quiet { Ok(()) } else { self.print(text) }
    }

    /// Checks before the work, not after it, that such a report can be printed.
    pub fn check_report(&self) -> Result<()> {
        if self.quiet { Ok(()) } else { stdout::check() }
    }

    /// Prints a list: aligned on a terminal, with tabs for a program.
    pub fn print_list(&self, list: &List) -> Result<()> {
        if io::stdout().is_terminal() {
            return self.print(&report::aligned(list));
        }
        stdout::write(&format!("{}\n", report::tab_separated(list)))
    }

    /// Prints the answer as one JSON object.
    pub fn print_json(&self, object: &impl Serialize) -> Result<()> {
        stdout::answer(object)
    }

    /// Prints why the command failed.
    pub fn report(&self, failure: &Failure) {
        if let Some(bars) = &self.bars {
            bars.end();
        }
        report(failure, self.json);
    }
}

/// Whether the words of the command line contain `--json`.
pub fn is_json_asked_for() -> bool {
    std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json")
}

/// Notes `--json` before the words are parsed, in case there is no memory to parse them.
pub fn prepare() {
    IS_JSON.store(is_json_asked_for(), Ordering::Relaxed);
}

/// Prints why the command failed: in words on standard error, and with `json` also as an object on
/// standard output. If the reader of standard output has left, nothing is printed on standard
/// error.
pub fn report(failure: &Failure, json: bool) {
    tell_program(failure, json);
    if !matches!(failure, Failure::ClosedPipe) {
        to_stderr(&errors::render(failure, is_coloured()));
    }
}

/// Prints only the object, if `json`.
pub fn tell_program(failure: &Failure, json: bool) {
    if json {
        // If this cannot be written, the exit code still tells of the failure.
        let _ = stdout::answer(&failure.to_json());
    }
}

/// Prints on standard error; if that is closed, nobody can be told.
pub fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether messages may have colours: <https://no-color.org>.
fn is_coloured() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && io::stderr().is_terminal()
}

/// Logs what `TEGULA_LOG` says, or else what `-v` says.
fn start_logging(verbose: u8) {
    let level = match verbose {
        0 => "error",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("TEGULA_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(is_coloured())
        .with_timer(tracing_subscriber::fmt::time::uptime())
        .with_target(verbose > 1)
        .with_writer(io::stderr)
        .init();
}

/// The first interrupt ends the work in good order, the second one at once.
fn cancel_on_interrupt(cancel: &Cancel) {
    let end_at_once = || {
        let failure = Failure::from(Error::cancelled());
        tell_program(&failure, IS_JSON.load(Ordering::Relaxed));
        // The exit drops nothing, so temporary files would stay.
        Unfinished::remove_all();
        std::process::exit(failure.exit_code().into());
    };
    if let Err(error) = signals::listen(cancel, end_at_once) {
        tracing::warn!(%error, "interrupts end the process at once");
    }
}

/// Ends the process from any thread, whatever locks it holds, where no error can be returned.
pub fn end_at_once(failure: &Failure) -> ! {
    report(failure, IS_JSON.load(Ordering::Relaxed));
    Unfinished::remove_all_if_idle();
    std::process::exit(failure.exit_code().into())
}
