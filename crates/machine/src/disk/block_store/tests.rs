//! Written blocks are read back, in any order, with any memory and with faults of the disk.

use std::path::Path;

use proptest::prelude::*;
use tegula_testkit::Scratch;

use rustix::io::Errno;

use super::*;
use crate::disk::{Backend, Caching, Fault, FaultPlan, Pool};

const SIZE: usize = 5000;
const COUNT: usize = 12;

fn store(
    folder: &Path,
    backend: Backend,
    caching: Caching,
    read_count: usize,
    is_held: impl Fn(usize) -> bool,
) -> BlockStore {
    let blocks = Blocks { what: "numbers", count: COUNT, size: SIZE };
    let pool = Pool::new(read_count as u64 * blocks.frame_size());
    let reader = Reader::open(backend, pool).unwrap();
    let writer = WriteBehind::start(&reader, 2 * blocks.frame_size(), caching);
    let folder = Directory::open(folder).unwrap();
    BlockStore::create(&folder, blocks, &reader, &writer, &is_held).unwrap()
}

/// The content of a block after `version` writes, in two parts. In one of four versions both parts
/// are periodic, and in the one before it only one part is.
fn content(block: usize, version: u8) -> (Vec<u8>, Vec<u8>) {
    let byte = |index: usize| {
        let period = if version % 4 == 3 || (version % 4 == 2 && index < 2000) { 8 } else { SIZE };
        (index % period * 7 + block * 31) as u8 ^ version.wrapping_mul(29)
    };
    ((0..SIZE - 999).map(byte).collect(), (0..block * 80).map(byte).collect())
}

fn read(store: &BlockStore, block: usize) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut first, mut second) = (vec![0; SIZE - 999], vec![0; block * 80]);
    store.read(block, &mut [&mut first, &mut second])?;
    Ok((first, second))
}

fn write(store: &BlockStore, block: usize, version: u8) -> Result<()> {
    let (first, second) = content(block, version);
    store.write(block, &[&first, &second])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_read_returns_the_last_write(
        steps in prop::collection::vec((0..3, 0..COUNT), 1..120),
        caching in prop_oneof![Just(Caching::Direct), Just(Caching::PageCache)],
        read_count in 1..5usize,
        held in 0..COUNT + 1,
        has_threads: bool,
    ) {
        let scratch = Scratch::new();
        let threads = Backend::Threads(std::num::NonZeroUsize::MIN);
        let backend = if has_threads { threads } else { Backend::Auto };
        let store = store(scratch.path(), backend, caching, read_count, |block| block < held);
        let mut versions = [0; COUNT];
        (0..COUNT).for_each(|block| write(&store, block, 0).unwrap());
        for (step, block) in steps {
            match step {
                0 => {
                    versions[block] += 1;
                    write(&store, block, versions[block]).unwrap();
                }
                1 => store.read_ahead(block, SIZE - 999 + block * 80),
                _ => prop_assert_eq!(read(&store, block).unwrap(), content(block, versions[block])),
            }
        }
        store.finish_writing().unwrap();
        for (block, version) in versions.into_iter().enumerate() {
            prop_assert_eq!(read(&store, block).unwrap(), content(block, version));
        }
        // The file has no name.
        prop_assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }
}

#[test]
fn periodic_blocks_take_no_room_on_disk() {
    let scratch = Scratch::new();
    let store = store(scratch.path(), Backend::Auto, Caching::PageCache, 2, |_| false);
    (0..COUNT).for_each(|block| write(&store, block, 3).unwrap());
    (0..COUNT).for_each(|block| assert_eq!(read(&store, block).unwrap(), content(block, 3)));
    assert_eq!((store.bytes_read(), store.writer.bytes_written()), (0, 0));
    write(&store, 3, 0).unwrap();
    assert_eq!(read(&store, 3).unwrap(), content(3, 0));
    assert!(store.bytes_read() > 0 && store.writer.bytes_written() > 0);
}

#[test]
fn a_flipped_bit_is_found_and_its_block_named() {
    let scratch = Scratch::new();
    let plan = FaultPlan::new().nth(1, Fault::FlipBit(12345));
    let backend = Backend::Auto.with_faults(&plan);
    let store = store(scratch.path(), backend, Caching::Direct, 1, |_| false);
    write(&store, 3, 1).unwrap();
    let error = read(&store, 3).unwrap_err().to_string();
    assert!(error.contains("block 3 of the numbers is not what was written"), "{error}");
    assert_eq!(read(&store, 3).unwrap(), content(3, 1), "the disk had it right");
}

#[test]
fn a_failed_write_is_reported_to_all_later_calls() {
    let scratch = Scratch::new();
    let plan = FaultPlan::new().nth_write(2, Errno::NOSPC.raw_os_error());
    let backend = Backend::Auto.with_faults(&plan);
    let store = store(scratch.path(), backend, Caching::Direct, 1, |_| false);
    write(&store, 3, 1).unwrap();
    store.finish_writing().unwrap();
    write(&store, 4, 1).unwrap();
    for _ in 0..2 {
        let error = store.finish_writing().unwrap_err().to_string();
        assert!(error.contains("cannot write") && error.contains("No space left"), "{error}");
    }
    assert!(read(&store, 3).is_err() && write(&store, 5, 1).is_err());
}

#[test]
fn a_disk_that_is_too_small_is_refused_before_the_first_write() {
    let scratch = Scratch::new();
    let reader = Reader::open(Backend::Auto, Pool::new(0)).unwrap();
    let blocks = Blocks { what: "numbers", count: 1 << 13, size: 1 << 30 };
    let writer = WriteBehind::start(&reader, blocks.frame_size(), Caching::Direct);
    let folder = Directory::open(scratch.path()).unwrap();
    let created = BlockStore::create(&folder, blocks, &reader, &writer, &|_| false);
    let error = created.err().expect("8 TiB").to_string();
    assert!(error.contains("reserve room") && error.contains("8.0 TiB"), "{error}");
}
