//! The tables that are named by the options of a search.

use tegula_engine::{Estimate, Graph};

use crate::algorithm::SideFiles;
use crate::error::Result;
use crate::paths::path_options::PathOptions;
use crate::paths::search_options::SearchOptions;
use crate::shared::sources::Sources;
use crate::shared::vertex_list::VertexList;
use crate::side_table::{self, Tables};

/// The tables of a search: its sources, and the targets of its paths.
#[derive(Debug, Default)]
pub struct SearchFiles {
    pub sources: VertexList,
    pub targets: VertexList,
}

impl SearchFiles {
    /// The options that name tables.
    pub const TABLES: &'static [&'static str] = &["sources", "targets"];

    /// Reads the tables.
    pub fn read(
        search: &SearchOptions,
        paths: &PathOptions,
        tables: &mut Tables<'_>,
    ) -> Result<SearchFiles> {
        Ok(SearchFiles {
            sources: search.read_sources(tables)?,
            targets: VertexList::read_any("targets", paths.targets.as_ref(), tables)?,
        })
    }

    /// Returns the sources of a search. They count the bytes of both tables, which the caller holds
    /// until the search ends.
    ///
    /// # Errors
    /// [`Error::NoSuchVertex`](crate::error::Error::NoSuchVertex) if the graph does not have the
    /// vertex of `source`.
    pub fn find_sources(&self, search: &SearchOptions, graph: &Graph) -> Result<Sources> {
        let sources = search.sources_among(self.sources.clone(), graph)?;
        Ok(sources.holding(self.size()))
    }

    /// Returns the estimate of a search with these tables and with `held` further bytes.
    pub fn add_to(&self, estimate: Estimate, held: u64) -> Estimate {
        // Each list is held twice: as it was read, and as the search keeps it.
        let held = held + 2 * self.size();
        let vertex_bytes = estimate.vertex_bytes + held;
        let on_disk = estimate.on_disk.map(|arrays| arrays.with_bytes(held));
        let reading = self.sources.reading_size.max(self.targets.reading_size) + self.size();
        side_table::with_reading(Estimate { vertex_bytes, on_disk, ..estimate }, reading)
    }
}

impl SideFiles for SearchFiles {
    fn size(&self) -> u64 {
        self.sources.size() + self.targets.size()
    }
}
