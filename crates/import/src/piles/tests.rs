//! Records come back, whether they were held or spilled, and after slabs are reused.

use super::*;
use tegula_machine::Error as MachineError;

fn space(held: u64) -> (tempfile::TempDir, Space) {
    let folder = tempfile::tempdir().unwrap();
    let space = Space { folder: folder.path().to_owned(), held, writing: 1 << 16, writers: 2 };
    (folder, space)
}

/// Number of records, which take many blocks in each pile.
const COUNT: u64 = 200_000;
/// Bytes that are held: none; slabs of one block; slabs of several blocks, partly spilled;
/// the same, all in memory; one slab for each pile.
const HELD: [u64; 5] = [0, 100_000, 1_000_000, 4_000_000, u64::MAX];

/// Writes `0..count`, each to the pile of its residue; returns the piles.
fn fill(held: u64, piles: usize, count: u64) -> Filled<u64> {
    let (_folder, space) = space(held);
    let written = Piles::new(piles, space);
    let write = |worker: usize| {
        written.write(|writer| {
            let mine = (0..count).filter(|number| number % 16 == worker as u64);
            mine.map(|number| (number as usize % piles, number))
                .try_for_each(|(b, n)| writer.push(b, n))
        })
    };
    Workers::scope(2, |workers| workers.for_each(16, &Cancel::default(), &write)).unwrap();
    written.close().unwrap()
}

#[test]
fn every_record_comes_back_from_memory_and_from_disk() {
    for held in HELD {
        for piles in [1, 7, 40] {
            let filled = fill(held, piles, COUNT);
            assert_eq!(filled.spilled() > 0, held < 8 * COUNT, "{held} {piles}");
            for pile in 0..piles {
                let mut records = filled.read(pile).unwrap();
                records.sort_unstable();
                let expected: Vec<u64> = (pile as u64..COUNT).step_by(piles).collect();
                assert_eq!(records, expected);
                assert_eq!(filled.len(pile), expected.len() as u64);
                let seen = Mutex::new(Vec::new());
                let collect = |part: &[u64]| {
                    lock(&seen).extend_from_slice(part);
                    Ok(())
                };
                Workers::scope(3, |workers| {
                    filled.for_each_parallel(pile, workers, &Cancel::default(), &collect)
                })
                .unwrap();
                let mut seen = seen.into_inner().unwrap();
                seen.sort_unstable();
                assert_eq!(seen, expected);
            }
        }
    }
}

#[test]
fn slabs_are_filled_and_reused_after_a_spill() {
    let (_folder, space) = space(1_000_000);
    let piles = Piles::<u64>::new(7, space);
    assert!(piles.slab_len >= 3 * piles.block_len);
    let write = |first: u64| {
        piles.write(|writer| {
            (first..first + COUNT).try_for_each(|number| writer.push(number as usize % 7, number))
        })
    };
    write(0).unwrap();
    let held = piles.held.load(Ordering::Relaxed);
    assert!(held <= 1_000_000 && held > 700_000, "{held}");
    let spilled = lock(&piles.idle).last().unwrap().as_ptr();
    let again = piles.new_slab(1);
    assert_eq!(again.as_ptr(), spilled);
    piles.held.fetch_sub(bytes_of(&again), Ordering::Relaxed);
    lock(&piles.idle).push(again);
    write(COUNT).unwrap();
    let filled = piles.close().unwrap();
    assert!(filled.shelves.iter().any(|shelf| shelf.slabs.len() > 1));
    for shelf in &filled.shelves {
        let full = shelf.slabs.split_last().map_or(&[][..], |(_, full)| full);
        assert!(full.iter().all(|slab| slab.len() == slab.capacity()));
    }
    let expected: Vec<u64> = (0..2 * COUNT).step_by(7).collect();
    assert_eq!(filled.read(0).unwrap(), expected);
}

#[test]
fn a_long_record_leaves_no_large_block() {
    let (_folder, space) = space(u64::MAX);
    let log = Piles::new(1, space);
    let block_len = log.block_len;
    let long = vec![7u8; 10 * block_len];
    log.write(|writer| {
        writer.push_all(0, &long)?;
        writer.push_all(0, b"short")?;
        assert!(writer.blocks[0].capacity() <= block_len);
        Ok(())
    })
    .unwrap();
    let records = log.close().unwrap().read(0).unwrap();
    assert_eq!(records, [&long[..], b"short"].concat());
}

#[test]
fn one_writer_keeps_the_order() {
    for held in HELD {
        let (_folder, space) = space(held);
        let log = Piles::new(1, space);
        for run in 0..500u32 {
            let records: Vec<u32> = (0..run).map(|number| number + run * 1000).collect();
            log.write(|writer| writer.push_all(0, &records)).unwrap();
        }
        let expected: Vec<u32> =
            (0..500).flat_map(|run| (0..run).map(move |number| number + run * 1000)).collect();
        assert_eq!(log.close().unwrap().read(0).unwrap(), expected);
    }
}

#[test]
fn a_folder_that_is_gone_is_an_error() {
    let (folder, space) = space(0);
    drop(folder);
    let log = Piles::new(1, space);
    log.write(|writer| writer.push(0, 1u8)).unwrap();
    assert!(matches!(log.close(), Err(Error::Machine(MachineError::Io { .. }))));
}
