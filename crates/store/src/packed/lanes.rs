//! Numbers of up to 32 bits, packed in eight lanes.
//!
//! Eight consecutive numbers are a row, one number in each lane. A lane is a stream of bits of its
//! own: number after number in `width` bits each, from the lowest bit of a word on. The words of
//! the lanes are interleaved. So the same few instructions unpack a row in all lanes at once, which
//! compilers do with vectors.

/// Numbers of a row.
pub(super) const LANES: usize = 8;
/// Bytes of one word of every lane.
pub(super) const WORDS_SIZE: usize = LANES * size_of::<u32>();

/// One number of every lane.
pub(super) type Row = [u32; LANES];

/// Words of a lane for `rows` numbers of `width` bits.
pub(super) fn words(rows: usize, width: u32) -> usize {
    (rows * width as usize).div_ceil(u32::BITS as usize)
}

/// The word in which a row begins, and its first bit there.
#[inline(always)]
fn place(row: usize, width: u32) -> (usize, u32) {
    let bit = row * width as usize;
    (bit / u32::BITS as usize, bit as u32 % u32::BITS)
}

/// Appends rows of numbers below `2^width`. The width is 1 to 32.
pub(super) fn pack(rows: &[Row], width: u32, bytes: &mut Vec<u8>) {
    let mut lanes = vec![[0u32; LANES]; words(rows.len(), width)];
    for (index, row) in rows.iter().enumerate() {
        let (word, shift) = place(index, width);
        for (lane, &number) in row.iter().enumerate() {
            lanes[word][lane] |= number << shift;
            if shift + width > u32::BITS {
                lanes[word + 1][lane] |= number >> (u32::BITS - shift);
            }
        }
    }
    bytes.extend(lanes.as_flattened().iter().flat_map(|word| word.to_le_bytes()));
}

/// Fills rows from the [`words`] that they were packed into. The width is 1 to 32.
///
/// About two instructions a number: the work that depends on the width is done once a row.
pub(super) fn unpack(lanes: &[[u8; WORDS_SIZE]], width: u32, rows: &mut [Row]) {
    assert!((1..=u32::BITS).contains(&width) && lanes.len() == words(rows.len(), width));
    let mask = u32::MAX >> (u32::BITS - width);
    for (index, row) in rows.iter_mut().enumerate() {
        let (word, shift) = place(index, width);
        *row = load(&lanes[word]).map(|word| word >> shift);
        if shift + width > u32::BITS {
            let next = load(&lanes[word + 1]);
            row.iter_mut()
                .zip(next)
                .for_each(|(number, word)| *number |= word << (u32::BITS - shift));
        }
        row.iter_mut().for_each(|number| *number &= mask);
    }
}

#[inline(always)]
fn load(bytes: &[u8; WORDS_SIZE]) -> Row {
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|lane| u32::from_le_bytes(words[lane]))
}
