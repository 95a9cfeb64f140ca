//! Graphs as plain vectors.

use rayon::prelude::*;

use crate::XorShift;

/// A list of edges between original ids, in file order. Loops and duplicates count as given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EdgeList {
    /// `(source, target)`.
    pub edges: Vec<(u64, u64)>,
    /// One weight per edge, if the graph has weights.
    pub weights: Option<Vec<f32>>,
    /// Vertices that need not have an edge, as in a Graphalytics `.v` file; may repeat.
    pub isolated: Vec<u64>,
}

impl EdgeList {
    /// Makes an unweighted graph of these edges.
    pub fn new(edges: Vec<(u64, u64)>) -> Self {
        Self { edges, ..Self::default() }
    }

    /// Returns the same edges with weights that are the same in every run: integers and fractions,
    /// small and large ones, and 0.
    pub fn weighted(&self, seed: u64) -> Self {
        let mut random = XorShift::new(seed);
        let mut weigh = || match random.below(8) {
            0 => 0.0,
            1 => 1e-3 * random.fraction() as f32,
            2 => 1e6 * random.fraction() as f32,
            3..6 => random.below(16) as f32,
            _ => random.fraction() as f32,
        };
        let weights = self.edges.iter().map(|_| weigh()).collect();
        Self { weights: Some(weights), ..self.clone() }
    }

    /// Returns all ids, ascending, each once.
    pub fn vertices(&self) -> Vec<u64> {
        let ends = self.edges.iter().flat_map(|&(source, target)| [source, target]);
        let mut vertices: Vec<u64> = ends.chain(self.isolated.iter().copied()).collect();
        vertices.par_sort_unstable();
        vertices.dedup();
        vertices
    }

    /// Returns the graph with every edge in both directions, a loop once.
    pub fn undirected(&self) -> Self {
        let reverse = |edge: usize| {
            let (source, target) = self.edges[edge];
            (source != target).then_some((target, source))
        };
        let mut undirected = self.clone();
        for edge in 0..self.edges.len() {
            let Some(reversed) = reverse(edge) else {
                continue;
            };
            undirected.edges.push(reversed);
            if let (Some(weights), Some(given)) = (&mut undirected.weights, &self.weights) {
                weights.push(given[edge]);
            }
        }
        undirected
    }

    /// Returns the same graph over dense ids, which here are in the order of the original ids.
    ///
    /// # Panics
    /// If there are 2^32 vertices or more.
    pub fn compact(&self) -> Compact {
        let vertices = self.vertices();
        assert!(u32::try_from(vertices.len()).is_ok(), "{} vertices", vertices.len());
        let dense = |id| vertices.partition_point(|&vertex| vertex < id) as u32;
        let edges =
            self.edges.par_iter().map(|&(source, target)| (dense(source), dense(target))).collect();
        Compact { edges, weights: self.weights.clone(), vertices }
    }
}

/// A graph over the dense ids `0..vertices.len()`.
#[derive(Debug, Clone)]
pub struct Compact {
    /// The original id of each dense id, ascending.
    pub vertices: Vec<u64>,
    /// `(source, target)` in dense ids, in the order of the edge list.
    pub edges: Vec<(u32, u32)>,
    /// One weight per edge, if the graph has weights.
    pub weights: Option<Vec<f32>>,
}

impl Compact {
    /// Returns the dense id of an original id.
    pub fn dense(&self, vertex: u64) -> Option<u32> {
        self.vertices.binary_search(&vertex).ok().map(|dense| dense as u32)
    }

    /// Returns compressed sparse rows: the targets of each source.
    pub fn out_edges(&self) -> Adjacency {
        self.adjacency(|edge| edge)
    }

    /// Returns compressed sparse columns: the sources of each target.
    pub fn in_edges(&self) -> Adjacency {
        self.adjacency(|(source, target)| (target, source))
    }

    /// Makes a table of one value per vertex, given in dense order.
    pub fn table<T>(&self, values: impl IntoIterator<Item = T>) -> crate::Table<T> {
        self.vertices.iter().copied().zip(values).collect()
    }

    /// Sorts by the first of `(vertex, neighbour)`, by counting. The sort is stable, so neighbours
    /// keep the list's order.
    fn adjacency(&self, oriented: impl Fn((u32, u32)) -> (u32, u32)) -> Adjacency {
        let mut offsets = vec![0; self.vertices.len() + 1];
        for &edge in &self.edges {
            offsets[oriented(edge).0 as usize + 1] += 1;
        }
        for vertex in 1..offsets.len() {
            offsets[vertex] += offsets[vertex - 1];
        }
        let mut next = offsets.clone();
        let mut neighbours = vec![0; self.edges.len()];
        let mut weights = self.weights.as_ref().map(|given| vec![0.0; given.len()]);
        for (number, &edge) in self.edges.iter().enumerate() {
            let (vertex, neighbour) = oriented(edge);
            let position = &mut next[vertex as usize];
            neighbours[*position] = neighbour;
            if let (Some(weights), Some(given)) = (&mut weights, &self.weights) {
                weights[*position] = given[number];
            }
            *position += 1;
        }
        Adjacency { offsets, neighbours, weights }
    }
}

/// The adjacency lists of all vertices, one after the other.
#[derive(Debug, Clone)]
pub struct Adjacency {
    /// Vertex `v` has the entries `offsets[v]..offsets[v + 1]`.
    pub offsets: Vec<usize>,
    /// The neighbours, in the order of the edge list.
    pub neighbours: Vec<u32>,
    /// One weight per neighbour, if the graph has weights.
    pub weights: Option<Vec<f32>>,
}

impl Adjacency {
    /// Returns the neighbours of a vertex.
    pub fn of(&self, vertex: u32) -> &[u32] {
        &self.neighbours[self.entries(vertex)]
    }

    /// Returns the entries of a vertex in [`neighbours`](Self::neighbours) and
    /// [`weights`](Self::weights).
    pub fn entries(&self, vertex: u32) -> std::ops::Range<usize> {
        self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]
    }

    /// Returns the number of neighbours of a vertex.
    pub fn degree(&self, vertex: u32) -> usize {
        self.entries(vertex).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undirected_keeps_loops_once_and_weights_with_their_edges() {
        let graph = EdgeList {
            edges: vec![(7, 7), (9, u64::MAX)],
            weights: Some(vec![0.5, 0.25]),
            isolated: vec![3],
        };
        let doubled = graph.undirected();
        assert_eq!(doubled.edges, [(7, 7), (9, u64::MAX), (u64::MAX, 9)]);
        assert_eq!(doubled.weights.as_deref(), Some(&[0.5, 0.25, 0.25][..]));
        assert_eq!(doubled.vertices(), [3, 7, 9, u64::MAX]);
    }

    #[test]
    fn adjacency_lists_have_the_neighbours_of_the_edges() {
        let mut graph = EdgeList::new(vec![(10, 30), (30, 10), (10, 20), (10, 30)]);
        graph.weights = Some(vec![1.0, 2.0, 3.0, 4.0]);
        let compact = graph.compact();
        let (rows, columns) = (compact.out_edges(), compact.in_edges());
        assert_eq!((rows.of(0), rows.of(1), rows.of(2)), (&[2, 1, 2][..], &[][..], &[0][..]));
        assert_eq!(
            (columns.of(0), columns.of(1), columns.of(2)),
            (&[2][..], &[0][..], &[0, 0][..])
        );
        assert_eq!(rows.weights.unwrap()[rows.offsets[0]..rows.offsets[1]], [1.0, 3.0, 4.0]);
        assert_eq!((compact.dense(20), compact.dense(21)), (Some(1), None));
    }
}
