//! The names of vertices, and their order.
//!
//! While the edges are read, a name is known by its 128-bit hash. The names themselves are put into
//! piles by hash, where equal ones meet. The distinct names are put into piles by their first
//! bytes. These piles, sorted one after the other, give all names in byte order.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use tegula_machine::disk::BlockFileWriter;
use tegula_machine::threads::{ProgressUnit, Stash, map_in_order};
use tegula_store::graph::file_names;
use tegula_store::packed::Ascending;
use tegula_store::tiles::VertexNumber;
use tegula_store::{At, Error, Place, Result};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::distinct::check_vertex_count;
use crate::edge::{ArcRule, hash_of};
use crate::import_run::ImportRun;
use crate::input::{EdgeChunk, Ends};
use crate::piles::{Filled, Piles};
use crate::shares;
use crate::vertex_files::{ArrayFile, VertexFile};

/// Piles by hash, for a dictionary whose size is not known beforehand.
const PILES: usize = 256;

/// Names that a worker remembers, so that a name with many edges is not stored for each of them:
/// 512 KiB.
const REMEMBERED: usize = 1 << 15;

/// The most bytes of names that are sorted together, with any memory. Comparing two names looks at
/// bytes anywhere among them, which should be in the cache.
const SORTED_TOGETHER_MAX: u64 = 4 << 20;

/// Collects names while the edges are read.
pub(crate) struct NameCollector {
    piles: Piles<u8>,
    remembered: Stash<Vec<u128>>,
}

impl NameCollector {
    pub fn new(run: &ImportRun<'_>) -> NameCollector {
        let space = run.space(run.share(shares::NAMES));
        NameCollector {
            piles: Piles::new(PILES.min(space.piles_max()), space),
            remembered: Stash::default(),
        }
    }

    /// Collects the names of a chunk, except those of edges that are left out.
    pub fn add(&self, chunk: &EdgeChunk<'_>, rule: ArcRule) -> Result<()> {
        let Ends::Strings { sources, targets } = chunk.ends else { return Ok(()) };
        let edges = sources.iter().zip(targets.iter());
        let edges = edges.filter(|(source, target)| !rule.drop_loops || source != target);
        self.add_all(edges.flat_map(<[&[u8]; 2]>::from))
    }

    /// Collects names.
    pub fn add_all<'n>(&self, names: impl Iterator<Item = &'n [u8]>) -> Result<()> {
        let count = self.piles.count();
        self.remembered.with(
            || vec![0; REMEMBERED],
            |remembered| {
                self.piles.write(|writer| {
                    for name in names {
                        let hash = hash_of(name);
                        let place = &mut remembered[hash as usize % REMEMBERED];
                        // Free places hold 0, so a name with this hash is stored each time.
                        if *place != hash || hash == 0 {
                            *place = hash;
                            writer.push_joined(pile_of(hash, count), &head_of(hash, name), name)?;
                        }
                    }
                    Ok(())
                })
            },
        )
    }

    /// Returns each name once, in piles. All names of a pile are below those of the next.
    pub fn distinct(self, run: &ImportRun<'_>) -> Result<DistinctNames> {
        let by_hash = self.piles.close()?;
        let bytes = (0..by_hash.count()).map(|pile| by_hash.len(pile)).sum();
        run.progress.begin("gathering names", Some(bytes), ProgressUnit::Bytes);
        let make = |pile| {
            let mut places: HashMap<u128, usize> = HashMap::new();
            Names::read(run, &by_hash, pile, &mut |names, hash, text| {
                let place = *places.entry(hash).or_insert(names.list.len());
                names
                    .list
                    .get(place)
                    .map_or(Ok(true), |other| names.check_same(other, text).map(|()| false))
            })
        };
        // Hashes are random: one pile is a fair sample of the distinct names.
        let mut sample = make(0)?;
        sample.sort_by_name();
        let space = run.space(run.share(shares::DISTINCT_NAMES));
        let together = (names_share(run) / 3).clamp(1, SORTED_TOGETHER_MAX);
        let wanted = sample.bytes.len() as u64 * by_hash.count() as u64 / together;
        let wanted = wanted.clamp(run.workers.count() as u64, space.piles_max() as u64) as usize;
        let splitters = sample.splitters(wanted);
        let by_name = Piles::new(splitters.len() + 1, space);
        let mut count = 0;
        map_in_order(
            run.workers,
            run.workers.count(),
            by_hash.count(),
            run.cancel,
            &make,
            &mut |pile, names| {
                run.progress.advance(by_hash.len(pile));
                count = check_vertex_count(count + names.list.len() as u64)?;
                by_name.write(|writer| {
                    names.list.iter().try_for_each(|name| {
                        let text = names.text(name);
                        let pile = splitters.partition_point(|splitter| &splitter[..] <= text);
                        writer.push_all(pile, names.record(name))
                    })
                })
            },
        )?;
        run.progress.end();
        Ok(DistinctNames { count, by_name: by_name.close()? })
    }
}

