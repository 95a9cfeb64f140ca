//! Messages between variables of any number of states, with any potentials, in double precision.
//!
//! Both messages of an edge are kept at either end, and both are found there: what the one tells the other follows from
//! the log odds of the one and from what the other told it before.

use tegula_engine::Result;
use tegula_engine::traverse::{Neighbourhoods, Sequential, UnitStates};
use tegula_machine::Error;

use super::model::Model;
use super::potential::probabilities;
use super::telling::{Round, Telling};

/// Messages of a model.
pub struct AnyStates<'m> {
    /// The model.
    pub model: &'m Model,
    /// How much of a message stays what it was.
    pub damping: f64,
}

impl Telling for AnyStates<'_> {
    type Value = f64;
    const STORES: u64 = 1;

    /// What the vertex was told, and what it told.
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

    fn tell(
        &self,
        round: &Round<'_, f64>,
        states: &mut UnitStates<'_, f64>,
        next: &mut [f64],
    ) -> Result<f64> {
        let AnyStates { model, damping } = *self;
        let width = model.width();
        let at = |vertex: usize| &round.log_odds[vertex * width..][..width];
        let mut neighbourhoods = Neighbourhoods::new(round.job, Sequential::new(states.vertices()));
        let mut terms = vec![0.0; model.states];
        let [mut message, mut other] = [vec![0.0; width], vec![0.0; width]];
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut change = 0.0_f64;
        for sum in next.chunks_mut(width) {
            let Some(neighbours) = neighbourhoods.next_vertex()? else { break };
            let vertex = neighbours.vertex;
            let own = at(vertex.index());
            model.prior(vertex.index(), sum);
            let (mut place, mut outcome) = (0, Ok(()));
            neighbours.for_each(|neighbour| {
                if outcome.is_err() {
                    return;
                }
                let between = model.potentials.between(vertex.0, neighbour.id.0, place);
                place += 1;
                outcome = match (between, states.next_entry()) {
                    (Some(potential), Ok(entry)) => {
                        let (told, back) = entry.split_at_mut(width);
                        let others = at(neighbour.id.index());
                        let terms = &mut terms;
                        potential.reversed().message(others, back, terms, &mut message);
                        potential.message(own, told, terms, &mut other);
                        // Both need what both were.
                        take_over(told, &message, damping);
                        take_over(back, &other, damping);
                        sum.iter_mut().zip(&*told).for_each(|(sum, told)| *sum += told);
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

/// The next message, which stays as much what it was as it is damped: a geometric mean of what it says of the odds.
#[inline]
fn take_over(message: &mut [f64], next: &[f64], damping: f64) {
    for (message, next) in message.iter_mut().zip(next) {
        *message = if damping == 0.0 { *next } else { damping * *message + (1.0 - damping) * next };
    }
}
