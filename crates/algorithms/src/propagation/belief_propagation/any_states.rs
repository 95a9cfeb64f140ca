//! Messages between variables of any number of states, with any potentials, in double precision.
//!
//! Both messages of an edge are kept at each of its ends, and updated there. The message from one
//! vertex to the other follows from the belief of the one, and from the opposite message in the
//! iteration before.

use tegula_engine::Result;
use tegula_engine::traverse::{Neighbourhoods, Sequential, UnitStates};
use tegula_store::Error;

use super::message_update::{Iteration, MessageUpdate};
use super::model::Model;
use super::potential::probabilities;

/// Messages of a model.
pub struct AnyStates<'m> {
    /// The model.
    pub model: &'m Model,
    /// The share of a message that stays as it was.
    pub damping: f64,
}

impl MessageUpdate for AnyStates<'_> {
    type Value = f64;
    const STORES: u64 = 1;

    /// One incoming and one outgoing message.
    fn entry_width(&self) -> usize {
        2 * self.model.width()
    }

    fn width(&self) -> usize {
        self.model.width()
    }

    fn worker_size(&self, ends_max: u64) -> u64 {
        Neighbourhoods::<Sequential>::size(ends_max) + 8 * 8 * self.model.states as u64
    }

    fn prior(&self, vertex: usize, log_odds: &mut [f64]) {
        self.model.prior(vertex, log_odds);
    }

    fn update(
        &self,
        iteration: &Iteration<'_, f64>,
        messages: &mut UnitStates<'_, f64>,
        next: &mut [f64],
    ) -> Result<f64> {
        let AnyStates { model, damping } = *self;
        let width = model.width();
        let belief = |vertex: usize| &iteration.log_odds[vertex * width..][..width];
        let vertices = Sequential::new(messages.vertices());
        let mut neighbourhoods = Neighbourhoods::new(iteration.job, vertices);
        let mut terms = vec![0.0; model.states];
        let [mut incoming_next, mut outgoing_next] = [vec![0.0; width], vec![0.0; width]];
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut change = 0.0_f64;
        for sum in next.chunks_mut(width) {
            let Some(neighbours) = neighbourhoods.next_vertex()? else { break };
            let vertex = neighbours.vertex;
            let own = belief(vertex.index());
            model.prior(vertex.index(), sum);
            let (mut place, mut outcome) = (0, Ok(()));
            neighbours.for_each(|neighbour| {
                // The visit cannot end early.
                if outcome.is_err() {
                    return;
                }
                let between = model.potentials.between(vertex.0, neighbour.id.0, place);
                place += 1;
                outcome = match (between, messages.next_entry()) {
                    (Some(potential), Ok(entry)) => {
                        let (incoming, outgoing) = entry.split_at_mut(width);
                        let other = belief(neighbour.id.index());
                        let terms = &mut terms;
                        let reversed = potential.reversed();
                        reversed.message(other, outgoing, terms, &mut incoming_next);
                        potential.message(own, incoming, terms, &mut outgoing_next);
                        // Replace both only now: each new message needs both old ones.
                        damp(incoming, &incoming_next, damping);
                        damp(outgoing, &outgoing_next, damping);
                        sum.iter_mut().zip(&*incoming).for_each(|(sum, message)| *sum += message);
                        Ok(())
                    }
                    (None, _) => Err(Error::Replaced { path: model.file.clone() }),
                    (_, Err(error)) => Err(error),
                };
            });
            outcome?;
            probabilities(own, &mut before);
            probabilities(sum, &mut after);
            let changes = before.iter().zip(&after).map(|(before, after)| (before - after).abs());
            change = changes.fold(change, f64::max);
        }
        Ok(change)
    }
}

/// Moves a message to the next one, as far as the damping allows: a geometric mean of the odds.
#[inline]
fn damp(message: &mut [f64], next: &[f64], damping: f64) {
    for (message, next) in message.iter_mut().zip(next) {
        *message = if damping == 0.0 { *next } else { damping * *message + (1.0 - damping) * next };
    }
}