/// A vertex whose name often marks a missing value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NullName {
    pub name: &'static str,
    pub id_position: u64,
}

/// Names that often mark a missing value: those that R, SQL and Python write.
const NULL_NAMES: [&str; 8] = ["NA", "<NA>", "N/A", "NULL", "null", "NaN", "nan", "\\N"];

/// Finds `name` among [`NULL_NAMES`].
fn null_name(name: &[u8]) -> Option<&'static str> {
    NULL_NAMES.into_iter().find(|null| null.as_bytes() == name)
}

/// The names of all vertices, each once.
pub(crate) struct DistinctNames {
    /// Number of names.
    pub count: u64,
    by_name: Filled<u8>,
}

impl DistinctNames {
    /// Sorts the names and writes them into `directory`.
    pub fn sort<N: VertexNumber>(
        self,
        run: &ImportRun<'_>,
        directory: &Path,
    ) -> Result<SortedNames<N>> {
        let by_name = self.by_name;
        run.progress.begin("sorting names", Some(self.count), ProgressUnit::Vertices);
        let mut files = NameFiles::create(directory)?;
        let id_positions = Piles::new(PILES, run.space(run.share(shares::NAME_POSITIONS)));
        let mut count = 0;
        let mut nulls = Vec::new();
        let make = |pile| {
            let mut names = Names::read(run, &by_name, pile, &mut |_, _, _| Ok(true))?;
            names.sort_by_name();
            Ok::<_, Error>(names)
        };
        map_in_order(
            run.workers,
            run.workers.count(),
            by_name.count(),
            run.cancel,
            &make,
            &mut |_, names| {
                for name in &names.list {
                    files.push(names.text(name))?;
                    if let Some(name) = null_name(names.text(name)) {
                        nulls.push(NullName { name, id_position: count });
                    }
                    let entry = NamePosition { hash: name.hash, id_position: N::of(count) };
                    id_positions.write(|writer| writer.push(pile_of(name.hash, PILES), entry))?;
                    count += 1;
                }
                run.progress.advance(names.list.len() as u64);
                Ok(())
            },
        )?;
        run.progress.end();
        let (id_positions, files) = (id_positions.close()?, files.finish()?);
        Ok(SortedNames { count, id_positions, files, nulls })
    }
}

/// All names in byte order, and the id position of each name by its hash.
pub(crate) struct SortedNames<N> {
    /// Number of names.
    pub count: u64,
    /// Hash and id position of every name, in piles by [`pile_of`] the hash.
    pub id_positions: Filled<NamePosition<N>>,
    /// The files that hold the names.
    pub files: Vec<VertexFile>,
    /// The names that often mark a missing value.
    pub nulls: Vec<NullName>,
}

/// The position of a name in the byte order of all names.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, packed)]
pub(crate) struct NamePosition<N> {
    pub hash: u128,
    pub id_position: N,
}

/// Returns the pile, of `count`, of a hash. Higher hashes lie in higher piles.
pub(crate) fn pile_of(hash: u128, count: usize) -> usize {
    (((hash >> 64) * count as u128) >> 64) as usize
}

/// Bytes of the hash and the length, which precede a name where it is spilled.
const HEAD: usize = size_of::<u128>() + size_of::<u32>();

fn head_of(hash: u128, name: &[u8]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..16].copy_from_slice(&hash.to_le_bytes());
    // A name lies within a block of text, which is far shorter than 4 GiB.
    head[16..].copy_from_slice(&(name.len() as u32).to_le_bytes());
    head
}

/// Splits off the first record; returns it, its hash and the rest. `None` if the record is not
/// complete.
fn split_record(bytes: &[u8]) -> Option<(&[u8], u128, &[u8])> {
    let (hash, rest) = bytes.split_first_chunk::<16>()?;
    let (len, _) = rest.split_first_chunk::<4>()?;
    let (record, after) = bytes.split_at_checked(HEAD + u32::from_le_bytes(*len) as usize)?;
    Some((record, u128::from_le_bytes(*hash), after))
}

/// Bytes of names that a worker may have in memory. Sorting takes twice as much besides.
fn names_share(run: &ImportRun<'_>) -> u64 {
    (run.share(shares::NAMES_SORTED) / run.workers.count() as u64).max(1)
}

/// Some names in memory.
struct Names {
    bytes: Vec<u8>,
    list: Vec<Name>,
}

/// Where a name lies, and its leading bytes, which order most names without a look at the rest.
#[derive(Clone, Copy)]
struct Name {
    hash: u128,
    leading: u64,
    start: u64,
    end: u64,
}

