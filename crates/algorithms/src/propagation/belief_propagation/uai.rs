//! Models in the text format of the UAI competitions: pairwise Markov random fields and Bayesian
//! networks.
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
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::str::FromStr;

use tegula_engine::RUN_OVERHEAD;
use tegula_machine::counted;
use tegula_machine::memory::ALLOCATION_SIZE;
use tegula_machine::threads::Cancel;
use tegula_store::{At, Error, Result};
use tegula_tables::read::{bad_at, bad_file};
use tegula_tables::read_text;

use super::model::{Model, Potentials, Side};
use super::potential::{LEAST, Potential, STATES_MAX, log_odds, normalize};

/// The most bytes per byte of text until all factors are known. They are for the text, as a list
/// that grows by doubling, and for lists of numbers, each of at least two characters.
const BYTES_PER_CHARACTER: u64 = 16;
/// Bytes that a variable takes beside its weights: for its number of states, and for the start of
/// its neighbours.
const VARIABLE_SIZE: u64 = (size_of::<u16>() + size_of::<u32>()) as u64;
/// Bytes that a pair takes beside its weights. It is in a tree, whose nodes may be half empty; then
/// in the list made from the tree; and it is a neighbour of both variables, before and after
/// sorting.
const PAIR_SIZE: u64 = (2 * size_of::<((u32, u32), Potential)>()
    + size_of::<Potential>()
    + 2 * (size_of::<(u32, Side)>() + size_of::<Side>())) as u64
    + ALLOCATION_SIZE;
/// Tables of weights that a factor of two variables takes while it is read: as written, with all
/// states, and transposed.
const TABLES_OF_FACTOR: u64 = 3;

/// A model as its file has it.
#[derive(Debug)]
pub struct UaiModel {
    /// The number of states of each variable.
    states: Vec<u16>,
    /// The most states of a variable, and at least 2: the number of rows and columns of a
    /// potential.
    states_max: usize,
    /// `states_max` weights for each variable: one for each of its states, and 0 for states that it
    /// does not have.
    own: Vec<f64>,
    /// The potential of each pair. The smaller variable comes first.
    pairs: BTreeMap<(u32, u32), Potential>,
    /// Bytes for reading it.
    reading_size: u64,
}

impl UaiModel {
    /// Reads a model within `memory` bytes for the process.
    ///
    /// # Errors
    /// [`Error::BadInput`] for text that is no such model, or for a factor of more than two
    /// variables; [`Error::OverBudget`](tegula_machine::Error::OverBudget) if `memory` is too
    /// small.
    pub fn read(path: &Path, memory: u64) -> Result<UaiModel> {
        let once =
            || bad_file(path, "a model is read more than once, so it must be a regular file");
        if path.as_os_str() == "-" {
            return Err(once());
        }
        let stored = fs::metadata(path).map_err(Error::io("open", path))?;
        if !stored.is_file() {
            return Err(once());
        }
        let size_max = memory.saturating_sub(RUN_OVERHEAD) / BYTES_PER_CHARACTER;
        // A regular file keeps nobody waiting.
        let Some(text) = read_text(path, size_max, &Cancel::default())? else {
            let what = "reading the model".to_owned();
            let needed = RUN_OVERHEAD + BYTES_PER_CHARACTER * stored.len().max(size_max + 1);
            return Err(Error::over_budget(what, needed, memory));
        };
        Parser::new(path, &text, memory).model()
    }

    /// Returns the number of variables.
    pub fn variable_count(&self) -> usize {
        self.states.len()
    }

    /// Writes the pairs, one per line.
    pub fn write_pairs(&self, path: &Path) -> Result<()> {
        let file = File::create(path).map_err(Error::io("create", path))?;
        let mut lines = BufWriter::new(file);
        for (first, second) in self.pairs.keys() {
            writeln!(lines, "{first}\t{second}").map_err(Error::io("write", path))?;
        }
        lines.flush().map_err(Error::io("write", path))
    }

