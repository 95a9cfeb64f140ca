//! Ends a run in good order on Ctrl-C, and on the signals that a system or a closed terminal sends
//! to ask for it.

use std::fs;
use std::io;
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use tegula_machine::threads::{Cancel, start};

/// Cancels on the first of these signals and calls `second` on each further one, from a thread of
/// its own. If the system starts no such thread, the second signal ends the process at once. A
/// signal stays ignored if it was ignored when the process began, as under `nohup`.
pub fn listen(cancel: &Cancel, second: impl Fn() + Send + 'static) -> io::Result<()> {
    // With a handler, a file that exceeds `ulimit -f` makes its write fail. Without one, the signal
    // would end the process, and unfinished files would stay.
    flag::register(SIGXFSZ, Arc::default())?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored(&status);
    let heard =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Here, because the thread could not return an error.
    let mut signals = Signals::new(heard.clone())?;
    let first = cancel.clone();
    let listening = start("signals", move || {
        let mut signals = signals.forever();
        signals.next().into_iter().for_each(|_| first.cancel());
        signals.for_each(|_| second());
    });
    if listening.is_ok() {
        return Ok(());
    }
    heard.into_iter().try_for_each(|signal| {
        // The order matters: at the first signal the switch is still off.
        flag::register_conditional_default(signal, cancel.switch())?;
        flag::register(signal, cancel.switch()).map(drop)
    })
}

/// Returns the signals that are ignored according to `/proc/self/status`: bit `n - 1` is signal
/// `n`.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_hexadecimal() {
        let status =
            "SigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000440\n";
        assert_eq!(ignored(status), 0x1001);
        assert_eq!(ignored("Name:\ttegula\n"), 0);
    }
}
