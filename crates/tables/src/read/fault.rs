//! Makes errors about files.

use std::io;
use std::path::Path;

use tegula_store::{At, Diagnostic, Error, Place};

/// Makes the error for a fault of a whole file.
pub fn bad_file(path: &Path, problem: impl Into<Diagnostic>) -> Error {
    bad_at(path, At::File, problem)
}

/// Makes the error for a fault at a line, row or byte of a file.
pub fn bad_at(path: &Path, at: At, problem: impl Into<Diagnostic>) -> Error {
    Error::bad_input(Place { file: path.to_owned(), at }, problem)
}

/// The error for a file that cannot be opened, perhaps because its name is a URL or a shell
/// pattern.
pub(super) fn not_opened(path: &Path, error: io::Error) -> Error {
    // A file may have such a name, so the name is looked at only once no file is found.
    let name = path.to_string_lossy();
    let problem = match error.kind() {
        io::ErrorKind::NotFound if name.contains("://") => {
            "this is an address, and only files are read; download it first, or pipe it into standard input, which is \
             `-`"
        }
        io::ErrorKind::NotFound if name.contains(['*', '?', '[']) => {
            "there is no file of this name; if it is a pattern, leave out the quotes around it, so that the shell \
             expands it"
        }
        _ => return Error::io("open", path)(error),
    };
    bad_file(path, problem)
}
