#![expect(clippy::print_stdout, reason = "an example prints")]
//! Times three ways to add messages at their targets, along the same tiles in memory. In the first,
//! a worker owns its targets, as in the engine. The second makes a compare-and-swap for each edge.
//! The third takes a lock for each edge, from a table by target. MOSAIC has the same comparison
//! (Maass et al., EuroSys 2017).
//!
//! ```sh
//! cargo run --release -p tegula-engine --example ownership -- GRAPH
//! ```
//!
//! For each line on standard input, `owned|atomics|locks THREADS`, it prints the time taken. All
//! ways decode tiles alike, and add edge by edge. Owners take batches; the others take some tiles
//! at a time, regardless of their targets.

use std::error::Error;
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tegula_engine::{Graph, Instructions, WithInstructions};
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_store::graph::CheckedTiles;
use tegula_store::tiles::{Block, BlockVisitor, Entries, InstructionSet, Strip, Tile, WINDOW_SIZE};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Tiles that are read together, and tiles that a worker takes at a time.
const TILES_PER_READ: usize = 64;
const TILES_PER_TURN: usize = 8;
/// log2 of the locks: few enough for a cache, and enough that two workers rarely want the same one.
const LOCKS_LOG2: u32 = 16;
/// Largest relative error of sums against double precision: a hub has millions of terms.
const TOLERANCE: f64 = 1e-2;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory] = arguments.as_slice() else { return Err("usage: ownership GRAPH".into()) };
    let bytes = std::fs::metadata(Path::new(directory).join("tiles.data"))?.len();
    let reader = Reader::open(Backend::Auto, Pool::new(2 * bytes + (64 << 20)))?;
    let graph = Graph::open(Path::new(directory), &reader, Caching::PageCache)?;
    let scan = Scan::load(&graph)?;
    let expected = scan.expected()?;
    println!(r#"{{"vertices":{},"edges":{}}}"#, graph.vertex_count(), graph.edge_count());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let refusal = || format!("expected `owned|atomics|locks THREADS`, not `{line}`");
        let (way, threads) = line.split_once(' ').ok_or_else(refusal)?;
        let threads = threads.parse()?;
        let started = Instant::now();
        let sums = match way {
            "owned" => scan.owned(threads)?,
            "atomics" => scan.atomics(threads)?,
            "locks" => scan.locks(threads)?,
            _ => return Err(refusal().into()),
        };
        let seconds = started.elapsed().as_secs_f64();
        let is_far = |(&sum, &expected): (&f32, &f64)| {
            (f64::from(sum) - expected).abs() > TOLERANCE * expected
        };
        if let Some(vertex) = sums.iter().zip(&expected).position(is_far) {
            return Err(
                format!("vertex {vertex}: {}, not {}", sums[vertex], expected[vertex]).into()
            );
        }
        println!(r#"{{"seconds":{seconds}}}"#);
    }
    Ok(())
}

/// All tiles of a graph in memory, and a message for each vertex.
struct Scan<'g> {
    graph: &'g Graph,
    tiles: Vec<CheckedTiles>,
    messages: Vec<f32>,
    instructions: Instructions,
}

impl Scan<'_> {
    fn load(graph: &Graph) -> Outcome<Scan<'_>> {
        let count = graph.tiles().len();
        let read = |first| graph.read_tiles(first..count.min(first + TILES_PER_READ), false).wait();
        let tiles = (0..count).step_by(TILES_PER_READ).map(read).collect::<Result<_, _>>()?;
        let messages = (0..graph.vertex_count()).map(|vertex| 1.0 / (1 + vertex % 64) as f32);
        let instructions = Instructions::detect();
        Ok(Scan { graph, tiles, messages: messages.collect(), instructions })
    }

    fn tile(&self, index: usize) -> Tile<'_> {
        self.tiles[index / TILES_PER_READ].get(self.graph, index).0
    }

    /// Returns the sums in double precision, by the store's visit of single edges.
    fn expected(&self) -> Outcome<Vec<f64>> {
        let mut sums = vec![0.0; self.messages.len()];
        for index in 0..self.graph.tiles().len() {
            self.graph.for_each_edge(index, self.tile(index), |_, source, target| {
                sums[target as usize] += f64::from(self.messages[source as usize]);
            })?;
        }
        Ok(sums)
    }

    /// Adds the messages of a tile.
    fn add_tile(&self, index: usize, adder: &mut impl Adder) -> Result<(), String> {
        let entry = &self.graph.tiles()[index];
        let origin = self.graph.origin_of(entry);
        let segment = self.graph.cell_of(entry).segment;
        let sources = self.graph.grid().sources(segment, self.graph.vertex_count());
        let window = entry.window(origin) * WINDOW_SIZE;
        let messages = &self.messages[sources.start as usize..sources.end as usize];
        self.instructions.run(AddTile { tile: self.tile(index), window, messages, adder })
    }

    /// Lets workers take batches. Each worker alone writes the sums of its targets.
    fn owned(&self, threads: usize) -> Outcome<Vec<f32>> {
        let mut sums = vec![0.0; self.messages.len()];
        let mut rest = &mut sums[..];
        let mut batches = Vec::new();
        for (index, batch) in self.graph.batches().iter().enumerate() {
            let targets = batch.targets(self.graph.vertex_count());
            let (own, others) = rest.split_at_mut((targets.end - targets.start) as usize);
            batches.push((index, targets.start as usize, own));
            rest = others;
        }
        let batches = Mutex::new(batches.into_iter());
        in_threads(threads, || {
            let take = || batches.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some((batch, first, sums)) = take() {
                let mut owned = Owned { first, sums };
                let mut tiles = self.graph.batch_tiles(batch).flatten();
                tiles.try_for_each(|index| self.add_tile(index, &mut owned))?;
            }
            Ok(())
        })?;
        Ok(sums)
    }

    fn atomics(&self, threads: usize) -> Outcome<Vec<f32>> {
        let sums = self.shared_sums();
        self.by_turns(threads, || Atomics { sums: &sums })?;
        Ok(sums.into_iter().map(|sum| f32::from_bits(sum.into_inner())).collect())
    }

    fn locks(&self, threads: usize) -> Outcome<Vec<f32>> {
        let sums = self.shared_sums();
        let locks: Vec<Mutex<()>> = (0..1 << LOCKS_LOG2).map(|_| Mutex::new(())).collect();
        self.by_turns(threads, || Locks { locks: &locks, sums: &sums })?;
        Ok(sums.into_iter().map(|sum| f32::from_bits(sum.into_inner())).collect())
    }

    fn shared_sums(&self) -> Vec<AtomicU32> {
        self.messages.iter().map(|_| AtomicU32::new(0f32.to_bits())).collect()
    }

    /// Lets workers take some tiles at a time.
    fn by_turns<A: Adder>(&self, threads: usize, adder: impl Fn() -> A + Sync) -> Outcome<()> {
        let count = self.graph.tiles().len();
        let next = AtomicUsize::new(0);
        in_threads(threads, || {
            let mut adder = adder();
            loop {
                let first = next.fetch_add(TILES_PER_TURN, Relaxed);
                if first >= count {
                    return Ok(());
                }
                let mut tiles = first..count.min(first + TILES_PER_TURN);
                tiles.try_for_each(|index| self.add_tile(index, &mut adder))?;
            }
        })
    }
}

