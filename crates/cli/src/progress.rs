//! Progress bars: where the work is, how fast, and how long it will take.

use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tegula_store::{Progress, Unit};

use crate::report;

/// Time between two pictures of a bar that does not move.
const TICK: Duration = Duration::from_millis(200);

/// One bar a stage, on standard error.
#[derive(Default)]
pub struct Bars(Mutex<Option<ProgressBar>>);

impl Bars {
    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bars {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(template(unit, total.is_some())) {
            let rate = |state: &ProgressState, out: &mut dyn Write| {
                // What a bar cannot show is not worth an error.
                let _ = out.write_str(&report::per_second(state.per_sec(), "edges"));
            };
            bar.set_style(style.progress_chars("=> ").with_key("edge_rate", rate));
        }
        bar.set_message(stage.to_owned());
        bar.enable_steady_tick(TICK);
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

fn template(unit: Unit, has_total: bool) -> &'static str {
    match (unit, has_total) {
        (Unit::Bytes, true) => {
            "{msg:20} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left"
        }
        (Unit::Bytes, false) => "{spinner} {msg:20} {bytes}, {bytes_per_sec}, {elapsed}",
        (Unit::Edges, true) => {
            "{msg:20} [{bar:30}] {human_pos} of {human_len} edges, {edge_rate}, {eta} left"
        }
        (Unit::Edges, false) => "{spinner} {msg:20} {human_pos} edges, {edge_rate}, {elapsed}",
        (Unit::Iterations, true) => {
            "{msg:20} [{bar:30}] {human_pos} of {human_len} iterations, {eta} left"
        }
        (Unit::Iterations, false) => {
            "{spinner} {msg:20} {human_pos} iterations, {per_sec}, {elapsed}"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_valid() {
        for unit in [Unit::Bytes, Unit::Edges, Unit::Iterations] {
            for has_total in [false, true] {
                let style = ProgressStyle::with_template(template(unit, has_total));
                assert!(style.is_ok(), "{unit:?} {has_total}");
            }
        }
    }

    #[test]
    fn stages_follow_each_other() {
        let bars = Bars::default();
        bars.begin("first", Some(10), Unit::Edges);
        bars.advance(3);
        assert_eq!(bars.bar().as_ref().map(ProgressBar::position), Some(3));
        bars.begin("second", None, Unit::Bytes);
        assert_eq!(bars.bar().as_ref().map(ProgressBar::position), Some(0));
        bars.end();
        bars.advance(1);
        assert!(bars.bar().is_none());
    }
}
