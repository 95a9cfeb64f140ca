//! Messages between variables of two states, in single precision and vectorized. All edges have the
//! same potential.
//!
//! The message from a vertex `w` to its neighbour `v` is one number. It follows from the belief of
//! `w`, and from the message of `v` to `w` in the iteration before:
//!
//! ```text
//!  m(t)[w -> v] = f(belief(t-1)[w] - m(t-1)[v -> w])
//!               = f(belief(t-1)[w] - f(belief(t-2)[v] - m(t-2)[w -> v]))
//! ```
//!
//! where `f(x) = ln((p01 + p11 e^x) / (p00 + p01 e^x))`. So `v` computes an incoming message from
//! beliefs and from the message of the same neighbour two iterations before. Nothing else is kept:
//! even and odd iterations each have a store of 4 bytes for each end of an edge. An iteration reads
//! and writes its store.
//!
//! Some ends of edges do not count: loops, and all but one to the same neighbour. The first
//! iteration that uses a store finds these ends. They are NaN in the store from then on.

use std::ops::Range;

use tegula_engine::traverse::{Neighbourhoods, Neighbours, Sequential, UnitStates};
use tegula_engine::{InstructionSet, Result, ShortId, WithInstructions};

use super::lanes;
use super::message_update::{Iteration, MessageUpdate};
use super::model::{Model, Potentials};
use super::potential::{LEAST, Potential};

/// Ends of edges whose rows are read before messages are computed.
const GATHERED_MAX: usize = 1 << 14;
/// Messages that are computed together.
const PIECE: usize = 1 << 10;
/// The least weight above 0, if the greatest is 1: even the least [exponential](lanes::exp) is
/// nothing beside it.
const WEIGHT_MIN: f64 = 1e-20;
/// The greatest magnitude of a message, which a weight of 0 [may cause](LEAST).
const MESSAGE_MAX: f32 = 700.0;
/// Changes that are computed together.
const LANES: usize = 16;

/// Messages of a model of two states.
pub struct TwoStates<'m> {
    model: &'m Model,
    function: Function,
}

impl<'m> TwoStates<'m> {
    /// Returns the messages of a model; `None` if it has other potentials, or weights that are too
    /// far apart.
    pub fn of(model: &'m Model) -> Option<TwoStates<'m>> {
        match &model.potentials {
            Potentials::Same(potential) if model.states == 2 => {
                Some(TwoStates { model, function: Function::of(potential)? })
            }
            _ => None,
        }
    }
}

impl MessageUpdate for TwoStates<'_> {
    type Value = f32;
    const STORES: u64 = 2;

    fn entry_width(&self) -> usize {
        1
    }

    fn width(&self) -> usize {
        1
    }

    fn worker_size(&self, ends_max: u64) -> u64 {
        let gathered = ends_max + GATHERED_MAX as u64;
        let pieces = 2 * PIECE * size_of::<f32>();
        // Lists grow by doubling. Each end may belong to another vertex.
        Neighbourhoods::<Sequential>::size(ends_max)
            + 2 * 5 * gathered
            + 24 * GATHERED_MAX as u64
            + pieces as u64
    }

    fn prior(&self, vertex: usize, log_odds: &mut [f32]) {
        let mut prior = [0.0];
        self.model.prior(vertex, &mut prior);
        log_odds[0] = prior[0] as f32;
    }

    fn update(
        &self,
        iteration: &Iteration<'_, f32>,
        messages: &mut UnitStates<'_, f32>,
        next: &mut [f32],
    ) -> Result<f64> {
        let vertices = messages.vertices();
        let mut neighbourhoods =
            Neighbourhoods::new(iteration.job, Sequential::new(vertices.clone()));
        let is_first = iteration.number < Self::STORES;
        let (mut gathered, mut sums) = (GatheredRows::default(), Vec::new());
        let (mut start, mut is_last) = (0, false);
        while !is_last {
            match neighbourhoods.next_vertex()? {
                Some(neighbours) => gathered.add(&neighbours, is_first),
                None => is_last = true,
            }
            if gathered.ends.len() >= GATHERED_MAX || gathered.rows.len() >= GATHERED_MAX || is_last
            {
                let rows = start..start + gathered.rows.len();
                let befores = &mut next[rows.clone()];
                sums.clear();
                sums.resize(rows.len(), 0.0);
                gathered.update(&self.function, iteration, messages, befores, &mut sums)?;
                for (at, (sum, next)) in sums.iter().zip(befores).enumerate() {
                    let mut prior = [0.0];
                    self.model.prior(vertices.start as usize + start + at, &mut prior);
                    // The sum is in double precision, so it is rounded once.
                    *next = (prior[0] + sum) as f32;
                }
                start = rows.end;
                gathered.clear();
            }
        }
        let now = &iteration.log_odds[vertices.start as usize..vertices.end as usize];
        Ok(f64::from(iteration.instructions.run(Change { before: now, after: next })))
    }
}

