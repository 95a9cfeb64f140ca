//! Tables that are read while they are made, so that they may be larger than memory.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tegula_engine::Graph;
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, guarded, lock, start};
use tegula_tables::RowSink;

use crate::ending::detached;
use crate::failure::{Failure, Result};
use crate::graph::Reserved;
use crate::home::Home;
use crate::table::{Table, column_names, schema_capsule, stream_capsule};

/// Batches that are made before somebody asks for them.
const BATCHES_AHEAD: usize = 2;
/// Time between two looks for a signal.
const TICK: Duration = Duration::from_millis(20);

/// A table whose rows a thread makes, [`BATCHES_AHEAD`] batches before they are read.
#[pyclass(frozen, module = "tegula._internal")]
pub struct Batches {
    schema: SchemaRef,
    /// The process that has the thread.
    home: Home,
    /// None once it is closed, read to its end, or handed to another library.
    making: Mutex<Option<Making>>,
}

/// Where the rows come from. Dropping it ends the thread that makes them.
struct Making {
    schema: SchemaRef,
    /// None once this is dropped.
    batches: Option<Receiver<Result<RecordBatch>>>,
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
    home: Home,
}

/// What a reader of rows gets.
enum Next {
    Rows(RecordBatch),
    End,
    Failed(Failure),
    /// No batch came within [`TICK`].
    NotYet,
}

impl Batches {
    /// Starts to make the rows of a table. `write` writes them all, unless its sink wants no more.
    /// The rows have a graph of their own: the frames that they take stay taken until somebody reads
    /// the rows, and a run on a shared graph would wait for them. `reserved` keeps its memory from
    /// runs.
    ///
    /// # Errors
    /// [`WorkerFailed`](MachineError::WorkerFailed) if the system starts no thread.
    pub fn start(
        schema: SchemaRef,
        graph: Graph,
        reserved: Reserved,
        write: impl FnOnce(&Graph, &mut dyn RowSink, &Cancel) -> Result<()> + Send + 'static,
    ) -> Result<Batches> {
        let (sender, batches) = sync_channel(BATCHES_AHEAD);
        let cancel = Cancel::default();
        let switch = cancel.clone();
        let thread = start("tegula-rows", move || {
            let _reserved = reserved;
            let mut out = Outlet { batches: sender, has_reader: true };
            if let Err(failure) = guarded(|| write(&graph, &mut out, &switch)) {
                // Without a reader, nobody needs to know.
                let _ = out.batches.send(Err(failure));
            }
        });
        let thread =
            thread.map_err(|error| MachineError::WorkerFailed { detail: error.to_string() })?;
        let making = Making {
            schema: Arc::clone(&schema),
            batches: Some(batches),
            cancel,
            thread: Some(thread),
            home: Home::here(),
        };
        Ok(Batches { schema, home: making.home, making: Mutex::new(Some(making)) })
    }

    /// Waits for the next batch, for a while.
    fn wait(&self) -> Next {
        let mut held = lock(&self.making);
        let next = held.as_ref().map_or(Next::End, Making::wait);
        if let Next::End | Next::Failed(_) = next {
            *held = None;
        }
        next
    }

    fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        match self.home.is_here() {
            true => Ok(()),
            false => Err(of_other_process().exception(py)),
        }
    }
}

fn of_other_process() -> Failure {
    Failure::usage("the batches belong to the process that this one was forked from")
}

#[pymethods]
impl Batches {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        column_names(&self.schema)
    }

    /// Returns the next batch; None after the last one, and once it is closed.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        self.check_process(py)?;
        loop {
            match detached(py, || self.wait())? {
                Next::Rows(rows) => return Ok(Some(Table::of_batch(rows))),
                Next::End => return Ok(None),
                Next::Failed(failure) => return Err(failure.exception(py)),
                Next::NotYet => py.check_signals()?,
            }
        }
    }

    /// Ends the making of further rows. A fork makes none.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.home.is_here() {
            true => detached(py, || drop(lock(&self.making).take())),
            false => Ok(()),
        }
    }

    /// The schema, as the Arrow PyCapsule interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// Hands the rows that were not read yet to another library, by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _types_stay = requested_schema;
        self.check_process(py)?;
        let Some(making) = detached(py, || lock(&self.making).take())? else {
            let message = "the batches have been read already, or closed";
            return Err(Failure::usage(message).exception(py));
        };
        stream_capsule(py, making)
    }
}

impl Making {
    /// Waits for the next batch, for a while.
    fn wait(&self) -> Next {
        if !self.home.is_here() {
            return Next::Failed(of_other_process());
        }
        let Some(batches) = &self.batches else { return Next::End };
        match batches.recv_timeout(TICK) {
            Ok(Ok(rows)) => Next::Rows(rows),
            Ok(Err(failure)) => Next::Failed(failure),
            Err(RecvTimeoutError::Disconnected) => Next::End,
            Err(RecvTimeoutError::Timeout) => Next::NotYet,
        }
    }
}

impl Iterator for Making {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.wait() {
                Next::Rows(rows) => return Some(Ok(rows)),
                Next::End => return None,
                Next::Failed(failure) => {
                    return Some(Err(ArrowError::ExternalError(failure.to_string().into())));
                }
                Next::NotYet => {}
            }
        }
    }
}

impl RecordBatchReader for Making {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.cancel.cancel();
        // Before the join: the thread may wait for room in the channel.
        self.batches = None;
        match self.thread.take() {
            // It has caught its own panics.
            Some(thread) if self.home.is_here() => drop(thread.join()),
            // A fork has no such thread.
            thread => std::mem::forget(thread),
        }
    }
}

/// Passes rows on to their reader.
struct Outlet {
    batches: SyncSender<Result<RecordBatch>>,
    has_reader: bool,
}

impl RowSink for Outlet {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        self.has_reader = self.batches.send(Ok(rows.clone())).is_ok();
        Ok(())
    }

    fn wants_more(&self) -> bool {
        self.has_reader
    }
}
