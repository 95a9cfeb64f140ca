//! Readers of tables with a row for each vertex.

use std::panic;
use std::path::Path;
use std::sync::Once;

use tegula_machine::threads::{Cancel, is_in_foreign_code};
use tegula_tables::{AttributeTable, Presence, ValueColumn, VertexColumns, VertexTable};

use crate::{answer, choice, edges, put};

/// Names of a file, each with the ending of another format.
pub const NAMES: [&str; 4] = ["table.csv", "table.tsv", "table.txt", "table.v"];

const WEIGHT: ValueColumn = ValueColumn {
    role: "weight",
    names: &["weight", "w"],
    is_number: true,
    presence: Presence::Required,
};
const LABEL: ValueColumn = ValueColumn {
    role: "label",
    names: &["label"],
    is_number: false,
    presence: Presence::MayBeEmpty,
};
const REMARK: ValueColumn = ValueColumn {
    role: "remark",
    names: &["remark"],
    is_number: false,
    presence: Presence::Optional,
};

/// The columns beside the ids, which a table may have to have.
const VALUES: [&[ValueColumn]; 4] = [&[], &[WEIGHT], &[LABEL, WEIGHT], &[WEIGHT, REMARK]];

/// Reads a table of vertices in a text format. The first byte chooses the format and the columns.
pub fn vertices_of_text(data: &[u8]) {
    let Some((choice, text)) = choice(data) else { return };
    vertices(&put(NAMES[usize::from(choice & 3)], text), choice >> 2);
}

/// Reads a table of attributes in a text format. The first byte chooses the format.
pub fn attributes_of_text(data: &[u8]) {
    let Some((choice, text)) = choice(data) else { return };
    attributes(&put(NAMES[usize::from(choice & 3)], text));
}

/// Reads a Parquet file as edges and as both kinds of tables.
pub fn parquet(data: &[u8]) {
    let Some((choice, bytes)) = choice(data) else { return };
    forgive_foreign_panics();
    let path = put("table.parquet", bytes);
    match choice & 3 {
        0 => attributes(&path),
        1 => vertices(&path, choice >> 2),
        _ => edges::of_parquet(&path, choice & 1 == 1),
    }
}

/// Keeps panics of the Parquet library from ending the process: readers make errors of them.
fn forgive_foreign_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let otherwise = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !is_in_foreign_code() {
                otherwise(panic);
            }
        }));
    });
}

/// Reads a table of vertices, whose columns `choice` chooses.
pub fn vertices(path: &Path, choice: u8) {
    let columns = VertexColumns {
        has_integer_ids: choice >> 2 & 1 == 0,
        id_names: VertexTable::ID_NAMES,
        values: VALUES[usize::from(choice & 3)],
        has_header: choice >> 3 & 1 == 1,
        may_be_dimacs: choice >> 4 & 1 == 1,
    };
    let cancel = Cancel::default();
    let is_vertex = |name: &str| Ok(name.len() == 1);
    let opened = answer(VertexTable::open(path, &columns, &is_vertex, &cancel));
    let Some(table) = opened else { return };
    answer(table.read(&cancel, &mut |row| {
        for (value, column) in row.values.iter().zip(columns.values) {
            assert!(value.is_some() || column.presence != Presence::Required);
        }
        assert!(row.values[columns.values.len()..].iter().all(Option::is_none));
        Ok(())
    }));
}

/// Reads a table of attributes.
pub fn attributes(path: &Path) {
    let cancel = Cancel::default();
    let Some(table) = answer(AttributeTable::open(path, &cancel)) else { return };
    let names = table.names().to_vec();
    for (index, name) in names.iter().enumerate() {
        assert!(!name.is_empty() && !names[..index].contains(name), "{names:?}");
    }
    answer(table.read(&cancel, &mut |row| {
        assert_eq!(row.cells.len(), names.len());
        Ok(())
    }));
}
