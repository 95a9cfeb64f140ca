//! Unfinished files and folders: what remains of them, and which one gets a name.

use std::cell::{Cell, RefCell};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::FileType;

use super::*;

/// The file that folders of these tests own.
const OWN_FILE: &str = "own";

/// Removes a file, or a folder that holds at most its own file.
fn remove(parent: &Directory, name: &OsStr) -> io::Result<()> {
    if parent.kind_of(name)? != Some(FileType::Directory) {
        return parent.remove_file(name);
    }
    let folder = parent.open_folder(name)?;
    if folder.kind_of(OWN_FILE.as_ref())? == Some(FileType::RegularFile) {
        folder.remove_file(OWN_FILE)?;
    }
    parent.remove_folder(name)
}

fn folder_at(place: &Path) -> Result<Unfinished> {
    Unfinished::folder(place, remove)
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_dropped_file_leaves_nothing_and_a_renamed_one_lasts() {
    let folder = tempfile::tempdir().unwrap();
    for make in [Unfinished::file, folder_at] {
        drop(make(&folder.path().join("g")).unwrap());
        assert_eq!(count(folder.path()), 0);
        let unfinished = make(&folder.path().join("g")).unwrap();
        fs::rename(unfinished.path(), folder.path().join("kept")).unwrap();
        drop(unfinished);
        assert!(folder.path().join("kept").exists());
        remove(&Directory::open(folder.path()).unwrap(), "kept".as_ref()).unwrap();
    }
    Unfinished::file(&folder.path().join("g/..")).unwrap_err();
    let error = Unfinished::file(&folder.path().join("none/g")).unwrap_err();
    assert!(!error.to_string().contains("unfinished"), "{error}");
}

#[test]
fn exactly_one_of_many_writers_gets_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("g");
    let made: Vec<Unfinished> = (0..8).map(|_| Unfinished::file(&place).unwrap()).collect();
    made.iter().for_each(|file| fs::write(file.path(), "text").unwrap());
    let finished = thread::scope(|scope| {
        let finish = |file| scope.spawn(move || Unfinished::finish(file, "g".as_ref(), false));
        let tries: Vec<_> = made.iter().map(finish).collect();
        tries.into_iter().map(|tried| tried.join().unwrap()).collect::<Vec<_>>()
    });
    for (file, finished) in made.iter().zip(&finished) {
        assert_eq!(file.path().exists(), finished.is_err());
        assert!(matches!(finished, Ok(()) | Err(Error::AlreadyExists { .. })), "{finished:?}");
    }
    assert_eq!(finished.iter().filter(|finished| finished.is_ok()).count(), 1);
    assert_eq!(fs::read_to_string(&place).unwrap(), "text");
}

#[test]
fn a_finished_file_replaces_another_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("g");
    let unfinished = Unfinished::file(&place).unwrap();
    fs::write(unfinished.path(), "new").unwrap();
    fs::write(&place, "old").unwrap();
    let refused = unfinished.finish("g".as_ref(), false);
    assert!(matches!(refused, Err(Error::AlreadyExists { path }) if path == place));
    assert_eq!(fs::read_to_string(&place).unwrap(), "old");
    unfinished.finish("g".as_ref(), true).unwrap();
    drop(unfinished);
    assert_eq!(fs::read_to_string(&place).unwrap(), "new");
    assert_eq!(count(folder.path()), 1);
}

#[test]
fn leftovers_are_removed_and_files_in_use_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(".g.unfinished-1-abcdef");
    fs::create_dir(&left).unwrap();
    fs::write(left.join(OWN_FILE), "text").unwrap();
    fs::write(folder.path().join(".g.unfinished-1-ghijkl"), "text").unwrap();
    fs::write(folder.path().join(".g.unfinished-2-ghijkl-old"), "text").unwrap();
    fs::create_dir(folder.path().join(".h.unfinished-1-abcdef")).unwrap();
    let first = folder_at(&folder.path().join("g")).unwrap();
    let second = Unfinished::file(&folder.path().join("g")).unwrap();
    assert!(first.path().is_dir() && second.path().is_file());
    assert_eq!(count(folder.path()), 3);
}

