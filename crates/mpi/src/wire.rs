//! The calls of the MPI library. All other files are free of `unsafe`.
//!
//! The library calls are made by the thread that opened the wire, because [`Wire`] and [`Transfer`]
//! hold raw handles and so cannot leave it. MPI's error handler ends the process on any failure, so
//! the calls return no errors.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use mpi::Threading;
use mpi::datatype::traits::Equivalence;
use mpi::environment::Universe;
use mpi::ffi;
use mpi::topology::traits::Communicator;
use mpi::traits::AsRaw;
use tegula_comm::{Error, Result};

/// Environment variables in which the starters of MPI implementations tell the number of processes.
const COUNT_VARIABLES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// The connection to all ranks. Dropping it calls `MPI_Finalize`, which waits for all ranks.
pub(crate) struct Wire {
    universe: Universe,
    world: ffi::MPI_Comm,
    byte: ffi::MPI_Datatype,
}

/// A message that is found, and is being received.
pub(crate) struct Arrival {
    pub(crate) from: usize,
    pub(crate) mpi_tag: i32,
    pub(crate) transfer: Transfer,
}

impl Wire {
    /// Initialises MPI. Returns an error if that was done before, if the library supports no
    /// threads, or if it is not the one whose `mpirun` started this process.
    pub(crate) fn open() -> Result<Wire> {
        let failed = |what: &str| Error::Transport(what.to_owned());
        let (universe, threading) = mpi::initialize_with_threading(Threading::Funneled)
            .ok_or_else(|| failed("this process has used MPI before"))?;
        if threading < Threading::Funneled {
            return Err(failed("the MPI library supports no processes with several threads"));
        }
        let (world, byte) = (universe.world().as_raw(), u8::equivalent_datatype().as_raw());
        let wire = Wire { universe, world, byte };
        let counts = COUNT_VARIABLES.into_iter().filter_map(|name| std::env::var(name).ok());
        match counts.filter_map(|count| count.parse::<usize>().ok()).max() {
            Some(count) if count > 1 && wire.size() == 1 => Err(Error::Transport(format!(
                "{count} processes were started, but the MPI library of this program finds only one; \
                 start it with the mpirun of the MPI that it was built with"
            ))),
            _ => Ok(wire),
        }
    }

    pub(crate) fn rank(&self) -> usize {
        self.universe.world().rank() as usize
    }

    pub(crate) fn size(&self) -> usize {
        self.universe.world().size() as usize
    }

    /// Returns the greatest tag.
    pub(crate) fn tag_max(&self) -> i32 {
        /// What every MPI implementation allows.
        const TAG_MAX_LEAST: c_int = 32_767;
        let mut value: *const c_int = ptr::null();
        let mut is_set: c_int = 0;
        // SAFETY: MPI is initialised as long as `universe` lives. For this attribute, the call
        // writes a pointer to an int that lives as long.
        unsafe {
            let to = (&raw mut value).cast::<c_void>();
            ffi::MPI_Comm_get_attr(self.world, ffi::MPI_TAG_UB as c_int, to, &mut is_set);
            if is_set == 0 || value.is_null() { TAG_MAX_LEAST } else { *value }
        }
    }

    /// Begins to send a message of at most 2^31 - 1 bytes.
    pub(crate) fn send(&self, to: usize, mpi_tag: i32, bytes: Vec<u8>) -> Transfer {
        let mut request = MaybeUninit::uninit();
        let (count, to) = (bytes.len() as c_int, to as c_int);
        // SAFETY: `Transfer` keeps the bytes in place until the library no longer reads them.
        let request = unsafe {
            let from = bytes.as_ptr().cast();
            ffi::MPI_Isend(from, count, self.byte, to, mpi_tag, self.world, request.as_mut_ptr());
            request.assume_init()
        };
        let received = 0;
        Transfer { request, bytes, received, is_complete: false }
    }

    /// Begins to receive the next message, if one has come. Messages of one rank are found in the
    /// order in which they were sent.
    pub(crate) fn next_arrival(&self) -> Option<Arrival> {
        let mut is_found: c_int = 0;
        let mut message = MaybeUninit::uninit();
        let mut status = MaybeUninit::uninit();
        // SAFETY: all pointers are valid during the call. The message and the status are
        // initialised if one was found. Nobody else receives a message that this call has matched.
        // `Transfer` keeps the room of `count` bytes until the library no longer writes to it.
        unsafe {
            let (any_rank, any_tag) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG);
            let (message, status) = (message.as_mut_ptr(), status.as_mut_ptr());
            ffi::MPI_Improbe(any_rank, any_tag, self.world, &mut is_found, message, status);
            if is_found == 0 {
                return None;
            }
            let mut count: c_int = 0;
            ffi::MPI_Get_count(status, self.byte, &mut count);
            let mut bytes: Vec<u8> = Vec::with_capacity(count as usize);
            let mut request = MaybeUninit::uninit();
            let to = bytes.as_mut_ptr().cast();
            ffi::MPI_Imrecv(to, count, self.byte, message, request.as_mut_ptr());
            let (request, received) = (request.assume_init(), count as usize);
            let transfer = Transfer { request, bytes, received, is_complete: false };
            let (from, mpi_tag) = ((*status).MPI_SOURCE as usize, (*status).MPI_TAG);
            Some(Arrival { from, mpi_tag, transfer })
        }
    }

    /// Ends the processes of all ranks.
    pub(crate) fn abort(&self, exit_code: i32) -> ! {
        self.universe.world().abort(exit_code)
    }
}

/// A message under way, from or to this rank.
pub(crate) struct Transfer {
    request: ffi::MPI_Request,
    /// What is sent, or room for what is received.
    bytes: Vec<u8>,
    /// Bytes that are received.
    received: usize,
    is_complete: bool,
}

impl Transfer {
    /// Returns whether the library no longer uses the bytes.
    pub(crate) fn is_complete(&mut self) -> bool {
        if !self.is_complete {
            let mut is_complete: c_int = 0;
            // SAFETY: the request was begun and is not complete, so its handle is valid.
            unsafe {
                ffi::MPI_Test(&mut self.request, &mut is_complete, ffi::RSMPI_STATUS_IGNORE);
            }
            self.is_complete = is_complete != 0;
        }
        self.is_complete
    }

    /// Takes what was received, once it is complete.
    pub(crate) fn take_received(&mut self) -> Vec<u8> {
        assert!(self.is_complete, "the message is complete before its bytes are read");
        let mut bytes = std::mem::take(&mut self.bytes);
        // SAFETY: the room was made for `received` bytes, and the library has filled it.
        unsafe { bytes.set_len(self.received) };
        bytes
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if !self.is_complete {
            // The library may still use the bytes; the process is about to end.
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}
