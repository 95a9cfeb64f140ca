//! Depth-first search by recursion.

/// The vertices in two orders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnteredAndLeft {
    /// As they are entered.
    pub entered: Vec<u32>,
    /// As they are left.
    pub left: Vec<u32>,
}

/// Visits all vertices, of which each has a list of neighbours; roots by ascending id. For graphs of some thousand
/// vertices: it recurses as deep as their paths are long.
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
