//! Readers of edges.

use std::io::Cursor;
use std::path::Path;

use tegula_import::input::{ColumnChoice, EdgeChunk, Ends, Format, IdKind, Input, InputOptions};
use tegula_machine::threads::{Cancel, Silent};

use crate::{answer, choice, parts, put};

/// Bytes that a reader may hold: little, so that the blocks are small.
const MEMORY: u64 = 64 << 10;

/// Reads edges as a stream in a text format. The first two bytes choose the options.
pub fn of_stream(formats: &[Format], data: &[u8]) {
    let Some((options, text)) = options(formats, data) else { return };
    let stream = Box::new(Cursor::new(text.to_vec()));
    if let Some(input) = answer(Input::from_reader(stream, &options)) {
        read(&input);
    }
}

/// Reads edges from a file of this name. The first two bytes choose the options.
pub fn of_file(formats: &[Format], name: &str, data: &[u8]) {
    let Some((options, bytes)) = options(formats, data) else { return };
    resolve(&put(name, bytes), &options);
}

/// Reads edges from two files, of which only the first is named. A zero byte separates them.
pub fn of_files(format: Format, names: [&str; 2], data: &[u8]) {
    let Some((options, bytes)) = options(&[format], data) else { return };
    let (first, second) = parts(bytes);
    put(names[1], second);
    resolve(&put(names[0], first), &options);
}

/// Reads edges from a Parquet file.
pub fn of_parquet(path: &Path, weighted: bool) {
    let format = Format::Parquet;
    resolve(path, &InputOptions { format, weighted, threads: 1, ..InputOptions::default() });
}

fn resolve(path: &Path, options: &InputOptions) {
    if let Some(input) = answer(Input::resolve(&[path.to_owned()], options)) {
        read(&input);
    }
}

/// Takes the options from the first two bytes. `@` stands for the default of all.
fn options<'d>(formats: &[Format], data: &'d [u8]) -> Option<(InputOptions, &'d [u8])> {
    let (first, rest) = choice(data)?;
    let (second, rest) = choice(rest)?;
    let is_set = |byte: u8, bit: u8| byte >> bit & 1 == 1;
    let column = |position| Some(ColumnChoice::Position(position));
    let delimiter = [None, Some("tab"), Some("blank"), Some(","), Some(";"), Some("|")];
    let delimiter = delimiter[usize::from(second & 7) % delimiter.len()];
    let options = InputOptions {
        format: formats[usize::from(second >> 3 & 3) % formats.len()],
        weighted: is_set(first, 0),
        ids: [IdKind::Auto, IdKind::Integer, IdKind::String][usize::from(first >> 1 & 3) % 3],
        source_column: if is_set(first, 3) { column(2) } else { None },
        target_column: if is_set(first, 3) { column(1) } else { None },
        weight_column: if is_set(first, 7) { Some(ColumnChoice::Name("w".into())) } else { None },
        delimiter: delimiter.map(|name| name.parse().expect("a delimiter")),
        skip_bad_rows: if is_set(first, 4) { 2 } else { 0 },
        no_header: is_set(first, 5),
        threads: 1,
        memory: MEMORY,
        cancel: Cancel::default(),
    };
    Some((options, rest))
}

/// Reads all edges and checks what the reader promises of them.
pub fn read(input: &Input) {
    input.warnings().iter().for_each(|warning| assert!(!warning.message.is_empty()));
    let _ = input.columns_taken().count();
    let weighted = input.weighted();
    let check_chunk = |chunk: EdgeChunk<'_>| {
        check(&chunk, weighted);
        Ok(())
    };
    answer(input.read(&Silent, &Cancel::default(), &check_chunk));
}

fn check(chunk: &EdgeChunk<'_>, weighted: bool) {
    assert!(!chunk.is_empty());
    assert_eq!(chunk.weights.is_some(), weighted);
    if let Some(weights) = chunk.weights {
        assert_eq!(weights.len(), chunk.len());
        assert!(weights.iter().all(|weight| weight.is_finite()), "{weights:?}");
    }
    if let Ends::Strings { sources, targets } = chunk.ends {
        let is_id = |id: &[u8]| !id.is_empty() && std::str::from_utf8(id).is_ok();
        assert!(sources.iter().chain(targets.iter()).all(is_id));
    }
}
