//! Named sets of vertices.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use tegula_store::graph::Strings;
use tegula_store::{Error, Result};
use tegula_tables::{Presence, ValueColumn};

use super::{Membership, Memberships};
use crate::algorithm::SideFiles;
use crate::side_table::{Row, RowVisitor, TableSource, Tables};

/// The sets that a file names, and their members.
#[derive(Debug, Default)]
pub struct NamedSets {
    names: Strings,
    /// The numbers of the sets, sorted by name: integers by value, then other names by their bytes.
    order: Vec<u32>,
    members: Memberships,
    /// Bytes for reading them.
    pub reading_size: u64,
}

impl NamedSets {
    /// Reads a table whose rows have the id of a vertex and the name of a set. A row without a name
    /// says that the vertex is in no set.
    pub fn read(
        option: &'static str,
        source: &TableSource,
        tables: &mut Tables<'_>,
    ) -> Result<NamedSets> {
        let mut builder = SetBuilder {
            vertex_count: tables.graph.short_vertex_count()?,
            members: Vec::new(),
            names: Names::default(),
        };
        let reading_size = tables.read(option, source, &mut builder)?;
        let SetBuilder { vertex_count, members, names: Names { strings: names, .. } } = builder;
        let members = Memberships::new(vertex_count, names.len() as u32, members)?;
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| by_name(names.get(a as usize), names.get(b as usize)));
        Ok(NamedSets { names, order, members, reading_size })
    }

    /// Returns the sets of each vertex.
    pub fn members(&self) -> &Memberships {
        &self.members
    }

    /// Returns the numbers of the sets, sorted by name.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the name of a set.
    pub fn name(&self, set: u32) -> &str {
        self.names.get(set as usize)
    }

    /// Returns whether every name is an integer in its usual form.
    pub fn are_integers(&self) -> bool {
        // Other names come after integers.
        self.order.last().is_none_or(|&last| integer(self.name(last)).is_some())
    }

    /// Returns the bytes of the names and their order.
    pub fn names_size(&self) -> u64 {
        4 * self.order.len() as u64 + strings_size(&self.names)
    }
}

impl SideFiles for NamedSets {
    fn size(&self) -> u64 {
        self.names_size() + self.members.size()
    }
}

/// Returns the integer that a name is, if the name has its usual form.
pub fn integer(name: &str) -> Option<u64> {
    // The parser alone would make one integer of `7`, `07` and `+7`, which are three names.
    let is_plain = name == "0" || (!name.starts_with(['0', '+']) && !name.is_empty());
    name.parse().ok().filter(|_| is_plain)
}

fn by_name(a: &str, b: &str) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

fn strings_size(strings: &Strings) -> u64 {
    (strings.text_len() + size_of::<u64>() * strings.len()) as u64
}

/// Sets that are being read.
struct SetBuilder {
    vertex_count: u32,
    members: Vec<Membership>,
    names: Names,
}

impl RowVisitor for SetBuilder {
    const WHAT: &'static str = "the sets";
    const COLUMNS: &'static [ValueColumn] = &[ValueColumn {
        role: "set",
        names: &["set", "component", "community", "label"],
        is_number: false,
        presence: Presence::MayBeEmpty,
    }];

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        // Runs write such a row for a vertex that they do not reach.
        let [Some(name), _] = row.values else { return Ok(()) };
        let set = self.names.number(name).map_err(|error| error.to_string())?;
        self.members.push(Membership { vertex: row.vertex.short(), set });
        Ok(())
    }

    /// Returns the bytes for sorting the memberships, and of their names.
    fn size(&self) -> u64 {
        let members = Memberships::building_size(self.vertex_count, self.members.len() as u64);
        members + self.names.size()
    }
}

/// Numbers for names, by their first appearance.
#[derive(Default)]
struct Names {
    strings: Strings,
    /// A hash table of numbers with linear probing. At least half of the slots are free.
    slots: Vec<u32>,
    hasher: RandomState,
    last: u32,
}

/// What a free slot holds.
const FREE: u32 = u32::MAX;

impl Names {
    /// Returns the number of a name, which may be new.
    fn number(&mut self, name: &str) -> Result<u32> {
        // Rows of a set often follow each other.
        if !self.strings.is_empty() && self.strings.get(self.last as usize) == name {
            return Ok(self.last);
        }
        if 2 * (self.strings.len() + 1) > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(name);
        if self.slots[slot] == FREE {
            let count = self.strings.len() as u64;
            if count == u64::from(FREE) {
                return Err(Error::limit("sets", count + 1, count));
            }
            self.slots[slot] = count as u32;
            self.strings.push(name);
        }
        self.last = self.slots[slot];
        Ok(self.last)
    }

    /// Returns the slot of a name, or the free slot that it gets.
    fn slot(&self, name: &str) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.hasher.hash_one(name) as usize & mask;
        while self.slots[slot] != FREE && self.strings.get(self.slots[slot] as usize) != name {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![FREE; (2 * self.slots.len()).max(64)];
        for number in 0..self.strings.len() {
            let slot = self.slot(self.strings.get(number));
            self.slots[slot] = number as u32;
        }
    }

    /// Returns the bytes that it holds, with a larger table of slots while that is filled.
    fn size(&self) -> u64 {
        strings_size(&self.strings) + 3 * size_of_val(&*self.slots) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_the_number_of_its_first_appearance() {
        let mut names = Names::default();
        for round in 0..2 {
            for number in 0..5000u32 {
                assert_eq!(names.number(&format!("set {number}")).ok(), Some(number), "{round}");
            }
        }
        assert_eq!(names.number("").ok(), Some(5000));
        assert!(names.size() >= 5000 * 12);
    }

    #[test]
    fn integers_come_by_value_and_before_other_names() {
        let mut names = ["b", "10", "9", "007", "", "a,b", "-1", "18446744073709551616", "0", "B"];
        names.sort_by(|a, b| by_name(a, b));
        let expected = ["0", "9", "10", "", "-1", "007", "18446744073709551616", "B", "a,b", "b"];
        assert_eq!(names, expected);
    }
}