    /// Returns the model by dense id, which is the number of the variable.
    pub fn into_model(self, file: &Path) -> Model {
        let states = self.states_max;
        let is_same = self.states.iter().all(|&count| usize::from(count) == states);
        let mut priors = Vec::with_capacity(self.states.len() * (states - 1));
        for weights in self.own.chunks(states) {
            priors.extend(log_odds(weights));
        }
        let mut sides = Vec::with_capacity(2 * self.pairs.len());
        for (potential, &(first, second)) in (0..).zip(self.pairs.keys()) {
            let side = |neighbour, is_transposed| Side { neighbour, potential, is_transposed };
            sides.push((first, side(second, false)));
            sides.push((second, side(first, true)));
        }
        sides.sort_unstable();
        let variables = self.states.len() as u32;
        let start = |variable: u32| sides.partition_point(|&(own, _)| own < variable) as u32;
        let starts = (0..=variables).map(start).collect();
        Model {
            states,
            state_counts: if is_same { Vec::new() } else { self.states },
            priors,
            // Every variable has a prior.
            default_prior: Vec::new(),
            potentials: Potentials::Own {
                starts,
                neighbours: sides.into_iter().map(|(_, side)| side).collect(),
                potentials: self.pairs.into_values().collect(),
            },
            file: file.to_owned(),
            reading_size: self.reading_size,
        }
    }
}

/// The words of a text, with their lines.
struct Parser<'t> {
    path: &'t Path,
    words: Box<dyn Iterator<Item = (u64, &'t str)> + 't>,
    /// The line of the last word.
    line: u64,
    /// Bytes of the text.
    text_size: u64,
    memory: u64,
}

/// The variables of a factor.
#[derive(Clone, Copy)]
enum Scope {
    /// No variables: the factor is a constant.
    None,
    One(u32),
    Two(u32, u32),
}

