//! `tegula completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::command_line::Cli;
use crate::errors::Result;
use crate::json;
use crate::session::Session;
use crate::stdout;

/// Options of the command.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
}

/// Prints a script that lets a shell complete commands, algorithms and options.
pub fn completions(args: &CompletionsArgs, session: &Session) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tegula", &mut script);
    let script = String::from_utf8_lossy(&script);
    if session.json {
        let shell = args.shell.to_string();
        let object = json::Completions { schema: "tegula.completions.v1", shell, script: &script };
        return session.print_json(&object);
    }
    stdout::write(&script)
}
