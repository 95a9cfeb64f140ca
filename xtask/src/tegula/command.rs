//! Runs the `tegula` command and other programs.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::{Result, target_folder};

/// The environment variable that names a command to use instead of building one.
pub const BINARY_VARIABLE: &str = "TEGULA_BIN";

/// The exit code of a run that does not fit its budget.
const OVER_BUDGET: i32 = 4;

/// The command, built for release.
#[derive(Debug, Clone)]
pub struct Tegula {
    binary: PathBuf,
}

impl Tegula {
    /// Builds the command if it is not up to date, or takes the one that `TEGULA_BIN` names.
    pub fn build(root: &Path) -> Result<Tegula> {
        if let Some(binary) = std::env::var_os(BINARY_VARIABLE) {
            return Ok(Tegula::at(binary));
        }
        cargo_build(root, &["--bin", "tegula"])?;
        let name = format!("tegula{}", std::env::consts::EXE_SUFFIX);
        Ok(Tegula { binary: target_folder()?.join("release").join(name) })
    }

    /// Takes the command at a path.
    pub fn at(path: impl Into<PathBuf>) -> Tegula {
        Tegula { binary: path.into() }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.binary
    }

    /// Runs it with `--json`; returns the object that it prints.
    ///
    /// # Errors
    /// With its message where it fails.
    pub fn json<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Value> {
        self.json_within_budget(arguments)?.ok_or_else(|| "it does not fit its budget".into())
    }

    /// Runs it as [`Tegula::json`] does; `None` where the budget is too small.
    ///
    /// # Errors
    /// Where it fails for another reason.
    pub fn json_within_budget<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Option<Value>> {
        let mut command = Command::new(&self.binary);
        command.args(arguments).arg("--json").stdin(Stdio::null());
        let output = command.output().map_err(|e| format!("{}: {e}", self.binary.display()))?;
        if output.status.code() == Some(OVER_BUDGET) {
            return Ok(None);
        }
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            let words: Vec<_> = arguments.iter().map(|a| a.as_ref().to_string_lossy()).collect();
            return Err(format!("tegula {}: {}", words.join(" "), message.trim()).into());
        }
        Ok(Some(serde_json::from_slice(&output.stdout)?))
    }
}

/// Builds a part of the workspace for release.
pub fn cargo_build(root: &Path, what: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--quiet", "--release"]).args(what);
    if !command.status()?.success() {
        return Err(format!("cargo build --release {} failed", what.join(" ")).into());
    }
    Ok(())
}

/// Returns the first line that a program prints, if it runs.
pub fn first_line(program: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.lines().next().unwrap_or_default().to_owned())
}

/// A program that holds a graph and answers each line with a line of JSON. Dropping this value ends
/// it.
pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    name: String,
}

impl Worker {
    /// Starts it.
    pub fn start(command: &mut Command) -> Result<Worker> {
        let name = command.get_program().to_string_lossy().into_owned();
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().map_err(|error| format!("{name}: {error}"))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Worker { child, requests, answers, name })
    }

    /// Waits for the next answer.
    ///
    /// # Errors
    /// Where the program has ended, or answers with something other than JSON.
    pub fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        if line.is_empty() {
            let status = self.child.wait()?;
            return Err(format!("{} ended without an answer ({status})", self.name).into());
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The program has ended, or its answer is no JSON.
    pub fn ask(&mut self, request: &str) -> Result<Value> {
        if let Some(requests) = &mut self.requests {
            // If the program has ended, reading its answer reports that.
            let _ = writeln!(requests, "{request}").and_then(|()| requests.flush());
        }
        self.answer()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It ends when its input ends; its exit code tells nothing new.
        self.requests = None;
        let _ = self.child.wait();
    }
}

/// Returns a number in an answer.
///
/// # Errors
/// Where there is none at `path`, as in `/seconds/run`.
pub fn number(answer: &Value, path: &str) -> Result<f64> {
    let found = answer.pointer(path).and_then(Value::as_f64);
    found.ok_or_else(|| format!("there is no number {path} in {answer}").into())
}

/// Returns a whole number in an answer.
///
/// # Errors
/// Where there is no whole number at `path`.
pub fn whole(answer: &Value, path: &str) -> Result<u64> {
    let found = answer.pointer(path).and_then(Value::as_u64);
    found.ok_or_else(|| format!("there is no whole number {path} in {answer}").into())
}

/// Returns the numbers of a list in an answer.
///
/// # Errors
/// Where there is no such list, or it is empty.
pub fn numbers(answer: &Value, path: &str) -> Result<Vec<f64>> {
    let list = answer.pointer(path).and_then(Value::as_array);
    let list: Option<Vec<f64>> = list.and_then(|list| list.iter().map(Value::as_f64).collect());
    let found = list.filter(|list| !list.is_empty());
    found.ok_or_else(|| format!("there are no numbers {path} in {answer}").into())
}

/// Returns a vertex in an answer as it is named on the command line.
///
/// # Errors
/// Where it is neither a number nor a string.
pub fn vertex(answer: &Value, path: &str) -> Result<String> {
    match answer.pointer(path) {
        Some(Value::Number(id)) => Ok(id.to_string()),
        Some(Value::String(id)) => Ok(id.clone()),
        _ => Err(format!("there is no vertex {path} in {answer}").into()),
    }
}
