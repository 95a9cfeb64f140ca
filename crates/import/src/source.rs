//! Where a pass gets its edges from: the input again, or edges that were kept.

use tegula_machine::threads::{Silent, Stash};
use tegula_store::tiles::Edge;
use tegula_store::{At, Error, Place, Result};

use crate::edge::{Key, Weight};
use crate::import_run::ImportRun;
use crate::input::Input;
use crate::piles::{Filled, Piles};
use crate::shares::Share;

/// Edges that can be visited repeatedly, in no particular order.
pub(super) enum EdgeSource<'a, W> {
    /// The input, if it is as quick to read again as kept edges.
    Input(&'a Input),
    /// Kept edges.
    Spool(Box<Spool<W>>),
}

/// Edges by the width of their keys. Most inputs have one width.
pub(super) struct Spool<W> {
    narrow: Filled<Edge<u32, u32, W>>,
    wide: Filled<Edge<u64, u64, W>>,
    hashed: Filled<Edge<u128, u128, W>>,
}

/// A [`Spool`] that is being written.
pub(super) struct SpoolWriter<W> {
    narrow: Piles<Edge<u32, u32, W>>,
    wide: Piles<Edge<u64, u64, W>>,
    hashed: Piles<Edge<u128, u128, W>>,
}

impl<W: Weight> SpoolWriter<W> {
    /// Returns a spool that keeps the share `held` in memory.
    pub fn new(run: &ImportRun<'_>, held: Share) -> SpoolWriter<W> {
        let held = run.share(held);
        // Keys of several widths occur together only if a few ids are far larger than the rest.
        SpoolWriter {
            narrow: Piles::new(1, run.space(held / 2)),
            wide: Piles::new(1, run.space(held / 2)),
            hashed: Piles::new(1, run.space(held / 2)),
        }
    }

    /// Keeps edges whose keys have the width of `K`.
    pub fn push<K: SpoolKey>(&self, edges: &[Edge<K, K, W>]) -> Result<()> {
        let log = K::log(self);
        log.write(|writer| edges.iter().try_for_each(|&edge| writer.push(0, edge)))
    }

    pub fn close(self) -> Result<Spool<W>> {
        Ok(Spool {
            narrow: self.narrow.close()?,
            wide: self.wide.close()?,
            hashed: self.hashed.close()?,
        })
    }
}

/// A width of keys, which has a log in a spool.
pub(super) trait SpoolKey: Key {
    /// Returns the log of this width.
    fn log<W>(spool: &SpoolWriter<W>) -> &Piles<Edge<Self, Self, W>>;
}

impl SpoolKey for u32 {
    fn log<W>(spool: &SpoolWriter<W>) -> &Piles<Edge<u32, u32, W>> {
        &spool.narrow
    }
}

impl SpoolKey for u64 {
    fn log<W>(spool: &SpoolWriter<W>) -> &Piles<Edge<u64, u64, W>> {
        &spool.wide
    }
}

impl SpoolKey for u128 {
    fn log<W>(spool: &SpoolWriter<W>) -> &Piles<Edge<u128, u128, W>> {
        &spool.hashed
    }
}

impl<W: Weight> EdgeSource<'_, W> {
    /// Visits all arcs, in chunks, on several threads.
    ///
    /// # Errors
    /// Errors of reading and of `visit`; [`Error::BadInput`] if a key does not fit, which happens
    /// only if the input has changed since it was first read.
    pub fn for_each<K: Key>(
        &self,
        run: &ImportRun<'_>,
        visit: &(dyn Fn(&[Edge<K, K, W>]) -> Result<()> + Sync),
    ) -> Result<()> {
        let kept = Stash::default();
        match self {
            EdgeSource::Input(input) => {
                // The pass reports the progress of its own work.
                input.read(&Silent, run.cancel, &|chunk| {
                    kept.with(Vec::new, |space| {
                        let (arcs, _) = run.rule.apply(&chunk, space).ok_or_else(changed)?;
                        visit(arcs)
                    })
                })?;
                Ok(())
            }
            EdgeSource::Spool(spool) => {
                convert(run, &spool.narrow, &|key| Some(K::from_u32(key)), visit)?;
                convert(run, &spool.wide, &|key| K::from_u64(key), visit)?;
                convert(run, &spool.hashed, &|key| K::from_hash(key), visit)
            }
        }
    }
}

fn convert<F: Key, K: Key, W: Weight>(
    run: &ImportRun<'_>,
    log: &Filled<Edge<F, F, W>>,
    key: &(dyn Fn(F) -> Option<K> + Sync),
    visit: &(dyn Fn(&[Edge<K, K, W>]) -> Result<()> + Sync),
) -> Result<()> {
    let kept = Stash::default();
    log.for_each_parallel(0, run.workers, run.cancel, &|part| {
        kept.with(Vec::new, |arcs: &mut Vec<Edge<K, K, W>>| {
            arcs.clear();
            for &Edge { source, target, weight } in part {
                let ends = key(source).zip(key(target)).ok_or_else(changed)?;
                arcs.push(Edge { source: ends.0, target: ends.1, weight });
            }
            visit(arcs)
        })
    })
}

/// Returns the error for an input that has changed since it was first read.
pub(super) fn changed() -> Error {
    let place = Place { file: "the input".into(), at: At::File };
    Error::bad_input(place, "it changed during the import; import it again")
}
