//! Many runs on one graph at the same time.
//!
//! [`tegula_algorithms::jobs`] runs them, on threads that live while there is a job (`rounds`). A
//! `JobList` has all jobs that have not ended. A job is a task of the list, and an object in Python.

mod job_list;
mod rounds;
mod task;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tegula_algorithms::jobs::CONCURRENT_DEFAULT;

use crate::answer::Found;
use crate::ending::detached;
use crate::failure::Failure;
use crate::graph::{Graph, request};
use crate::work::{TICK, check_is_in_no_callback};
use job_list::JobList;
use task::Task;

/// A place for jobs on a graph.
#[pyclass(frozen, module = "tegula._internal")]
pub struct Jobs {
    graph: Py<Graph>,
    list: Arc<JobList>,
}

#[pymethods]
impl Jobs {
    /// Makes a place for jobs, of which up to `concurrent` run at the same time. If `fuse`, jobs of
    /// one algorithm may become one run.
    #[new]
    #[pyo3(signature = (graph, concurrent, fuse))]
    fn new(
        py: Python<'_>,
        graph: Py<Graph>,
        concurrent: Option<i64>,
        fuse: bool,
    ) -> PyResult<Jobs> {
        let concurrent = match concurrent.map(usize::try_from) {
            None => CONCURRENT_DEFAULT.get(),
            Some(Ok(count)) if count > 0 => count,
            Some(_) => {
                return Err(Failure::usage("concurrent must be at least 1").exception(py));
            }
        };
        let shared = graph.get().shared().map_err(|failure| failure.exception(py))?;
        Ok(Jobs { graph, list: Arc::new(JobList::new(shared, concurrent, fuse)) })
    }

    /// Refuses a graph that is closed, or was opened before this process forked.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.graph.get().check(py)
    }

    /// Submits a job: an algorithm, with its options as a JSON object.
    #[pyo3(signature = (algorithm, options, progress=None))]
    fn submit(
        &self,
        py: Python<'_>,
        algorithm: &str,
        options: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Job> {
        let list = &self.list;
        self.check(py)?;
        let submitted = detached(py, || list.submit(request(algorithm, options)?, progress))?;
        match submitted {
            Ok(task) => Ok(Job { list: Arc::clone(list), task, outcome: PyOnceLock::new() }),
            Err(failure) => Err(failure.exception(py)),
        }
    }

    /// Cancels all jobs that have not ended. A fork has none of them.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        match self.list.shared.check_process() {
            Ok(()) => detached(py, || self.list.cancel_all()),
            Err(_) => Ok(()),
        }
    }

    /// Takes no further jobs, and waits until all have ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        check_is_in_no_callback(py)?;
        let list = &self.list;
        list.check_process(py)?;
        list.close();
        let mut raised = None;
        while !detached(py, || list.wait_for_idle(TICK))? {
            if raised.is_none()
                && let Err(error) = py.check_signals()
            {
                detached(py, || list.cancel_all())?;
                raised = Some(error);
            }
        }
        raised.map_or(Ok(()), Err)
    }

    /// What all jobs did so far, as JSON.
    fn statistics(&self, py: Python<'_>) -> PyResult<String> {
        self.list.check_process(py)?;
        Ok(self.list.statistics())
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        if self.list.shared.check_process().is_ok() {
            self.list.close();
            self.list.cancel_all();
        }
    }
}

/// A job.
#[pyclass(frozen, module = "tegula._internal")]
pub struct Job {
    list: Arc<JobList>,
    task: Arc<Task>,
    /// The result or the exception, once it was asked for.
    outcome: PyOnceLock<std::result::Result<Py<Found>, PyErr>>,
}

#[pymethods]
impl Job {
    /// The name of the algorithm.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.task.request.name
    }

    /// How far it is: waiting, running, done, failed or cancelled.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.list.check_process(py)?;
        Ok(self.task.state().name())
    }

    /// Cancels it. Returns whether it had not ended.
    fn cancel(&self, py: Python<'_>) -> PyResult<bool> {
        self.list.check_process(py)?;
        detached(py, || self.list.cancel(&self.task))
    }

    /// Waits until it has ended, up to `timeout` seconds. Returns whether it has.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        check_is_in_no_callback(py)?;
        self.list.check_process(py)?;
        // A time that is too long for a `Duration` is no limit.
        let timeout = timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let left = end.map_or(TICK, |end| end.saturating_duration_since(Instant::now()));
            if detached(py, || self.task.wait(left.min(TICK)))? {
                return Ok(true);
            }
            py.check_signals()?;
            if left.is_zero() {
                return Ok(false);
            }
        }
    }

    /// Returns the result of a job that has ended.
    fn outcome(&self, py: Python<'_>) -> PyResult<Py<Found>> {
        self.list.check_process(py)?;
        let outcome = self.outcome.get_or_init(py, || {
            let outcome = self.task.take_outcome();
            let found = outcome.map_err(|failure| failure.exception(py));
            found.and_then(|found| Py::new(py, found))
        });
        match outcome {
            Ok(found) => Ok(found.clone_ref(py)),
            Err(error) => Err(error.clone_ref(py)),
        }
    }

    /// Calls `callback` when it has ended, on any thread.
    fn when_ended(&self, py: Python<'_>, callback: Py<PyAny>) -> PyResult<()> {
        self.list.check_process(py)?;
        match self.task.add_callback(callback) {
            None => Ok(()),
            Some(callback) => callback.call0(py).map(drop),
        }
    }
}
