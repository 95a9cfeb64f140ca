//! A two-dimensional grid: a large diameter, degrees of at most 4, and answers in closed form.

use crate::{Edge, Generator, ParameterError};

/// A grid of `width * height` vertices, numbered row by row. Each vertex is joined to its right and
/// lower neighbours. Undirected: each edge is listed once.
#[derive(Debug, Clone)]
pub struct Grid {
    width: u64,
    height: u64,
}

impl Grid {
    /// Makes a grid of at most 2^62 vertices; either side may be 0.
    pub fn new(width: u64, height: u64) -> Result<Self, ParameterError> {
        match width.checked_mul(height) {
            Some(vertices) if vertices <= 1 << 62 => Ok(Self { width, height }),
            _ => Err(ParameterError::new(format!("{width} x {height} vertices are too many"))),
        }
    }

    /// Returns the number of edges to the right, which come before the edges downwards.
    fn edges_to_the_right(&self) -> u64 {
        self.width.saturating_sub(1) * self.height
    }
}

impl Generator for Grid {
    fn vertex_count(&self) -> u64 {
        self.width * self.height
    }

    fn edge_count(&self) -> u64 {
        self.edges_to_the_right() + self.width * self.height.saturating_sub(1)
    }

    fn fill(&self, first: u64, edges: &mut [Edge]) {
        let to_the_right = self.edges_to_the_right();
        for (number, edge) in (first..).zip(edges) {
            *edge = if number < to_the_right {
                let (row, column) = (number / (self.width - 1), number % (self.width - 1));
                let vertex = row * self.width + column;
                (vertex, vertex + 1)
            } else {
                let vertex = number - to_the_right;
                (vertex, vertex + self.width)
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;

    #[test]
    fn edges_join_neighbours_once() {
        let (width, height) = (7, 5);
        let mut edges = edges(&Grid::new(width, height).unwrap());
        for &(u, v) in &edges {
            let (right, down) = (v % width - u % width, v / width - u / width);
            assert_eq!(right + down, 1, "{u} {v}");
        }
        edges.sort_unstable();
        edges.dedup();
        assert_eq!(edges.len() as u64, (width - 1) * height + width * (height - 1));
    }

    #[test]
    fn degenerate_grids_have_the_edges_of_a_path_or_none() {
        assert_eq!(edges(&Grid::new(1, 3).unwrap()), [(0, 1), (1, 2)]);
        assert_eq!(edges(&Grid::new(3, 1).unwrap()), [(0, 1), (1, 2)]);
        assert_eq!(edges(&Grid::new(0, 3).unwrap()), []);
        assert_eq!(edges(&Grid::new(3, 0).unwrap()), []);
        assert!(Grid::new(1 << 40, 1 << 40).is_err());
    }
}
