//! Which file of a crate uses what another one defines.
//!
//! A name counts for the file that *defines* it. Where a module only passes a name on (`pub use`, or a
//! `use` through which a child reaches it), the way is followed to its end: a child that takes a sibling
//! by `super::Sibling` depends on the sibling, not on the parent. A path in the midst of code counts
//! as a `use` does. A `use` of a whole module, without a name in it, counts for nothing: the paths
//! that begin with it do. What is for tests only is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::tokens::Tokens;

/// The steps of a path: `super`, `pages`, `Run`. A last step `*` stands for all that is there.
type Steps = Vec<String>;

/// A file of a crate as a module.
#[derive(Default)]
struct Module {
    /// Index of its file among those of the crate; none for a folder without one.
    file: Option<usize>,
    /// The modules above it and its own: `disk`, `pages`.
    place: Steps,
    /// What it declares with `use`: the name under which it is known here, and what it stands for.
    aliases: BTreeMap<String, Steps>,
    /// The modules of which it takes in all names.
    globs: Vec<Steps>,
    /// The names of all items that are written in its file.
    items: BTreeSet<String>,
    /// All paths with two steps or more.
    paths: Vec<Steps>,
}

/// The modules of a crate by their place.
pub struct Modules(BTreeMap<Steps, Module>);

/// What a path leads to.
enum End {
    /// A module as a whole.
    Module(Steps),
    /// Something that the module at this place defines.
    Item(Steps),
    /// All that is in the module at this place.
    All(Steps),
    /// Something of another crate, which a module passes on.
    Outside,
}

/// Aliases of aliases are followed so far: a circle of them is no Rust.
const HOPS_MAX: usize = 6;

impl Modules {
    /// The modules of one crate; `sources` are its files below `src`, without those for tests alone.
    pub fn of(sources: &[&Source]) -> Modules {
        let mut modules = BTreeMap::new();
        for (file, source) in sources.iter().enumerate() {
            let place = place_of(&source.path);
            modules.insert(place.clone(), Module::of(file, place, source));
        }
        Modules(modules)
    }

    /// For each file, those that define what it uses, without itself.
    pub fn imports(&self) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut imports: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for module in self.0.values() {
            let Some(file) = module.file else { continue };
            let used = module.paths.iter().chain(module.aliases.values()).chain(&module.globs);
            let used = used.filter_map(|path| self.definer(module, path));
            imports.entry(file).or_default().extend(used.filter(|&other| other != file));
        }
        imports
    }

    fn definer(&self, module: &Module, path: &[String]) -> Option<usize> {
        match self.follow(module, path, HOPS_MAX)? {
            End::Module(_) | End::Outside => None,
            End::Item(place) => self.0.get(&place)?.file,
            End::All(place) => self.0.get(&place).filter(|all| !all.items.is_empty())?.file,
        }
    }

    /// Where a path that stands in a module leads; none where that is outside of the crate.
    fn follow(&self, from: &Module, path: &[String], hops: usize) -> Option<End> {
        let hops = hops.checked_sub(1)?;
        let mut at = from;
        for (index, step) in path.iter().enumerate() {
            let above = at.place.len().checked_sub(1);
            let next = match step.as_str() {
                "crate" => self.0.get(&Steps::new())?,
                "self" => at,
                "super" => self.0.get(&at.place[..above?])?,
                "*" => return Some(End::All(at.place.clone())),
                name => {
                    let is_last = index + 1 == path.len();
                    let is_start = index == 0;
                    match self.step(at, name, is_last, hops) {
                        Some(End::Module(place)) => self.0.get(&place)?,
                        Some(end) => return Some(end),
                        // A name of another crate, or one that a macro makes.
                        None if is_start => return None,
                        None => return Some(End::Item(at.place.clone())),
                    }
                }
            };
            at = next;
        }
        Some(End::Module(at.place.clone()))
    }

    /// What a name means in a module. A module and a function may have one name: what has a path behind
    /// it is the module. A name that is passed on is no item, whatever else in the file is called so.
    fn step(&self, at: &Module, name: &str, is_last: bool, hops: usize) -> Option<End> {
        let child: Steps = at.place.iter().cloned().chain([name.to_owned()]).collect();
        let has_child = self.0.contains_key(&child);
        if has_child && !is_last {
            return Some(End::Module(child));
        }
        if let Some(path) = at.aliases.get(name) {
            return Some(self.follow(at, path, hops).unwrap_or(End::Outside));
        }
        if has_child {
            return Some(End::Module(child));
        }
        if at.items.contains(name) {
            return Some(End::Item(at.place.clone()));
        }
        at.globs.iter().find_map(|glob| {
            let Some(End::All(place)) = self.follow(at, glob, hops) else { return None };
            self.step(self.0.get(&place)?, name, is_last, hops.checked_sub(1)?)
        })
    }
}