fn in_threads(count: usize, work: impl Fn() -> Result<(), String> + Sync) -> Outcome<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(&work)).collect();
        let ends = threads.into_iter().map(|thread| thread.join().expect("no worker panics"));
        Ok(ends.collect::<Result<(), String>>()?)
    })
}

/// Adds messages.
trait Adder {
    fn add(&mut self, target: usize, message: f32);
}

/// Sums of consecutive targets that one worker owns.
struct Owned<'a> {
    first: usize,
    sums: &'a mut [f32],
}

impl Adder for Owned<'_> {
    #[inline(always)]
    fn add(&mut self, target: usize, message: f32) {
        self.sums[target - self.first] += message;
    }
}

/// Sums of all targets, added by compare-and-swap.
struct Atomics<'a> {
    sums: &'a [AtomicU32],
}

impl Adder for Atomics<'_> {
    #[inline(always)]
    fn add(&mut self, target: usize, message: f32) {
        let sum = &self.sums[target];
        let mut bits = sum.load(Relaxed);
        loop {
            let added = (f32::from_bits(bits) + message).to_bits();
            match sum.compare_exchange_weak(bits, added, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(other) => bits = other,
            }
        }
    }
}

/// Sums of all targets, each written by the holder of its lock.
struct Locks<'a> {
    locks: &'a [Mutex<()>],
    sums: &'a [AtomicU32],
}

impl Adder for Locks<'_> {
    #[inline(always)]
    fn add(&mut self, target: usize, message: f32) {
        // Fibonacci hashing.
        let lock = (target as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - LOCKS_LOG2);
        let _held = self.locks[lock as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let sum = &self.sums[target];
        sum.store((f32::from_bits(sum.load(Relaxed)) + message).to_bits(), Relaxed);
    }
}

/// Adds the messages of a tile.
struct AddTile<'a, A> {
    tile: Tile<'a>,
    /// First target of the tile's window.
    window: usize,
    /// Messages of the sources of its segment.
    messages: &'a [f32],
    adder: &'a mut A,
}

impl<A: Adder> WithInstructions for AddTile<'_, A> {
    type Output = Result<(), String>;

    #[inline(always)]
    fn run<I: InstructionSet>(self, instructions: I) -> Result<(), String> {
        let AddTile { tile, window, messages, adder } = self;
        for strip in tile.strips(messages.len() as u32) {
            let strip: Strip<'_> = strip?;
            match strip.entries() {
                Entries::Masks => {
                    let start = window + strip.target_start();
                    strip.visit_masks(
                        #[inline(always)]
                        |_: usize, source: u32, mut mask: u32| {
                            while mask != 0 {
                                let target = start + mask.trailing_zeros() as usize;
                                adder.add(target, messages[source as usize]);
                                mask &= mask - 1;
                            }
                        },
                    );
                }
                Entries::Row | Entries::Singles => {
                    let mut visit = Singles { window, messages, adder: &mut *adder };
                    strip.visit_blocks(instructions, u32::MAX, &mut visit);
                }
            }
        }
        Ok(())
    }
}

struct Singles<'a, A> {
    window: usize,
    messages: &'a [f32],
    adder: &'a mut A,
}

impl<A: Adder> BlockVisitor for Singles<'_, A> {
    #[inline(always)]
    fn block(&mut self, block: &Block) {
        for (&source, &target) in block.sources.iter().zip(&block.targets) {
            if let Some(&message) = self.messages.get(source as usize) {
                self.adder.add(self.window + usize::from(target), message);
            }
        }
    }
}
