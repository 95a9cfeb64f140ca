//! Models in the text format of the UAI competitions: pairwise Markov random fields and Bayesian networks.
//!
//! ```text
//!  MARKOV                      or BAYES
//!  3                           variables
//!  2 2 3                       states of each
//!  2                           factors
//!  1 0                         how many variables a factor has, and which
//!  2 0 1
//!  2  0.4 0.6                  how many weights it has, and which: the state of its last variable changes first
//!  4  1.0 0.5 0.5 1.0
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use tegula_engine::RUN_OVERHEAD;
use tegula_import::input::read_text;
use tegula_machine::{At, Error, Result};

use super::model::{Model, Potentials, Side};
use super::potential::{LEAST, Potential, STATES_MAX, log_odds, normalize};
use crate::side_table::bad;

/// Bytes that a byte of text takes at the most while a model is made of it: a weight is two characters at the least.
const BYTES_PER_CHARACTER: u64 = 16;

/// A model as it is written down.
#[derive(Debug)]
pub struct UaiModel {
    /// How many states each variable has.
    states: Vec<u16>,
    /// The weights of the states of each variable.
    own: Vec<Vec<f64>>,
    /// The potential of each pair, whose first variable is the smaller one.
    pairs: BTreeMap<(u32, u32), Potential>,
}

impl UaiModel {
    /// Reads a model within `memory` bytes for the process.
    ///
    /// # Errors
    /// Those of reading; [`Error::BadInput`] for text that is no such model, or for a factor of more than two variables;
    /// [`Error::OverBudget`].
    pub fn read(path: &Path, memory: u64) -> Result<UaiModel> {
        let stored = fs::metadata(path).map_err(Error::io("open", path))?;
        if !stored.is_file() {
            let detail = "a model is read more than once, so that it has to be a file";
            return Err(bad(path, At::File, detail.to_owned()));
        }
        let size_max = memory.saturating_sub(RUN_OVERHEAD) / BYTES_PER_CHARACTER;
        let Some(text) = read_text(path, size_max)? else {
            let what = "reading the model".to_owned();
            let needed = RUN_OVERHEAD + BYTES_PER_CHARACTER * stored.len().max(size_max + 1);
            return Err(Error::OverBudget { what, needed, budget: memory });
        };
        Parser::new(path, &text, memory).model()
    }

    /// How many variables it has.
    pub fn variable_count(&self) -> usize {
        self.states.len()
    }

    /// Writes the pairs, one in a line.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_pairs(&self, path: &Path) -> Result<()> {
        let mut lines = Vec::new();
        for (first, second) in self.pairs.keys() {
            writeln!(lines, "{first}\t{second}").map_err(Error::io("write", path))?;
        }
        fs::write(path, lines).map_err(Error::io("write", path))
    }

    /// The same by dense id, which is the number of the variable.
    pub fn into_model(self, file: &Path) -> Model {
        let states = self.states.iter().max().map_or(2, |&most| usize::from(most)).max(2);
        let is_same = self.states.iter().all(|&count| usize::from(count) == states);
        let mut priors = Vec::with_capacity(self.own.len() * (states - 1));
        for weights in self.own {
            let mut padded = weights;
            padded.resize(states, 0.0);
            priors.extend(log_odds(&padded));
        }
        let mut sides: Vec<Vec<Side>> = vec![Vec::new(); self.states.len()];
        for (number, &(first, second)) in (0..).zip(self.pairs.keys()) {
            let mut add = |own: u32, neighbour, is_transposed| {
                sides[own as usize].push(Side { neighbour, potential: number, is_transposed });
            };
            add(first, second, false);
            add(second, first, true);
        }
        let mut starts = vec![0];
        for sides in &mut sides {
            sides.sort_unstable();
            starts.push(starts.last().unwrap_or(&0) + sides.len() as u32);
        }
        Model {
            states,
            state_counts: if is_same { Vec::new() } else { self.states },
            priors,
            potentials: Potentials::Own {
                starts,
                neighbours: sides.into_iter().flatten().collect(),
                potentials: self.pairs.into_values().collect(),
            },
            file: file.to_owned(),
            reading_size: 0,
        }
    }
}

/// The words of a text, with their lines.
struct Parser<'t> {
    path: &'t Path,
    words: Box<dyn Iterator<Item = (u64, &'t str)> + 't>,
    /// The line of the last word.
    line: u64,
    memory: u64,
}

/// What a factor is about.
#[derive(Clone, Copy)]
enum Scope {
    /// Nothing: it is a constant.
    None,
    One(u32),
    Two(u32, u32),
}

