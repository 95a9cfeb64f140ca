//! A horizon: in a search by weights on a skewed graph, messages to far buckets are held back.
//!
//! There, few vertices have most of the edges. They are reached early, and most of their edges are
//! heavy and lead to vertices that have shorter paths. So along lists sorted by weight, messages to
//! buckets beyond the horizon are not sent. Once all buckets up to it have had their turn, one of
//! two things happens. If the vertices beyond it have few edges, they look along these for the
//! messages held back from them, and the horizon ends. If they have many, the horizon moves on, and
//! the messages to the buckets in between are sent.
//!
//! This is the pruning of Chakaravarthy et al. (*Scalable single source shortest path algorithms
//! for massively parallel systems*, IPDPS 2014), in which vertices pull along their heavy edges,
//! once for all buckets. It needs both directions of every edge. No result depends on it: a message
//! that is never sent could not have changed the state of its target.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::threads::{lock, unlocked};
use tegula_store::rows::UnpackedRows;
use tegula_store::{Result, ShortId};

use super::Seek;
use super::send::{Reach, holds_back};
use crate::job::context::JobContext;
use crate::program::{EdgeWeight, Program, Reduction};
use crate::superstep::Superstep;

/// Least share of edges in lists sorted by weight for which a horizon pays.
const SHARE_BY_WEIGHT_MIN: f64 = 0.5;
/// Vertices beyond the horizon gather once at most one edge in `GATHER_SHARE` is theirs. Values
/// from 3 to 20 make no great difference.
const GATHER_SHARE: u64 = 4;

impl<P: Program> Seek<'_, P> {
    /// Sets a horizon if one pays.
    pub(super) fn set_horizon(&mut self, step: &mut Superstep<'_, P>) {
        // Sums would be made again at each move.
        let is_possible = P::IS_FARTHER_BY_WEIGHT && size_of::<P::Aggregate>() == 0;
        let is_possible = is_possible && step.graph.manifest().undirected;
        if !is_possible || self.had_horizon {
            return;
        }
        // An undirected graph has rows of one layout only.
        let share = self.rows[0].unpacked().map_or(0.0, UnpackedRows::share_by_weight);
        if share >= SHARE_BY_WEIGHT_MIN {
            self.had_horizon = true;
            step.buckets.horizon = Some(step.buckets.current());
        }
    }

    /// Moves the horizon once all buckets up to it have had their turn, until a bucket within it
    /// has vertices, or ends the horizon. Returns the number of edges looked at.
    pub(super) fn pass_horizon(
        &mut self,
        step: &mut Superstep<'_, P>,
        context: &JobContext<'_>,
    ) -> Result<u64> {
        let mut looked_at = 0;
        while let Some(horizon) = step.buckets.horizon
            && let Some(unpacked) = self.rows[0].unpacked()
            && step.frontier.count() == 0
            && step.next_bucket().is_none_or(|next| next > horizon)
        {
            let sides = self.divide(step, unpacked, horizon, context)?;
            if sides.held_back.is_empty() {
                step.buckets.horizon = None;
                break;
            }
            if sides.edges_beyond <= unpacked.edge_count() / GATHER_SHARE {
                step.buckets.horizon = None;
                looked_at += self.gather(step, unpacked, horizon, context)?;
            } else {
                // One more, because half of a small horizon is 0.
                let further = horizon.saturating_add(horizon / 2).saturating_add(1);
                let next = step.next_bucket().map_or(further, |next| next.max(further));
                step.buckets.horizon = Some(next);
                let reach = Reach { after: Some(horizon), until: Some(next) };
                let rows = self.rows[0];
                looked_at += self.send(step, rows, &sides.held_back, reach, false, context)?.edges;
            }
            self.apply_to_reached(step, false, context)?;
        }
        Ok(looked_at)
    }

    /// Divides the vertices into those up to the horizon and those beyond.
    fn divide(
        &self,
        step: &mut Superstep<'_, P>,
        rows: &UnpackedRows,
        horizon: u64,
        context: &JobContext<'_>,
    ) -> Result<Sides> {
        let (vertices, _) = step.vertices_and_exchange();
        let program = vertices.program;
        let parts = vertices.states.chunks(1 << self.partition_log2).enumerate();
        let parts: Vec<_> = parts.map(|part| (part, Mutex::new(Sides::default()))).collect();
        context.for_each(parts.len(), &|index| {
            let ((part, states), sides) = &parts[index];
            let mut sides = lock(sides);
            for (vertex, state) in (part << self.partition_log2..).zip(*states) {
                let vertex = ShortId(vertex as u32);
                if program.bucket(state) > horizon {
                    sides.edges_beyond += rows.degree(vertex);
                    continue;
                }
                let (_, weights) = rows.row(vertex);
                if let Some(signal) = vertices.signal(vertex)
                    && holds_back(program, signal, weights, horizon)
                {
                    sides.held_back.push(vertex);
                }
            }
            Ok(())
        })?;
        let mut all = Sides::default();
        for mut sides in parts.into_iter().map(|(_, sides)| unlocked(sides)) {
            all.held_back.append(&mut sides.held_back);
            all.edges_beyond += sides.edges_beyond;
        }
        Ok(all)
    }

    /// Makes the vertices beyond the horizon reduce the messages of all their neighbours; returns
    /// the number of edges.
    fn gather(
        &mut self,
        step: &mut Superstep<'_, P>,
        rows: &UnpackedRows,
        horizon: u64,
        context: &JobContext<'_>,
    ) -> Result<u64> {
        let size = 1 << self.partition_log2;
        let (vertices, exchange) = step.vertices_and_exchange();
        let program = vertices.program;
        let owned = exchange.inbox().chunks_mut(size).zip(&mut self.reached);
        let owned: Vec<_> = owned.map(Mutex::new).collect();
        let edges = AtomicU64::new(0);
        context.for_each(owned.len(), &|partition| {
            let (messages, reached) = &mut *lock(&owned[partition]);
            let first = partition * size;
            let mut looked_at = 0;
            for (vertex, message) in (first..).zip(messages.iter_mut()) {
                let state = &vertices.states[vertex];
                if program.bucket(state) <= horizon {
                    continue;
                }
                let vertex = ShortId(vertex as u32);
                let (neighbours, weights) = rows.row(vertex);
                looked_at += neighbours.len() as u64;
                let mut reduced = P::Reduction::IDENTITY;
                for (&neighbour, &weight) in neighbours.iter().zip(weights) {
                    if let Some(signal) = vertices.signal(neighbour) {
                        let weight = P::Weight::from_f32(f32::from_le_bytes(weight));
                        reduced = P::Reduction::reduce(reduced, program.along(signal, weight));
                    }
                }
                if reduced != P::Reduction::IDENTITY && program.is_news(state, reduced) {
                    *message = reduced;
                    reached.push(vertex);
                }
            }
            edges.fetch_add(looked_at, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(edges.into_inner())
    }
}

/// The two sides of the horizon.
#[derive(Default)]
struct Sides {
    /// Vertices up to the horizon that have not sent all messages.
    held_back: Vec<ShortId>,
    /// Edges of the vertices beyond the horizon.
    edges_beyond: u64,
}
