//! Progress bars: how far the work is, how fast it is, and how long it will still take.

use std::fmt::Write;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tegula_algorithms::jobs::{JobProgress, Wanted};
use tegula_machine::threads::{Progress, ProgressUnit, lock, start};

use crate::report;

/// Time between two drawings of a bar that does not move.
const TICK: Duration = Duration::from_millis(200);
/// The greatest width of a line in characters.
const WIDTH_MAX: usize = 96;
/// Characters of it that stay free: an echoed `^C` would wrap the line, which then could not be
/// cleared.
const MARGIN: usize = 4;
/// Characters for the figures beside a bar.
const FIGURES_WIDTH: usize = 50;
const ITERATIONS_WIDTH: usize = 57;
/// Characters of the widest and the narrowest bar.
const BAR_WIDTH_MAX: usize = 30;
const BAR_WIDTH_MIN: usize = 5;

/// Draws one bar for each stage, on standard error, and one above it for each of many jobs.
#[derive(Default)]
pub struct Bars {
    all: MultiProgress,
    bar: Arc<Mutex<Option<ProgressBar>>>,
    /// Ends the thread that redraws the bar while nothing moves it.
    ticker: OnceLock<Sender<()>>,
}

impl Bars {
    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        lock(&self.bar)
    }

    /// Draws the bar every [`TICK`] until the returned sender is dropped. If no thread starts, the
    /// bar is drawn only as it moves.
    fn start_ticker(&self) -> Sender<()> {
        let bar = Arc::clone(&self.bar);
        let (ticker, ended) = channel();
        let tick = move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                lock(&bar).as_ref().inspect(|bar| bar.tick());
            }
        };
        // A thread that did not start is reported at the end.
        drop(start("tegula-bar", tick));
        ticker
    }

    /// Runs `print`, which writes to standard error, with the bar out of the way.
    pub fn pause_for<T>(&self, print: impl FnOnce() -> T) -> T {
        self.all.suspend(print)
    }

    /// Returns a bar for a stage, which is not drawn yet.
    fn of_stage(stage: &str, total: Option<u64>, unit: ProgressUnit) -> ProgressBar {
        // Hidden until it is added to all bars, which then draw it in its place.
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{line}") {
            let stage = stage.to_owned();
            let line = move |state: &ProgressState, out: &mut dyn Write| {
                let rate = Some(state.per_sec()).filter(|&rate| state.pos() > 0 && rate > 0.0);
                let moment = Moment {
                    done: state.pos(),
                    total: state.len(),
                    rate,
                    left: state.eta(),
                    elapsed: state.elapsed(),
                };
                // A failure to draw a bar is not worth an error.
                let _ = out.write_str(&moment.line(&stage, unit, terminal_width()));
            };
            bar.set_style(style.with_key("line", line));
        }
        bar
    }
}

impl Progress for Bars {
    fn begin(&self, stage: &str, total: Option<u64>, unit: ProgressUnit) {
        let bar = self.all.add(Bars::of_stage(stage, total, unit));
        bar.tick();
        // Only now, because a command without a stage needs no such thread.
        self.ticker.get_or_init(|| self.start_ticker());
        if let Some(previous) = self.bar().replace(bar) {
            previous.finish_and_clear();
        }
    }

    fn advance(&self, done: u64) {
        if let Some(bar) = &*self.bar() {
            bar.inc(done);
        }
    }

    fn end(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.end();
    }
}

/// The bar of one of many jobs.
pub struct JobBar<'b> {
    bars: Option<&'b Bars>,
    name: String,
    iterations: Option<u64>,
    bar: Mutex<Option<ProgressBar>>,
}

impl<'b> JobBar<'b> {
    /// Makes the bar of a job, which is drawn above all others if there are `bars`.
    pub fn new(bars: Option<&'b Bars>, name: &str, iterations: Option<u64>) -> JobBar<'b> {
        JobBar { bars, name: name.to_owned(), iterations, bar: Mutex::default() }
    }

    /// Draws a bar in the place of the one before.
    fn draw(&self, bar: impl FnOnce() -> ProgressBar) {
        if let Some(bars) = self.bars {
            let bar = bars.all.insert(0, bar());
            bar.tick();
            if let Some(previous) = lock(&self.bar).replace(bar) {
                previous.finish_and_clear();
                // Otherwise the bars of all jobs that ever ran would be kept.
                bars.all.remove(&previous);
            }
        }
    }
}

impl Progress for JobBar<'_> {
    fn begin(&self, stage: &str, total: Option<u64>, unit: ProgressUnit) {
        tracing::info!("{}: {stage}", self.name);
        let known = self.iterations.filter(|_| unit == ProgressUnit::Iterations);
        let stage = format!("{}: {stage}", self.name);
        self.draw(|| Bars::of_stage(&stage, total.or(known), unit));
    }

