//! Readers of messages between ranks: a run on a shard, where the fuzzer's bytes are what the other
//! rank sends.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use tegula_comm::{Comm, Error, Result, Tag};
use tegula_engine::{
    Activity, Aggregate, Arrays, Executor, Graph, Message, Min, Next, Program, RunOptions,
    VertexId, run,
};
use tegula_machine::threads::Cancel;

use crate::shard;

/// The tags under which ranks check that they have shards of one graph, and say that they have
/// taken a packet. What they send under these says nothing else.
const SIMPLE: [Tag; 2] = [Tag(1), Tag(7)];

/// Memory of a run in bytes.
const MEMORY: u64 = 256 << 20;

/// The iterations of a run.
const ITERATIONS_MAX: u64 = 3;

static SHARD: LazyLock<Graph> =
    LazyLock::new(|| shard::of(0).open_for_runs(MEMORY).for_ranks().expect("a shard"));

/// The other rank. It sends what it was sent under the same tag, changes that, or sends bytes of
/// the fuzzer.
struct Other<'d> {
    script: Mutex<Script<'d>>,
}

struct Script<'d> {
    data: &'d [u8],
    /// What was sent last, by tag.
    sent: HashMap<Tag, Vec<u8>>,
}

impl Script<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.data.split_first()?;
        self.data = rest;
        Some(byte)
    }

    /// Returns the next message. A byte says what it is: from 4 on, its length.
    fn next(&mut self, tag: Tag) -> Option<Vec<u8>> {
        let mut echo = self.sent.get(&tag).cloned().unwrap_or_default();
        if SIMPLE.contains(&tag) {
            return Some(echo);
        }
        match self.byte()? {
            0 => {}
            1 => {
                let (place, value) = (usize::from(self.byte()?), self.byte()?);
                let length = echo.len().max(1);
                echo.get_mut(place % length).into_iter().for_each(|byte| *byte = value);
            }
            2 => echo.truncate(4 * usize::from(self.byte()?)),
            3 => echo.push(self.byte()?),
            length => {
                let (bytes, rest) = self.data.split_at_checked(usize::from(length) - 4)?;
                self.data = rest;
                return Some(bytes.to_vec());
            }
        }
        Some(echo)
    }
}

impl Other<'_> {
    fn next(&self, from: usize, tag: Tag) -> Result<Vec<u8>> {
        assert_eq!(from, 1);
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = || Error::Aborted { rank: from, reason: "the script ends".to_owned() };
        script.next(tag).ok_or_else(ended)
    }
}

impl Comm for Other<'_> {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        shard::RANKS
    }

    fn send(&self, to: usize, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        assert_eq!(to, 1);
        self.script.lock().unwrap_or_else(PoisonError::into_inner).sent.insert(tag, bytes);
        Ok(())
    }

    fn poll(&self, from: usize, tag: Tag) -> Result<Option<Vec<u8>>> {
        self.next(from, tag).map(Some)
    }

    fn receive(&self, from: usize, tag: Tag, _cancel: &Cancel) -> Result<Vec<u8>> {
        self.next(from, tag)
    }

    fn abort(&self, _reason: &str) {}

    fn bytes_sent(&self) -> u64 {
        0
    }

    fn bytes_received(&self) -> u64 {
        0
    }
}

/// Spreads the least number of all vertices that lead to a vertex, and counts changes.
struct Spread;

/// A number of vertices.
#[derive(Default)]
struct Count(u64);

impl Aggregate for Count {
    fn merge(&mut self, next: Count) {
        self.0 = self.0.wrapping_add(next.0);
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Count> {
        bytes.try_into().ok().map(|bytes| Count(u64::from_le_bytes(bytes)))
    }
}

impl Program for Spread {
    type State = u32;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = Count;

    fn init(&self, vertex: VertexId, _degree: u32, count: &mut Count) -> (u32, Activity) {
        count.0 += 1;
        (vertex.0 as u32, Activity::when(vertex.0 % 3 == 0))
    }

    fn begin_iteration(&mut self, iteration: u64, _count: &Count) -> Next {
        if iteration < ITERATIONS_MAX { Next::Continue } else { Next::Stop }
    }

    fn signal(&self, _vertex: VertexId, state: &u32, _degree: u32) -> Option<Message<Self>> {
        Some(*state)
    }

    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        state: &mut u32,
        reduced: u32,
        count: &mut Count,
    ) -> Activity {
        let is_less = reduced < *state;
        *state = reduced.min(*state);
        count.0 += u64::from(is_less);
        Activity::when(is_less)
    }
}

/// Runs as rank 0, beside a rank that sends what `data` says.
pub fn run_beside(data: &[u8]) {
    let other = Other { script: Mutex::new(Script { data, sent: HashMap::new() }) };
    let options = RunOptions {
        memory: MEMORY,
        threads: 1,
        executor: Executor::Scan,
        arrays: Arrays::InMemory,
        ranks: Some(&other),
        ..RunOptions::default()
    };
    // A panic of a worker ends the process.
    match run(&SHARD, Spread, &options) {
        Ok(outcome) => assert_eq!(outcome.states.len() as u64, SHARD.vertex_count()),
        Err(error) => assert!(!error.to_string().is_empty(), "{error:?}"),
    }
}
