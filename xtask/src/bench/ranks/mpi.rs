//! Runs `tegula-mpi` under `mpirun`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::cut::Cut;
use crate::bench::figure::median;
use crate::bench::lab::{Lab, text};
use crate::tegula::command::{BINARY_VARIABLE, cargo_build, first_line, number, numbers};
use crate::tegula::{Result, target_folder};

const NAME: &str = "tegula-mpi";
const LAUNCHER: &str = "mpirun";
/// Begins the words in which `mpirun` says that a process has failed.
const RULE: &str = "-----";

/// The command on ranks that are processes.
#[derive(Debug, Clone)]
pub struct Mpi {
    program: PathBuf,
    /// Starts the processes; `-n`, the number of ranks and the program follow.
    launcher: Vec<OsString>,
}

/// How ranks run.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// The threads of a rank.
    pub threads: usize,
    /// The budget of a rank. With a budget, the page cache is emptied before the run.
    pub memory: Option<u64>,
}

impl Mpi {
    /// Builds the program, or takes the one beside the command that `TEGULA_BIN` names. Without it
    /// or without `mpirun` there is a remark.
    pub fn find(lab: &mut Lab<'_>) -> Result<Option<Mpi>> {
        if first_line(LAUNCHER, &["--version"], lab.root).is_none() {
            lab.leave_out(&format!("this needs `{LAUNCHER}` of Open MPI."));
            return Ok(None);
        }
        let program = match std::env::var_os(BINARY_VARIABLE) {
            Some(binary) => Path::new(&binary).with_file_name(NAME),
            None => {
                cargo_build(lab.root, &["--features", "tegula-mpi/mpi", "--bin", NAME])?;
                target_folder()?.join("release").join(NAME)
            }
        };
        if !program.exists() {
            lab.leave_out(&format!("this needs {}.", program.display()));
            return Ok(None);
        }
        let launcher = [LAUNCHER, "--oversubscribe", "--bind-to", "none"];
        Ok(Some(Mpi { program, launcher: launcher.map(OsString::from).to_vec() }))
    }

    /// Returns the same program under another launcher.
    pub fn under(&self, launcher: Vec<OsString>) -> Mpi {
        Mpi { launcher, ..self.clone() }
    }

    /// Runs an algorithm on all shards; returns what the first rank reports.
    ///
    /// # Errors
    /// With the message of the rank that fails.
    pub fn run(
        &self,
        lab: &Lab<'_>,
        algorithm: &str,
        cut: &Cut,
        share: Share,
        options: &[&str],
    ) -> Result<Value> {
        let (threads, memory) = (share.threads.to_string(), share.memory.map(|it| it.to_string()));
        let mut arguments = vec!["run", algorithm, text(&cut.folder)?, "--threads", &threads];
        arguments.extend(options);
        if let Some(memory) = &memory {
            arguments.extend(["--memory", memory]);
            for rank in 0..cut.ranks() {
                lab.cache.drop(&cut.folder.join(format!("rank-{rank}.tegula")))?;
            }
        }
        self.json(cut.ranks(), &arguments)
    }

    fn json(&self, ranks: usize, arguments: &[&str]) -> Result<Value> {
        let (first, rest) = self.launcher.split_first().ok_or("no launcher")?;
        let mut command = Command::new(first);
        command.args(rest).args(["-n", &ranks.to_string()]).arg(&self.program).args(arguments);
        // Containers have no user but root.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let output = command.arg("--json").stdin(Stdio::null()).output()?;
        if !output.status.success() {
            let message = own_words(&String::from_utf8_lossy(&output.stderr));
            return Err(format!("{NAME} {}: {message}", arguments.join(" ")).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// Returns what the program says itself, without what `mpirun` adds.
fn own_words(message: &str) -> String {
    let own = message.lines().take_while(|line| !line.starts_with(RULE));
    let own: Vec<&str> = own.map(str::trim).filter(|line| !line.is_empty()).collect();
    if own.is_empty() { message.trim().to_owned() } else { own.join(" ") }
}

/// Returns the bytes that all ranks of a run have read, or its one process.
pub fn bytes_read(run: &Value) -> Result<f64> {
    match run.get("ranks") {
        Some(_) => Ok(of_ranks(run, "bytes_read")?.iter().sum()),
        None => number(run, "/bytes_read"),
    }
}

/// Returns the median of the iterations of a run.
pub fn iteration(run: &Value) -> Result<f64> {
    Ok(median(&numbers(run, "/iteration_seconds")?))
}

/// Returns a number that each rank of a run reports.
///
/// # Errors
/// Where a rank does not report it.
pub fn of_ranks(run: &Value, field: &str) -> Result<Vec<f64>> {
    let ranks = run.get("ranks").and_then(Value::as_array);
    let ranks = ranks.ok_or_else(|| format!("there are no ranks in {run}"))?;
    ranks.iter().map(|rank| number(rank, &format!("/{field}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_launcher_are_left_out() {
        let message = "error: it does not fit\n  help: use more\n\n-----------\nmpirun detected\n";
        assert_eq!(own_words(message), "error: it does not fit help: use more");
        assert_eq!(own_words("-----\nno such host\n-----\n"), "-----\nno such host\n-----");
    }
}
