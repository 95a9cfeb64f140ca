//! What is known about the variables before the first message: their own weights, and the
//! potentials between them.

use std::path::PathBuf;

use super::potential::{Oriented, Potential};
use crate::algorithm::SideFiles;

/// The weights of variables, which are the vertices of a graph, and of its edges.
#[derive(Debug, Default)]
pub struct Model {
    /// The most states of a variable.
    pub states: usize,
    /// The number of states of each variable, by dense id; empty if all have the same.
    pub state_counts: Vec<u16>,
    /// The log odds of each state of a variable, except its first, against its first, by dense id.
    /// Empty if every variable has the default prior.
    pub priors: Vec<f64>,
    /// The log odds of a variable of which nothing else is known.
    pub default_prior: Vec<f64>,
    /// The potentials of the edges.
    pub potentials: Potentials,
    /// The file of the model, if the graph was made from it.
    pub file: PathBuf,
    /// Bytes for reading it.
    pub reading_size: u64,
}

/// The potentials of edges.
#[derive(Debug, Default)]
pub enum Potentials {
    /// There are none.
    #[default]
    None,
    /// All edges have the same potential, which is symmetric.
    Same(Potential),
    /// Each edge has its own.
    Own {
        /// Where the neighbours of each variable begin, and where the last ones end.
        starts: Vec<u32>,
        /// The neighbours of each variable, ascending.
        neighbours: Vec<Side>,
        /// The potentials that neighbours refer to.
        potentials: Vec<Potential>,
    },
}

/// An edge as one of its variables sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Side {
    /// The other variable.
    pub neighbour: u32,
    /// The number of its potential.
    pub potential: u32,
    /// Whether the other variable is the first of the potential.
    pub is_transposed: bool,
}

impl Model {
    /// Returns the number of log odds of a variable.
    pub fn width(&self) -> usize {
        self.states - 1
    }

    /// Returns the number of states of a variable.
    pub fn states_of(&self, vertex: usize) -> usize {
        self.state_counts.get(vertex).map_or(self.states, |&count| usize::from(count))
    }

    /// Writes the log odds of a variable by itself.
    pub fn prior(&self, vertex: usize, log_odds: &mut [f64]) {
        let start = vertex * log_odds.len();
        match self.priors.get(start..start + log_odds.len()) {
            Some(prior) => log_odds.copy_from_slice(prior),
            None => log_odds.copy_from_slice(&self.default_prior),
        }
    }
}

impl Potentials {
    /// Returns the potential between a variable and its neighbour at `place`; `None` if another
    /// neighbour is there.
    #[inline]
    pub fn between(&self, vertex: u32, neighbour: u32, place: usize) -> Option<Oriented<'_>> {
        match self {
            Potentials::None => None,
            Potentials::Same(potential) => Some(potential.seen(false)),
            Potentials::Own { starts, neighbours, potentials } => {
                let side = neighbours.get(starts[vertex as usize] as usize + place)?;
                let potential = &potentials[side.potential as usize];
                (side.neighbour == neighbour).then(|| potential.seen(side.is_transposed))
            }
        }
    }

    fn size(&self) -> u64 {
        match self {
            Potentials::None => 0,
            Potentials::Same(potential) => potential.size(),
            Potentials::Own { starts, neighbours, potentials } => {
                let tables: u64 = potentials.iter().map(Potential::size).sum();
                let (sides, all) = (size_of_val(&neighbours[..]), size_of_val(&potentials[..]));
                tables + (size_of_val(&starts[..]) + sides + all) as u64
            }
        }
    }
}

impl SideFiles for Model {
    fn size(&self) -> u64 {
        let vertices = size_of_val(&self.priors[..]) + size_of_val(&self.state_counts[..]);
        vertices as u64 + self.potentials.size()
    }
}
