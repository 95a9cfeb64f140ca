//! `tegula probe`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{self, Backend, DeviceProfile, KnownDevices, ProbeConfig};
use tegula_machine::memory::READING_THREADS_MAX;
use tegula_store::{At, Error, Place};

use crate::args::Io;
use crate::errors::Result;
use crate::json::{self, Seconds};
use crate::report::{self, Curve, Facts};
use crate::session::Session;
use crate::stdout;

/// The help after the options.
const AFTER_HELP: &str = "\
What is chosen is remembered in $XDG_CACHE_HOME/tegula/devices.json, or else \
~/.cache/tegula/devices.json. Probe again to replace it; remove the file to forget it.";

/// Options of `tegula probe`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ProbeArgs {
    /// A folder on the device, where a file of 1 GiB is written and removed again; or a large file,
    /// which is read.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// How it is read. A measurement with threads is for comparison, and is not remembered.
    #[arg(long, value_enum, default_value_t = Io::Auto)]
    io: Io,
}

/// Turns errors about a damaged graph into errors about the probed file, which is unfit for a
/// probe.
fn of_any_file(error: MachineError) -> Error {
    match error {
        MachineError::Corrupt { path: file, detail, .. } => {
            let detail = format!("{detail}; give a larger file, or a folder on the device");
            Error::bad_input(Place { file, at: At::File }, detail)
        }
        other => other.into(),
    }
}

/// Measures how fast a device is read, and remembers how it is read best.
pub fn probe(args: &ProbeArgs, session: &Session) -> Result<()> {
    stdout::check()?;
    let started = Instant::now();
    let backend = backend(args.io);
    let config = ProbeConfig::default();
    let profile = disk::probe(&args.path, &backend, &config, session.progress(), &session.cancel)
        .map_err(of_any_file)?;
    let remembered = if args.io == Io::Threads { None } else { remember(&profile) };
    let elapsed = started.elapsed();
    if session.json {
        return session.print_json(&json::Probe {
            schema: "tegula.probe.v1",
            profile: &profile,
            seconds: Seconds(elapsed),
            remembered,
        });
    }
    let mut facts = facts(&profile);
    facts.add("time", report::time(elapsed));
    if let Some(place) = remembered {
        facts.add("remembered in", place);
    }
    session.print(&format!(
        "{} is on {}\n\nrandom reads of 4 KiB, in flight\n{}\n\n\
         sequential reads, size and number in flight\n{}\n\nbest read with\n{}",
        report::path(&args.path),
        profile.mount_point,
        random_curve(&profile).to_text(),
        sequential_curve(&profile).to_text(),
        facts.to_text(),
    ))
}

/// Returns the backend, with the most threads that runs may have, independent of earlier probes.
fn backend(io: Io) -> Backend {
    match io {
        Io::Auto => Backend::Auto,
        Io::Uring => Backend::Uring,
        Io::Threads => {
            let threads = NonZeroUsize::new(READING_THREADS_MAX as usize);
            Backend::Threads(threads.unwrap_or(disk::THREADS_DEFAULT))
        }
    }
}

/// Remembers the targets; returns where. A failure is only logged: the figures are still worth
/// showing.
fn remember(profile: &DeviceProfile) -> Option<String> {
    let known = KnownDevices::of_user()?;
    match known.keep(profile) {
        Ok(()) => Some(known.path().display().to_string()),
        Err(error) => {
            tracing::warn!(%error, "the targets are not remembered");
            None
        }
    }
}

fn random_curve(profile: &DeviceProfile) -> Curve {
    let mut curve = Curve::default();
    for rate in &profile.random {
        let figure = report::per_second(rate.reads_per_second as f64, "reads");
        let is_chosen = rate.in_flight == profile.targets.random_requests;
        curve.add(rate.in_flight.to_string(), figure, rate.reads_per_second, is_chosen);
    }
    curve
}

fn sequential_curve(profile: &DeviceProfile) -> Curve {
    let targets = &profile.targets;
    let mut curve = Curve::default();
    for rate in &profile.sequential {
        let figure = format!("{}/s", report::bytes(rate.bytes_per_second));
        let name = format!("{} x {:>2}", report::bytes(rate.request_bytes), rate.in_flight);
        let in_flight = rate.request_bytes * u64::from(rate.in_flight);
        let is_chosen = rate.request_bytes == targets.request_bytes_max
            && in_flight == targets.sequential_bytes;
        curve.add(name, figure, rate.bytes_per_second, is_chosen);
    }
    curve
}

fn facts(profile: &DeviceProfile) -> Facts {
    let targets = &profile.targets;
    let mut facts = Facts::default();
    let reads = u64::from(targets.random_requests);
    facts.add("random reads in flight", report::count(reads));
    facts.add("sequential bytes in flight", report::bytes(targets.sequential_bytes));
    facts.add("largest request", report::bytes(targets.request_bytes_max));
    facts.add("gap read through", report::bytes(targets.gap_bytes_max));
    facts
}