    fn advance(&self, done: u64) {
        if let Some(bar) = &*lock(&self.bar) {
            bar.inc(done);
        }
    }

    fn end(&self) {
        if let (Some(bars), Some(bar)) = (self.bars, lock(&self.bar).take()) {
            bar.finish_and_clear();
            bars.all.remove(&bar);
        }
    }
}

impl JobProgress for JobBar<'_> {
    fn wait_for(&self, what: Wanted) {
        let what = match what {
            Wanted::Memory => "memory",
            Wanted::Delivery => "its turn to write",
        };
        tracing::info!("{}: waits for {what}", self.name);
        self.draw(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            if let Ok(style) = ProgressStyle::with_template("{msg}") {
                bar.set_style(style);
            }
            bar.with_message(format!("{}: waits for {what}", self.name))
        });
    }
}

impl Drop for JobBar<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Logs a line for each stage that has ended.
#[derive(Default)]
pub struct StageLog(Mutex<Option<LoggedStage>>);

/// A stage that has begun.
struct LoggedStage {
    name: String,
    unit: ProgressUnit,
    done: u64,
    begun: Instant,
}

impl LoggedStage {
    /// Returns the line: the stage's name, what was done, and how long that took.
    fn line(&self, took: Duration) -> String {
        let (name, done) = (&self.name, self.done);
        let rate = match self.unit {
            ProgressUnit::Bytes => report::byte_rate(done, took),
            ProgressUnit::Edges => report::rate(done, "edges", took),
            ProgressUnit::Vertices => report::rate(done, "vertices", took),
            ProgressUnit::Iterations => report::rate(done, "iterations", took),
            ProgressUnit::Jobs => report::rate(done, "jobs", took),
        };
        format!("{name}: {} in {}, {rate}", amount(done, self.unit), report::time(took))
    }
}

impl StageLog {
    fn replace(&self, next: Option<LoggedStage>) {
        if let Some(ended) = std::mem::replace(&mut *lock(&self.0), next) {
            tracing::info!("{}", ended.line(ended.begun.elapsed()));
        }
    }
}

impl Progress for StageLog {
    fn begin(&self, stage: &str, _total: Option<u64>, unit: ProgressUnit) {
        let begun = Instant::now();
        self.replace(Some(LoggedStage { name: stage.to_owned(), unit, done: 0, begun }));
    }

    fn advance(&self, done: u64) {
        if let Some(stage) = &mut *lock(&self.0) {
            stage.done += done;
        }
    }

    fn end(&self) {
        self.replace(None);
    }
}

/// Progress of a run, with facts that the run itself does not report.
pub struct RunProgress<'a> {
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// The number of iterations, where it is known beforehand.
    pub iterations: Option<u64>,
    /// What to do in the middle of the run.
    pub alarm: Option<Alarm<'a>>,
}

impl<'a> RunProgress<'a> {
    /// Passes progress on, with nothing added.
    pub fn of(progress: &'a dyn Progress) -> RunProgress<'a> {
        RunProgress { progress, iterations: None, alarm: None }
    }
}

/// Calls a function once, after some iterations.
pub struct Alarm<'a> {
    left: AtomicU64,
    ring: &'a (dyn Fn() + Sync),
}

impl<'a> Alarm<'a> {
    /// Calls `ring` once, after this number of iterations.
    pub fn after(iterations: u64, ring: &'a (dyn Fn() + Sync)) -> Alarm<'a> {
        Alarm { left: AtomicU64::new(iterations), ring }
    }

    fn advance(&self, done: u64) {
        // Below 0 it would wrap around, and ring again.
        let before = self.left.fetch_sub(done.min(self.left.load(Relaxed)), Relaxed);
        if before > 0 && before <= done {
            (self.ring)();
        }
    }
}

impl Progress for RunProgress<'_> {
    fn begin(&self, stage: &str, total: Option<u64>, unit: ProgressUnit) {
        let known = self.iterations.filter(|_| unit == ProgressUnit::Iterations);
        self.progress.begin(stage, total.or(known), unit);
    }