#[test]
fn foreign_files_stay_beside_and_within_leftovers() {
    let folder = tempfile::tempdir().unwrap();
    let names = [".g.unfinished-thesis", ".g.unfinished-1-abc", ".g.unfinished-x-abcdef", ".g."];
    names.iter().for_each(|name| fs::write(folder.path().join(name), "text").unwrap());
    let left = folder.path().join(".g.unfinished-1-abcdef");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("thesis.txt"), "text").unwrap();
    fs::create_dir(left.join(OWN_FILE)).unwrap();
    drop(folder_at(&folder.path().join("g")).unwrap());
    names.iter().for_each(|name| assert!(folder.path().join(name).exists(), "{name}"));
    assert_eq!(fs::read_to_string(left.join("thesis.txt")).unwrap(), "text");
    assert!(left.join(OWN_FILE).is_dir());
}

#[test]
fn a_file_takes_a_place_only_where_it_is_free_or_may_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("g");
    let make = |text: &str| {
        let made = Unfinished::file(&place).unwrap();
        fs::write(made.path(), text).unwrap();
        made
    };
    let (first, second) = (make("first"), make("second"));
    first.take_place(false).unwrap();
    let error = second.take_place(false).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&place).unwrap(), "first");
    second.take_place(true).unwrap();
    assert_eq!(fs::read_to_string(&place).unwrap(), "second");
    drop((first, second));
    assert_eq!(count(folder.path()), 1);
}

#[test]
fn an_open_folder_is_followed_when_it_is_moved() {
    let above = tempfile::tempdir().unwrap();
    let (old, new) = (above.path().join("old"), above.path().join("new"));
    fs::create_dir(&old).unwrap();
    let (kept, dropped) =
        (Unfinished::file(&old.join("g")).unwrap(), folder_at(&old.join("g")).unwrap());
    fs::rename(&old, &new).unwrap();
    fs::create_dir(&old).unwrap();
    kept.take_place(false).unwrap();
    drop((kept, dropped));
    assert_eq!((count(&old), count(&new)), (0, 1));
    assert!(new.join("g").exists());
}

/// Creates files; another process interferes with the first one before it is locked.
fn made_in_spite_of(folder: &Directory, meddle: impl Fn(&OsStr)) {
    let first = RefCell::new(None);
    let (locked, name) = make_locked(folder, "g".as_ref(), remove, |name| {
        folder.create_file(name)?;
        if first.borrow().is_none() {
            meddle(name);
            first.replace(Some(name.to_owned()));
        }
        Ok(())
    })
    .unwrap();
    let kind = |name: &OsStr| folder.kind_of(name).unwrap();
    assert!(locked.is_some() && kind(&name).is_some());
    assert!(first.take().is_some_and(|first| first != name && kind(&first).is_none()));
}

#[test]
fn a_file_that_others_take_for_a_leftover_is_created_again() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = Directory::open(scratch.path()).unwrap();
    made_in_spite_of(&folder, |name| folder.remove_file(name).unwrap());
    let others = Cell::new(None);
    made_in_spite_of(&folder, |name| others.set(lock(&folder, name, HIDDEN).unwrap()));
    assert!(others.take().is_some());
    assert_eq!(count(scratch.path()), 2);
}

#[test]
fn files_are_created_while_another_process_removes_leftovers() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Directory::open(folder.path()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                remove_leftovers(&opened, "g".as_ref(), remove);
            }
        });
        for number in 0..2000 {
            let make = if number % 2 == 0 { folder_at } else { Unfinished::file };
            let made = make(&folder.path().join("g")).map(|made| made.path().exists());
            is_done.store(number == 1999 || !matches!(made, Ok(true)), Ordering::Relaxed);
            assert!(made.unwrap());
        }
    });
}

#[test]
fn waiting_for_a_lock_ends_with_the_lock_or_by_cancelling() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("g"), "text").unwrap();
    let folder = Directory::open(folder.path()).unwrap();
    let wait = |cancel: &Cancel| wait_for_lock(&folder, "g", cancel);
    let cancel = Cancel::default();
    let held = wait(&cancel).unwrap();
    assert!(held.is_some());
    thread::scope(|scope| {
        let waiting = scope.spawn(|| wait(&Cancel::default()));
        let cancelled = scope.spawn(|| wait(&cancel));
        cancel.cancel();
        assert!(matches!(cancelled.join().unwrap(), Err(Error::Cancelled)));
        assert!(!waiting.is_finished());
        drop(held);
        assert!(waiting.join().unwrap().unwrap().is_some());
    });
}

#[test]
fn missing_lock_support_differs_from_a_refused_lock() {
    assert!(has_locked(Ok(())).unwrap());
    for error in [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS, Errno::NOLCK] {
        assert!(!has_locked(Err(error)).unwrap(), "{error}");
    }
    assert_eq!(has_locked(Err(Errno::AGAIN)).unwrap_err().kind(), io::ErrorKind::WouldBlock);
}
