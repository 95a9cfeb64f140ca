//! The disk: one way to read files, and files that appear finished or not at all.
//!
//! A [`Reader`] takes any number of [`Request`]s (a file, an offset, a length). It finds memory for
//! them in a [`Pool`] with a hard budget, has a [`Backend`] fill the memory, and hands out
//! [`Pending`]s that become [`Frame`]s.
//!
//! ```text
//!  Reader ---- asks for memory ----> Pool         in the order asked; waits while it is lent out
//!    |                                |
//!    |            Buffer  <-----------+
//!    v
//!  Task (buffer, file, promise) --> backend --> Pending::wait --> Frame --> dropped: back to Pool
//! ```
//!
//! A task owns its buffer and the promise to its waiter. However it ends (done, failed, lost with a
//! dying thread), the waiter hears of it once and the memory goes back.
//!
//! # Rules that keep callers free of deadlock
//!
//! Asking never blocks; only [`Pending::wait`] does. Memory is granted strictly in the order of the
//! requests, so a wait ends once the frames asked for earlier are dropped. Hence:
//!
//! 1. Wait for requests in the order in which you made them.
//! 2. A caller that keeps frames while it waits for more must know that they fit: all frames that
//!    anybody keeps at one time, plus the largest request, must fit the budget. A caller that drops
//!    each frame before it waits for the next need not care. Writing also waits for memory, in a
//!    pool of its own ([`WriteBehind`]).
//! 3. [`Reader::try_read_batch`] never queues: use it to read ahead without claiming memory.

mod backend;
mod block_checksums;
mod block_file;
mod block_format;
mod block_store;
mod block_writer;
mod buffer;
mod checksum;
mod device;
mod directory;
pub mod durable;
mod faulty;
mod file;
pub mod hidden_name;
mod made_folder;
mod memory;
mod pages;
mod pending;
mod pool;
mod probe;
mod reader;
mod speed;
mod task;
mod threads;
mod unfinished;
mod uring;
mod write_behind;

pub use backend::Backend;
pub use block_file::{BlockFile, BlockStream, CheckedBlock, ends_as_block_file};
pub use block_format::BLOCK_LOG2;
pub use block_store::{BlockStore, Blocks, VersionFolder, check_room};
pub use block_writer::{BlockFileSummary, BlockFileWriter, OutputFile};
pub use buffer::Frame;
pub use checksum::{Crc32c, crc32c};
pub use directory::{Directory, IfTaken};
pub use faulty::{Fault, FaultPlan, FaultyOutput};
pub use file::{Caching, FileHandle};
pub use made_folder::MadeFolder;
pub use pages::{PageCache, PageStatistics, Pinned, Targets};
pub use pending::Pending;
pub use pool::{Lease, Pool};
pub use probe::{
    DeviceProfile, KnownDevices, ProbeConfig, RandomRate, SequentialRate, probe, speed_of,
};
pub use reader::{Reader, Request, Statistics};
pub use speed::Speed;
pub use threads::THREADS_DEFAULT;
pub use unfinished::{Remove, Unfinished, knows_no_flags, lock, parted, wait_for_lock};
pub use write_behind::WriteBehind;