    fn advance(&self, done: u64) {
        self.progress.advance(done);
        if let Some(alarm) = &self.alarm {
            alarm.advance(done);
        }
    }

    fn end(&self) {
        self.progress.end();
    }
}

fn terminal_width() -> usize {
    // Some terminals do not know their width, and tell 0.
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col);
    if columns == 0 { 80 } else { usize::from(columns) }
}

/// The state of a stage.
struct Moment {
    done: u64,
    total: Option<u64>,
    /// Units per second, once known.
    rate: Option<f64>,
    left: Duration,
    elapsed: Duration,
}

impl Moment {
    /// Returns the line that shows it.
    fn line(&self, stage: &str, unit: ProgressUnit, width: usize) -> String {
        let width = width.min(WIDTH_MAX).saturating_sub(MARGIN);
        let figures = self.figures(unit);
        let reserved =
            if unit == ProgressUnit::Iterations { ITERATIONS_WIDTH } else { FIGURES_WIDTH };
        let room = width.saturating_sub(stage.chars().count() + 4 + reserved);
        let line = match self.total {
            Some(total) if room >= BAR_WIDTH_MIN && figures.chars().count() <= reserved => {
                let bar = bar(self.done, total, room.min(BAR_WIDTH_MAX));
                format!("{stage} [{bar}] {figures}")
            }
            _ => format!("{stage}: {figures}"),
        };
        // A line that wraps could not be cleared.
        line.chars().take(width).collect()
    }

    fn figures(&self, unit: ProgressUnit) -> String {
        let amount = |number| amount(number, unit);
        let percent = |total: u64| (100.0 * self.done as f64 / total.max(1) as f64) as u64;
        let mut text = match (self.total, unit) {
            (None, _) => amount(self.done),
            (Some(total), ProgressUnit::Iterations | ProgressUnit::Jobs) => {
                format!("{} of {}", report::count(self.done), amount(total))
            }
            (Some(total), _) => format!("{} % of {}", percent(total).min(100), amount(total)),
        };
        if let Some(rate) = self.rate {
            let rate = match unit {
                ProgressUnit::Bytes => report::bytes(rate as u64),
                ProgressUnit::Edges => report::short_count(rate, "edges"),
                ProgressUnit::Vertices => report::short_count(rate, "vertices"),
                ProgressUnit::Iterations => report::short_count(rate, "iterations"),
                ProgressUnit::Jobs => report::short_count(rate, "jobs"),
            };
            text += &format!(", {rate}/s");
        }
        match (self.total, self.rate) {
            (None, _) => text + &format!(", {}", whole_seconds(self.elapsed)),
            (Some(_), Some(_)) => text + &format!(", {} left", whole_seconds(self.left)),
            (Some(_), None) => text,
        }
    }
}

/// Formats a number of a stage's units.
fn amount(number: u64, unit: ProgressUnit) -> String {
    match unit {
        ProgressUnit::Bytes => report::bytes(number),
        ProgressUnit::Edges => report::short_count(number as f64, "edges"),
        ProgressUnit::Vertices => report::short_count(number as f64, "vertices"),
        ProgressUnit::Iterations => report::counted(number, "iteration", "iterations"),
        ProgressUnit::Jobs => report::counted(number, "job", "jobs"),
    }
}

/// Formats a time span without fractions, unless it is long.
fn whole_seconds(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        _ => report::time(span),
    }
}

