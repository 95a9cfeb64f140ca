//! Circles of imports: files that cannot be understood one after the other.
//!
//! Two files are in one circle if each depends, directly or through others, on what the other
//! *defines* ([`imports`](super::imports) says when). So a `mod.rs` that only passes on names of
//! its children is in no circle with them. It is once a child uses something that the `mod.rs`
//! defines. A circle may have up to [`FILES_MAX`] files, all in one folder: files that close are
//! read together.

use std::collections::BTreeMap;

use super::finding::{Finding, Rule};
use super::imports::Modules;
use super::source::Source;

/// The most files of a circle.
const FILES_MAX: usize = 3;

/// Finds circles that are too large or cross a folder, in all crates. A circle is reported at its
/// first file; its amount is the number of files.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_only_for_tests()) {
        if let Some((name, _)) = source.path.split_once("/src/") {
            crates.entry(name).or_default().push(source);
        }
    }
    crates.values().flat_map(|files| check_crate(files)).collect()
}

fn check_crate(files: &[&Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for circle in circles(files) {
        let paths: Vec<&str> = circle.iter().map(|&file| files[file].path.as_str()).collect();
        let is_in_one_folder = paths.iter().all(|path| folder(path) == folder(paths[0]));
        if paths.len() <= FILES_MAX && is_in_one_folder {
            continue;
        }
        let place = if is_in_one_folder { "of one folder" } else { "of several folders" };
        let message = format!(
            "{} files {place} import each other in a circle: {}; move what is shared to where all can \
             reach it",
            paths.len(),
            paths.join(", ")
        );
        let first = Finding::new(Rule::ImportCircle, paths[0], 1, message);
        findings.push(Finding { amount: paths.len(), ..first });
    }
    findings
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the files of each circle, ascending.
fn circles(files: &[&Source]) -> Vec<Vec<usize>> {
    let imports = Modules::of(files).imports();
    let reached: Vec<Vec<bool>> = (0..files.len())
        .map(|file| {
            let mut reached = vec![false; files.len()];
            let mut left = vec![file];
            while let Some(next) = left.pop() {
                for &import in imports.get(&next).into_iter().flatten() {
                    if !std::mem::replace(&mut reached[import], true) {
                        left.push(import);
                    }
                }
            }
            reached
        })
        .collect();
    let circle_of = |file: usize| -> Vec<usize> {
        (0..files.len()).filter(|&other| reached[file][other] && reached[other][file]).collect()
    };
    let all = (0..files.len()).map(|file| (file, circle_of(file)));
    all.filter(|(file, circle)| circle.first() == Some(file)).map(|(_, circle)| circle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the circles of a made-up crate: the number of files, and the message.
    fn found(files: &[(&str, &str)]) -> Vec<(usize, String)> {
        let path = |name: &str| format!("crates/x/src/{name}.rs");
        let sources: Vec<Source> =
            files.iter().map(|(name, text)| Source::new(&path(name), text).unwrap()).collect();
        check(&sources).into_iter().map(|found| (found.amount, found.message)).collect()
    }

    #[test]
    fn three_files_of_a_folder_may_import_each_other_and_four_may_not() {
        let mut files = vec![
            ("lib", "mod a; mod b; mod c; mod d;"),
            ("a", "use crate::b::B; pub struct A;"),
            ("b", "use crate::c::C; pub struct B;"),
            ("c", "use crate::a::A; pub struct C;"),
        ];
        assert_eq!(found(&files), []);
        files[3].1 = "use crate::d::D; pub struct C;";
        files.push(("d", "fn f() { crate::a::A } pub struct D;"));
        let circles = found(&files);
        assert_eq!(circles.len(), 1);
        assert_eq!(circles[0].0, 4);
        assert!(circles[0].1.contains("of one folder"), "{}", circles[0].1);
    }

    #[test]
    fn a_circle_of_two_files_must_not_cross_a_folder() {
        let files = [
            ("lib", "mod a; mod deep;"),
            ("a", "use crate::deep::b::B; pub struct A;"),
            ("deep/mod", "pub mod b;"),
            ("deep/b", "use crate::a::A; pub struct B;"),
        ];
        let circles = found(&files);
        assert_eq!(circles.len(), 1);
        assert!(circles[0].1.contains("2 files of several folders"), "{}", circles[0].1);
    }

    #[test]
    fn a_parent_that_only_passes_names_on_is_in_no_circle() {
        let children = [
            ("lib", "mod m;"),
            ("m/a", "use super::B; pub struct A;"),
            ("m/b", "use super::c::C; pub struct B;"),
            ("m/c", "pub struct C;"),
        ];
        let with = |parent, c| {
            let mut files = children.to_vec();
            files[3].1 = c;
            files.push(("m/mod", parent));
            found(&files)
        };
        assert_eq!(with("mod a; mod b; mod c; pub use {a::A, b::B, c::C};", "pub struct C;"), []);
        let parent = "mod a; mod b; mod c; pub use {a::A, b::B, c::C}; pub struct Own;";
        assert_eq!(with(parent, "pub struct C;"), []);
        assert_eq!(with(parent, "use super::Own; pub struct C;").len(), 1);
    }
}
