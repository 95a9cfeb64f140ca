//! Reads the adjacency lists, one vertex after the other. A list has its outdegree, then copy
//! blocks, which choose neighbours from a reference (an earlier list), then intervals of
//! consecutive ids, then residuals (Boldi, Vigna, *The WebGraph Framework I*, 2004, section 4).

use tegula_machine::counted;
use tegula_store::{Error, Result};

use super::bits::Bits;
use super::layout::Layout;
use crate::shares;

/// Reads adjacency lists in the order of their vertices. Holds the lists to which later ones may
/// refer.
pub(super) struct Rows<'a> {
    layout: &'a Layout,
    bits: Bits,
    /// The vertex whose list is next.
    vertex: u64,
    /// Whether the last list was passed.
    has_ended: bool,
    /// The number of arcs read so far.
    arcs: u64,
    /// The last lists; the list of vertex `v` is at `v % held.len()`.
    held: Vec<Vec<u64>>,
    /// The capacity of all held lists, in neighbours.
    room: u64,
}

impl<'a> Rows<'a> {
    pub fn new(layout: &'a Layout, bits: Bits) -> Rows<'a> {
        // The window and the list that is being read.
        let held = vec![Vec::new(); layout.window as usize + 1];
        Rows { layout, bits, vertex: 0, has_ended: false, arcs: 0, held, room: 0 }
    }

    /// Bytes read from the file since the last call.
    pub fn bytes_since(&mut self) -> u64 {
        self.bits.bytes_since()
    }

    /// The last vertex that was read and its neighbours, ascending. There are no neighbours before
    /// the first vertex and after the last.
    pub fn last(&self) -> (u64, &[u64]) {
        match self.vertex.checked_sub(1).filter(|_| !self.has_ended) {
            Some(vertex) => (vertex, &self.held[self.place(vertex)]),
            None => (0, &[]),
        }
    }

    /// Reads the list of the next vertex; returns false after the last.
    ///
    /// # Errors
    /// [`BadInput`](Error::BadInput) if the file contradicts its properties or itself;
    /// [`OverBudget`](tegula_machine::Error::OverBudget) if the held lists are larger than their
    /// share of the memory.
    pub fn advance(&mut self) -> Result<bool> {
        let vertex = self.vertex;
        if vertex == self.layout.vertices {
            self.has_ended = true;
            return self.check_end().map(|()| false);
        }
        let place = self.place(vertex);
        // Taken out, because it copies from the other lists. Its memory is used again.
        let mut list = std::mem::take(&mut self.held[place]);
        list.clear();
        self.read(vertex, place, &mut list)?;
        self.held[place] = list;
        self.vertex += 1;
        Ok(true)
    }

    fn place(&self, vertex: u64) -> usize {
        (vertex % self.held.len() as u64) as usize
    }

    fn read(&mut self, vertex: u64, place: usize, list: &mut Vec<u64>) -> Result<()> {
        let outdegree = self.bits.number(self.layout.codes.outdegree)?;
        let left = self.layout.arcs - self.arcs;
        if outdegree > left.min(self.layout.vertices) {
            let problem =
                format!("{vertex} has the outdegree {outdegree}, but only {left} arcs are left");
            return Err(self.bits.damaged(problem));
        }
        self.arcs += outdegree;
        self.make_room(vertex, place, outdegree, list)?;
        if outdegree == 0 {
            return Ok(());
        }
        self.copy_blocks(vertex, outdegree, list)?;
        if list.len() as u64 != outdegree && self.layout.interval_min > 0 {
            self.read_intervals(vertex, outdegree, list)?;
        }
        if list.len() as u64 != outdegree {
            self.read_residuals(vertex, outdegree, list)?;
        }
        // Copies, intervals and residuals ascend each, but not one after the other.
        if !list.is_sorted() {
            list.sort_unstable();
        }
        match list.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => {
                let problem = format!("{vertex} has the neighbour {} twice", pair[0]);
                Err(self.bits.damaged(problem))
            }
        }
    }

    /// Makes room for a list, in place of a list to which no later one can refer.
    fn make_room(
        &mut self,
        vertex: u64,
        place: usize,
        outdegree: u64,
        list: &mut Vec<u64>,
    ) -> Result<()> {
        let had = list.capacity() as u64;
        if outdegree <= had {
            return Ok(());
        }
        let most = self.layout.neighbours_max;
        if self.room - had + outdegree > most {
            // Lists may hold room of longer ones before them: it is freed before this gives up.
            self.held.iter_mut().for_each(Vec::shrink_to_fit);
            *list = Vec::new();
            self.room = self.held.iter().map(|list| list.capacity() as u64).sum();
            if self.room + outdegree > most {
                let bytes = |neighbours| {
                    shares::INPUT
                        .whole_of(Layout::MEMORY_SHARE * Layout::NEIGHBOUR_BYTES * neighbours)
                };
                return Err(Error::over_budget(
                    format!("reading the neighbours of {vertex} and of the vertices before it"),
                    bytes(self.room + outdegree),
                    bytes(most),
                ));
            }
        }
        debug_assert_eq!(self.held[place].capacity(), 0, "it was taken out");
        self.room -= list.capacity() as u64;
        list.reserve_exact(outdegree as usize);
        self.room += list.capacity() as u64;
        Ok(())
    }