/// Consecutive rows.
#[derive(Default)]
struct GatheredRows {
    /// The vertices at the ends of their edges, row after row.
    ends: Vec<ShortId>,
    /// Where each row ends.
    rows: Vec<usize>,
    /// Whether each end counts. Empty unless the iteration finds this out.
    counts: Vec<bool>,
}

impl GatheredRows {
    fn add(&mut self, neighbours: &Neighbours<'_>, is_first: bool) {
        let [forward, reverse] = neighbours.sides();
        self.ends.extend_from_slice(forward);
        self.ends.extend_from_slice(reverse);
        self.rows.push(self.ends.len());
        if is_first {
            let mut before = None;
            let mut is_new = |id| before.replace(id) != Some(id) && id != neighbours.vertex;
            self.counts.extend(forward.iter().map(|&id| is_new(id)));
            let (mut before, mut rest) = (None, forward);
            self.counts.extend(reverse.iter().map(|&id| {
                // A neighbour on both sides counts on the first one.
                rest = &rest[rest.iter().take_while(|&&other| other < id).count()..];
                before.replace(id) != Some(id)
                    && id != neighbours.vertex
                    && rest.first() != Some(&id)
            }));
        }
    }

    /// Updates the incoming messages of the vertices, and adds them up. `befores` are the beliefs
    /// before the present ones.
    fn update(
        &self,
        function: &Function,
        iteration: &Iteration<'_, f32>,
        messages: &mut UnitStates<'_, f32>,
        befores: &[f32],
        sums: &mut [f64],
    ) -> Result<()> {
        let (mut owns, mut others) = ([0.0; PIECE], [0.0; PIECE]);
        let (mut done, mut row) = (0, 0);
        while done < self.ends.len() {
            let incoming = messages.next_entries(PIECE.min(self.ends.len() - done))?;
            let piece = done..done + incoming.len();
            for (counts, message) in self.counts.iter().skip(done).zip(&mut *incoming) {
                *message = if *counts { *message } else { f32::NAN };
            }
            let (owns, others) = (&mut owns[..incoming.len()], &mut others[..incoming.len()]);
            let ends = &self.ends[piece.clone()];
            for (row, own) in self.rows_in(row, &piece) {
                owns[own].fill(befores[row]);
            }
            let log_odds = iteration.log_odds;
            // Before the first iteration, there was no message.
            let is_first = iteration.number == 0;
            let update = Update { function, log_odds, ends, owns, others, incoming, is_first };
            iteration.instructions.run(update);
            for (at, own) in self.rows_in(row, &piece) {
                let values = incoming[own].iter().map(|&message| f64::from(message));
                let values = values.map(|value| if value.is_nan() { 0.0 } else { value });
                sums[at] = values.fold(sums[at], |sum, value| sum + value);
                row = at;
            }
            done = piece.end;
        }
        Ok(())
    }

