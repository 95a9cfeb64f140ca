//! Depth-first search by recursion.

/// The vertices in two orders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnteredAndLeft {
    /// In the order in which they are entered.
    pub entered: Vec<u32>,
    /// In the order in which they are left.
    pub left: Vec<u32>,
}

/// Visits all vertices along their adjacency lists, with roots by ascending id. For graphs of some
/// thousand vertices: the recursion is as deep as the paths are long.
pub fn depth_first(neighbours: &[Vec<u32>]) -> EnteredAndLeft {
    let mut found = EnteredAndLeft::default();
    let mut is_entered = vec![false; neighbours.len()];
    for root in 0..neighbours.len() as u32 {
        visit(neighbours, root, &mut is_entered, &mut found);
    }
    found
}

fn visit(
    neighbours: &[Vec<u32>],
    vertex: u32,
    is_entered: &mut [bool],
    found: &mut EnteredAndLeft,
) {
    if std::mem::replace(&mut is_entered[vertex as usize], true) {
        return;
    }
    found.entered.push(vertex);
    for &next in &neighbours[vertex as usize] {
        visit(neighbours, next, is_entered, found);
    }
    found.left.push(vertex);
}
