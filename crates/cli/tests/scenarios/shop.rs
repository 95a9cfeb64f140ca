//! A scratch folder in which the command is called, and helpers that read its output.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tegula_testkit::data::skip;
use tegula_testkit::{EdgeList, Scratch};

/// A scratch folder. Every command runs in it, so names are relative.
pub struct Shop(Scratch);

/// The output of a command, and its exit code.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Asserts success; otherwise shows the error.
    #[track_caller]
    pub fn done(self) -> Said {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    /// Asserts failure with this exit code and all of these words.
    #[track_caller]
    pub fn failed(self, code: i32, words: &[&str]) -> Said {
        assert_eq!(self.code, Some(code), "{} {}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "no `{word}` in: {}", self.err);
        }
        if !self.out.is_empty() {
            let told = self.json();
            assert_eq!(told["schema"], "tegula.error.v1", "a failure prints no result");
            assert_eq!(told["exit_code"], code, "{told}");
        }
        self
    }

    /// Returns the one JSON object on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{}", self.out);
        let value: Value = serde_json::from_str(&self.out).unwrap();
        assert!(value.is_object(), "{value}");
        value
    }
}

impl Shop {
    pub fn new() -> Shop {
        Shop(Scratch::new())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns all names in the folder, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the files of a folder with their contents.
    pub fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.map(|name| (name.clone(), self.read(&format!("{folder}/{name}")))).collect()
    }

    /// Returns the command with these words, not started.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tegula"));
        command.args(words.split_whitespace()).current_dir(self.0.path());
        command.env_remove("TEGULA_LOG").env_remove("NO_COLOR");
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    /// Calls the command with these words and waits for its end.
    pub fn tegula(&self, words: &str) -> Said {
        said(&mut self.command(words))
    }

    /// Runs a line in a shell, in which `$T` is the command.
    pub fn shell(&self, line: &str) -> Said {
        said(&mut self.shell_command(line))
    }

    /// Returns the same, not started.
    pub fn shell_command(&self, line: &str) -> Command {
        let command = self.command("");
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).env("T", command.get_program()).current_dir(self.0.path());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell
    }

    /// Starts the command with all its streams as pipes.
    pub fn start(&self, words: &str) -> Child {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Imports a list of edges as `g.tegula`, replacing an earlier one.
    pub fn import(&self, graph: &EdgeList, options: &str) {
        let line = |(number, (source, target)): (usize, &(u64, u64))| match &graph.weights {
            None => format!("{source} {target}\n"),
            Some(weights) => format!("{source} {target} {}\n", weights[number]),
        };
        self.write("g.el", graph.edges.iter().enumerate().map(line).collect::<String>());
        let weighted = if graph.weights.is_some() { "--weighted" } else { "" };
        self.tegula(&format!(
            "import g.el -o g.tegula --force --ids integer --allow-empty {weighted} {options}"
        ))
        .done();
    }
}

pub fn said(command: &mut Command) -> Said {
    let output = command.stdin(Stdio::null()).output().unwrap();
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Waits until `holds`, which must happen while the process runs.
#[track_caller]
pub fn wait_until(child: &mut Child, holds: impl Fn() -> bool) {
    loop {
        let has_ended = child.try_wait().unwrap().is_some();
        if holds() {
            return;
        }
        assert!(!has_ended, "the process has ended, and it never came to that");
        sleep(Duration::from_millis(5));
    }
}

/// A table of text: the header, and the cells of each row.
pub type Lines = (Vec<String>, Vec<Vec<String>>);

/// Splits text into cells; no quotes are expected.
pub fn lines(text: &str, separator: char) -> Lines {
    let split = |line: &str| line.split(separator).map(str::to_owned).collect();
    let mut lines = text.lines().map(split);
    (lines.next().unwrap(), lines.collect())
}

/// Returns a column of a tab-separated table by vertex; `None` where the cell is empty.
pub fn column(text: &str, name: &str) -> Vec<(u64, Option<String>)> {
    let (header, rows) = lines(text, '\t');
    assert_eq!(header[0], "vertex");
    let index = header.iter().position(|column| column == name).unwrap();
    let cell = |row: &Vec<String>| Some(row[index].clone()).filter(|cell| !cell.is_empty());
    rows.iter().map(|row| (row[0].parse().unwrap(), cell(row))).collect()
}

/// Returns the same as numbers; every cell must be filled.
pub fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>>(
    text: &str,
    name: &str,
) -> Vec<(u64, T)> {
    let rows = column(text, name).into_iter();
    rows.map(|(vertex, cell)| (vertex, cell.unwrap().parse().unwrap())).collect()
}

/// Returns the same as numbers with gaps.
pub fn numbers_with_gaps(text: &str, name: &str) -> Vec<(u64, Option<u64>)> {
    let rows = column(text, name).into_iter();
    rows.map(|(vertex, cell)| (vertex, cell.map(|cell| cell.parse().unwrap()))).collect()
}

/// Returns the names of an object's fields and the kinds of their values.
pub fn shape(value: &Value) -> BTreeMap<&str, &'static str> {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    value.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), kind(value))).collect()
}

/// Asserts that an object has at least these fields, of these kinds.
#[track_caller]
pub fn assert_shape(value: &Value, expected: &[(&str, &str)]) {
    let shape = shape(value);
    for (name, kind) in expected {
        assert_eq!(shape.get(name), Some(kind), "{name} in {value}");
    }
}

/// Whether a program can be called; if not, says that its test is skipped.
pub fn has_program(name: &str) -> bool {
    let has_it = Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !has_it {
        skip(&format!("there is no `{name}`"));
    }
    has_it
}