impl<'t> Parser<'t> {
    fn new(path: &'t Path, text: &'t str, memory: u64) -> Parser<'t> {
        let lines = (1..).zip(text.lines());
        let words = lines
            .flat_map(|(number, line)| line.split_whitespace().map(move |word| (number, word)));
        Parser { path, words: Box::new(words), line: 1, memory }
    }

    fn bad(&self, detail: String) -> Error {
        bad(self.path, At::Line(self.line), detail)
    }

    fn word(&mut self, what: &str) -> Result<&'t str> {
        match self.words.next() {
            Some((line, word)) => {
                self.line = line;
                Ok(word)
            }
            None => Err(self.bad(format!("the text ends before {what}"))),
        }
    }

    fn number<N: FromStr>(&mut self, what: &str) -> Result<N> {
        let word = self.word(what)?;
        word.parse().map_err(|_| self.bad(format!("`{word}` is not {what}")))
    }

    fn model(mut self) -> Result<UaiModel> {
        let kind = self.word("`MARKOV` or `BAYES`")?;
        if kind != "MARKOV" && kind != "BAYES" {
            return Err(self.bad(format!("a model begins with `MARKOV` or `BAYES`, not `{kind}`")));
        }
        let variables: u32 = self.number("the number of variables")?;
        if variables == 0 {
            return Err(self.bad("the model has no variables".to_owned()));
        }
        let mut states: Vec<u16> = Vec::new();
        for variable in 0..variables {
            let count: u16 = self.number("how many states a variable has")?;
            if !(1..=STATES_MAX).contains(&usize::from(count)) {
                let detail =
                    format!("variable {variable} has {count} states, not 1 to {STATES_MAX}");
                return Err(self.bad(detail));
            }
            states.push(count);
        }
        let factors: u64 = self.number("the number of factors")?;
        let mut scopes = Vec::new();
        for factor in 0..factors {
            scopes.push(self.scope(factor, variables)?);
        }
        self.check_room(&states, &scopes)?;
        let own = states.iter().map(|&count| vec![1.0; usize::from(count)]).collect();
        let mut model = UaiModel { states, own, pairs: BTreeMap::new() };
        for (factor, scope) in scopes.into_iter().enumerate() {
            self.factor(factor, scope, &mut model)?;
        }
        match self.words.next() {
            None => Ok(model),
            Some((line, word)) => {
                self.line = line;
                Err(self.bad(format!("`{word}` follows behind the last factor")))
            }
        }
    }

    /// Refuses a model that takes more memory than its text says: all variables are given as many states as the largest.
    fn check_room(&self, states: &[u16], scopes: &[Scope]) -> Result<()> {
        let states_max = u64::from(states.iter().copied().max().unwrap_or(0));
        let pairs = scopes.iter().filter(|scope| matches!(scope, Scope::Two(..))).count() as u64;
        let values = (pairs * states_max + states.len() as u64) * states_max;
        let needed = RUN_OVERHEAD + size_of::<f64>() as u64 * values;
        if needed > self.memory {
            let what = "reading the model".to_owned();
            return Err(Error::OverBudget { what, needed, budget: self.memory });
        }
        Ok(())
    }

    fn scope(&mut self, factor: u64, variables: u32) -> Result<Scope> {
        let count: u64 = self.number("how many variables a factor has")?;
        if count > 2 {
            let detail = format!(
                "factor {factor} has {count} variables; belief propagation takes factors of one or two"
            );
            return Err(self.bad(detail));
        }
        let mut of = || -> Result<u32> {
            let variable: u32 = self.number("the number of a variable")?;
            if variable < variables {
                return Ok(variable);
            }
            Err(self.bad(format!("there is no variable {variable}; the last is {}", variables - 1)))
        };
        match count {
            0 => Ok(Scope::None),
            1 => Ok(Scope::One(of()?)),
            _ => {
                let (first, second) = (of()?, of()?);
                if first == second {
                    return Err(self.bad(format!("factor {factor} has variable {first} twice")));
                }
                Ok(Scope::Two(first, second))
            }
        }
    }

    /// Reads the weights of a factor, and multiplies those by them that are there.
    fn factor(&mut self, factor: usize, scope: Scope, model: &mut UaiModel) -> Result<()> {
        let states_of = |variable: u32| usize::from(model.states[variable as usize]);
        let expected = match scope {
            Scope::None => 1,
            Scope::One(variable) => states_of(variable),
            Scope::Two(first, second) => states_of(first) * states_of(second),
        };
        let count: usize = self.number("how many weights a factor has")?;
        if count != expected {
            let detail =
                format!("factor {factor} has {count} weights, and its variables {expected} states");
            return Err(self.bad(detail));
        }
        let mut weights: Vec<f64> = Vec::new();
        for _ in 0..count {
            weights.push(self.number("a weight")?);
        }
        if !normalize(&mut weights).is_some_and(|greatest| greatest > 0.0) {
            let detail = format!(
                "the weights of factor {factor} are not finite numbers of at least 0, one of them above it"
            );
            return Err(self.bad(detail));
        }
        match scope {
            Scope::None => {}
            Scope::One(variable) => {
                let own = &mut model.own[variable as usize];
                own.iter_mut().zip(weights).for_each(|(own, weight)| *own *= weight);
                if own.iter().all(|&own| own < LEAST) {
                    let detail =
                        format!("factor {factor} leaves no state of variable {variable} possible");
                    return Err(self.bad(detail));
                }
                normalize(own);
            }
            Scope::Two(first, second) => {
                let states = model.states.iter().max().map_or(2, |&most| usize::from(most)).max(2);
                let mut values = vec![0.0; states * states];
                for (row, weights) in weights.chunks(states_of(second)).enumerate() {
                    values[row * states..][..weights.len()].copy_from_slice(weights);
                }
                let potential = Potential::new(states, values);
                let product = potential.and_then(|potential| {
                    let potential = if first < second { potential } else { potential.transposed() };
                    match model.pairs.get(&(first.min(second), first.max(second))) {
                        Some(before) => potential.times(before),
                        None => Some(potential),
                    }
                });
                let product = product.ok_or_else(|| {
                    self.bad(format!("factor {factor} leaves no states of its variables possible"))
                })?;
                model.pairs.insert((first.min(second), first.max(second)), product);
            }
        }
        Ok(())
    }
}
