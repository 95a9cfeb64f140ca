//! The kinds of processes, which reports name.

/// How the edges of one iteration are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    /// Through all tiles with an active source and a target that is not settled.
    Scan,
    /// Along the rows of the active vertices.
    Seek,
    /// Through the rows of the vertices that are not settled, up to the first active neighbour.
    Pull,
}

impl ProcessKind {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ProcessKind::Scan => "scan",
            ProcessKind::Seek => "seek",
            ProcessKind::Pull => "pull",
        }
    }
}