/// The place of a file as a module: `["disk", "pages"]` for `crates/machine/src/disk/pages/mod.rs`.
fn place_of(path: &str) -> Steps {
    let within = path.split_once("/src/").map_or(path, |(_, within)| within);
    let within = within.strip_suffix(".rs").unwrap_or(within);
    let mut place: Steps = within.split('/').map(str::to_owned).collect();
    let is_root = place.len() == 1 && ["lib", "main"].contains(&place[0].as_str());
    if is_root || place.last().is_some_and(|last| last == "mod") {
        place.pop();
    }
    place
}

const ITEMS: [&str; 10] =
    ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "macro_rules"];

impl Module {
    fn of(file: usize, place: Steps, source: &Source) -> Module {
        let mut module = Module { file: Some(file), place, ..Module::default() };
        let tokens = &source.tokens;
        let mut at = 0;
        while at < tokens.0.len() {
            let next = tokens.text(at + 1);
            if source.is_test_line(tokens.line(at)) {
                at += 1;
            } else if tokens.text(at) == "use" && is_use(tokens, at) {
                let end = (at..tokens.0.len()).find(|&end| tokens.text(end) == ";");
                let end = end.unwrap_or(tokens.0.len());
                if !is_for_tests(tokens, at) {
                    module.take_use(tokens, at + 1, end, &[]);
                }
                at = end;
            } else if ITEMS.contains(&tokens.text(at)) && is_word(next) {
                // The file of a child is a module of its own.
                let is_declaration = tokens.text(at) == "mod" && tokens.text(at + 2) == ";";
                if !is_declaration {
                    module.items.insert(next.to_owned());
                }
                at += 2;
            } else {
                at = module.take_path(tokens, at);
            }
        }
        module
    }

    /// Takes a tree of a `use` that stands behind `above`.
    fn take_use(&mut self, tokens: &Tokens, start: usize, end: usize, above: &[String]) {
        let mut path = above.to_vec();
        let mut at = start;
        while at < end {
            match tokens.text(at) {
                "{" => {
                    let close = tokens.0[at].close;
                    let mut first = at + 1;
                    for branch_end in branches(tokens, at + 1, close) {
                        self.take_use(tokens, first, branch_end, &path);
                        first = branch_end + 1;
                    }
                    return;
                }
                "*" => {
                    path.push("*".to_owned());
                    self.globs.push(path);
                    return;
                }
                "as" => {
                    self.aliases.insert(tokens.text(at + 1).to_owned(), path);
                    return;
                }
                "self" if !path.is_empty() => {}
                word if is_word(word) => path.push(word.to_owned()),
                _ => {}
            }
            at += 1;
        }
        if let Some(name) = path.last().cloned() {
            self.aliases.insert(name, path);
        }
    }

    /// Takes the path that begins at a token, if one does; returns where to go on.
    fn take_path(&mut self, tokens: &Tokens, start: usize) -> usize {
        let is_begun = tokens.matches(start + 1, &[":", ":"]);
        if !is_word(tokens.text(start)) || !is_begun || tokens.text(start.wrapping_sub(1)) == ":" {
            return start + 1;
        }
        let mut path = vec![tokens.text(start).to_owned()];
        let mut at = start + 1;
        while tokens.matches(at, &[":", ":"]) && is_word(tokens.text(at + 2)) {
            path.push(tokens.text(at + 2).to_owned());
            at += 3;
        }
        self.paths.push(path);
        at.max(start + 1)
    }
}