impl<'t> Parser<'t> {
    fn new(path: &'t Path, text: &'t str, memory: u64) -> Parser<'t> {
        let lines = (1..).zip(text.lines());
        let words = lines
            .flat_map(|(number, line)| line.split_whitespace().map(move |word| (number, word)));
        Parser { path, words: Box::new(words), line: 1, text_size: text.len() as u64, memory }
    }

    fn bad(&self, detail: String) -> Error {
        bad_at(self.path, At::Line(self.line), detail)
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
        let mut states: Vec<u16> = Vec::with_capacity(self.length_expected(variables.into()));
        for variable in 0..variables {
            let count: u16 = self.number("the number of states of a variable")?;
            if !(1..=STATES_MAX).contains(&usize::from(count)) {
                let detail =
                    format!("variable {variable} has {count} states, not 1 to {STATES_MAX}");
                return Err(self.bad(detail));
            }
            states.push(count);
        }
        let factors: u64 = self.number("the number of factors")?;
        let mut scopes = Vec::with_capacity(self.length_expected(factors));
        for factor in 0..factors {
            scopes.push(self.scope(factor, variables)?);
        }
        let states_max = states.iter().max().map_or(2, |&most| usize::from(most).max(2));
        let reading_size = self.reading_size(states.len(), states_max, &scopes);
        let needed = RUN_OVERHEAD + reading_size;
        if needed > self.memory {
            let what = "reading the model".to_owned();
            return Err(Error::over_budget(what, needed, self.memory));
        }
        let mut own = vec![0.0; states.len() * states_max];
        for (own, &count) in own.chunks_mut(states_max).zip(&states) {
            own[..usize::from(count)].fill(1.0);
        }
        let mut model = UaiModel { states, states_max, own, pairs: BTreeMap::new(), reading_size };
        for (factor, scope) in scopes.into_iter().enumerate() {
            self.factor(factor, scope, &mut model)?;
        }
        match self.words.next() {
            None => Ok(model),
            Some((line, word)) => {
                self.line = line;
                Err(self.bad(format!("`{word}` follows the last factor")))
            }
        }
    }

    /// Returns a capacity for a list of `entries`. It is at most the words of the text, which may
    /// lack a part of the list.
    fn length_expected(&self, entries: u64) -> usize {
        entries.min(self.text_size / 2 + 1) as usize
    }

    /// Returns the bytes until the model is there by dense id. They may be far more than the text:
    /// all variables get as many states as the largest.
    fn reading_size(&self, variables: usize, states_max: usize, scopes: &[Scope]) -> u64 {
        let (variables, states_max) = (variables as u64, states_max as u64);
        let value = size_of::<f64>() as u64;
        let pairs = scopes.iter().filter(|scope| matches!(scope, Scope::Two(..))).count() as u64;
        let tables = if pairs == 0 { 0 } else { pairs + TABLES_OF_FACTOR };
        // A list that grew by doubling may be half empty.
        let text = 2 * self.text_size + size_of_val(scopes) as u64;
        // Weights, and the log odds made from them.
        let own = variables * (VARIABLE_SIZE + 2 * value * states_max);
        text + own + pairs * PAIR_SIZE + tables * value * states_max * states_max
    }

    fn scope(&mut self, factor: u64, variables: u32) -> Result<Scope> {
        let count: u64 = self.number("the number of variables of a factor")?;
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

    /// Reads the weights of a factor, and multiplies the weights so far by them.
    fn factor(&mut self, factor: usize, scope: Scope, model: &mut UaiModel) -> Result<()> {
        let states = model.states_max;
        let states_of = |variable: u32| usize::from(model.states[variable as usize]);
        let expected = match scope {
            Scope::None => 1,
            Scope::One(variable) => states_of(variable),
            Scope::Two(first, second) => states_of(first) * states_of(second),
        };
        let count: usize = self.number("the number of weights of a factor")?;
        if count != expected {
            let weights = counted(count as u64, "weight", "weights");
            let states = counted(expected as u64, "state", "states");
            let detail =
                format!("factor {factor} has {weights}, but its variables have {states} together");
            return Err(self.bad(detail));
        }
        let mut weights: Vec<f64> = Vec::with_capacity(count);
        for _ in 0..count {
            weights.push(self.number("a weight")?);
        }
        if !normalize(&mut weights).is_some_and(|greatest| greatest > 0.0) {
            let detail = format!(
                "the weights of factor {factor} must be finite and at least 0, and one must be above 0"
            );
            return Err(self.bad(detail));
        }
        match scope {
            Scope::None => {}
            Scope::One(variable) => {
                let own = &mut model.own[variable as usize * states..][..states];
                own.iter_mut().zip(weights).for_each(|(own, weight)| *own *= weight);
                if own.iter().all(|&own| own < LEAST) {
                    let detail =
                        format!("factor {factor} rules out all states of variable {variable}");
                    return Err(self.bad(detail));
                }
                // The product of many factors would underflow otherwise.
                normalize(own);
            }
            Scope::Two(first, second) => {
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
                    self.bad(format!("factor {factor} rules out all states of its variables"))
                })?;
                model.pairs.insert((first.min(second), first.max(second)), product);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tegula_machine::Error as MachineError;
    use tegula_testkit::Scratch;

    use super::*;

    #[test]
    fn memory_beyond_the_text_is_counted() {
        let scratch = Scratch::new();
        let path = scratch.path().join("wide.uai");
        // All variables get as many states as the first.
        let one_state = "1 ".repeat(999);
        let text = format!("MARKOV\n1000\n1000 {one_state}\n1\n2 1 2\n1 0.5\n");
        fs::write(&path, text).unwrap();
        let read = |memory| UaiModel::read(&path, memory);
        let Err(Error::Machine(MachineError::OverBudget { needed, .. })) =
            read(RUN_OVERHEAD + (1 << 20))
        else {
            panic!("there is no room for it");
        };
        // Weights and log odds of all states, the table of the pair, and the tables for reading it.
        assert!(needed > RUN_OVERHEAD + (2 + 4) * 8 * 1000 * 1000, "{needed}");
        assert!(read(needed - 1).is_err());
        let model = read(needed).unwrap().into_model(&path);
        assert_eq!(RUN_OVERHEAD + model.reading_size, needed);
    }

    #[test]
    fn neighbours_of_a_variable_ascend_from_either_side_of_a_pair() {
        let scratch = Scratch::new();
        let path = scratch.path().join("path.uai");
        let text = "MARKOV\n4\n2 2 2 2\n2\n2 3 1\n2 1 0\n4 1 2 3 4\n4 1 2 3 4\n";
        fs::write(&path, text).unwrap();
        let model = UaiModel::read(&path, 1 << 30).unwrap().into_model(&path);
        let Potentials::Own { starts, neighbours, .. } = model.potentials else {
            panic!("each pair has its own");
        };
        assert_eq!(starts, [0, 1, 3, 3, 4]);
        let sides: Vec<(u32, u32, bool)> = neighbours
            .iter()
            .map(|side| (side.neighbour, side.potential, side.is_transposed))
            .collect();
        assert_eq!(sides, [(1, 0, false), (0, 0, true), (3, 1, false), (1, 1, true)]);
    }
}
