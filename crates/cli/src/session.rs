//! What lasts as long as the process: the interrupt switch, the progress bars, and the one place
//! where anything is printed.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tegula_store::{Cancel, Progress, Silent, Temporary};
use tracing_subscriber::EnvFilter;

use crate::args::Common;
use crate::errors::{self, Failure, Result};
use crate::progress::Bars;
use crate::report::Grid;

/// The exit code after an interrupt.
const INTERRUPTED: i32 = 130;

/// One call of the command.
pub struct Session {
    /// Is switched by Ctrl-C.
    pub cancel: Cancel,
    /// Whether one JSON object is the whole of standard output.
    pub json: bool,
    quiet: bool,
    bars: Option<Bars>,
}

impl Session {
    /// Starts to listen for interrupts and to log.
    pub fn start(common: &Common) -> Session {
        start_logging(common.verbose);
        let cancel = Cancel::default();
        cancel_on_interrupt(cancel.clone());
        // A bar would tear the lines of a log.
        let has_bars = !common.quiet && common.verbose == 0 && io::stderr().is_terminal();
        Session {
            cancel,
            json: common.json,
            quiet: common.quiet,
            bars: has_bars.then(Bars::default),
        }
    }

    /// Who is told about progress.
    pub fn progress(&self) -> &dyn Progress {
        match &self.bars {
            Some(bars) => bars,
            None => &Silent,
        }
    }

    /// Whether somebody reads the summaries.
    pub fn has_notes(&self) -> bool {
        !self.quiet && !self.json
    }

    /// Prints a summary for a person on standard error.
    pub fn note(&self, text: &str) {
        if self.has_notes() {
            to_stderr(text);
        }
    }

    /// Prints what was asked for.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn print(&self, text: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Failure::stdout)
    }

    /// Prints a report that `--quiet` suppresses: the exit code says the same.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn print_report(&self, text: &str) -> Result<()> {
        if self.quiet { Ok(()) } else { self.print(text) }
    }

    /// Prints a table: aligned on a terminal, with tabs for a program.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn print_grid(&self, grid: &Grid) -> Result<()> {
        let is_read = io::stdout().is_terminal();
        self.print(&if is_read { grid.to_text() } else { grid.to_tsv() })
    }

    /// Prints what was asked for as one JSON object.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn print_json(&self, object: &impl Serialize) -> Result<()> {
        // Written as it is made: a summary may name every vertex.
        let mut out = BufWriter::new(io::stdout().lock());
        let written = serde_json::to_writer(&mut out, object).map_err(io::Error::from);
        let ended = written.and_then(|()| writeln!(out)).and_then(|()| out.flush());
        ended.map_err(Failure::stdout)
    }

    /// Says why the command failed; a closed pipe needs no words.
    pub fn report(&self, failure: &Failure) {
        if let Some(bars) = &self.bars {
            bars.end();
        }
        if !matches!(failure, Failure::ClosedPipe) {
            to_stderr(&errors::render(failure, is_coloured()));
        }
    }
}

/// A standard error that is gone cannot be told about.
fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether messages may have colours: <https://no-color.org>.
fn is_coloured() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && io::stderr().is_terminal()
}

/// `TEGULA_LOG` says what is logged, else `-v` does.
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
        .with_writer(io::stderr)
        .init();
}

/// The first interrupt ends the work in good order, the second one at once.
fn cancel_on_interrupt(cancel: Cancel) {
    static WAS_ASKED: AtomicBool = AtomicBool::new(false);
    let handler = move || {
        if WAS_ASKED.swap(true, Ordering::SeqCst) {
            Temporary::remove_all();
            std::process::exit(INTERRUPTED);
        }
        cancel.cancel();
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!(%error, "interrupts end the process at once");
    }
}
