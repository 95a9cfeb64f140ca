//! Versions of blocks survive crashes, disk errors and a loss of power.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tegula_testkit::Scratch;
use tegula_testkit::power_loss::{self, Crash};

use rustix::io::Errno;

use super::*;
use crate::disk::{Backend, Caching, Fault, FaultPlan, Pool, durable};

const SIZE: usize = 5000;
const COUNT: usize = 6;

/// A store, and the bytes beside its newest version.
type Opened = (BlockStore, Option<Vec<u8>>);

fn open_with(folder: &Path, backend: Backend, held: usize) -> Result<Opened> {
    let blocks = Blocks { what: "numbers", count: COUNT, size: SIZE };
    let reader = Reader::open(backend, Pool::new(2 * blocks.frame_size())).unwrap();
    let writer = WriteBehind::start(&reader, 2 * blocks.frame_size(), Caching::Direct);
    let folder = VersionFolder::open(folder).unwrap();
    BlockStore::versioned(folder, blocks, &reader, &writer, &|block| block < held)
}

fn open(folder: &Path) -> Result<Opened> {
    open_with(folder, Backend::Auto, 1)
}

/// The content of a block after `change` changes; some of them make it periodic.
fn content(block: usize, change: u8) -> Vec<u8> {
    let period = if change % 5 == 3 { 8 } else { SIZE };
    let byte = |index: usize| (index % period * 7 + block * 31) as u8 ^ change.wrapping_mul(29);
    (0..SIZE - block * 80).map(byte).collect()
}

fn write(store: &BlockStore, block: usize, change: u8) -> Result<()> {
    let content = content(block, change);
    let (first, second) = content.split_at(1000);
    store.write(block, &[first, second])
}

fn read(store: &BlockStore, block: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; SIZE - block * 80];
    let (first, second) = bytes.split_at_mut(1000);
    store.read(block, &mut [first, second])?;
    Ok(bytes)
}

/// The number of changes of each block, kept beside the blocks.
type Changes = [u8; COUNT];