/// Whether a token `use` begins a declaration: it also stands in `impl Trait + use<'a>`.
fn is_use(tokens: &Tokens, at: usize) -> bool {
    tokens.text(at + 1) != "<"
}

fn is_for_tests(tokens: &Tokens, at: usize) -> bool {
    tokens.attributes(at).iter().any(|words| words.starts_with(&["cfg", "(", "test"]))
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Where the branches of a group end: at its commas, but not at those of groups in it.
fn branches(tokens: &Tokens, start: usize, close: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = start;
    while at < close {
        match tokens.text(at) {
            "{" => at = tokens.0[at].close,
            "," => ends.push(at),
            _ => {}
        }
        at += 1;
    }
    ends.push(close);
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the file `from` of a made-up crate imports, by the names of the files.
    fn imports(files: &[(&str, &str)], from: &str) -> Vec<String> {
        let path = |name: &str| format!("crates/x/src/{name}.rs");
        let sources: Vec<Source> =
            files.iter().map(|(name, text)| Source::new(&path(name), text).unwrap()).collect();
        let sources: Vec<&Source> = sources.iter().collect();
        let from = files.iter().position(|(name, _)| *name == from).unwrap();
        let imports = Modules::of(&sources).imports();
        imports[&from].iter().map(|&file| files[file].0.to_owned()).collect()
    }

    #[test]
    fn a_name_counts_for_the_file_that_defines_it() {
        let files = [
            ("lib", "mod a; pub mod b;"),
            ("a", "use crate::b::{Own, Passed as P, deep::{self, Far}}; fn f() { deep::go() }"),
            ("b/mod", "mod c; pub mod deep; pub use c::Passed; pub struct Own;"),
            ("b/c", "pub struct Passed;"),
            ("b/deep", "pub struct Far; pub fn go() {}"),
        ];
        assert_eq!(imports(&files, "a"), ["b/mod", "b/c", "b/deep"]);
        assert_eq!(imports(&files, "b/mod"), ["b/c"]);
        assert_eq!(imports(&files, "lib"), Vec::<String>::new());
    }

    #[test]
    fn a_sibling_that_is_reached_through_the_parent_is_no_import_of_the_parent() {
        let parent = ("lib", "mod a; mod b; use b::Item; fn f() {}");
        let sibling = ("b", "pub struct Item; impl Item { fn new() {} }");
        let by_use = ("a", "use super::Item;");
        assert_eq!(imports(&[parent, by_use, sibling], "a"), ["b"]);
        let in_code = ("a", "fn f() { super::Item::new() }");
        assert_eq!(imports(&[parent, in_code, sibling], "a"), ["b"]);
        let of_the_parent = ("a", "fn g() { super::f() }");
        assert_eq!(imports(&[parent, of_the_parent, sibling], "a"), ["lib"]);
        let of_all = ("a", "use super::*; fn g() { f() }");
        assert_eq!(imports(&[parent, of_all, sibling], "a"), ["lib"]);
    }

    #[test]
    fn names_are_followed_through_globs_and_modules_of_the_same_name() {
        let files = [
            ("lib", "mod a; mod probe; pub use probe::*; pub use probe::probe;"),
            ("a", "use crate::Rate; fn f() { crate::probe::go(); crate::probe() }"),
            ("probe/mod", "mod rate; pub use rate::Rate; pub fn probe() {}"),
            ("probe/rate", "pub struct Rate; pub fn go() {}"),
        ];
        assert_eq!(imports(&files, "a"), ["probe/mod", "probe/rate"]);
    }

    #[test]
    fn tests_and_other_crates_count_for_nothing() {
        let files = [
            ("lib", "mod a; pub use tegula_store::Graph; fn f() {}"),
            (
                "a",
                "use std::fs; use tegula_store::f; use crate::Graph;\nfn g() { fs::read(); serde_json::to_value() }\n\
                 #[cfg(test)] use super::f;\n#[cfg(test)]\nmod tests {\n use crate::f;\n}\n\
                 fn h() -> impl Sized + use<'_> {}",
            ),
        ];
        assert_eq!(imports(&files, "a"), Vec::<String>::new());
    }
}
