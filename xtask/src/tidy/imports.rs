//! Which file of a crate uses what another file defines.
//!
//! A name counts for the file that *defines* it. A module may only pass a name on, by `pub use`, or
//! by a `use` through which a child reaches it. Then the path is followed to its end: a child that
//! uses `super::Sibling` depends on the sibling, not on the parent. A path within code counts like
//! a `use`, be it an expression or a type. A `use` of a whole module counts for nothing, but paths
//! that begin with the module count. Code for tests is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::tokens::Tokens;

/// The steps of a path: `super`, `pages`, `Run`. A last step `*` stands for all names of a module.
type Steps = Vec<String>;

/// A file of a crate as a module.
#[derive(Default)]
struct Module {
    /// The index of its file in the crate; `None` for a folder without one.
    file: Option<usize>,
    /// The names of the modules above it, and its own: `disk`, `pages`.
    place: Steps,
    /// Its `use` declarations: the name in this module, and the path that it stands for.
    aliases: BTreeMap<String, Steps>,
    /// The modules from which it imports all names.
    globs: Vec<Steps>,
    /// The names of all items that its file defines.
    items: BTreeSet<String>,
    /// All paths with two steps or more.
    paths: Vec<Steps>,
}

/// The modules of a crate by their place.
pub struct Modules(BTreeMap<Steps, Module>);

/// The end of a path.
enum End {
    /// A whole module.
    Module(Steps),
    /// An item that the module at this place defines.
    Item(Steps),
    /// All names of the module at this place.
    All(Steps),
    /// An item of another crate, which a module passes on.
    Outside,
}

/// How many aliases of aliases are followed: Rust has no circle of them.
const HOPS_MAX: usize = 6;

impl Modules {
    /// Returns the modules of one crate; `sources` are its files below `src`, without files for
    /// tests.
    pub fn of(sources: &[&Source]) -> Modules {
        let mut modules = BTreeMap::new();
        for (file, source) in sources.iter().enumerate() {
            let place = place_of(&source.path);
            modules.insert(place.clone(), Module::of(file, place, source));
        }
        Modules(modules)
    }

    /// Returns for each file the other files that define what it uses.
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

    /// Follows a path that stands in a module; `None` where it leads out of the crate.
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
                        // A name of another crate, or one that a macro defines.
                        None if is_start => return None,
                        None => return Some(End::Item(at.place.clone())),
                    }
                }
            };
            at = next;
        }
        Some(End::Module(at.place.clone()))
    }

    /// Returns what a name means in a module. A module and a function may share a name: if the path
    /// goes on, the module is meant. A name that is passed on is no item, even if the file has an
    /// item of that name.
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

/// Returns the place of a file as a module: `["disk", "pages"]` for
/// `crates/machine/src/disk/pages/mod.rs`.
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
                // `mod name;`: the child has a file, and is a module of its own.
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

    /// Takes a tree of a `use` after the steps `above`.
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

    /// Takes the path that begins at a token, if any; returns the token at which to go on.
    fn take_path(&mut self, tokens: &Tokens, start: usize) -> usize {
        let is_begun = tokens.matches(start + 1, &[":", ":"]);
        // One colon before a path stands between a name and its type or its value.
        let is_middle = start >= 2 && tokens.matches(start - 2, &[":", ":"]);
        if !is_word(tokens.text(start)) || !is_begun || is_middle {
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

/// Whether a token `use` begins a declaration: it may also stand in `impl Trait + use<'a>`.
fn is_use(tokens: &Tokens, at: usize) -> bool {
    tokens.text(at + 1) != "<"
}

fn is_for_tests(tokens: &Tokens, at: usize) -> bool {
    tokens.attributes(at).iter().any(|words| words.starts_with(&["cfg", "(", "test"]))
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the ends of a group's branches: its own commas, not those of inner groups.
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

    /// Returns the files that the file `from` of a made-up crate imports.
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
    fn a_sibling_used_through_the_parent_is_no_import_of_the_parent() {
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
    fn a_path_counts_as_a_type_and_as_a_value() {
        let files = |code| [("lib", "mod a; mod b; pub use b::B;"), ("a", code), ("b", BOTH)];
        const BOTH: &str = "pub struct B; pub fn b() {}";
        for code in [
            "struct A { b: crate::b::B }",
            "struct A { b: crate::B }",
            "fn f(b: crate::b::B) {}",
            "fn f(b: &[crate::b::B]) {}",
            "fn f() -> Option<crate::B> { None }",
            "fn f() { let b: crate::B = g(); }",
            "fn f() -> A { A { b: crate::b::b() } }",
            "impl Trait for crate::B {}",
            "impl crate::B { fn f() {} }",
            "fn f() { Vec::<crate::B>::new() }",
        ] {
            assert_eq!(imports(&files(code), "a"), ["b"], "{code}");
        }
        let of_another_crate = "struct A { b: other::b::B } fn f() { ::b::B }";
        assert_eq!(imports(&files(of_another_crate), "a"), Vec::<String>::new());
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