fn check(store: &BlockStore, changes: &[u8]) -> Result<(), String> {
    for (block, &change) in changes.iter().enumerate() {
        match read(store, block) {
            Ok(found) if found == content(block, change) => {}
            Ok(_) => return Err(format!("block {block} is not that of change {change}")),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}

/// Changes some blocks, and keeps a version.
fn change(store: &BlockStore, changes: &mut Changes, blocks: &[usize]) -> Result<()> {
    for &block in blocks {
        changes[block] += 1;
        write(store, block, changes[block])?;
    }
    store.keep_version(changes)
}

/// Makes a store with two kept versions, and returns the changes of each.
fn two_versions(folder: &Path) -> (BlockStore, [Changes; 2]) {
    let (store, beside) = open(folder).unwrap();
    assert_eq!(beside, None);
    let mut changes = [0; COUNT];
    change(&store, &mut changes, &[0, 1, 2, 3, 4, 5]).unwrap();
    let first = changes;
    change(&store, &mut changes, &[0, 2, 4]).unwrap();
    (store, [first, changes])
}

fn versions_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let mut versions: Vec<String> = names.filter(|name| name.starts_with("version-")).collect();
    versions.sort_by_key(|name| name["version-".len()..].parse::<u64>().unwrap());
    versions
}

/// Checks each version in a folder on its own; returns the changes of the newest.
fn check_each(folder: &Path) -> Result<Option<Vec<u8>>, String> {
    let mut newest = None;
    for version in versions_in(folder) {
        let scratch = Scratch::new();
        for name in ["blocks", &version] {
            fs::copy(folder.join(name), scratch.join(name)).unwrap();
        }
        let (store, changes) = open(scratch.path()).map_err(|error| error.to_string())?;
        check(&store, changes.as_deref().unwrap())?;
        newest = changes;
    }
    Ok(newest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_run_that_goes_on_finds_the_newest_version(
        steps in prop::collection::vec((0..8, 0..COUNT, 0..=COUNT), 1..80),
    ) {
        let scratch = Scratch::new();
        let (mut store, _) = open(scratch.path()).unwrap();
        let mut changes = [0; COUNT];
        (0..COUNT).for_each(|block| write(&store, block, 0).unwrap());
        store.keep_version(&changes).unwrap();
        let mut kept = changes;
        for (step, block, held) in steps {
            match step {
                0 => {
                    drop(store);
                    let (opened, beside) = open_with(scratch.path(), Backend::Auto, held).unwrap();
                    prop_assert_eq!(beside.as_deref(), Some(&kept[..]));
                    (store, changes) = (opened, kept);
                }
                1 => {
                    store.keep_version(&changes).unwrap();
                    kept = changes;
                    prop_assert!(versions_in(scratch.path()).len() <= 2);
                }
                2 => store.read_ahead(block, SIZE - block * 80),
                _ => {
                    changes[block] += 1;
                    write(&store, block, changes[block]).unwrap();
                }
            }
            prop_assert_eq!(check(&store, &changes), Ok(()));
        }
        store.finish_writing().unwrap();
        prop_assert_eq!(check_each(scratch.path()), Ok(Some(kept.to_vec())));
    }
}

#[test]
fn a_version_costs_only_the_changed_blocks() {
    let scratch = Scratch::new();
    let (store, [_, mut changes]) = two_versions(scratch.path());
    let before = store.writer.bytes_written();
    change(&store, &mut changes, &[3]).unwrap();
    assert_eq!(store.writer.bytes_written() - before, content(3, changes[3]).len() as u64);
    // The first one stays in memory.
    change(&store, &mut changes, &[0]).unwrap();
    let expected = [content(3, 0), content(0, 0)].map(|bytes| bytes.len() as u64);
    assert_eq!(store.writer.bytes_written() - before, expected.iter().sum::<u64>());
    change(&store, &mut changes, &[]).unwrap();
    assert_eq!(versions_in(scratch.path()), ["version-4", "version-5"]);
}

#[test]
fn a_block_that_was_never_written_stays_unwritten() {
    let scratch = Scratch::new();
    let (store, _) = open(scratch.path()).unwrap();
    write(&store, 2, 1).unwrap();
    store.keep_version(b"one of them").unwrap();
    drop(store);
    let (store, _) = open(scratch.path()).unwrap();
    assert_eq!(read(&store, 2).unwrap(), content(2, 1));
    store.read_ahead(3, 10);
    let error = read(&store, 3).unwrap_err().to_string();
    assert!(error.contains("block 3 of the numbers is not what was written"), "{error}");
}

#[test]
fn a_store_without_a_version_leaves_the_folder_as_it_was() {
    let scratch = Scratch::new();
    let (store, _) = open(scratch.path()).unwrap();
    write(&store, 1, 1).unwrap();
    drop(store);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    fs::write(scratch.join("blocks"), b"of a run that was killed").unwrap();
    let (store, _) = open(scratch.path()).unwrap();
    drop(store);
    assert!(scratch.join("blocks").exists());
    let (store, [_, newest]) = two_versions(scratch.path());
    drop(store);
    assert_eq!(check_each(scratch.path()), Ok(Some(newest.to_vec())));
}

#[test]
fn a_created_folder_is_removed_unless_a_version_was_kept() {
    let scratch = Scratch::new();
    let path = scratch.join("kept");
    let store = |size| {
        let blocks = Blocks { what: "numbers", count: COUNT, size };
        let reader = Reader::open(Backend::Auto, Pool::new(2 * blocks.frame_size())).unwrap();
        let writer = WriteBehind::start(&reader, 2 * blocks.frame_size(), Caching::Direct);
        let folder = VersionFolder::make(&path).unwrap();
        BlockStore::versioned(folder, blocks, &reader, &writer, &|_| false)
    };
    // No disk has room for such blocks.
    let error = store(1 << 50).err().expect("the disk is too small").to_string();
    assert!(error.contains("of free space"), "{error}");
    assert!(!path.exists());
    let (unused, _) = store(SIZE).unwrap();
    write(&unused, 1, 1).unwrap();
    drop(unused);
    assert!(!path.exists(), "no version was kept");
    let (used, _) = store(SIZE).unwrap();
    used.keep_version(b"first").unwrap();
    drop(used);
    assert_eq!(versions_in(&path), ["version-1"]);
}

#[test]
fn a_loss_of_power_at_any_moment_leaves_whole_versions() {
    for earlier in 0..3 {
        let scratch = Scratch::new();
        let (store, _) = open(scratch.path()).unwrap();
        let mut changes = [0; COUNT];
        (0..COUNT).for_each(|block| write(&store, block, 0).unwrap());
        for version in 0..earlier {
            change(&store, &mut changes, &[version, version + 2]).unwrap();
        }
        let old = (earlier > 0).then(|| changes.to_vec());
        let trace = power_loss::record(scratch.path(), durable::watch, || {
            change(&store, &mut changes, &[0, 1, 4]).unwrap();
            // The following writes take the slots of the removed version.
            (0..COUNT).for_each(|block| write(&store, block, 99).unwrap());
            store.finish_writing().unwrap();
        });
        let survives = |folder: &Path, crash| {
            let newest = check_each(folder)?;
            let is_new = newest.as_deref() == Some(&changes[..]);
            match is_new || (crash == Crash::Within && newest == old) {
                true => Ok(()),
                false => Err(format!("the newest version is {newest:?}")),
            }
        };
        match earlier {
            // With two versions before, the oldest is removed: its name must be gone before its
            // slots are written to.
            2 => trace.assert_survived_by_each_sync(&survives),
            _ => trace.assert_survived(&survives),
        }
    }
}

#[test]
fn a_failure_at_any_step_leaves_the_old_versions_or_the_new_one() {
    let kept = Cell::new([0; 2]);
    let try_all = |backend: &dyn Fn(u64) -> Backend, fail_at: &dyn Fn(u64) -> bool| {
        for step in 1.. {
            let scratch = Scratch::new();
            let (store, [_, old]) = two_versions(scratch.path());
            drop(store);
            let (store, _) = open_with(scratch.path(), backend(step), 1).unwrap();
            let mut new = old;
            fail_at(step);
            let outcome = change(&store, &mut new, &[1, 3, 5]);
            let is_over = fail_at(0);
            if let Err(error) = &outcome {
                assert!(matches!(error, Error::Io { .. }), "{error}");
                let again = store.keep_version(&old).and_then(|()| write(&store, 1, 7));
                assert!(again.is_err(), "what is on disk is not known");
            }
            drop(store);
            let newest = check_each(scratch.path()).unwrap().unwrap();
            let is_new = newest == new;
            assert!(is_new || (newest == old && outcome.is_err()), "after step {step}");
            let mut counts = kept.get();
            counts[usize::from(is_new)] += 1;
            kept.set(counts);
            // The leftovers do not disturb a run that goes on.
            let (store, beside) = open(scratch.path()).unwrap();
            let mut changes: Changes = beside.unwrap().try_into().unwrap();
            change(&store, &mut changes, &[2, 3]).unwrap();
            drop(store);
            assert_eq!(check_each(scratch.path()), Ok(Some(changes.to_vec())));
            if outcome.is_ok() && is_over {
                return step;
            }
        }
        unreachable!("it ends with the step that is not taken");
    };
    let steps = try_all(&|_| Backend::Auto, &durable::fail_at);
    assert!(steps > 5, "{steps} steps: files made, synced, renamed, removed");
    let plan = |write| FaultPlan::new().nth_write(write, Errno::NOSPC.raw_os_error());
    let writes = try_all(&|write| Backend::Auto.with_faults(&plan(write)), &|_| true);
    assert_eq!(writes, 3 + 1, "three blocks that change");
    let [old, new] = kept.get();
    assert!(old > 3 && new > 2, "{old} old versions, {new} new ones");
}

#[test]
fn a_flipped_bit_is_always_found() {
    let scratch = Scratch::new();
    let (store, versions) = two_versions(scratch.path());
    drop(store);
    let files = ["blocks", "version-1", "version-2"];
    let bytes = files.map(|name| fs::read(scratch.join(name)).unwrap());
    let mut older = 0;
    for read in 1.. {
        files
            .iter()
            .zip(&bytes)
            .for_each(|(name, bytes)| fs::write(scratch.join(name), bytes).unwrap());
        let plan = FaultPlan::new().nth(read, Fault::FlipBit(1234));
        let found = open_with(scratch.path(), Backend::Auto.with_faults(&plan), 1);
        // Opening falls back to the other version; a later flip is an error.
        let checked = found.map_err(|error| error.to_string()).and_then(|(store, beside)| {
            let beside = beside.unwrap();
            assert!(versions.iter().any(|changes| beside == changes));
            older += usize::from(plan.struck() > 0 && beside == versions[0]);
            check(&store, &beside)
        });
        match checked {
            Err(error) => assert!(error.contains("is not what was written"), "{error}"),
            Ok(()) if plan.struck() == 0 => break,
            Ok(()) => {}
        }
    }
    assert!(older > 4, "a list and four blocks at the least");
}

#[test]
fn a_damaged_list_gives_way_to_the_one_before() {
    let scratch = Scratch::new();
    let (store, [older, newest]) = two_versions(scratch.path());
    drop(store);
    let list = |number: u64| scratch.join(format!("version-{number}"));
    let (first, second) = (fs::read(list(1)).unwrap(), fs::read(list(2)).unwrap());
    let damages = (0..second.len()).step_by(7).map(|at| {
        let mut bytes = second.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    });
    let cuts = [0, 1, second.len() / 2, second.len() - 1].map(|len| second[..len].to_vec());
    for damaged in damages.chain(cuts).chain([first.clone()]) {
        fs::write(list(1), &first).unwrap();
        fs::write(list(2), &damaged).unwrap();
        let (store, beside) = open(scratch.path()).unwrap();
        assert_eq!(beside.as_deref(), Some(&older[..]));
        check(&store, &older).unwrap();
        assert_eq!(versions_in(scratch.path()), ["version-1", "version-2"]);
        assert_eq!(fs::read(list(2)).unwrap(), damaged);
        store.keep_version(&older).unwrap();
        assert_eq!(check_each(scratch.path()), Ok(Some(older.to_vec())), "it was replaced");
    }
    fs::remove_file(list(2)).unwrap();
    fs::write(list(1), &second).unwrap();
    let error = open(scratch.path()).err().expect("no version is whole").to_string();
    assert!(error.contains("version-1"), "{error}");
    assert_eq!(versions_in(scratch.path()), ["version-1"], "nothing is removed");
    fs::write(list(2), &second).unwrap();
    let (_, beside) = open(scratch.path()).unwrap();
    assert_eq!(beside.as_deref(), Some(&newest[..]));
}

#[test]
fn damaged_blocks_give_way_to_the_version_before() {
    let scratch = Scratch::new();
    let (store, [older, newest]) = two_versions(scratch.path());
    drop(store);
    let names = ["blocks", "version-1", "version-2"];
    let kept = names.map(|name| fs::read(scratch.join(name)).unwrap());
    let put_back = || {
        names.iter().zip(&kept).for_each(|(name, bytes)| {
            fs::write(scratch.join(name), bytes).unwrap();
        });
    };
    let slot = SIZE.next_multiple_of(4096);
    // The changed blocks of the second version lie behind the six of the first one.
    for damaged in COUNT..COUNT + 3 {
        put_back();
        let mut bytes = kept[0].clone();
        bytes[damaged * slot + 99] ^= 4;
        fs::write(scratch.join("blocks"), bytes).unwrap();
        let (store, beside) = open(scratch.path()).unwrap();
        assert_eq!(beside.as_deref(), Some(&older[..]));
        check(&store, &older).unwrap();
        store.keep_version(&older).unwrap();
        assert_eq!(check_each(scratch.path()), Ok(Some(older.to_vec())));
        assert_eq!(versions_in(scratch.path()), ["version-1", "version-2"]);
    }
    put_back();
    fs::write(scratch.join("blocks"), &kept[0][..(COUNT + 1) * slot]).unwrap();
    let (store, beside) = open(scratch.path()).unwrap();
    assert_eq!(beside.as_deref(), Some(&older[..]), "the file was cut short");
    check(&store, &older).unwrap();
    drop(store);
    put_back();
    fs::write(scratch.join("blocks"), b"").unwrap();
    let error = open(scratch.path()).err().expect("nothing is left of it").to_string();
    assert!(error.contains("block 0") && error.contains("their checksum differs"), "{error}");
    put_back();
    let (store, beside) = open(scratch.path()).unwrap();
    assert_eq!(beside.as_deref(), Some(&newest[..]));
    check(&store, &newest).unwrap();
}

#[test]
fn versions_of_other_blocks_and_those_in_use_are_refused() {
    let scratch = Scratch::new();
    let (store, _) = two_versions(scratch.path());
    let error = open(scratch.path()).err().expect("it is in use").to_string();
    assert!(error.contains("in use by another process"), "{error}");
    drop(store);
    let blocks = Blocks { what: "numbers", count: COUNT, size: SIZE + 1 };
    let reader = Reader::open(Backend::Auto, Pool::new(2 * blocks.frame_size())).unwrap();
    let writer = WriteBehind::start(&reader, 2 * blocks.frame_size(), Caching::Direct);
    let folder = VersionFolder::open(scratch.path()).unwrap();
    let opened = BlockStore::versioned(folder, blocks, &reader, &writer, &|_| false);
    let error = opened.err().expect("another size").to_string();
    let words = "6 blocks of 5000 bytes, but the numbers take 6 blocks of 5001 bytes";
    assert!(error.contains(words), "{error}");
    assert_eq!(versions_in(scratch.path()).len(), 2);
}
