//! The yardstick for shortest paths: delta-stepping (Meyer, Sanders, *Journal of Algorithms* 2003)
//! along plain compressed sparse rows, in memory, in single precision.
//!
//! It works like the implementation in the GAP benchmark suite (Beamer, Asanovic, Patterson,
//! arXiv:1508.03619). Every thread has its own buckets. A vertex is added to a bucket again rather
//! than moved; an entry is skipped if its vertex was already settled in an earlier bucket. A thread
//! whose share of the present bucket is small goes on with it alone instead of waiting for the
//! others (bucket fusion: Zhang et al., CGO 2020). It takes 8 bytes per edge, and per vertex 8 of
//! index and 4 of distance.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, PoisonError, RwLock};

use rayon::ThreadPoolBuilder;
use tegula_generators::{Generator, weight};

use crate::plain_rows::{Ends, PlainRows};

/// Vertices that a thread takes at a time.
const SHARE: usize = 64;
/// A thread with fewer vertices than this in the present bucket does not wait for the others.
const FUSED_MAX: usize = 1000;
/// No bucket.
const NONE: usize = usize::MAX;

/// A graph in weighted compressed sparse rows, for a number of threads.
pub struct DeltaStepping {
    rows: PlainRows,
    threads: usize,
}

impl DeltaStepping {
    /// Builds the rows of a graph with fewer than 2^32 vertices, read as undirected. Weights are
    /// those of [`tegula_generators::weight`] for `seed`.
    ///
    /// # Panics
    /// If there are more vertices, or threads cannot be started.
    pub fn new(generator: &dyn Generator, seed: u64, threads: usize) -> Self {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        // An edge has its target in the lower half, and the bits of its weight in the upper half.
        let bits = |number| weight(seed, number).to_bits();
        let rows = pool.install(|| PlainRows::new(generator, Ends::Both, bits));
        DeltaStepping { rows, threads }
    }

    /// Returns the number of vertices, including those without an edge.
    pub fn vertex_count(&self) -> usize {
        self.rows.vertex_count()
    }

    /// Returns the number of edges, counting each direction.
    pub fn edge_count(&self) -> usize {
        self.rows.edges.len()
    }

    /// Returns the distance of every vertex from a source; infinite where there is no path.
    ///
    /// # Panics
    /// If there is no such source, or `delta` is not above 0.
    pub fn distances(&self, source: u32, delta: f32) -> Vec<f32> {
        assert!(delta > 0.0, "a bucket needs a width");
        let unreached = f32::INFINITY.to_bits();
        let distances: Vec<AtomicU32> =
            (0..self.vertex_count()).map(|_| AtomicU32::new(unreached)).collect();
        distances[source as usize].store(0f32.to_bits(), Relaxed);
        let shared = Shared {
            frontier: RwLock::new(vec![vec![source]]),
            taken: AtomicUsize::new(0),
            next: Mutex::new(Vec::new()),
            next_bucket: AtomicUsize::new(NONE),
            barrier: Barrier::new(self.threads),
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                let worker = Worker {
                    rows: &self.rows,
                    distances: &distances,
                    inverse_delta: 1.0 / delta,
                    buckets: Vec::new(),
                };
                scope.spawn(|| worker.run(&shared));
            }
        });
        distances.into_iter().map(|bits| f32::from_bits(bits.into_inner())).collect()
    }
}

/// The state that the threads share.
struct Shared {
    /// The present bucket: the parts that the threads contributed.
    frontier: RwLock<Vec<Vec<u32>>>,
    /// Its vertices that a thread has taken.
    taken: AtomicUsize,
    /// The next bucket.
    next: Mutex<Vec<Vec<u32>>>,
    next_bucket: AtomicUsize,
    barrier: Barrier,
}

/// A thread.
struct Worker<'g> {
    rows: &'g PlainRows,
    /// Bits of non-negative floats, which have the same order as the floats.
    distances: &'g [AtomicU32],
    inverse_delta: f32,
    buckets: Vec<Vec<u32>>,
}

impl Worker<'_> {
    fn run(mut self, shared: &Shared) {
        let mut present = 0;
        while present != NONE {
            self.take_shares(shared, present);
            self.fuse(present);
            let first = (present..self.buckets.len()).find(|&at| !self.buckets[at].is_empty());
            shared.next_bucket.fetch_min(first.unwrap_or(NONE), Relaxed);
            shared.barrier.wait();
            // All threads have named their first bucket by now.
            present = shared.next_bucket.load(Relaxed);
            if let Some(bucket) = self.buckets.get_mut(present)
                && !bucket.is_empty()
            {
                lock(&shared.next).push(std::mem::take(bucket));
            }
            if shared.barrier.wait().is_leader() {
                let next = std::mem::take(&mut *lock(&shared.next));
                *shared.frontier.write().unwrap_or_else(PoisonError::into_inner) = next;
                shared.taken.store(0, Relaxed);
                shared.next_bucket.store(NONE, Relaxed);
            }
            // No thread may take a share before the leader has put the new frontier in place.
            shared.barrier.wait();
        }
    }

    /// Relaxes the edges of the vertices that this thread takes.
    fn take_shares(&mut self, shared: &Shared, present: usize) {
        let frontier = shared.frontier.read().unwrap_or_else(PoisonError::into_inner);
        let count: usize = frontier.iter().map(Vec::len).sum();
        loop {
            let first = shared.taken.fetch_add(SHARE, Relaxed);
            if first >= count {
                return;
            }
            let mut skipped = first;
            let mut rest = SHARE.min(count - first);
            for part in &*frontier {
                let own = part.get(skipped..).unwrap_or_default();
                let own = &own[..own.len().min(rest)];
                for &vertex in own {
                    let distance = f32::from_bits(self.distances[vertex as usize].load(Relaxed));
                    // Otherwise it was also in an earlier bucket, and is settled.
                    if self.bucket_of(distance) >= present {
                        self.relax(vertex);
                    }
                }
                skipped = skipped.saturating_sub(part.len());
                rest -= own.len();
            }
        }
    }

    /// Goes on with the vertices newly added to the present bucket, while they are few.
    fn fuse(&mut self, present: usize) {
        while let Some(bucket) = self.buckets.get_mut(present)
            && (1..FUSED_MAX).contains(&bucket.len())
        {
            for vertex in std::mem::take(bucket) {
                self.relax(vertex);
            }
        }
    }

    /// Takes one random read of 4 bytes per edge, and a write where the target comes nearer.
    #[inline]
    fn relax(&mut self, source: u32) {
        let distance = f32::from_bits(self.distances[source as usize].load(Relaxed));
        let bounds = self.rows.offsets[source as usize]..self.rows.offsets[source as usize + 1];
        for &edge in &self.rows.edges[bounds] {
            let (target, weight) = (edge as u32, f32::from_bits((edge >> 32) as u32));
            let nearer = distance + weight;
            let place = &self.distances[target as usize];
            if nearer.to_bits() < place.load(Relaxed)
                && nearer.to_bits() < place.fetch_min(nearer.to_bits(), Relaxed)
            {
                let bucket = self.bucket_of(nearer);
                if bucket >= self.buckets.len() {
                    self.buckets.resize_with(bucket + 1, Vec::new);
                }
                self.buckets[bucket].push(target);
            }
        }
    }

    #[inline]
    fn bucket_of(&self, distance: f32) -> usize {
        (distance * self.inverse_delta) as usize
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
