//! An import writes the same bytes, whichever threads the system refuses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tegula_import::{ImportConfig, import};
use tegula_machine::threads::{Cancel, Silent, refuse_each};
use tegula_store::rows::RowEncoding;
use tegula_testkit::Scratch;

/// Returns the files of a folder with their content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    entries.map(|entry| (name(&entry), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn an_import_goes_on_with_the_threads_that_there_are() {
    let scratch = Scratch::new();
    let input = scratch.join("edges.csv");
    let line = |number: u64| format!("host-{},host-{}\n", number % 97, number * 31 % 89);
    let lines = (0..2000).map(line).collect::<String>();
    fs::write(&input, format!("source,target\n{lines}")).unwrap();
    let rows = Some(RowEncoding::default());
    let config = ImportConfig {
        memory: 256 << 20,
        threads: 3,
        rows,
        reverse: rows,
        force: true,
        ..ImportConfig::default()
    };
    let output = scratch.join("g.tegula");
    let imported = || {
        import(std::slice::from_ref(&input), &output, &config, &Silent, &Cancel::default())
            .unwrap();
        files(&output)
    };
    let expected = imported();
    let asked = refuse_each(|| assert!(imported() == expected));
    assert!(asked >= 8, "an import asks for {asked} threads");
}
