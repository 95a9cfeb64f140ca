//! The program `tegula-mpi`: `tegula run` on ranks that `mpirun`, Slurm or Kubernetes start.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use tegula_cli::{OrEnd, run_command_on_rank};
use tegula_mpi::{Ended, Mpi, Settings};

#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let settings = Settings::default();
    match Mpi::run(&settings, |mpi| run_command_on_rank(&words, mpi, &settings.cancel)) {
        Ok(Ended { result, departure, .. }) => departure.leave(result),
        Err(error) => {
            // Nobody is left to be told where standard error is closed.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(settings.exit_code)
        }
    }
}
