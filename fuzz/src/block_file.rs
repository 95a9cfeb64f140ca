//! The reader of block files.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use tegula_machine::Result;
use tegula_machine::disk::{Backend, BlockFile, Caching, Pool, Reader, crc32c, ends_as_block_file};

use crate::{answer, choice, put};

/// Bytes of a trailer, and of the checksum at its end.
const TRAILER: usize = 32;
const CHECKSUM: usize = 4;

/// Reads a block file. The first byte chooses which checksums are made right: that of the trailer,
/// those of the blocks.
pub fn read(data: &[u8]) {
    let Some((choice, bytes)) = choice(data) else { return };
    let mut bytes = bytes.to_vec();
    if choice & 1 == 1 {
        mend(&mut bytes, choice & 2 == 2);
    }
    // The magic is looked for in the file itself.
    let path = put("file.blocks", bytes.last_chunk::<TRAILER>().map_or(&bytes[..], |last| last));
    let file = fs::File::open(&path).expect("it was written");
    let ends_as_one = ends_as_block_file(&file).expect("a readable file");
    if let Some((payload, file)) = answer(of(path, bytes).map_err(Into::into)) {
        assert!(ends_as_one);
        answer(read_all(&file, payload).map_err(Into::into));
    }
}

fn of(path: PathBuf, bytes: Vec<u8>) -> Result<(Vec<u8>, BlockFile)> {
    let files = HashMap::from([(path.clone(), bytes.clone())]);
    let reader = Reader::open(Backend::Memory(files), Pool::new(1 << 20))?;
    let file = BlockFile::open(&reader, &path, Caching::PageCache)?;
    let payload = bytes[..file.len() as usize].to_vec();
    Ok((payload, file))
}

/// Reads the payload in several ways, which agree.
fn read_all(file: &BlockFile, payload: Vec<u8>) -> Result<()> {
    let length = payload.len();
    assert_eq!(file.summary().payload_len, file.len());
    for (offset, count) in [(0, length), (length / 2, length / 3), (length, 0)] {
        if let Ok(found) = file.read_range(offset as u64, count) {
            assert_eq!(found, payload[offset..offset + count]);
        }
    }
    for (offset, count) in [(file.len(), 1), (1, length), (u64::MAX, 1), (0, usize::MAX)] {
        assert!(file.read_range(offset, count).is_err());
    }
    file.verify()?;
    let mut all = vec![0; length];
    file.read_all_into(&mut all)?;
    assert_eq!(all, payload);
    Ok(())
}

/// Makes the checksum of the trailer right, and those of all blocks if `mends_blocks`. The lengths
/// stay.
pub fn mend(bytes: &mut [u8], mends_blocks: bool) {
    let Some(trailer) = bytes.len().checked_sub(TRAILER) else { return };
    let number = |at: usize, count: usize| {
        let digits = bytes[trailer + at..][..count].iter().rev();
        digits.fold(0u64, |number, &byte| number << 8 | u64::from(byte))
    };
    let (block, payload) = (1usize << (number(12, 4) % 31), number(16, 8));
    let Some(payload) = usize::try_from(payload).ok().filter(|&end| end <= trailer) else { return };
    if mends_blocks {
        let (blocks, footer) = bytes[..trailer].split_at_mut(payload);
        for (block, sum) in blocks.chunks(block).zip(footer.chunks_exact_mut(CHECKSUM)) {
            sum.copy_from_slice(&crc32c(block).to_le_bytes());
        }
    }
    let (covered, sum) = bytes[payload..].split_at_mut(trailer + TRAILER - CHECKSUM - payload);
    sum.copy_from_slice(&crc32c(covered).to_le_bytes());
}