    /// Returns the rows that have ends in a piece, with the places of these ends in the piece.
    /// Starts at row `first`, which must not be after the piece.
    fn rows_in(
        &self,
        first: usize,
        piece: &Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> {
        let start = if first == 0 { 0 } else { self.rows[first - 1] };
        let ends = self.rows[first..].iter().scan(start, |start, &end| {
            let row = std::mem::replace(start, end)..end;
            (row.start < piece.end).then_some(row)
        });
        (first..).zip(ends).map(|(row, ends)| {
            let start = ends.start.max(piece.start) - piece.start;
            (row, start..ends.end.min(piece.end).max(piece.start) - piece.start)
        })
    }

    fn clear(&mut self) {
        self.ends.clear();
        self.rows.clear();
        self.counts.clear();
    }
}

/// The message from a vertex to another one, as a function. Its argument is the log odds of the
/// vertex's belief without the message from the other one.
#[derive(Clone, Copy)]
struct Function {
    /// For log odds of at least 0.
    above: Side,
    /// For negative log odds. It gives the log odds of the first state against the second. So if
    /// both states are alike, messages for either cancel to the bit.
    below: Side,
}

/// One side of the function: `base + slope |x| + ln((u0 + u1 t) / (l0 + l1 t))`, where `t =
/// e^-|x|`.
#[derive(Clone, Copy)]
struct Side {
    base: f32,
    slope: f32,
    upper: [f32; 2],
    lower: [f32; 2],
}

impl Function {
    /// Returns the function of a potential; `None` if its weights are too far apart.
    fn of(potential: &Potential) -> Option<Function> {
        let weight = |from, to| potential.seen(false).of(from, to);
        let [none, one, both] = [weight(0, 0), weight(0, 1), weight(1, 1)];
        let are_close =
            [none, one, both].iter().all(|&weight| weight == 0.0 || weight >= WEIGHT_MIN);
        are_close.then(|| Function {
            above: Side::of((both, one), (one, none)),
            below: Side::of((none, one), (one, both)),
        })
    }

    /// Returns the value, which is finite for any log odds.
    #[inline(always)]
    fn at(&self, log_odds: f32) -> f32 {
        let select = |of: fn(&Side) -> f32| {
            if log_odds >= 0.0 { of(&self.above) } else { of(&self.below) }
        };
        let magnitude = log_odds.abs();
        let least = lanes::exp(-magnitude);
        let upper = select(|side| side.upper[0]) + select(|side| side.upper[1]) * least;
        let lower = select(|side| side.lower[0]) + select(|side| side.lower[1]) * least;
        let base = select(|side| side.base) + select(|side| side.slope) * magnitude;
        let message = (base + lanes::ln(upper / lower)).clamp(-MESSAGE_MAX, MESSAGE_MAX);
        if log_odds >= 0.0 { message } else { -message }
    }
}

impl Side {
    /// Returns the logarithm of `(a + b t) / (c + d t)`.
    fn of(upper: (f64, f64), lower: (f64, f64)) -> Side {
        /// Returns base, slope and sum for the logarithm of `first + second t`. What would make the
        /// sum 0 is taken out of it.
        fn parts((first, second): (f64, f64)) -> (f64, f32, [f32; 2]) {
            match (first > 0.0, second > 0.0) {
                (true, _) => (0.0, 0.0, [first as f32, second as f32]),
                (false, true) => (0.0, -1.0, [second as f32, 0.0]),
                (false, false) => (libm::log(LEAST), 0.0, [1.0, 0.0]),
            }
        }
        let ((base, slope, upper), (base_lower, slope_lower, lower)) = (parts(upper), parts(lower));
        Side { base: (base - base_lower) as f32, slope: slope - slope_lower, upper, lower }
    }
}

/// Updates incoming messages at ends of edges.
struct Update<'u> {
    function: &'u Function,
    log_odds: &'u [f32],
    ends: &'u [ShortId],
    /// For each end, the previous log odds of its row's vertex.
    owns: &'u [f32],
    /// Room for the log odds of the other vertex.
    others: &'u mut [f32],
    /// The messages of two iterations before.
    incoming: &'u mut [f32],
    is_first: bool,
}

impl WithInstructions for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: InstructionSet>(self, _instructions: I) {
        let Update { function, log_odds, ends, owns, others, incoming, is_first } = self;
        for (other, end) in others.iter_mut().zip(ends) {
            *other = log_odds[end.index()];
        }
        for ((incoming, own), other) in incoming.iter_mut().zip(owns).zip(others) {
            let outgoing = if is_first { 0.0 } else { function.at(*own - *incoming) };
            let next = function.at(*other - outgoing);
            // Ends that do not count stay NaN.
            *incoming = if incoming.is_nan() { *incoming } else { next };
        }
    }
}

