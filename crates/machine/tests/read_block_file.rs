//! Block files: the payload is read back as written, and any damage is found.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tegula_machine::Error;
use tegula_machine::disk::{
    Backend, BlockFile, BlockFileSummary, BlockFileWriter, Caching, Fault, FaultPlan, FaultyOutput,
    OutputFile, Pool, Reader,
};

/// The smallest possible blocks.
const LOG2: u32 = 12;

fn payload(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// An output in memory.
#[derive(Debug, Default)]
struct Bytes(Vec<u8>);

impl Write for &mut Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputFile for &mut Bytes {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a block file with small blocks.
fn encoded(payload: &[u8]) -> (Vec<u8>, BlockFileSummary) {
    let mut bytes = Bytes::default();
    let mut writer = BlockFileWriter::new(&mut bytes, "in memory", LOG2);
    // In uneven pieces, so that some blocks are gathered and others pass through.
    let mut rest = payload;
    for len in (1..).map(|i| i * 2711 % 9000) {
        let (piece, after) = rest.split_at(rest.len().min(len));
        writer.write_all(piece).expect("memory takes all");
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let summary = writer.finish().expect("memory takes all");
    (bytes.0, summary)
}

/// A block file of these bytes, opened from memory.
fn open(bytes: Vec<u8>, faults: &FaultPlan) -> tegula_machine::Result<BlockFile> {
    open_within(64 * 1024, bytes, faults)
}

fn open_within(
    budget: u64,
    bytes: Vec<u8>,
    faults: &FaultPlan,
) -> tegula_machine::Result<BlockFile> {
    let path = PathBuf::from("file");
    let backend = Backend::Memory(HashMap::from([(path.clone(), bytes)])).with_faults(faults);
    let reader = Reader::open(backend, Pool::new(budget))?;
    BlockFile::open(&reader, path, Caching::Direct)
}

fn open_and_verify(bytes: Vec<u8>) -> tegula_machine::Result<()> {
    open(bytes, &FaultPlan::new())?.verify()
}

#[test]
fn payloads_of_any_length_around_a_block_are_read_back() {
    for len in [0, 1, 4095, 4096, 4097, 8192, 50_000] {
        let payload = payload(len);
        let (bytes, summary) = encoded(&payload);
        assert_eq!((summary.payload_len, summary.file_len), (len as u64, bytes.len() as u64));
        let file = open(bytes, &FaultPlan::new()).expect("a block file");
        assert_eq!((file.len(), file.summary()), (len as u64, summary));
        assert_eq!(file.read_range(0, len).expect("the payload"), payload);
        file.verify().expect("it is whole");
    }
}

#[test]
fn any_range_is_read_and_none_outside_of_the_payload() {
    let payload = payload(20_000);
    let file = open(encoded(&payload).0, &FaultPlan::new()).expect("a block file");
    for (start, end) in [
        (0, 0),
        (0, 1),
        (4095, 4097),
        (1, 20_000),
        (8192, 12_288),
        (19_999, 20_000),
        (20_000, 20_000),
    ] {
        let range = file.read_range(start, (end - start) as usize).expect("a range");
        assert!(range == payload[start as usize..end as usize], "{start}..{end}");
        let mut offset = start;
        for block in file.stream(start..end).expect("a range") {
            let block = block.expect("a block");
            assert_eq!(block.offset(), offset);
            offset += block.len() as u64;
        }
        assert_eq!(offset, end);
    }
    for (offset, len) in [(20_000, 1), (0, 20_001), (u64::MAX, 2), (1, usize::MAX)] {
        let error = file.read_range(offset, len).expect_err("it is outside");
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
}

#[test]
fn a_budget_of_one_block_is_enough() {
    let payload = payload(5000);
    let file = open_within(4096, encoded(&payload).0, &FaultPlan::new()).expect("a block file");
    assert!(file.read_range(1, 4998).expect("a range") == payload[1..4999]);
}

#[test]
fn only_the_blocks_of_a_range_are_read() {
    let plan = FaultPlan::new();
    let file = open(encoded(&payload(100_000)).0, &plan).expect("a block file");
    let before = plan.reads();
    file.read_range(4096 * 3 + 1, 4096).expect("a range over two blocks");
    assert_eq!(plan.reads() - before, 2);
}

#[test]
fn typed_arrays_are_read_whole_and_only_at_their_length() {
    let numbers: Vec<u64> = (0..3000).map(|i| i * i).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let file = open(encoded(&bytes).0, &FaultPlan::new()).expect("a block file");
    let mut read = vec![0u64; 3000];
    file.read_all_into(&mut read).expect("the array");
    assert_eq!(read, numbers);
    for len in [0, 2999, 3001] {
        assert!(file.read_all_into(&mut vec![0u64; len]).is_err());
    }
}

#[test]
fn each_flipped_bit_of_a_file_is_found() {
    let (bytes, _) = encoded(&payload(4096 + 100));
    open_and_verify(bytes.clone()).expect("it is whole");
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match open_and_verify(damaged) {
            Err(Error::Corrupt { part, .. }) => {
                let expected: &[&str] = match bit / 8 {
                    0..4096 => &["block 0"],
                    4096..4196 => &["block 1"],
                    _ => &["footer", "trailer"],
                };
                assert!(expected.contains(&part.as_str()), "bit {bit}: {part}");
            }
            other => panic!("bit {bit}: {other:?}"),
        }
    }
}

#[test]
fn each_truncation_and_each_extension_of_a_file_is_found() {
    let (bytes, _) = encoded(&payload(4096 + 100));
    for len in 0..bytes.len() {
        let error = open_and_verify(bytes[..len].to_vec()).expect_err("it is cut off");
        assert!(matches!(error, Error::Corrupt { .. }), "{len}: {error}");
    }
    for front in [true, false] {
        let mut longer = bytes.clone();
        longer.insert(if front { 0 } else { bytes.len() }, 0);
        assert!(matches!(open_and_verify(longer), Err(Error::Corrupt { .. })));
    }
}

#[test]
fn a_bit_flipped_on_the_way_names_its_block_and_ends_the_stream() {
    let plan = FaultPlan::new().nth(5, Fault::FlipBit(99));
    let file = open(encoded(&payload(50_000)).0, &plan).expect("a block file");
    let before = plan.reads() as usize;
    let mut stream = file.stream(0..50_000).expect("a range");
    assert!(stream.by_ref().take(4 - before).all(|block| block.is_ok()));
    let error = stream.next().expect("a block").expect_err("it is damaged");
    let expected = format!("block {}", 4 - before);
    assert!(matches!(&error, Error::Corrupt { part, .. } if *part == expected), "{error}");
    assert!(stream.next().is_none());
}

#[test]
fn a_newer_version_is_not_reported_as_damage() {
    let (mut bytes, _) = encoded(b"payload");
    let (footer, trailer) = (7, 11);
    bytes[trailer + 8] = 2;
    let sum = tegula_machine::disk::crc32c(&bytes[footer..trailer + 28]);
    bytes[trailer + 28..].copy_from_slice(&sum.to_le_bytes());
    let error = open_and_verify(bytes).expect_err("a later version");
    assert!(matches!(error, Error::UnsupportedVersion { found: 2, supported: 1, .. }), "{error}");
}

#[test]
fn numbers_that_overflow_are_found_before_they_are_used() {
    let (bytes, _) = encoded(b"payload");
    for payload_len in [u64::MAX, u64::MAX - 42, 1 << 62, 8, 6] {
        let mut forged = bytes.clone();
        let end = forged.len();
        forged[end - 16..end - 8].copy_from_slice(&payload_len.to_le_bytes());
        let error = open_and_verify(forged).expect_err("it does not fit");
        assert!(matches!(&error, Error::Corrupt { part, .. } if part == "trailer"), "{error}");
    }
}

#[test]
fn a_write_that_fails_at_any_step_is_an_error_and_leaves_no_readable_file() {
    let payload = payload(20_000);
    let mut steps = 0;
    for n in 1.. {
        let mut bytes = Bytes::default();
        let mut writer = BlockFileWriter::new(FaultyOutput::new(&mut bytes, n), "in memory", LOG2);
        let written = writer.write_all(&payload);
        // A caller that ignores the failure of a write gets an error at the end.
        let finished = writer.finish();
        assert!(written.is_ok() || finished.is_err());
        if finished.is_ok() {
            open_and_verify(bytes.0).expect("it is whole");
            steps = n;
            break;
        }
        assert!(matches!(finished, Err(Error::Io { action: "write", .. })));
        // Flush and sync come last, when all bytes are written. Before that, nothing opens.
        assert!(open_and_verify(bytes.0).is_err() || n > 6, "step {n}");
    }
    // Five blocks, the footer, flush, sync, and one step that is not reached.
    assert_eq!(steps, 9);
}

#[test]
fn a_file_on_disk_with_blocks_of_a_mebibyte_is_read_back() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path: &Path = &folder.path().join("array");
    let payload = payload((5 << 20) + 12_345);
    let mut writer = BlockFileWriter::create(path).expect("a new file");
    payload.chunks(300_000).try_for_each(|piece| writer.write_all(piece)).expect("written");
    let summary = writer.finish().expect("finished");
    assert_eq!(fs::metadata(path).expect("the file").len(), summary.file_len);
    assert!(BlockFileWriter::<File>::create(path).is_err(), "nothing is overwritten");
    for caching in [Caching::Direct, Caching::PageCache] {
        // Room for two blocks only.
        let reader = Reader::open(Backend::Auto, Pool::new(2 << 20)).expect("a reader");
        let file = BlockFile::open(&reader, path, caching).expect("a block file");
        let mut read = vec![0u8; payload.len()];
        file.read_all_into(&mut read).expect("the payload");
        assert!(read == payload);
        assert_eq!(reader.pool().available(), 2 << 20);
    }
    let small = Reader::open(Backend::Auto, Pool::new(1 << 19)).expect("a reader");
    let file = BlockFile::open(&small, path, Caching::Direct).expect("a block file");
    assert!(matches!(file.verify(), Err(Error::OverBudget { .. })));
}
