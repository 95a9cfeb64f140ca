"""Jobs: many runs on one graph at the same time."""

from __future__ import annotations

import atexit
import threading
import warnings
import weakref
from collections.abc import Generator
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, Literal, TypeAlias

from . import _internal
from ._catalogue import algorithm_name, checked, tables
from ._columns import as_list
from ._options import as_files, to_json
from ._progress import Callback
from ._records import Record
from ._result import Result
from .errors import Error, TegulaWarning, UsageError

State: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]
"""How far a job is."""


# Those that somebody holds.
_open: weakref.WeakSet[Jobs] = weakref.WeakSet()


class Jobs:
    """Runs on one graph at the same time, which share what they read. `Graph.jobs` makes it.

    It is a context manager, also an asynchronous one: the end of the block waits for all jobs. An
    exception in the block cancels them, and so does Ctrl-C.
    """

    def __init__(self, graph: _internal.Graph, concurrent: int | None, fuse: bool) -> None:
        is_count = isinstance(concurrent, int | None) and not isinstance(concurrent, bool)
        if not is_count or (isinstance(concurrent, int) and not 0 < concurrent < 1 << 31):
            raise UsageError(f"concurrent={concurrent!r}: concurrent must be at least 1")
        if not isinstance(fuse, bool):
            raise UsageError(f"fuse={fuse!r} is neither True nor False")
        self._jobs = _internal.Jobs(graph, concurrent, fuse)
        _open.add(self)

    def submit(self, algorithm: str, *, progress: Callback | None = None, **options: Any) -> Job:
        """Submit a job, which begins as soon as there is memory for it.

        Options that are wrong are refused at once. What is wrong beside them, such as a vertex that
        the graph has not got, is an exception of `Job.result`. `progress` is called on another
        thread.
        """
        if progress is not None and not callable(progress):
            raise UsageError(f"progress={progress!r} cannot be called")
        name = algorithm_name(algorithm)
        self._jobs.check()
        with ExitStack() as stack:
            of_tables = as_files(checked(name, options), tables(name))
            given, names = stack.enter_context(of_tables)
            job = self._jobs.submit(name, to_json(given), progress)
            # The job reads the tables when it begins.
            job.when_ended(stack.pop_all().close)
        return Job(job, self, names)

    def map(self, algorithm: str, **options: Any) -> list[Job]:
        """Submit a job for each value of the one option that is a list.

        `jobs.map("bfs", source=[1, 2, 3])` submits three searches. The list may be a range, an
        array or a series too. The other options are the same for all jobs, and so are tables.
        """
        named = tables(algorithm_name(algorithm))
        found = {name: as_list(value) for name, value in options.items() if name not in named}
        lists = {name: values for name, values in found.items() if values is not None}
        if len(lists) != 1:
            names = ", ".join(lists) or "none"
            raise UsageError(f"map needs one option that is a list of values, but there is {names}")
        ((name, values),) = lists.items()
        return [self.submit(algorithm, **{**options, name: value}) for value in values]

    @property
    def statistics(self) -> Record:
        """What all jobs did so far: how many there are, how many failed, bytes read and saved."""
        return Record.of_json(self._jobs.statistics())

    def cancel(self) -> None:
        """Cancel all jobs that have not ended."""
        self._jobs.cancel()

    def close(self) -> None:
        """Take no further jobs, and wait until all have ended. The end of a block does so."""
        self._jobs.close()

    def __enter__(self) -> Jobs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.cancel()
        self.close()

    async def __aenter__(self) -> Jobs:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import asyncio

        if kind is not None:
            self.cancel()
        try:
            await asyncio.to_thread(self.close)
        except BaseException:
            self.cancel()
            raise

    def __repr__(self) -> str:
        statistics = self.statistics
        return f"<tegula.Jobs: {statistics.jobs}, {statistics.failed} of them failed>"


@atexit.register
def _end_all() -> None:
    """End all jobs and calls: threads cannot call Python when the interpreter is gone."""
    try:
        for jobs in list(_open):
            # In a fork there are none of them.
            with suppress(UsageError):
                jobs.cancel()
                jobs.close()
    finally:
        _internal.end_calls()


class Job:
    """A run that was submitted. `result` waits for it, and so does `await`."""

    def __init__(self, job: _internal.Job, jobs: Jobs, tables: dict[str, str]) -> None:
        self._job = job
        # The option of each temporary file.
        self._tables = tables
        # Jobs that nobody holds are cancelled.
        self._jobs = jobs
        self._lock = threading.Lock()
        self._result: Result | None = None

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self._job.algorithm

    @property
    def state(self) -> State:
        """How far it is: "waiting", "running", "done", "failed" or "cancelled"."""
        return self._job.state

    @property
    def done(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.state not in ("waiting", "running")

    def cancel(self) -> bool:
        """Cancel it, and return whether it had not ended."""
        return self._job.cancel()

    def result(self, timeout: float | None = None) -> Result:
        """Return the result, and wait for it up to `timeout` seconds.

        Raises:
            TimeoutError: It has not ended by then, and goes on.
            Cancelled: It was cancelled.
            Error: It failed.
        """
        self._wait(timeout)
        with self._lock:
            if self._result is not None:
                return self._result
            self._result = Result(self._outcome())
        for warning in self._result.warnings:
            warnings.warn(warning, TegulaWarning, stacklevel=2)
        return self._result

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return why it failed, or None. It waits as `result` does."""
        self._wait(timeout)
        try:
            self._outcome()
        except BaseException as error:
            return error
        return None

    def _outcome(self) -> _internal.Found:
        try:
            return self._job.outcome()
        except Error as error:
            error.rename(self._tables)
            raise

    def _wait(self, timeout: float | None) -> None:
        is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
        if timeout is not None and not (is_number and timeout >= 0):
            raise UsageError(f"timeout={timeout!r} is no number of seconds")
        if not self._job.wait(timeout):
            raise TimeoutError(f"{self.algorithm} has not ended within {timeout} s")

    def __await__(self) -> Generator[Any, None, Result]:
        import asyncio

        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def note() -> None:
            if not ended.done():
                ended.set_result(None)

        def wake() -> None:
            # Nobody waits in a loop that is closed.
            if not loop.is_closed():
                loop.call_soon_threadsafe(note)

        self._job.when_ended(wake)
        yield from ended
        return self.result()

    def __repr__(self) -> str:
        return f"<tegula.Job of {self.algorithm}: {self.state}>"