/// Finds the greatest change of a belief.
struct Change<'c> {
    before: &'c [f32],
    after: &'c [f32],
}

impl WithInstructions for Change<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<I: InstructionSet>(self, _instructions: I) -> f32 {
        let belief = |log_odds: f32| {
            let least = lanes::exp(-log_odds.abs());
            (if log_odds >= 0.0 { 1.0 } else { least }) / (1.0 + least)
        };
        let mut greatest = [0.0_f32; LANES];
        for (before, after) in self.before.chunks(LANES).zip(self.after.chunks(LANES)) {
            for ((greatest, before), after) in greatest.iter_mut().zip(before).zip(after) {
                *greatest = greatest.max((belief(*before) - belief(*after)).abs());
            }
        }
        greatest.into_iter().fold(0.0, f32::max)
    }
}

#[cfg(test)]
mod tests {
    use tegula_engine::Instructions;

    use super::*;

    const WEIGHTS: [[f64; 3]; 8] = [
        [3.0, 2.0, 3.0],
        [0.9, 0.1, 0.4],
        [1.0, 1e-9, 1.0],
        [1.0, 1e-19, 0.5],
        [0.0, 1.0, 1.0],
        [1.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];

    fn potential([none, one, both]: [f64; 3]) -> Potential {
        Potential::new(2, vec![none, one, one, both]).unwrap()
    }

    #[test]
    fn messages_equal_those_in_double_precision_up_to_rounding() {
        for weights in WEIGHTS {
            let potential = potential(weights);
            let function = Function::of(&potential).unwrap();
            let (mut terms, mut message) = ([0.0; 2], [0.0; 1]);
            for step in -80_000..80_000 {
                let log_odds = step as f32 / 1000.0;
                let (oriented, belief) = (potential.seen(false), [log_odds.into()]);
                oriented.message(&belief, &[0.0], &mut terms, &mut message);
                let off = (f64::from(function.at(log_odds)) - message[0]).abs();
                let most = 5e-7 * message[0].abs().max(1.0);
                assert!(off < most, "{weights:?}, {log_odds}: {off}");
            }
        }
    }

    #[test]
    fn messages_about_impossible_states_are_finite() {
        for weights in WEIGHTS {
            let function = Function::of(&potential(weights)).unwrap();
            for log_odds in [-f32::MAX, -1e6, -700.0, 0.0, 700.0, 1e6, f32::MAX] {
                let message = function.at(log_odds);
                assert!(message.abs() <= MESSAGE_MAX, "{weights:?}, {log_odds}: {message}");
            }
        }
        assert!(Function::of(&potential([1.0, 1e-21, 1.0])).is_none());
        let function = Function::of(&potential([3.0, 2.0, 3.0])).unwrap();
        for log_odds in [0.1, 1.0, 3.3, 700.0] {
            assert_eq!(function.at(-log_odds), -function.at(log_odds));
        }
    }

    #[test]
    fn all_instructions_find_the_same_bits() {
        let function = Function::of(&potential([0.9, 0.1, 0.4])).unwrap();
        let log_odds: Vec<f32> = (0..1000).map(|at| (at as f32 - 500.0) / 7.0).collect();
        let ends: Vec<ShortId> = (0..777).map(|at| ShortId(at * 331 % 1000)).collect();
        let find = |instructions: Instructions| {
            let mut messages: Vec<f32> = (0..777).map(|at| (at as f32).sin()).collect();
            messages[5] = f32::NAN;
            let (function, log_odds, ends) = (&function, &log_odds[..], &ends[..]);
            let (owns, mut others) = (&log_odds[100..877], [0.0; 777]);
            let (others, incoming, is_first) = (&mut others[..], &mut messages[..], false);
            instructions.run(Update { function, log_odds, ends, owns, others, incoming, is_first });
            let change = instructions.run(Change { before: owns, after: &messages });
            assert!(messages[5].is_nan());
            let messages: Vec<u32> = messages.iter().map(|message| message.to_bits()).collect();
            (messages, change.to_bits())
        };
        let all = Instructions::all();
        let expected = find(Instructions::Portable);
        assert!(all.into_iter().all(|instructions| find(instructions) == expected));
    }
}
