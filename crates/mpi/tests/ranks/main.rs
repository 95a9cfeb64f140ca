//! Runs scenarios in processes that `mpirun` starts, and checks what each rank says and how all
//! end.
//!
//! Without arguments, this program runs every scenario; with arguments, those whose names contain
//! one. It starts itself as the ranks, and tells them the scenario by an environment variable. It
//! needs Open MPI's `mpirun`.

mod expected;
mod scenarios;

use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tegula_comm::Comm;
use tegula_mpi::{Ended, Mpi};

use expected::{EXPECTED, Expected};
use scenarios::SCENARIOS;

/// Tells a process that it is a rank of this scenario.
const SCENARIO: &str = "TEGULA_MPI_SCENARIO";

/// The time after which a scenario counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(SCENARIO) {
        return be_rank(&name);
    }
    if std::env::args().any(|arg| arg == "--ignored") {
        say("0 runs: no scenario is long");
        return ExitCode::SUCCESS;
    }
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_meant = |expected: &&Expected| {
        filters.is_empty() || filters.iter().any(|filter| expected.scenario.contains(filter))
    };
    let (mut done, mut failed) = (0, 0);
    for expected in EXPECTED.iter().filter(is_meant) {
        for &size in expected.sizes {
            let outcome = watch(expected, size);
            done += 1;
            failed += usize::from(outcome.is_err());
            let told = outcome.err().unwrap_or_else(|| "ok".to_owned());
            say(&format!("{} on {size} ranks ... {told}", expected.scenario));
        }
    }
    say(&format!("{done} runs, {failed} failed"));
    ExitCode::from(u8::from(failed > 0))
}

fn say(line: &str) {
    // Nobody is left to be told where the output is closed.
    let _ = io::stdout().write_all(format!("{line}\n").as_bytes());
}

/// Runs one rank of a scenario, and says its outcome in one line.
fn be_rank(name: &str) -> ExitCode {
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    let scenario = scenario.expect("the parent process names a scenario");
    let settings = (scenario.settings)();
    let ended = Mpi::run(&settings, |mpi| {
        let done = (scenario.work)(mpi, &settings.cancel);
        (mpi.rank(), done.map_or_else(|error| error.to_string(), |()| "ok".to_owned()))
    });
    match ended {
        Ok(Ended { result: (rank, told), failure, departure }) => {
            let ended = match failure {
                Some(_) if told == "ok" => ", but the work of all has ended",
                _ => "",
            };
            say(&format!("rank {rank}: {told}{ended}"));
            departure.leave(if told == "ok" && ended.is_empty() { 0 } else { 3 })
        }
        Err(error) => {
            say(&format!("no rank: {error}"));
            ExitCode::from(3)
        }
    }
}

/// Runs a scenario on ranks, and returns what is wrong with its outcome.
fn watch(expected: &Expected, size: usize) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = match expected.starter {
        Some(options) => {
            let mut command = Command::new("mpirun");
            command.args(["--oversubscribe", "-n", &size.to_string()]).args(options).arg(program);
            command
        }
        None => Command::new(program),
    };
    command.env(SCENARIO, expected.scenario).envs(expected.variables.iter().copied());
    // Containers have no other user.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let (status, output) = outcome(command)?;
    let mut told: Vec<&str> = output.lines().filter(|line| line.contains("rank")).collect();
    told.sort_unstable();
    let mut problem = String::new();
    if !status.code().is_some_and(|code| expected.exit_codes.contains(&code)) {
        _ = write!(problem, "FAILED: {status}, expected {:?}", expected.exit_codes);
    }
    for line in (expected.lines)(size) {
        if !told.contains(&&*line) {
            _ = write!(problem, "\n  FAILED: nobody says `{line}`");
        }
    }
    if problem.is_empty() { Ok(()) } else { Err(format!("{problem}\n{output}")) }
}

/// Returns how a command ended, and what it said.
fn outcome(mut command: Command) -> Result<(ExitStatus, String), String> {
    let failed = |error: io::Error| format!("FAILED: {command:?}: {error}");
    let (mut reader, writer) = io::pipe().map_err(failed)?;
    let for_errors = writer.try_clone().map_err(failed)?;
    let failed = |error: io::Error| format!("FAILED: {error}");
    let spawned = command.stdin(Stdio::null()).stdout(writer).stderr(for_errors).spawn();
    let mut child = spawned.map_err(failed)?;
    // This process must not keep the pipe open.
    drop(command);
    let reading = thread::spawn(move || {
        let mut output = Vec::new();
        reader.read_to_end(&mut output).map(|_| String::from_utf8_lossy(&output).into_owned())
    });
    let status = wait(&mut child).map_err(failed)?;
    let output = reading.join().map_err(|_| "FAILED: no output".to_owned())?.map_err(failed)?;
    status.map(|status| (status, output.clone())).ok_or(format!("FAILED: it hangs\n{output}"))
}

/// Waits for a process; returns `None` if it hangs, and ends it.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::park_timeout(Duration::from_millis(10));
    }
    // `mpirun` hands the signal on to the ranks.
    kill_process(Pid::from_child(child), Signal::TERM)?;
    child.wait()?;
    Ok(None)
}
