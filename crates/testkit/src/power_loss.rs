//! The states in which a loss of power may leave a folder, computed from the steps and syncs of the
//! work.
//!
//! [`record`] looks at the folder after every step of the work. For the moment after each step, the
//! [`Trace`] computes the states in which a crash may have left the folder. A file has the content
//! of its last sync, or all that was written to it. The names in a folder are those of its last
//! sync, with some of the later changes: any number of the first ones, or any number of the last
//! ones, from none to all. The changes of one step, as of a rename, are made together.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{Mode, OFlags, fstat, open};

use crate::scratch::Scratch;

/// Receives each step: the file or folder that was synced, or `None` where names have changed.
pub type Watcher = Box<dyn FnMut(Option<BorrowedFd<'_>>)>;

/// The number of a file or folder. No other gets it while the [`Recorder`] holds it open.
type Inode = u64;
type Names = BTreeMap<OsString, Inode>;
type Content = Rc<Vec<u8>>;

/// Runs `work` in a folder and records its steps. `watch` reports the steps to a watcher until it
/// is called with `None`. The initial content counts as safely on disk.
///
/// # Panics
/// If the folder cannot be read.
pub fn record(root: &Path, watch: fn(Option<Watcher>), work: impl FnOnce()) -> Trace {
    let recorder = Recorder { root: root.to_owned(), held: HashMap::new(), moments: Vec::new() };
    let recorder = Rc::new(RefCell::new(recorder));
    recorder.borrow_mut().passed(None);
    let told = Rc::clone(&recorder);
    watch(Some(Box::new(move |synced| told.borrow_mut().passed(synced))));
    work();
    watch(None);
    let mut recorder = recorder.borrow_mut();
    recorder.passed(None);
    let root = recorder.hold(root);
    Trace { root, moments: std::mem::take(&mut recorder.moments) }
}

/// Records the folder after each step.
#[derive(Debug)]
struct Recorder {
    root: PathBuf,
    held: HashMap<Inode, File>,
    moments: Vec<Moment>,
}

/// The folder after a step.
#[derive(Debug, Default)]
struct Moment {
    folders: BTreeMap<Inode, Names>,
    files: BTreeMap<Inode, Content>,
    synced: Option<Inode>,
}

impl Recorder {
    /// Records a step; `synced` is the file or folder if it was a sync.
    fn passed(&mut self, synced: Option<BorrowedFd<'_>>) {
        let synced = synced.map(|fd| fstat(fd).unwrap().st_ino);
        let mut moment = Moment { synced, ..Moment::default() };
        self.look(&self.root.clone(), &mut moment);
        self.moments.push(moment);
    }

    /// Adds a folder and its content.
    fn look(&mut self, folder: &Path, moment: &mut Moment) {
        let mut names = Names::new();
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let inode = self.hold(&path);
            names.insert(entry.file_name(), inode);
            if entry.file_type().unwrap().is_dir() {
                self.look(&path, moment);
            } else {
                moment.files.insert(inode, Rc::new(fs::read(&path).unwrap()));
            }
        }
        moment.folders.insert(self.hold(folder), names);
    }

    fn hold(&mut self, path: &Path) -> Inode {
        let inode = fs::symlink_metadata(path).unwrap().ino();
        let opened =
            || File::from(open(path, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty()).unwrap());
        self.held.entry(inode).or_insert_with(opened);
        inode
    }
}

/// All moments of the work.
#[derive(Debug)]
pub struct Trace {
    root: Inode,
    moments: Vec<Moment>,
}

/// When a crash comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Crash {
    /// During the work.
    Within,
    /// After the work has returned.
    Behind,
}

/// A state that a crash may leave.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum CrashState {
    File(Content),
    Folder(BTreeMap<OsString, CrashState>),
}

/// The state safely on disk, and the changes since.
struct Disk {
    files: BTreeMap<Inode, Content>,
    /// All content that was written, also of files that no longer exist.
    written: BTreeMap<Inode, Content>,
    folders: BTreeMap<Inode, Names>,
    changes: Vec<Change>,
    /// The numbers of all folders.
    all_folders: BTreeSet<Inode>,
}

/// A name that now stands for another file or folder, or for nothing.
struct Change {
    moment: usize,
    folder: Inode,
    name: OsString,
    inode: Option<Inode>,
}

impl Trace {
    fn syncs(&self) -> impl Iterator<Item = usize> {
        (0..self.moments.len()).filter(|&at| self.moments[at].synced.is_some())
    }

