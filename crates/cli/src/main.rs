//! The program `tegula`.

use std::ffi::OsString;
use std::process::ExitCode;

use tegula_cli::{OrEnd, run_command};

#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(run_command(&words))
}