    /// Copies every second block of the reference, from the first on. The rest of the reference is
    /// the last block.
    fn copy_blocks(&mut self, vertex: u64, outdegree: u64, list: &mut Vec<u64>) -> Result<()> {
        let Layout { window, codes, .. } = *self.layout;
        let distance = if window > 0 { self.bits.number(codes.reference)? } else { 0 };
        if distance == 0 {
            return Ok(());
        }
        if distance > window.min(vertex) {
            let distance = counted(distance, "vertex", "vertices");
            let problem = format!("{vertex} refers to the list of {distance} before it");
            return Err(self.bits.damaged(problem));
        }
        let place = self.place(vertex - distance);
        let blocks = self.bits.number(codes.block)?;
        let mut begin = 0;
        for block in 0..blocks {
            let length = self.bits.number(codes.block)?.saturating_add(u64::from(block > 0));
            let rest = &self.held[place][begin..];
            if length > rest.len() as u64 {
                let problem = format!("{vertex} copies more neighbours than the reference has");
                return Err(self.bits.damaged(problem));
            }
            if block % 2 == 0 {
                self.check_count(vertex, outdegree, list.len() as u64 + length)?;
                list.extend_from_slice(&rest[..length as usize]);
            }
            begin += length as usize;
        }
        if blocks % 2 == 0 {
            let rest = &self.held[place][begin..];
            self.check_count(vertex, outdegree, (list.len() + rest.len()) as u64)?;
            list.extend_from_slice(rest);
        }
        Ok(())
    }

    /// Reads intervals of consecutive ids.
    fn read_intervals(&mut self, vertex: u64, outdegree: u64, list: &mut Vec<u64>) -> Result<()> {
        let Layout { codes, interval_min, .. } = *self.layout;
        let intervals = self.bits.number(codes.interval)?;
        let mut end = None;
        for _ in 0..intervals {
            let number = self.bits.number(codes.interval)?;
            let start = match end {
                None => at_offset(vertex, number),
                // At least one id lies between two intervals.
                Some(end) => number.checked_add(end).and_then(|start: u64| start.checked_add(1)),
            };
            let length = self.bits.number(codes.interval)?.saturating_add(interval_min);
            let interval = start.and_then(|start| Some(start..start.checked_add(length)?));
            let Some(interval) = interval.filter(|ids| ids.end <= self.layout.vertices) else {
                return Err(self.no_vertex(vertex));
            };
            end = Some(interval.end);
            self.check_count(vertex, outdegree, (list.len() as u64).saturating_add(length))?;
            list.extend(interval);
        }
        Ok(())
    }

    /// Reads the residuals: all other neighbours, one by one.
    fn read_residuals(&mut self, vertex: u64, outdegree: u64, list: &mut Vec<u64>) -> Result<()> {
        let mut last = None;
        while (list.len() as u64) < outdegree {
            let number = self.bits.number(self.layout.codes.residual)?;
            let next = match last {
                None => at_offset(vertex, number),
                Some(last) => number.checked_add(last).and_then(|next: u64| next.checked_add(1)),
            };
            let Some(next) = next.filter(|&next| next < self.layout.vertices) else {
                return Err(self.no_vertex(vertex));
            };
            list.push(next);
            last = Some(next);
        }
        Ok(())
    }

    /// Refuses more neighbours than the outdegree.
    fn check_count(&self, vertex: u64, outdegree: u64, found: u64) -> Result<()> {
        if found <= outdegree {
            return Ok(());
        }
        let problem = format!("{vertex} has more neighbours than its outdegree {outdegree}");
        Err(self.bits.damaged(problem))
    }

    fn no_vertex(&self, vertex: u64) -> Error {
        let vertices = self.layout.vertices;
        let problem = format!(
            "a neighbour of {vertex} is too large: the ids of the vertices are below {vertices}"
        );
        self.bits.damaged(problem)
    }

    /// Refuses lists that do not end at the declared bit.
    fn check_end(&self) -> Result<()> {
        let found = self.bits.position();
        match self.layout.bits {
            Some(declared) if declared != found => {
                let problem =
                    format!("the lists end after bit {found}, but should end after bit {declared}");
                Err(self.bits.damaged(problem))
            }
            _ => Ok(()),
        }
    }
}

/// Decodes an id relative to `vertex`: even numbers mean ids from `vertex` on, odd numbers mean ids
/// before it. `None` if there is no such id.
fn at_offset(vertex: u64, number: u64) -> Option<u64> {
    let distance = number >> 1;
    match number & 1 {
        0 => vertex.checked_add(distance),
        _ => vertex.checked_sub(distance)?.checked_sub(1),
    }
}