    /// Asserts that all states a crash may leave pass `check`, which gets a folder and the moment
    /// of the crash.
    ///
    /// # Panics
    /// If a check fails.
    #[track_caller]
    pub fn assert_survived(&self, check: &dyn Fn(&Path, Crash) -> Result<(), String>) {
        let mut checked = Checked { check, known: HashMap::new() };
        if let Some((at, left, fault)) = self.first_fault(None, &mut checked) {
            panic!("a crash after step {at} of {} leaves {left}: {fault}", self.moments.len());
        }
    }

    /// Like [`assert_survived`](Self::assert_survived). Also asserts that a check fails if any one
    /// of the syncs is left out.
    ///
    /// # Panics
    /// If a check fails, or a sync could be left out.
    #[track_caller]
    pub fn assert_survived_by_each_sync(&self, check: &dyn Fn(&Path, Crash) -> Result<(), String>) {
        self.assert_survived(check);
        let mut checked = Checked { check, known: HashMap::new() };
        assert!(self.syncs().count() > 0, "nothing is synced");
        let idle = self.syncs().filter(|&at| self.first_fault(Some(at), &mut checked).is_none());
        let idle: Vec<String> = idle.map(|at| self.describe(at)).collect();
        assert!(idle.is_empty(), "could be left out: {}", idle.join(", "));
    }

    /// Returns the first state that fails the check, with the sync `ignored` left out.
    fn first_fault(
        &self,
        ignored: Option<usize>,
        checked: &mut Checked<'_>,
    ) -> Option<(usize, CrashState, String)> {
        let first = &self.moments[0];
        let mut disk = Disk {
            files: first.files.clone(),
            written: first.files.clone(),
            folders: first.folders.clone(),
            changes: Vec::new(),
            all_folders: self.moments.iter().flat_map(|it| it.folders.keys().copied()).collect(),
        };
        for at in 1..self.moments.len() {
            disk.change(at, &self.moments[at - 1], &self.moments[at]);
            if ignored != Some(at) {
                disk.sync(&self.moments[at]);
            }
            let crash = if at + 1 == self.moments.len() { Crash::Behind } else { Crash::Within };
            for left in disk.states(self.root) {
                if let Err(fault) = checked.check(&left, crash) {
                    return Some((at, left, fault));
                }
            }
        }
        None
    }

    /// Describes the sync at a moment.
    fn describe(&self, at: usize) -> String {
        let synced = self.moments[at].synced;
        let all = self.moments[at].folders.values().flatten();
        let mut found = all.filter(|(_, inode)| Some(**inode) == synced);
        let name = found.next().map_or("the folder".into(), |(name, _)| name.display().to_string());
        format!("the sync of {name} at step {at}")
    }
}

impl Disk {
    /// Adds the changes from one moment to the next.
    fn change(&mut self, moment: usize, before: &Moment, after: &Moment) {
        self.written.extend(after.files.iter().map(|(&inode, content)| (inode, content.clone())));
        let none = Names::new();
        let folders: BTreeSet<Inode> =
            before.folders.keys().chain(after.folders.keys()).copied().collect();
        for folder in folders {
            let names_before = before.folders.get(&folder).unwrap_or(&none);
            let names_after = after.folders.get(&folder).unwrap_or(&none);
            let names: BTreeSet<&OsString> =
                names_before.keys().chain(names_after.keys()).collect();
            for name in names {
                let inode = names_after.get(name).copied();
                if names_before.get(name).copied() != inode {
                    self.changes.push(Change { moment, folder, name: name.clone(), inode });
                }
            }
        }
    }

    fn sync(&mut self, moment: &Moment) {
        let Some(synced) = moment.synced else { return };
        if let Some(content) = moment.files.get(&synced) {
            self.files.insert(synced, content.clone());
        }
        if let Some(names) = moment.folders.get(&synced) {
            self.folders.insert(synced, names.clone());
            self.changes.retain(|change| change.folder != synced);
        }
    }

    /// Returns all states that a crash may leave now.
    fn states(&self, root: Inode) -> HashSet<CrashState> {
        let mut cuts: BTreeSet<usize> = self.changes.iter().map(|change| change.moment).collect();
        cuts.insert(usize::MAX);
        let mut states = HashSet::new();
        for &cut in &cuts {
            let earlier = self.names(&|change| change.moment < cut);
            let later = self.names(&|change| change.moment >= cut);
            for names in [earlier, later] {
                for files in [&self.files, &self.written] {
                    states.insert(self.left(root, &names, files));
                }
            }
        }
        states
    }

    /// Returns the names in all folders, if exactly these changes were made.
    fn names(&self, is_made: &dyn Fn(&Change) -> bool) -> BTreeMap<Inode, Names> {
        let mut folders = self.folders.clone();
        for change in self.changes.iter().filter(|&change| is_made(change)) {
            let names = folders.entry(change.folder).or_default();
            match change.inode {
                Some(inode) => names.insert(change.name.clone(), inode),
                None => names.remove(&change.name),
            };
        }
        folders
    }

