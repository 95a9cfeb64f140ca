//! Laws that the engine assumes of reductions and programs, and that no compiler checks. A program
//! that breaks one gives other results with another executor, number of threads or division of the
//! graph.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::components::wcc::SmallestId;
use tegula_algorithms::paths::bfs::Bfs;
use tegula_algorithms::paths::sssp::Sssp;
use tegula_engine::{
    Accumulator, Activity, ApplyTo, EdgeWeight, Max, Message, Min, Monotone, Next, Or, Program,
    Reduction, Relaxation, Settling, Sum, Value, VertexId,
};

type Checked = Result<(), TestCaseError>;

/// Whether two values are the same to the bit.
fn same<T: Value>(a: T, b: T) -> bool {
    a.as_bytes() == b.as_bytes()
}

/// Any number that a message can be: neither NaN nor -0.0.
fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => any::<f64>().prop_filter("a message", |number| !number.is_nan()),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
    ]
    .prop_map(|number| number + 0.0)
}

fn single() -> impl Strategy<Value = f32> {
    float().prop_map(|number| number as f32 + 0.0)
}

/// Numbers whose sums are finite.
fn finite() -> impl Strategy<Value = f64> {
    -1e30..1e30f64
}

// Reductions

fn is_a_reduction<R: Reduction>([a, b, c]: [R::Message; 3]) -> Checked
where
    R::Message: Debug,
{
    let identity = R::IDENTITY;
    prop_assert!(R::reduce(a, identity) == a && R::reduce(identity, a) == a);
    prop_assert!(same(R::reduce(a, b), R::reduce(b, a)), "commutative");
    let (long_a, long_b, long_c): (R::Accumulator, R::Accumulator, R::Accumulator) =
        (a.into(), b.into(), c.into());
    prop_assert!(same(R::accumulate(long_a, identity.into()), long_a));
    prop_assert!(same(R::accumulate(identity.into(), long_a), long_a));
    prop_assert!(same(R::accumulate(long_a, long_b), R::accumulate(long_b, long_a)));
    if R::IS_EXACT {
        let (left, right) = (R::reduce(R::reduce(a, b), c), R::reduce(a, R::reduce(b, c)));
        prop_assert!(same(left, right), "associative");
        let left = R::accumulate(R::accumulate(long_a, long_b), long_c);
        let right = R::accumulate(long_a, R::accumulate(long_b, long_c));
        prop_assert!(same(left, right), "associative");
        // Some messages are reduced before they are accumulated, others after.
        prop_assert!(same(R::reduce(a, b).into(), R::accumulate(long_a, long_b)));
    }
    Ok(())
}

fn is_monotone<R: Monotone>([state, message, other]: [R::Message; 3]) -> Checked
where
    R::Message: Debug,
{
    is_a_reduction::<R>([state, message, other])?;
    let mut found = state;
    prop_assert!(!R::absorb(&mut found, R::IDENTITY.into()) && same(found, state));
    let has_changed = R::absorb(&mut found, message.into());
    prop_assert!(same(found, R::reduce(state, message)));
    prop_assert_eq!(has_changed, !same(found, state));
    prop_assert_eq!(has_changed, R::would_change(&state, message));
    prop_assert!(!R::absorb(&mut found, message.into()), "once is enough");
    Ok(())
}

macro_rules! reductions {
    ($($name:ident: $law:ident::<$reduction:ty>, $messages:expr;)*) => {
        proptest! {$(
            #[test]
            fn $name(messages in prop::array::uniform3($messages)) {
                $law::<$reduction>(messages)?;
            }
        )*}
    };
}

reductions! {
    the_smallest_u32: is_monotone::<Min<u32>>, any::<u32>();
    the_smallest_u64: is_monotone::<Min<u64>>, any::<u64>();
    the_smallest_i32: is_monotone::<Min<i32>>, any::<i32>();
    the_smallest_i64: is_monotone::<Min<i64>>, any::<i64>();
    the_smallest_f32: is_monotone::<Min<f32>>, single();
    the_smallest_f64: is_monotone::<Min<f64>>, float();
    the_greatest_u32: is_monotone::<Max<u32>>, any::<u32>();
    the_greatest_u64: is_monotone::<Max<u64>>, any::<u64>();
    the_greatest_i32: is_monotone::<Max<i32>>, any::<i32>();
    the_greatest_i64: is_monotone::<Max<i64>>, any::<i64>();
    the_greatest_f32: is_monotone::<Max<f32>>, single();
    the_greatest_f64: is_monotone::<Max<f64>>, float();
    the_sum_of_u32: is_a_reduction::<Sum<u32>>, any::<u32>();
    the_sum_of_u64: is_a_reduction::<Sum<u64>>, any::<u64>();
    the_sum_of_f32: is_a_reduction::<Sum<f32>>, finite().prop_map(|number| number as f32);
    the_sum_of_f64: is_a_reduction::<Sum<f64>>, finite();
    the_bits_of_u32: is_monotone::<Or<u32>>, any::<u32>();
    the_bits_of_u64: is_monotone::<Or<u64>>, any::<u64>();
}

