//! The memory that a run along rows holds beside the rows.

use tegula_machine::threads::Cancel;
use tegula_store::Result;
use tegula_store::graph::Graph;

use crate::scheduler::{Admitted, Share};

/// Bytes that a run holds beside the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Bytes for the run alone.
    pub own: u64,
    /// Bytes of the [id positions](tegula_store::graph::OriginalIds::id_positions), of which all
    /// jobs of a graph have one copy; 0 if the run does not use them.
    pub id_positions: u64,
}

impl Held {
    /// Returns what a run holds: the id positions, and `own` bytes for itself.
    pub fn with_id_positions(graph: &Graph, own: u64) -> Result<Held> {
        Ok(Held { own, id_positions: graph.original_ids()?.id_positions_size() })
    }

    /// Returns all bytes, as when nothing is shared.
    pub fn bytes(self) -> u64 {
        self.own + self.id_positions
    }

    /// Returns what a run shares with other jobs.
    pub(crate) fn share(self) -> Option<Share> {
        (self.id_positions > 0).then(|| Share::id_positions(self.id_positions))
    }

    /// Loads the id positions, if the run uses them. As long as it is admitted, all who read them
    /// get this copy.
    pub(crate) fn load_id_positions(
        self,
        graph: &Graph,
        admitted: &Admitted<'_, '_>,
        cancel: &Cancel,
    ) -> Result<()> {
        let Some(share) = self.share() else { return Ok(()) };
        let load = |_| graph.original_ids()?.id_positions(cancel);
        admitted.load(share.key, cancel, load).map(drop)
    }
}

impl From<u64> for Held {
    fn from(own: u64) -> Held {
        Held { own, id_positions: 0 }
    }
}