    /// Returns what a crash leaves of a file or folder; a file that was never synced is empty.
    fn left(
        &self,
        inode: Inode,
        folders: &BTreeMap<Inode, Names>,
        files: &BTreeMap<Inode, Content>,
    ) -> CrashState {
        if !self.all_folders.contains(&inode) {
            return CrashState::File(files.get(&inode).cloned().unwrap_or_default());
        }
        let names = folders.get(&inode).into_iter().flatten();
        let left =
            |(name, &inode): (&OsString, &Inode)| (name.clone(), self.left(inode, folders, files));
        CrashState::Folder(names.map(left).collect())
    }
}

/// A check, and its results so far.
struct Checked<'a> {
    check: &'a dyn Fn(&Path, Crash) -> Result<(), String>,
    known: HashMap<(Crash, CrashState), Result<(), String>>,
}

impl Checked<'_> {
    fn check(&mut self, left: &CrashState, crash: Crash) -> Result<(), String> {
        let check = self.check;
        let judge = || {
            let scratch = Scratch::new();
            let folder = scratch.join("left");
            left.write_to(&folder);
            check(&folder, crash)
        };
        self.known.entry((crash, left.clone())).or_insert_with(judge).clone()
    }
}

impl CrashState {
    fn write_to(&self, path: &Path) {
        match self {
            CrashState::File(content) => fs::write(path, &**content).unwrap(),
            CrashState::Folder(names) => {
                fs::create_dir(path).unwrap();
                names.iter().for_each(|(name, left)| left.write_to(&path.join(name)));
            }
        }
    }
}

impl fmt::Display for CrashState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CrashState::File(content) => write!(f, "{} bytes", content.len()),
            CrashState::Folder(names) => {
                let all: Vec<String> = names
                    .iter()
                    .map(|(name, left)| format!("{}: {left}", name.display()))
                    .collect();
                write!(f, "{{{}}}", all.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    thread_local! {
        static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
    }

    fn passed(synced: Option<&File>) {
        WATCHER.with_borrow_mut(|watcher| {
            watcher.as_mut().unwrap()(synced.map(std::os::fd::AsFd::as_fd));
        });
    }

    /// Writes a file under another name and renames it, with these syncs on the way.
    fn write(is_file_synced: bool, folder_syncs: usize) -> Trace {
        let scratch = Scratch::new();
        let (hidden, path) = (scratch.join("hidden"), scratch.join("file"));
        record(
            scratch.path(),
            |watcher| WATCHER.set(watcher),
            || {
                let mut file = File::create(&hidden).unwrap();
                passed(None);
                file.write_all(b"text").unwrap();
                if is_file_synced {
                    passed(Some(&file));
                }
                fs::rename(&hidden, &path).unwrap();
                passed(None);
                let folder = File::open(scratch.path()).unwrap();
                (0..folder_syncs).for_each(|_| passed(Some(&folder)));
            },
        )
    }

    /// Checks that the file is whole or missing, and that it exists in the end.
    fn check(folder: &Path, crash: Crash) -> Result<(), String> {
        match fs::read(folder.join("file")) {
            Ok(text) if text == b"text" => Ok(()),
            Err(_) if crash == Crash::Within => Ok(()),
            found => Err(format!("{found:?}")),
        }
    }

    #[test]
    fn a_synced_file_survives_a_rename_that_is_synced() {
        write(true, 1).assert_survived_by_each_sync(&check);
    }

    #[test]
    #[should_panic(expected = "file: 0 bytes")]
    fn an_unsynced_file_may_be_empty() {
        write(false, 1).assert_survived(&check);
    }

    #[test]
    #[should_panic(expected = "NotFound")]
    fn an_unsynced_name_may_be_lost() {
        write(true, 0).assert_survived(&check);
    }

    #[test]
    #[should_panic(expected = "could be left out")]
    fn a_redundant_sync_is_found() {
        write(true, 2).assert_survived_by_each_sync(&check);
    }

    #[test]
    fn later_changes_may_survive_without_earlier_ones() {
        let scratch = Scratch::new();
        let create = |name| {
            File::create(scratch.join(name)).unwrap();
            passed(None);
        };
        let trace = record(
            scratch.path(),
            |watcher| WATCHER.set(watcher),
            || {
                create("first");
                create("second");
            },
        );
        let seen = RefCell::new(BTreeSet::new());
        trace.assert_survived(&|folder, _| {
            seen.borrow_mut().insert(["first", "second"].map(|name| folder.join(name).exists()));
            Ok(())
        });
        let all = [[false, false], [false, true], [true, false], [true, true]];
        assert_eq!(seen.into_inner(), BTreeSet::from(all));
    }
}