// Programs

/// What a vertex has received, and what it may receive next.
#[derive(Debug, Clone)]
struct History<M> {
    vertex: u32,
    degree: u32,
    /// The message that the vertex received in each past iteration.
    past: Vec<M>,
    messages: [M; 2],
    weight: f32,
    /// Two vertices that may be its neighbours.
    sources: [u32; 2],
}

/// Number of vertices of a graph that none of the programs sees.
const VERTICES: u32 = 50;

fn history<M: Debug + Clone>(
    message: impl Strategy<Value = M> + Clone,
    weight: impl Strategy<Value = f32>,
) -> impl Strategy<Value = History<M>> {
    let past = prop::collection::vec(message.clone(), 0..4);
    let messages = prop::array::uniform2(message);
    let sources = prop::array::uniform2(0..VERTICES);
    (0..VERTICES, 0..9u32, past, messages, weight, sources).prop_map(
        |(vertex, degree, past, messages, weight, sources)| History {
            vertex,
            degree,
            past,
            messages,
            weight,
            sources,
        },
    )
}

/// A program in its state at one vertex.
struct At<P: Program> {
    program: P,
    vertex: VertexId,
    degree: u32,
    state: P::State,
}

impl<P: Program> At<P> {
    /// The state after the past messages.
    fn after(mut program: P, history: &History<Message<P>>) -> At<P>
    where
        Message<P>: Clone,
    {
        let (vertex, degree) = (VertexId(history.vertex.into()), history.degree);
        let mut sums = P::Aggregate::default();
        let (state, _) = program.init(vertex, degree, &mut sums);
        assert_eq!(program.begin_iteration(0, &sums), Next::Continue);
        let mut at = At { program, vertex, degree, state };
        for (iteration, &message) in (1..).zip(&history.past) {
            at.state = at.applied(message.into()).0;
            at.program.begin_iteration(iteration, &P::Aggregate::default());
        }
        at
    }

    /// The state after applying a reduced message; `self` stays as it is.
    fn applied(&self, reduced: Accumulator<P>) -> (P::State, Activity) {
        let (mut state, mut sums) = (self.state, P::Aggregate::default());
        let At { program, vertex, degree, .. } = self;
        let activity = program.apply(*vertex, *degree, &mut state, reduced, &mut sums);
        (state, activity)
    }

    /// Whether applying it changes nothing.
    fn is_idle(&self, reduced: Accumulator<P>) -> bool {
        let (state, activity) = self.applied(reduced);
        same(state, self.state) && activity == Activity::Inactive
    }
}

fn is_a_program<P: Program>(program: P, history: &History<Message<P>>) -> Checked {
    let identity = P::Reduction::IDENTITY;
    let weight = P::Weight::from_f32(history.weight);
    let at = At::after(program, history);
    let [message, other] = history.messages;
    // A scan includes inactive sources, whose messages are identities.
    let (with, without) = (message.into(), at.program.along(identity, weight).into());
    let (both, one) = (P::Reduction::accumulate(with, without), with);
    let ((both, is_active), (one, is_one_active)) = (at.applied(both), at.applied(one));
    prop_assert!(same(both, one) && is_active == is_one_active, "the identity along an edge");
    if P::APPLY_TO == ApplyTo::Reached {
        prop_assert!(at.is_idle(identity.into()), "the identity");
        prop_assert!(at.is_idle(without), "the identity along an edge, alone");
    }
    let is_settled = at.program.is_settled(&at.state);
    prop_assert!(P::SETTLING.is_possible() || !is_settled);
    let reduced = P::Reduction::reduce(message, other);
    if is_settled {
        prop_assert!(at.is_idle(reduced.into()), "a settled state");
    } else if !at.program.is_news(&at.state, message) {
        prop_assert!(at.is_idle(message.into()), "no news");
        // So it need not be sent with others either.
        let ((both, _), (alone, _)) = (at.applied(reduced.into()), at.applied(other.into()));
        prop_assert!(same(both, alone), "no news beside others");
    }
    if P::SETTLING == Settling::ByFirstSource && !is_settled {
        the_first_source_settles(&at, weight, history)?;
    }
    Ok(())
}