impl Names {
    /// Reads the names of a pile that `keep` accepts. `keep` gets the names accepted so far, and
    /// the hash and the text of the next name.
    fn read(
        run: &ImportRun<'_>,
        piles: &Filled<u8>,
        pile: usize,
        keep: &mut dyn FnMut(&Names, u128, &[u8]) -> Result<bool>,
    ) -> Result<Names> {
        let share = names_share(run);
        let mut names = Names { bytes: Vec::new(), list: Vec::new() };
        // The part read last, behind the rest of a record that it cuts in two.
        let mut part: Vec<u8> = Vec::new();
        piles.for_each(pile, &mut |bytes| {
            part.extend_from_slice(bytes);
            let mut rest = &part[..];
            while let Some((record, hash, after)) = split_record(rest) {
                if keep(&names, hash, &record[HEAD..])? {
                    names.push(record, hash);
                }
                rest = after;
            }
            let done = part.len() - rest.len();
            part.drain(..done);
            let needed = names.bytes.len() as u64;
            if needed > share {
                let what = "sorting the names of the vertices".to_owned();
                let needed = run.memory / share * piles.len(pile);
                return Err(Error::over_budget(what, needed, run.memory));
            }
            Ok(())
        })?;
        Ok(names)
    }

    fn push(&mut self, record: &[u8], hash: u128) {
        let mut leading = [0; 8];
        let known = (record.len() - HEAD).min(8);
        leading[..known].copy_from_slice(&record[HEAD..HEAD + known]);
        let start = (self.bytes.len() + HEAD) as u64;
        self.bytes.extend_from_slice(record);
        // As big-endian numbers, the bytes compare as in a string. Zeros pad a short name: where
        // two numbers are equal, the whole names decide.
        let (leading, end) = (u64::from_be_bytes(leading), self.bytes.len() as u64);
        self.list.push(Name { hash, leading, start, end });
    }

    fn text(&self, name: &Name) -> &[u8] {
        &self.bytes[name.start as usize..name.end as usize]
    }

    /// Returns the name as it is spilled.
    fn record(&self, name: &Name) -> &[u8] {
        &self.bytes[name.start as usize - HEAD..name.end as usize]
    }

    fn sort_by_name(&mut self) {
        let bytes = &self.bytes;
        let text = |name: &Name| &bytes[name.start as usize..name.end as usize];
        self.list
            .sort_unstable_by(|a, b| a.leading.cmp(&b.leading).then_with(|| text(a).cmp(text(b))));
    }

    /// Refuses a name that differs from another one of the same hash.
    fn check_same(&self, other: &Name, text: &[u8]) -> Result<()> {
        if self.text(other) == text {
            return Ok(());
        }
        let [a, b] = [self.text(other), text].map(String::from_utf8_lossy);
        let place = Place { file: "the input".into(), at: At::File };
        let detail = format!("the names `{a}` and `{b}` have the same hash; rename one");
        Err(Error::bad_input(place, detail))
    }

    /// Returns at most `count - 1` names that divide the sorted names evenly.
    fn splitters(&self, count: usize) -> Vec<Vec<u8>> {
        let at = |part: usize| self.list.get(part * self.list.len() / count);
        let mut splitters: Vec<Vec<u8>> =
            (1..count).filter_map(at).map(|name| self.text(name).to_vec()).collect();
        splitters.dedup();
        splitters
    }
}

/// The files of a graph directory that hold the names.
struct NameFiles {
    bytes: BlockFileWriter,
    ends: ArrayFile<Ascending>,
    end: u64,
}

impl NameFiles {
    fn create(directory: &Path) -> Result<NameFiles> {
        let bytes = BlockFileWriter::create(directory.join(file_names::STRINGS))?;
        let ends = ArrayFile::create(directory, file_names::STRING_ENDS, Ascending)?;
        Ok(NameFiles { bytes, ends, end: 0 })
    }

    fn push(&mut self, name: &[u8]) -> Result<()> {
        self.end += name.len() as u64;
        self.bytes.write_all(name).map_err(|error| Error::io("write", self.bytes.path())(error))?;
        self.ends.push(&[self.end])
    }

    fn finish(self) -> Result<Vec<VertexFile>> {
        Ok(vec![(file_names::STRINGS, self.bytes.finish()?), self.ends.finish()?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_split_where_they_end() {
        let mut bytes = Vec::new();
        for name in ["", "a", "a longer name"] {
            bytes.extend_from_slice(&head_of(hash_of(name.as_bytes()), name.as_bytes()));
            bytes.extend_from_slice(name.as_bytes());
        }
        let mut rest = &bytes[..];
        let mut names = Vec::new();
        while let Some((record, hash, after)) = split_record(rest) {
            assert_eq!(hash, hash_of(&record[HEAD..]));
            names.push(&record[HEAD..]);
            (0..record.len()).for_each(|cut| assert!(split_record(&record[..cut]).is_none()));
            rest = after;
        }
        assert_eq!(names, [&b""[..], b"a", b"a longer name"]);
    }

    #[test]
    fn names_of_one_hash_must_be_the_same() {
        let mut names = Names { bytes: Vec::new(), list: Vec::new() };
        names.push(&[&head_of(7, b"one")[..], b"one"].concat(), 7);
        assert!(names.check_same(&names.list[0], b"one").is_ok());
        assert!(matches!(names.check_same(&names.list[0], b"two"), Err(Error::BadInput { .. })));
    }
}
