//! The program `tegula-mpi`: `tegula run` on ranks that `mpirun`, Slurm or Kubernetes start.

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroU64;
use std::process::ExitCode;
use std::time::Duration;

use tegula_cli::{OrEnd, run_command_on_rank};
use tegula_mpi::{Ended, Mpi, Settings};

#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

/// Names the seconds after which a silent rank counts as dead, for tests: they cannot wait for the
/// usual time.
const SILENCE: &str = "TEGULA_MPI_SILENCE";

/// Returns how this rank behaves when others fail.
fn settings() -> Settings {
    let usual = Settings::default();
    let seconds = std::env::var(SILENCE).ok().and_then(|text| text.parse().ok());
    let silence = seconds.map(|seconds: NonZeroU64| Duration::from_secs(seconds.get()));
    Settings { silence: silence.unwrap_or(usual.silence), ..usual }
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let settings = settings();
    match Mpi::run(&settings, |mpi| run_command_on_rank(&words, mpi, &settings.cancel)) {
        Ok(Ended { result, departure, .. }) => departure.leave(result),
        Err(error) => {
            // Nobody is left to be told where standard error is closed.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(settings.exit_code)
        }
    }
}