fn bar(done: u64, total: u64, width: usize) -> String {
    let filled = (done as f64 / total.max(1) as f64 * width as f64) as usize;
    let filled = filled.min(width);
    let tip = if filled < width { ">" } else { "" };
    format!("{:<width$}", "=".repeat(filled) + tip)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(done: u64, total: Option<u64>, rate: Option<f64>) -> Moment {
        let (left, elapsed) = (Duration::from_secs(90), Duration::from_millis(4200));
        Moment { done, total, rate, left, elapsed }
    }

    #[test]
    fn lines_fit_the_terminal_and_do_not_jump() {
        let large = 1 << 60;
        for unit in [
            ProgressUnit::Bytes,
            ProgressUnit::Edges,
            ProgressUnit::Vertices,
            ProgressUnit::Iterations,
        ] {
            for width in [10, 40, 80, 96, 200] {
                for total in [None, Some(large)] {
                    let line = moment(large / 3, total, Some(1e11)).line("reading", unit, width);
                    assert!(line.chars().count() + MARGIN <= width.min(WIDTH_MAX), "{line}");
                }
            }
        }
        let line =
            moment(58, Some(3000), Some(35.3)).line("iterating", ProgressUnit::Iterations, 80);
        assert!(line.contains('[') && line.ends_with("90 s left"), "{line}");
        let start = |done| {
            let line =
                moment(done, Some(9 << 20), Some(1e5)).line("reading", ProgressUnit::Edges, 80);
            line.find(']')
        };
        assert!(start(1).is_some() && start(1) == start(9 << 20));
    }

    #[test]
    fn rates_are_shown_once_they_are_known() {
        let figures = |done, total, rate, unit| moment(done, total, rate).figures(unit);
        let (edges, iterations) = (ProgressUnit::Edges, ProgressUnit::Iterations);
        assert_eq!(figures(0, Some(2_000_000), None, edges), "0 % of 2.0 M edges");
        let known = figures(1_000_000, Some(2_000_000), Some(26.34e6), edges);
        assert_eq!(known, "50 % of 2.0 M edges, 26.3 M edges/s, 90 s left");
        let known = figures(9, Some(60), Some(2.51), iterations);
        assert_eq!(known, "9 of 60 iterations, 2.5 iterations/s, 90 s left");
        assert_eq!(figures(1, None, None, iterations), "1 iteration, 4 s");
    }

    #[test]
    fn a_known_number_of_iterations_is_the_length_of_the_bar() {
        let bars = Bars::default();
        let progress = RunProgress { iterations: Some(60), ..RunProgress::of(&bars) };
        let length = || bars.bar().as_ref().and_then(ProgressBar::length);
        progress.begin("iterating", None, ProgressUnit::Iterations);
        assert_eq!(length(), Some(60));
        progress.begin("reading", None, ProgressUnit::Bytes);
        assert_eq!(length(), None);
        progress.end();
    }

    #[test]
    fn an_alarm_rings_once_and_not_before_its_time() {
        let rung = AtomicU64::new(0);
        let ring = || rung.store(rung.load(Relaxed) + 1, Relaxed);
        let alarm = Alarm::after(3, &ring);
        let progress =
            RunProgress { alarm: Some(alarm), ..RunProgress::of(&tegula_machine::threads::Silent) };
        let heard = [1, 1, 1, 1, 5].map(|done| {
            progress.advance(done);
            rung.load(Relaxed)
        });
        assert_eq!(heard, [0, 0, 1, 1, 1]);
    }

    #[test]
    fn a_stage_is_logged_with_what_was_done_and_the_time() {
        let line = |unit, done| {
            let stage = LoggedStage { name: "work".into(), unit, done, begun: Instant::now() };
            stage.line(Duration::from_millis(2000))
        };
        assert_eq!(
            line(ProgressUnit::Edges, 5_000_000),
            "work: 5.0 M edges in 2.00 s, 2.50 M edges/s"
        );
        assert_eq!(line(ProgressUnit::Bytes, 3 << 20), "work: 3.0 MiB in 2.00 s, 1.5 MiB/s");
        assert_eq!(
            line(ProgressUnit::Iterations, 1),
            "work: 1 iteration in 2.00 s, 0.50 iterations/s"
        );
        let log = StageLog::default();
        log.begin("first", None, ProgressUnit::Edges);
        log.advance(3);
        log.advance(4);
        assert_eq!(lock(&log.0).as_ref().map(|stage| stage.done), Some(7));
        log.begin("second", None, ProgressUnit::Bytes);
        assert_eq!(lock(&log.0).as_ref().map(|stage| stage.done), Some(0));
        log.end();
        assert!(lock(&log.0).is_none());
    }

    #[test]
    fn stages_follow_each_other() {
        let bars = Bars::default();
        bars.begin("first", Some(10), ProgressUnit::Edges);
        bars.advance(3);
        assert_eq!(bars.bar().as_ref().map(ProgressBar::position), Some(3));
        bars.begin("second", None, ProgressUnit::Bytes);
        assert_eq!(bars.bar().as_ref().map(ProgressBar::position), Some(0));
        bars.end();
        bars.advance(1);
        assert!(bars.bar().is_none());
    }
}
