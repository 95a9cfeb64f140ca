//! Finds the files of a folder. Other files that programs leave there are skipped or refused.

use std::fs;
use std::path::{Path, PathBuf};

use tegula_store::{Action, Diagnostic, Error, Hint, Result, graph};
use tegula_tables::read::{Ending, FileName, Format, bad_file};

use crate::settings::FORMAT;

/// Returns the files in a folder and its subfolders, ordered by name.
///
/// Names that begin with a dot or an underscore are skipped, as Spark, Hive and Arrow do: they are
/// markers, checksums and incomplete files. A file whose ending belongs to no format is refused,
/// unless the user gives the format of all files.
pub(super) fn files_in(folder: &Path, format: Format) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    add_files(folder, format, &mut Vec::new(), &mut files)?;
    if files.is_empty() {
        return Err(bad_file(folder, "the folder has no files"));
    }
    Ok(files)
}

fn add_files(
    folder: &Path,
    format: Format,
    above: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<()> {
    if graph::is_directory(folder) {
        let problem = Diagnostic::from("this is already a graph directory, not an edge list");
        return Err(bad_file(folder, problem.hint(Hint::from(Action::ExportGraph))));
    }
    let real = fs::canonicalize(folder).map_err(Error::io("read", folder))?;
    // Only folders above this one make a circle. Elsewhere, two links to a folder are found as
    // files named twice.
    if above.contains(&real) {
        return Err(bad_file(folder, "the folder is linked into itself; name the files"));
    }
    above.push(real);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        paths.push(entry.map_err(Error::io("read", folder))?.path());
    }
    // File systems list a folder in any order, but faults are told in the order of the files.
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        // Before names with a dot or an underscore are skipped, as these two have one.
        if name == b"_delta_log" || name == b".hoodie" {
            let detail = "this is a Delta Lake or Hudi table: it also contains files that were \
                          replaced; write its current state as Parquet";
            return Err(bad_file(folder, detail));
        }
        if name.starts_with(b".") || name.starts_with(b"_") {
            continue;
        }
        if path.is_dir() {
            add_files(&path, format, above, files)?;
        } else {
            check_ending(&path, format)?;
            files.push(path);
        }
    }
    above.pop();
    Ok(())
}

fn check_ending(path: &Path, format: Format) -> Result<()> {
    match FileName::of(path).ending() {
        Ending::Other(ending) if format == Format::Auto => {
            let message = format!(
                "`.{ending}` is not known as the ending of an edge list; name the files to be read"
            );
            let read_all = Hint::set([FORMAT]).detail("to read all files");
            Err(bad_file(path, Diagnostic::from(message).hint(read_all)))
        }
        Ending::Format(Format::Graphalytics) if format == Format::Auto => {
            let message = "these are the properties of a graph, which name other files of the folder; \
                           import only the properties";
            Err(bad_file(path, message))
        }
        Ending::Other(_) | Ending::Format(_) | Ending::Number | Ending::None => Ok(()),
    }
}
