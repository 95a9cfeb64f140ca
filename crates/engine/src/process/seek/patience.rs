//! When sending along rows is given up, because another process would end sooner.
//!
//! A prediction may be wrong by a factor of two or more. The time of the first edges tells more.

use std::time::{Duration, Instant};

/// Sending is checked against the other process once it has taken this share of that process's
/// predicted seconds.
const CHECKED_AFTER: f64 = 0.1;

/// When to give up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub began: Instant,
    /// Edges to send along, by an estimate.
    pub edges: f64,
    /// Edges of the long rows, which are sent first.
    pub sent: u64,
    /// Seconds of the quickest other process.
    pub otherwise: f64,
}

impl Patience {
    /// Decides after the long rows and the `more` edges of `share` of the other vertices. Returns
    /// how long all edges would take, if those that are left would probably take longer than the
    /// other process. It predicts what is left by edges and by vertices, and takes the smaller
    /// prediction.
    pub fn is_over(&self, more: u64, share: f64) -> Option<Duration> {
        let took = self.began.elapsed();
        let sent = (self.sent + more).max(1) as f64;
        let by_edges = (self.edges / sent - 1.0).max(0.0);
        // A share of 0 makes this huge. Then the prediction by edges counts.
        let by_vertices = (1.0 / share.max(f64::MIN_POSITIVE) - 1.0).max(0.0);
        let left = took.as_secs_f64() * by_edges.min(by_vertices);
        let is_due = took.as_secs_f64() > CHECKED_AFTER * self.otherwise;
        (is_due && left > self.otherwise).then(|| took + Duration::from_secs_f64(left))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
    use tegula_machine::threads::{Cancel, Workers};
    use tegula_store::VertexId;
    use tegula_store::graph::Graph;
    use tegula_store::rows::{ChunkCut, Direction, RowEncoding, RowReader};
    use tegula_testkit::{EdgeList, Scratch};

    use super::super::Seek;
    use super::super::tests::Alone;
    use crate::graph_for_tests::graph_with_rows;
    use crate::instructions::Instructions;
    use crate::job::context::JobContext;
    use crate::process::cost::CostModel;
    use crate::process::{Prediction, Process, Progressed};
    use crate::program::{Min, Relaxation};
    use crate::superstep::Superstep;

    const VERTICES: u32 = 2048;

    /// The smallest id that reaches a vertex.
    struct Smallest;

    impl Relaxation for Smallest {
        type Reduction = Min<u32>;
        type Weight = ();

        fn start(&self, vertex: VertexId) -> Option<u32> {
            Some(VERTICES - 1 - vertex.0 as u32)
        }

        fn along(&self, id: u32, (): ()) -> u32 {
            id
        }
    }

    /// Some vertices have long rows, and all messages need several boxes for each worker.
    fn graph(scratch: &Scratch) -> Graph {
        let mut pairs: Vec<(u64, u64)> = Vec::new();
        for source in 0..u64::from(VERTICES) {
            let count = if source.is_multiple_of(500) { 1500 } else { 400 };
            pairs.extend((1..=count).map(|step| (source, (source + step) % u64::from(VERTICES))));
        }
        let cut = ChunkCut { edges_max: 1400, window_log2: 9 };
        let edges = EdgeList::new(pairs);
        let directory = graph_with_rows(scratch, &edges, RowEncoding::default(), cut);
        let reader = Reader::open(Backend::Auto, Pool::new(256 << 20)).unwrap();
        Graph::open(&directory, &reader, Caching::Direct).unwrap()
    }

    /// Seeks to the end. If it `gives_up`, the first attempt of each iteration has no patience.
    /// Returns the labels, the iterations, and how often it gave up.
    fn labels(graph: &Graph, workers: &Workers, gives_up: bool) -> (Vec<u32>, u64, u64) {
        let cancel = Cancel::default();
        let context = JobContext::new(workers, &cancel, &Alone);
        let cache = RowReader::cache_size_max(graph, Direction::Forward, false);
        let targets = Targets::default();
        let opened = RowReader::open(graph, Direction::Forward, false, cache, &targets);
        let rows = opened.unwrap().unwrap();
        let costs = CostModel::of(graph, workers.count(), &Default::default());
        let mut seek = Seek::<Smallest>::new(vec![&rows], VERTICES as usize, costs);
        let (degrees, instructions) = (Arc::default(), Instructions::detect());
        let settings = (instructions, false);
        let begun = Superstep::new(graph, Smallest.into(), None, degrees, settings, &context);
        let mut step = begun.unwrap();
        let (mut iterations, mut given_up) = (0u64, 0u64);
        while step.begin_iteration().is_some() {
            iterations += 1;
            let active = step.active_count();
            let edges = graph.edge_count() as f64;
            let prediction = Prediction { edges: 10.0 * edges, ..Default::default() };
            if gives_up {
                let hopeless = Prediction { otherwise: Some(1e-9), ..prediction };
                match seek.run(&mut step, &hopeless, &context).unwrap() {
                    Progressed::GivenUp { edges } => {
                        assert!(edges > 0);
                        given_up += 1;
                    }
                    _ => continue,
                }
                assert_eq!(step.active_count(), active);
                if iterations.is_multiple_of(2) {
                    // A scan begins like this.
                    step.generate(&context).unwrap();
                }
            }
            let patient = Prediction { otherwise: Some(1e9), ..prediction };
            let progressed = seek.run(&mut step, &patient, &context).unwrap();
            assert!(matches!(progressed, Progressed::Done { .. }));
        }
        (step.into_result().0, iterations, given_up)
    }

    #[test]
    fn a_search_that_gave_up_can_begin_the_iteration_again() {
        let scratch = Scratch::new();
        let graph = graph(&scratch);
        for threads in [2, 3] {
            Workers::scope(threads, |workers| {
                let (expected, iterations, none) = labels(&graph, workers, false);
                let (found, as_many, given_up) = labels(&graph, workers, true);
                assert!(found == expected && iterations == as_many);
                assert!(none == 0 && given_up > 0, "{given_up} of {iterations} iterations");
            });
        }
    }
}
