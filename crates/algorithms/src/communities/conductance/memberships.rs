//! Which vertex is in which sets.

use tegula_engine::{Error, Result, ShortId};

/// The sets of each vertex, ascending. The lists of all vertices lie one after the other.
#[derive(Debug, Clone, Default)]
pub struct Memberships {
    /// Where the sets of each vertex begin, and where the last ones end.
    starts: Vec<u32>,
    sets: Vec<u32>,
    set_count: u32,
}

/// A vertex in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Membership {
    /// The vertex.
    pub vertex: ShortId,
    /// The number of the set.
    pub set: u32,
}

impl Memberships {
    /// Makes memberships of the vertices `0..vertex_count` in the sets `0..set_count`. A repeated
    /// membership counts once.
    ///
    /// # Errors
    /// [`Error::Limit`](tegula_machine::Error::Limit) beyond 2^32 - 1 memberships.
    ///
    /// # Panics
    /// When a vertex or a set is out of range.
    pub fn new(
        vertex_count: u32,
        set_count: u32,
        mut members: Vec<Membership>,
    ) -> Result<Memberships> {
        members.sort_unstable();
        members.dedup();
        // Repeated memberships do not count towards the limit, so it is checked after them.
        if members.len() > u32::MAX as usize {
            let (found, limit) = (members.len() as u64, u64::from(u32::MAX));
            return Err(Error::limit("memberships in sets", found, limit));
        }
        assert!(members.iter().all(|member| member.set < set_count), "a set beyond {set_count}");
        let mut starts = vec![0; vertex_count as usize + 1];
        let mut next = 0;
        for (index, member) in (0..).zip(&members) {
            while next <= member.vertex.index() {
                starts[next] = index;
                next += 1;
            }
        }
        starts[next..].fill(members.len() as u32);
        let sets = members.iter().map(|member| member.set).collect();
        Ok(Memberships { starts, sets, set_count })
    }

    /// Returns the sets of a vertex, ascending.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn of(&self, vertex: ShortId) -> &[u32] {
        let (start, end) = (self.starts[vertex.index()], self.starts[vertex.index() + 1]);
        &self.sets[start as usize..end as usize]
    }

    /// Returns the number of sets.
    pub fn set_count(&self) -> u32 {
        self.set_count
    }

    /// Returns the most sets that a vertex is in.
    pub(super) fn sets_of_a_vertex_max(&self) -> usize {
        self.iter().map(<[u32]>::len).max().unwrap_or(0)
    }

    /// Returns the bytes that it holds.
    pub fn size(&self) -> u64 {
        4 * (self.starts.len() + self.sets.len()) as u64
    }

    /// Returns the most bytes that [`new`](Memberships::new) holds, including its argument.
    pub fn building_size(vertex_count: u32, member_count: u64) -> u64 {
        let member_size = size_of::<Membership>() as u64 + 4;
        4 * (u64::from(vertex_count) + 1) + member_size * member_count
    }

    /// Iterates over the sets of each vertex, by dense id.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.sets[ends[0] as usize..ends[1] as usize])
    }
}