fn the_first_source_settles<P: Program>(
    at: &At<P>,
    weight: P::Weight,
    history: &History<Message<P>>,
) -> Checked {
    let [first, second] = history.sources.map(|source| VertexId(source.into()));
    let (first, second) = (first.min(second), first.max(second));
    let sent = |source| at.program.signal(source, &at.state, history.degree);
    if let (Some(first), Some(second)) = (sent(first), sent(second)) {
        let (first, second) = (at.program.along(first, weight), at.program.along(second, weight));
        prop_assert!(same(P::Reduction::reduce(second, first), first), "the first wins");
        prop_assert!(at.program.is_settled(&at.applied(first.into()).0), "and settles");
    }
    Ok(())
}

/// Non-negative distances.
fn distance() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![0.0..100.0f64, Just(0.0), Just(f64::INFINITY)]
}

/// Weights of edges, some of which the search refuses.
fn weight() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => 0.0..10.0f32,
        1 => Just(0.0f32),
        1 => -1.0..0.0f32,
        1 => Just(f32::INFINITY),
        1 => Just(f32::NAN),
    ]
}

proptest! {
    #[test]
    fn breadth_first_search(source in 0..VERTICES, history in history(0..VERTICES, Just(1.0))) {
        let source = VertexId(source.into());
        is_a_program(Bfs::<u32>::new(source), &history)?;
        is_a_program(Bfs::<()>::new(source), &history)?;
    }

    #[test]
    fn shortest_paths(source in 0..VERTICES, history in history(distance(), weight())) {
        is_a_program(Sssp::new(VertexId(source.into()), 1.5), &history)?;
    }

    #[test]
    fn the_smallest_id(history in history(0..VERTICES, Just(1.0))) {
        is_a_program(SmallestId::<u32>::default(), &history)?;
    }

    #[test]
    fn page_rank(seed in 0..VERTICES, history in history(0.0..1.0f32, Just(1.0))) {
        let stop = Stop::default();
        is_a_program(PageRank::new(stop, VERTICES.into()), &history)?;
        let seeds = [(VertexId(seed.into()), 1.0)];
        let personalized = PageRank::personalized(stop, VERTICES.into(), &seeds).unwrap();
        is_a_program(personalized, &history)?;
    }
}

// The laws themselves

/// A program that breaks one of the laws, by its name.
struct Lawless(&'static str);

impl Program for Lawless {
    type State = u32;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = ();

    const SETTLING: Settling = Settling::ByFirstSource;

    fn init(&self, _: VertexId, _: u32, (): &mut ()) -> (u32, Activity) {
        (u32::MAX, Activity::Active)
    }
    fn signal(&self, vertex: VertexId, _: &u32, _: u32) -> Option<u32> {
        let id = vertex.0 as u32;
        Some(if self.0 == "the first wins" { VERTICES - id } else { id })
    }
    fn along(&self, message: u32, (): ()) -> u32 {
        if self.0 == "the identity along an edge" { message.min(7) } else { message }
    }
    fn apply(&self, _: VertexId, _: u32, state: &mut u32, reduced: u32, (): &mut ()) -> Activity {
        let is_new = match self.0 {
            "the identity" => *state == u32::MAX,
            "a settled state" => reduced < *state,
            _ => *state == u32::MAX && reduced != u32::MAX,
        };
        *state = if is_new { reduced } else { *state };
        Activity::when(is_new)
    }
    fn is_settled(&self, state: &u32) -> bool {
        *state != u32::MAX && self.0 != "and settles"
    }
    fn is_news(&self, _: &u32, message: u32) -> bool {
        self.0 != "no news" || message > 9
    }
}

/// Adds the weight of an edge to the message.
struct Adding;

impl Relaxation for Adding {
    type Reduction = Min<u32>;
    type Weight = f32;

    fn start(&self, _: VertexId) -> Option<u32> {
        Some(3)
    }
    fn along(&self, message: u32, weight: f32) -> u32 {
        message.wrapping_add(weight as u32)
    }
}

#[test]
fn every_broken_law_is_found() {
    let history = |past: &[u32], messages| History {
        vertex: 1,
        degree: 2,
        past: past.to_vec(),
        messages,
        weight: 2.0,
        sources: [4, 5],
    };
    let fresh = history(&[], [8, 9]);
    is_a_program(Lawless("none"), &fresh).unwrap();
    is_a_program(Lawless("none"), &history(&[30], [8, 9])).unwrap();
    for law in
        ["the first wins", "the identity along an edge", "the identity", "and settles", "no news"]
    {
        let broken = is_a_program(Lawless(law), &fresh).unwrap_err().to_string();
        assert!(broken.contains(law), "{law}: {broken}");
    }
    let broken = is_a_program(Lawless("a settled state"), &history(&[30], [8, 9])).unwrap_err();
    assert!(broken.to_string().contains("a settled state"), "{broken}");
    assert!(is_a_program(Adding, &fresh).is_err(), "the identity wraps around");
}
