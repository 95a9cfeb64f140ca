//! A stream of bits, from the highest bit of the first byte on, and the codes of numbers in it.
//! Numbers begin at 0.

use std::path::PathBuf;

use tegula_store::{At, Error, Result};
use tegula_tables::read::{InputStream, bad_at};

/// How a number `n` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// `n` zeros, then a one.
    Unary,
    /// `n + 1` in binary without its first one, after the number of these bits in unary (Elias,
    /// *Universal Codeword Sets*, 1975).
    Gamma,
    /// The same, but with the number of bits in gamma.
    Delta,
    /// Like gamma, but the unary number counts steps of this many bits (Boldi, Vigna, *Codes for
    /// the World Wide Web*, 2005).
    Zeta(u32),
}

/// Bytes to read at a time.
const BLOCK_BYTES: usize = 64 << 10;
const WORD_BYTES: usize = size_of::<u64>();

/// The bits of a file.
pub(super) struct Bits {
    path: PathBuf,
    stream: InputStream,
    block: Vec<u8>,
    /// The position of the next byte in the block, and the end of its bytes.
    next: usize,
    filled: usize,
    has_ended: bool,
    /// The next bits, from the highest on. The first `known` bits count; the bits after them may be
    /// set already, but are read again.
    window: u64,
    known: u32,
    /// The number of bits read so far.
    position: u64,
}

impl Bits {
    pub fn new(path: PathBuf, stream: InputStream) -> Bits {
        Bits {
            path,
            stream,
            block: vec![0; BLOCK_BYTES],
            next: 0,
            filled: 0,
            has_ended: false,
            window: 0,
            known: 0,
            position: 0,
        }
    }

    /// The number of bits read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Bytes read from the file since the last call.
    pub fn bytes_since(&mut self) -> u64 {
        self.stream.stored_bytes_since()
    }

    /// The error for a fault at the current position.
    pub fn damaged(&self, problem: String) -> Error {
        bad_at(&self.path, At::Byte(self.position / 8), problem)
    }

    /// Reads the next number.
    ///
    /// # Errors
    /// [`BadInput`](Error::BadInput) if the file ends within the number, or if the number does not
    /// fit 64 bits.
    pub fn number(&mut self, code: Code) -> Result<u64> {
        match code {
            Code::Unary => self.unary(),
            Code::Gamma => {
                let length = self.unary()?;
                self.binary(length)
            }
            Code::Delta => {
                let length = self.unary()?;
                let length = self.binary(length)?;
                self.binary(length)
            }
            Code::Zeta(step) => self.zeta(u64::from(step)),
        }
    }

    /// Reads the number `n` for which `n + 1` in binary is a one and the next `length` bits.
    fn binary(&mut self, length: u64) -> Result<u64> {
        match u32::try_from(length) {
            Ok(length) if length < u64::BITS => Ok((1 << length | self.bits(length)?) - 1),
            _ => Err(self.too_large()),
        }
    }

    fn zeta(&mut self, step: u64) -> Result<u64> {
        let length = self.unary()?.saturating_mul(step);
        if length + step > u64::from(u64::BITS) {
            return Err(self.too_large());
        }
        let first = 1u64 << length;
        let low = self.bits((length + step - 1) as u32)?;
        let number = if low < first { low + first } else { low << 1 | self.bits(1)? };
        Ok(number - 1)
    }

    fn too_large(&self) -> Error {
        self.damaged("a number does not fit 64 bits".to_owned())
    }

    /// Counts the zeros up to the next one.
    fn unary(&mut self) -> Result<u64> {
        let mut zeros = 0;
        loop {
            self.look_ahead()?;
            let here = self.window.leading_zeros();
            if here < self.known {
                self.pass(here + 1);
                return Ok(zeros + u64::from(here));
            }
            zeros += u64::from(self.known);
            self.need(1)?;
            self.pass(self.known);
        }
    }

    /// Reads the next `count` bits, fewer than 64, as a number.
    fn bits(&mut self, count: u32) -> Result<u64> {
        const HALF: u32 = u64::BITS / 2;
        if count > HALF {
            let high = self.bits(count - HALF)?;
            return Ok(high << HALF | self.bits(HALF)?);
        }
        self.look_ahead()?;
        self.need(count)?;
        // Two shifts, because a shift by all 64 bits overflows.
        let bits = self.window >> 1 >> (u64::BITS - 1 - count);
        self.pass(count);
        Ok(bits)
    }

    fn pass(&mut self, count: u32) {
        self.window <<= count;
        self.known -= count;
        self.position += u64::from(count);
    }

    fn need(&self, count: u32) -> Result<()> {
        if self.known >= count {
            return Ok(());
        }
        let problem = format!("the file ends within a number, after bit {}", self.position);
        Err(self.damaged(problem))
    }

    /// Makes at least 32 bits known, or all that are left.
    #[inline]
    fn look_ahead(&mut self) -> Result<()> {
        if self.known >= u64::BITS / 2 {
            return Ok(());
        }
        if let Some(word) = self.block[self.next..self.filled].first_chunk::<WORD_BYTES>() {
            // Bits that do not fit are read again, and then set in the same places.
            self.window |= u64::from_be_bytes(*word) >> self.known;
            self.next += ((u64::BITS - 1 - self.known) / 8) as usize;
            // Only whole bytes count, which makes 56 to 63 bits.
            self.known |= 56;
            return Ok(());
        }
        self.look_ahead_slowly()
    }

    #[cold]
    fn look_ahead_slowly(&mut self) -> Result<()> {
        if !self.has_ended {
            self.block.copy_within(self.next..self.filled, 0);
            self.filled -= self.next;
            self.next = 0;
            let (read, result) = self.stream.fill(&mut self.block[self.filled..]);
            result?;
            self.filled += read;
            self.has_ended = self.filled < BLOCK_BYTES;
        }
        while self.known <= u64::BITS - 16 && self.next < self.filled {
            self.window |= u64::from(self.block[self.next]) << (u64::BITS - 8 - self.known);
            self.next += 1;
            self.known += 8;
        }
        Ok(())
    }
}
