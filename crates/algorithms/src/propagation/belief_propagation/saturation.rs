//! Beliefs that are certain although the evidence is not.
//!
//! Messages that go round a loop come back as if they were new evidence. With a strong potential
//! they grow stronger in each round, until nearly all beliefs are 0 or 1. They then tell which side
//! won, and nothing else.
//!
//! Let a potential of two states have the weight 1/2 + s for equal states and 1/2 - s for different
//! ones. Near 1/2, a message is `2 s` times the belief that it comes from. So evidence fades with
//! distance if `2 s` is less than 1 over the greatest eigenvalue of the adjacency matrix, and grows
//! without end if it is more (Koutra, Ke, Kang, Chau, Pao, Faloutsos, *Unifying
//! Guilt-by-Association Approaches*, ECML PKDD 2011; Gatterbauer, Günnemann, Koutra, Faloutsos,
//! *Linearized and Single-Pass Belief Propagation*, PVLDB 8, 2015). That eigenvalue is at least the
//! root mean square of the degrees, and at most the greatest degree:
//!
//! ```text
//!  s < 1 / (2 * greatest degree)                      evidence fades
//!  s > 1 / (2 * root of the mean square degree)       it grows
//! ```
//!
//! The first bound also holds far from 1/2 (Mooij, Kappen, *Sufficient Conditions for Convergence
//! of the Sum-Product Algorithm*, IEEE Transactions on Information Theory 53, 2007). On
//! email-Enron, the eigenvalue puts the border at 0.0042, beliefs break away between 0.004 and
//! 0.005, and the two bounds are 0.00036 and 0.013.

use tegula_engine::Graph;
use tegula_store::{Diagnostic, Hint, Setting, SettingValue};

use super::model::{Model, Potentials};
use super::potential::probabilities;
use crate::answer;
use crate::error::Result;

/// A belief above this is as good as certain.
const CERTAIN: f64 = 0.999;

/// Says that more than half of the vertices without a prior of their own are as good as certain.
#[derive(Debug)]
pub struct Saturation {
    /// Vertices without a prior of their own that are as good as certain.
    certain: u64,
    /// Vertices without a prior of their own.
    without_prior: u64,
    states: usize,
    /// The greatest degree, in any direction of edges, and the root mean square of the degrees.
    degree_max: f64,
    degree_rms: f64,
}

impl Saturation {
    /// Judges the beliefs that follow from a model, as log odds by dense id. Returns `None` if they
    /// are not saturated, or if the default prior is as good as certain. Also returns `None` if
    /// each edge has a potential of its own, as these are meant to be as they are.
    pub fn of(model: &Model, log_odds: &[f64], graph: &Graph) -> Result<Option<Saturation>> {
        let Potentials::Same(_) = model.potentials else { return Ok(None) };
        let mut beliefs = Vec::new();
        let mut is_certain = |log_odds: &[f64]| {
            probabilities(log_odds, &mut beliefs);
            beliefs.iter().any(|&belief| belief > CERTAIN)
        };
        if is_certain(&model.default_prior) {
            return Ok(None);
        }
        let mut prior = vec![0.0; model.width()];
        let (mut certain, mut without_prior) = (0, 0);
        for (vertex, log_odds) in log_odds.chunks(model.width()).enumerate() {
            model.prior(vertex, &mut prior);
            if prior == model.default_prior {
                without_prior += 1;
                certain += u64::from(is_certain(log_odds));
            }
        }
        if certain * 2 <= without_prior {
            return Ok(None);
        }
        let (degree_max, degree_rms) = degrees(graph)?;
        let states = model.states;
        Ok(Some(Saturation { certain, without_prior, states, degree_max, degree_rms }))
    }

    /// Returns the warning, joined with the one about convergence.
    pub fn warning(&self, convergence: Option<Diagnostic>) -> Diagnostic {
        let vertices = answer::counted(self.without_prior, "vertex", "vertices");
        let mut message = format!(
            "{} of {vertices} without a prior have a belief above {CERTAIN}; the potential is so strong that evidence \
             returns around loops and is counted again",
            answer::count(self.certain),
        );
        if self.states == 2 {
            message += &format!(
                ". Write its weights as 0.5 + s and 0.5 - s: in this graph evidence fades with distance if s is below {}, \
                 and grows if s is above about {}",
                strength(self.degree_max),
                strength(self.degree_rms),
            );
        }
        let potential = Setting { option: "potential", value: SettingValue::Any };
        let weaker = Hint::set([potential]).detail("with more equal weights");
        match convergence {
            None => Diagnostic::from(message).hint(weaker),
            Some(other) => {
                let message = format!("{message}; besides, {}", other.message);
                Diagnostic { message, ..other }.hint(weaker)
            }
        }
    }
}

/// Returns the greatest degree, and the root mean square of the degrees. Edges count as often as
/// they are stored.
fn degrees(graph: &Graph) -> Result<(f64, f64)> {
    let is_directed = !graph.manifest().undirected;
    let (mut max, mut squares) = (0.0_f64, 0.0);
    graph.for_each_degrees(|_, out, into| {
        for (&out, &into) in out.iter().zip(into) {
            let degree = f64::from(out) + if is_directed { f64::from(into) } else { 0.0 };
            max = max.max(degree);
            squares += degree * degree;
        }
        Ok(())
    })?;
    Ok((max, (squares / graph.vertex_count() as f64).sqrt()))
}

/// Returns the strength of a potential with which evidence neither fades nor grows among vertices
/// of this degree.
fn strength(degree: f64) -> String {
    let strength = 0.5 / degree;
    // Two digits are enough.
    answer::decimal(format!("{strength:.1e}").parse().unwrap_or(strength))
}
