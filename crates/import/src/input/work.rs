//! Several workers read one list of files.
//!
//! A worker claims the next part of the current file under a lock, then parses it while others
//! claim and parse theirs. What must happen in order (reading a stream, decompressing it) happens
//! inside the claim, so it needs no thread and no queue of blocks. Each worker holds only the part
//! that it works on, which bounds the memory.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tegula_machine::threads::{Cancel, Workers, guarded, lock, unlocked};
use tegula_store::{Error, Result};

use super::bad_rows::{BadRowCounter, BadRows};
use super::balance::Balance;
use super::file::InputFile;
use super::noted::{Noted, Tally};
use super::reader::{Emit, Part, Reader, Space};

/// Lines of text that a user should know about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineNotes {
    /// Rows that cannot be understood and were skipped.
    pub bad_rows: BadRows,
    /// Comments that may have been meant as edges.
    pub comments: Noted,
    /// Comments in lists of vertices that may have been meant as vertices.
    pub listed_comments: Noted,
    /// Rows with more columns than the first row, which may be a header, where that is seen without
    /// more work.
    pub long_rows: Noted,
    /// Last lines without a line feed in files whose other lines have one: the files may be cut
    /// off.
    pub open_ends: Noted,
}

/// What is counted in one file.
#[derive(Default)]
struct FileCounts {
    /// Edges, in formats that count them.
    edges: AtomicU64,
    /// Mentions of edges in adjacency lists.
    balance: Mutex<Balance>,
}

/// The notes of the parts of all files.
struct Notes {
    bad_rows: BadRowCounter,
    comments: Tally,
    long_rows: Tally,
    open_ends: Tally,
}

impl Notes {
    /// Takes the notes of a part from `space`.
    fn settle(&self, part: u64, space: &mut Space) {
        self.bad_rows.settle(part, std::mem::take(&mut space.bad_lines));
        self.comments.add(part, std::mem::take(&mut space.comments));
        self.long_rows.add(part, std::mem::take(&mut space.long_rows));
        self.open_ends.add(part, std::mem::take(&mut space.open_ends));
    }
}

/// Reads all files to their end, or to the first fault.
pub(super) fn read_all(files: &[InputFile], emit: &Emit<'_>) -> Result<LineNotes> {
    let failure = FirstFailure::default();
    let bad_rows = BadRowCounter::new(emit.bad_rows_max);
    let notes = Notes {
        bad_rows,
        comments: Tally::default(),
        long_rows: Tally::default(),
        open_ends: Tally::default(),
    };
    let counts: Vec<FileCounts> = files.iter().map(|_| FileCounts::default()).collect();
    let counted = files.iter().zip(&counts);
    let queue = Queue { files: counted.clone(), current: None, claimed: 0, is_closed: false };
    let queue = Mutex::new(queue);
    let count = emit.sizes.workers;
    Workers::scope(count, |workers| {
        // Each works until all files are read or a part has failed.
        workers.for_each(count, &Cancel::default(), &|_| {
            work(&queue, &failure, &notes, emit);
            Ok::<_, Error>(())
        })
    })?;
    let failure = failure.into_first();
    let bad_rows = notes.bad_rows.close(failure.as_ref().map(|(part, _)| *part))?;
    if let Some((_, error)) = failure {
        return Err(error);
    }
    for (file, counts) in counted {
        file.check_balance(&lock(&counts.balance), emit.weighted)?;
        // Skipped rows may be edges, so nothing can be said about the number then.
        if bad_rows.count == 0 {
            file.check_edges(counts.edges.load(Ordering::Relaxed), emit.undirected)?;
        }
    }
    Ok(LineNotes {
        bad_rows,
        comments: notes.comments.close(),
        // Lists are read by themselves.
        listed_comments: Noted::default(),
        long_rows: notes.long_rows.close(),
        open_ends: notes.open_ends.close(),
    })
}

fn work<'a>(queue: &Mutex<Queue<'a>>, failure: &FirstFailure, notes: &Notes, emit: &Emit<'_>) {
    let mut space = Space::default();
    loop {
        // A lock is poisoned only by a panic, which `guarded` has turned into a recorded failure.
        let Ok(mut claims) = queue.lock() else { return };
        if claims.is_closed || failure.is_recorded() || notes.bad_rows.is_exceeded() {
            return;
        }
        let number = claims.claimed;
        let claim = guarded(|| claims.claim(&mut space, emit));
        // Closed before the lock is released, so that no worker asks a reader that has failed.
        claims.is_closed = claim.is_err();
        drop(claims);
        let outcome = match claim {
            Ok(None) => return,
            Ok(Some((part, counts))) => {
                let outcome = guarded(|| part(&mut space, emit));
                counts.edges.fetch_add(std::mem::take(&mut space.edges), Ordering::Relaxed);
                lock(&counts.balance).absorb(&mut space.balance);
                outcome
            }
            Err(error) => Err(error),
        };
        // A failed part is settled, too: later parts wait for it to be counted.
        notes.settle(number, &mut space);
        if let Err(error) = outcome {
            failure.record(number, error);
        }
    }
}

/// The file that is being read, and those after it.
struct Queue<'a> {
    files: std::iter::Zip<std::slice::Iter<'a, InputFile>, std::slice::Iter<'a, FileCounts>>,
    current: Option<(Box<dyn Reader<'a> + 'a>, &'a FileCounts)>,
    claimed: u64,
    /// Whether a claim has failed, which ends all claims.
    is_closed: bool,
}

/// A part, and the counts of its file.
type Claim<'a> = (Part<'a>, &'a FileCounts);

impl<'a> Queue<'a> {
    /// Takes the next part of the current file, or of the next files once it has ended.
    fn claim(&mut self, space: &mut Space, emit: &Emit<'_>) -> Result<Option<Claim<'a>>> {
        emit.cancel.check()?;
        self.claimed += 1;
        loop {
            if let Some((reader, counts)) = &mut self.current
                && let Some(part) = reader.claim(space, emit)?
            {
                return Ok(Some((part, counts)));
            }
            match self.files.next() {
                Some((file, counts)) => self.current = Some((file.open(emit)?, counts)),
                None => {
                    self.current = None;
                    return Ok(None);
                }
            }
        }
    }
}

/// The failure of the earliest part. Parts are claimed in order, and none once a failure is
/// recorded. So every part before a failed one is finished, and which failure is the first does not
/// depend on the workers.
#[derive(Default)]
struct FirstFailure {
    recorded: AtomicBool,
    first: Mutex<Option<(u64, Error)>>,
}

impl FirstFailure {
    fn is_recorded(&self) -> bool {
        self.recorded.load(Ordering::Relaxed)
    }

    fn record(&self, number: u64, error: Error) {
        if let Ok(mut first) = self.first.lock()
            && first.as_ref().is_none_or(|(earliest, _)| number < *earliest)
        {
            *first = Some((number, error));
        }
        self.recorded.store(true, Ordering::Relaxed);
    }

    fn into_first(self) -> Option<(u64, Error)> {
        unlocked(self.first)
    }
}
