"""Many jobs on one graph: what they share, how they end, and who waits for them."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tegula as tg

from .conftest import random_edges

pytestmark = pytest.mark.long

# Longer than any test waits.
ITERATIONS = 1_000_000
# Seconds that a cancelled job may take: 0.2 s where the machine is idle.
PATIENCE = float(os.environ.get("TEGULA_PATIENCE", "1"))


@pytest.fixture(scope="module")
def streamed() -> Iterator[tg.Graph]:
    """A graph of which little fits in memory beside a run."""
    with tg.from_edges(random_edges(1 << 19, 1 << 16), memory="512MiB") as whole:
        needed = whole.estimate("pagerank").needed_bytes
        with tg.open(whole.path, memory=needed + (1 << 20), threads=2) as graph:
            yield graph


class Interrupt:
    """Sends an interrupt soon, and notes when."""

    def __init__(self) -> None:
        self.sent = 0.0
        self._timer = threading.Timer(0.1, self._send)
        self._timer.start()

    def _send(self) -> None:
        self.sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    def took(self) -> float:
        """Return the seconds since then."""
        took = time.monotonic() - self.sent
        self._timer.join()
        return took


def keep_busy(jobs: tg.Jobs) -> tg.Job:
    """Submit a job that takes longer than to submit some more, which wait meanwhile."""
    return jobs.submit("eigenvector", max_iterations=100, tolerance=0)


def endless(jobs: tg.Jobs) -> tg.Job:
    """Submit a job that ends only when it is cancelled."""
    return jobs.submit("pagerank", iterations=ITERATIONS)


def wait_until(is_so, what: str) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end, f"waited 10 s for {what}"
        time.sleep(0.005)


def assert_same(found: tg.Result, single: tg.Result) -> None:
    """Compare bits."""
    columns = found.to_numpy()
    assert columns.keys() == single.to_numpy().keys()
    for name, column in single.to_numpy().items():
        assert columns[name].tobytes() == column.tobytes(), name


REQUESTS = [
    ("pagerank", {"iterations": 5}),
    ("pagerank", {"iterations": 7, "damping": 0.5}),
    ("pagerank", {"iterations": 5, "personalize": {1: 2.0, 2: 1.0}}),
    ("bfs", {"source": 1}),
    ("bfs", {"source": 2}),
    ("wcc", {}),
    ("degree", {}),
    ("scc", {}),
]


@pytest.mark.parametrize("fuse", [False, True])
def test_results_have_the_bits_of_single_runs(large: tg.Graph, fuse: bool) -> None:
    with large.jobs(concurrent=1 if fuse else None, fuse=fuse) as jobs:
        if fuse:
            keep_busy(jobs)
        submitted = [jobs.submit(name, **options) for name, options in REQUESTS]
    for job, (name, options) in zip(submitted, REQUESTS, strict=True):
        assert (job.state, job.done) == ("done", True)
        assert_same(job.result(), large.run(name, **options))
    together = {job.result().statistics.jobs for job in submitted}
    assert (max(together) > 1) == fuse


def test_jobs_share_what_they_read() -> None:
    dampings = [0.5, 0.6, 0.7]
    with tg.from_edges(random_edges(1 << 19, 1 << 15), memory="512MiB") as whole:
        needs = whole.estimate("pagerank", iterations=3)
        # Room for three runs.
        memory = needs.needed_bytes + 2 * (needs.vertex_bytes + needs.stream_bytes_min)
        with tg.open(whole.path, memory=memory, threads=2) as graph:
            singles = [graph.pagerank(iterations=3, damping=damping) for damping in dampings]
            alone = sum(single.statistics.bytes_read for single in singles)
            # A busy machine may begin the jobs one after the other, and then they share less.
            for _ in range(5):
                with graph.jobs(fuse=False) as jobs:
                    together = jobs.map("pagerank", damping=dampings, iterations=3)
                read = sum(job.result().statistics.bytes_read for job in together)
                shared = sum(job.result().statistics.bytes_shared for job in together)
                if read < alone / 2:
                    break
    for job, single in zip(together, singles, strict=True):
        assert_same(job.result(), single)
    assert read + shared == alone
    assert read < alone / 2
    assert jobs.statistics.bytes_saved == shared
    assert jobs.statistics.bytes_read < alone


def test_jobs_that_do_not_fit_wait_for_others(streamed: tg.Graph) -> None:
    with streamed.jobs(fuse=False) as jobs:
        first = endless(jobs)
        wait_until(lambda: first.state == "running", "the first job")
        second = jobs.submit("pagerank", iterations=1)
        with pytest.raises(TimeoutError, match=r"pagerank has not ended within 0\.2 s"):
            second.result(timeout=0.2)
        assert (first.state, second.state) == ("running", "waiting")
        first.cancel()
        assert second.result().statistics.iterations == 1


def test_a_job_that_never_fits_is_refused_with_both_numbers(streamed: tg.Graph) -> None:
    needed = streamed.estimate("louvain").needed_bytes
    assert needed > streamed.memory
    with streamed.jobs() as jobs:
        refused, other = jobs.submit("louvain"), jobs.submit("pagerank", iterations=1)
        with pytest.raises(tg.OverBudget, match=r"needs .*B.* budget .*B") as error:
            refused.result()
        assert refused.state == "failed"
        assert refused.exception() is error.value
        assert len(other.result()) == streamed.info().vertices


def test_wrong_options_are_refused_at_once(graph: tg.Graph) -> None:
    with graph.jobs() as jobs:
        with pytest.raises(tg.UsageError, match="no algorithm `pagernk`"):
            jobs.submit("pagernk")
        with pytest.raises(tg.UsageError, match="dampng"):
            jobs.submit("pagerank", dampng=0.5)
        with pytest.raises(tg.UsageError, match="damping"):
            jobs.submit("pagerank", damping=2)
        with pytest.raises(tg.UsageError, match="progress=1 cannot be called"):
            jobs.submit("pagerank", progress=1)  # type: ignore[arg-type]
        with pytest.raises(tg.UsageError, match="timeout=-1"):
            jobs.submit("degree").result(timeout=-1)
        assert jobs.statistics.jobs == 1
    for concurrent in (0, -1, True, "2", 1.5):
        with pytest.raises(tg.UsageError, match="concurrent must be at least 1"):
            graph.jobs(concurrent=concurrent)


def test_a_failure_ends_only_its_own_job(graph: tg.Graph) -> None:
    with graph.jobs() as jobs:
        missing, unfit = jobs.submit("bfs", source=99), jobs.submit("mis")
        found = jobs.submit("bfs", source=1)
    with pytest.raises(tg.NoSuchVertex, match="99"):
        missing.result()
    with pytest.raises(tg.UsageError, match="needs both directions"):
        unfit.result()
    assert isinstance(missing.exception(), tg.NoSuchVertex)
    assert found.exception() is None
    assert found.result()[4] == 3
    assert (jobs.statistics.jobs, jobs.statistics.failed) == (3, 2)


def test_concurrent_bounds_the_jobs_that_run_at_once(large: tg.Graph) -> None:
    with large.jobs(concurrent=2, fuse=False) as jobs:
        all_jobs = [endless(jobs) for _ in range(4)]
        wait_until(lambda: [job.state for job in all_jobs[:2]] == ["running"] * 2, "two jobs")
        time.sleep(0.1)
        assert [job.state for job in all_jobs[2:]] == ["waiting"] * 2
        assert all_jobs[0].cancel()
        wait_until(lambda: all_jobs[2].state == "running", "the third job")
        jobs.cancel()


def test_a_cancelled_job_ends_alone(large: tg.Graph) -> None:
    with large.jobs(concurrent=1) as jobs:
        running, waiting, last = endless(jobs), endless(jobs), jobs.submit("degree")
        wait_until(lambda: running.state == "running", "the first job")
        assert waiting.cancel()
        assert not waiting.cancel()
        assert running.cancel()
        assert len(last.result(timeout=10)) == large.info().vertices
    assert [job.state for job in (running, waiting, last)] == ["cancelled", "cancelled", "done"]
    with pytest.raises(tg.Cancelled):
        running.result()
    assert jobs.statistics.cancelled == 2


def test_a_job_that_runs_as_one_with_others_is_cancelled_alone(large: tg.Graph) -> None:
    with large.jobs(concurrent=1) as jobs:
        first = keep_busy(jobs)
        ranks = [jobs.submit("pagerank", iterations=20, damping=d) for d in (0.5, 0.6, 0.7)]
        wait_until(lambda: first.done and ranks[0].state == "running", "the ranks")
        assert ranks[0].cancel()
    assert [job.state for job in ranks] == ["cancelled", "done", "done"]
    for job, damping in zip(ranks[1:], (0.6, 0.7), strict=True):
        assert job.result().statistics.jobs == 3
        assert_same(job.result(), large.pagerank(iterations=20, damping=damping))


def test_an_exception_in_the_block_cancels_all_jobs(large: tg.Graph) -> None:
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"), large.jobs(concurrent=1) as jobs:
        submitted = [endless(jobs), endless(jobs)]
        raise RuntimeError("enough")
    assert time.monotonic() - began < 10
    assert [job.state for job in submitted] == ["cancelled", "cancelled"]


@pytest.mark.parametrize("where", ["result", "end of the block"])
def test_an_interrupt_cancels_all_jobs(large: tg.Graph, where: str) -> None:
    with pytest.raises(KeyboardInterrupt), large.jobs() as jobs:
        submitted = [jobs.submit("degree"), endless(jobs), endless(jobs)]
        submitted[0].result()
        interrupt = Interrupt()
        if where == "result":
            submitted[1].result()
    assert interrupt.took() < PATIENCE
    assert [job.state for job in submitted] == ["done", "cancelled", "cancelled"]
    assert len(large.pagerank(iterations=1)) == large.info().vertices


def test_no_job_is_taken_after_the_block(graph: tg.Graph) -> None:
    with graph.jobs() as jobs:
        pass
    with pytest.raises(tg.UsageError, match="these jobs are over"):
        jobs.submit("degree")
    assert "0 of them failed" in repr(jobs)


def test_jobs_of_a_closed_graph_are_refused(graph: tg.Graph) -> None:
    with graph.jobs() as jobs:
        assert jobs.submit("degree").result()[1] is not None
        graph.close()
        with pytest.raises(tg.UsageError, match="is closed"):
            jobs.submit("degree")


def test_results_are_read_while_other_jobs_run(large: tg.Graph) -> None:
    with large.jobs(fuse=False) as jobs:
        other = endless(jobs)
        degrees = jobs.submit("degree").result()
        assert len(degrees.to_numpy()["vertex"]) == degrees.statistics.vertices
        assert other.state == "running"
        other.cancel()
        # The other runs of the graph have their turn when no job is left.
        assert len(large.pagerank(iterations=1)) == len(degrees)
        assert len(jobs.submit("degree").result()) == len(degrees)


def test_tables_of_options_stay_until_the_job_has_read_them(large: tg.Graph) -> None:
    vertices = large.degrees().to_numpy()["vertex"][:3].tolist()
    with large.jobs(concurrent=1) as jobs:
        endless(jobs)
        waiting = jobs.submit("pagerank", iterations=2, personalize=dict.fromkeys(vertices, 1.0))
        time.sleep(0.1)
        assert waiting.state == "waiting"
        jobs.cancel()
        again = jobs.submit("pagerank", iterations=2, personalize=dict.fromkeys(vertices, 1.0))
    single = large.pagerank(iterations=2, personalize=dict.fromkeys(vertices, 1.0))
    assert_same(again.result(), single)


def test_rows_that_jobs_need_are_built_once() -> None:
    edges = random_edges(1 << 12, 1 << 10)
    with tg.from_edges(edges, undirected=True, memory="256MiB") as graph:
        with graph.jobs() as jobs:
            first = jobs.submit("pagerank", iterations=3)
            walks = jobs.submit("random_walks", walks=1, length=3)
            last = jobs.submit("triangles")
        for job in (first, walks, last):
            assert job.exception() is None
            assert_same(job.result(), graph.run(job.algorithm, **_options(job)))


def _options(job: tg.Job) -> dict[str, int]:
    options = {"pagerank": {"iterations": 3}, "random-walks": {"walks": 1, "length": 3}}
    return options.get(job.algorithm, {})


def test_map_submits_a_job_for_each_value(graph: tg.Graph) -> None:
    with graph.jobs() as jobs:
        searches = jobs.map("bfs", source=[1, 2, 3])
        with pytest.raises(tg.UsageError, match="there is none"):
            jobs.map("bfs", source=1)
    assert [job.result()[4] for job in searches] == [3, 2, 1]


def test_progress_of_jobs_reaches_their_callbacks(large: tg.Graph) -> None:
    told: list[tuple[str, int, int | None, str]] = []
    with large.jobs(fuse=False) as jobs:
        jobs.submit("pagerank", iterations=7, progress=lambda *stage: told.append(stage))
        jobs.submit("pagerank", iterations=9)
    assert (told[-1][1], told[-1][3]) == (7, "iterations")


def test_a_callback_that_raises_ends_its_own_job(large: tg.Graph) -> None:
    def refuse(*_stage: object) -> None:
        raise RuntimeError("enough")

    with large.jobs(fuse=False) as jobs:
        refused = jobs.submit("pagerank", iterations=ITERATIONS, progress=refuse)
        other = jobs.submit("pagerank", iterations=5)
    with pytest.raises(RuntimeError, match="enough"):
        refused.result()
    assert refused.state == "failed"
    assert other.result().statistics.iterations == 5


def test_warnings_come_with_the_first_result(graph: tg.Graph) -> None:
    with graph.jobs() as jobs:
        job = jobs.submit("pagerank", max_iterations=1)
    with pytest.warns(tg.TegulaWarning, match="have not converged"):
        first = job.result()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert job.result() is first


def test_jobs_are_awaited(large: tg.Graph) -> None:
    async def run() -> list[tg.Result]:
        ticks = 0

        async def count() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        counting = asyncio.create_task(count())
        async with large.jobs() as jobs:
            submitted = jobs.map("pagerank", damping=[0.5, 0.6, 0.7], iterations=20)
            found = await asyncio.gather(*submitted)
            assert await submitted[0] is found[0]
            with pytest.raises(tg.NoSuchVertex):
                await jobs.submit("bfs", source=1 << 40)
        counting.cancel()
        assert ticks > 3
        return found

    for result, damping in zip(asyncio.run(run()), (0.5, 0.6, 0.7), strict=True):
        assert_same(result, large.pagerank(damping=damping, iterations=20))


def test_an_exception_in_an_asynchronous_block_cancels_all_jobs(large: tg.Graph) -> None:
    async def run() -> tg.Job:
        with pytest.raises(TimeoutError):
            async with large.jobs() as jobs, asyncio.timeout(0.2):
                job = endless(jobs)
                await job
        return job

    assert asyncio.run(run()).state == "cancelled"


def test_jobs_are_submitted_from_many_threads(graph: tg.Graph) -> None:
    single = graph.pagerank(iterations=3)
    with graph.jobs(concurrent=4) as jobs:
        found: list[tg.Result] = []

        def run() -> None:
            for _ in range(10):
                found.append(jobs.submit("pagerank", iterations=3).result())

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 40
    for result in found:
        assert_same(result, single)


def test_jobs_that_are_forgotten_are_cancelled(large: tg.Graph) -> None:
    jobs = large.jobs()
    job = endless(jobs)
    kept = job._job
    wait_until(lambda: kept.state == "running", "the job")
    del jobs, job
    gc.collect()
    wait_until(lambda: kept.state == "cancelled", "the end of the job")


def test_the_progress_function_of_a_job_cannot_use_a_graph(graph: tg.Graph) -> None:
    def ask(*_: object) -> None:
        graph.info()

    with graph.jobs() as jobs:
        job = jobs.submit("pagerank", iterations=50, progress=ask)
        with pytest.raises(tg.UsageError, match="cannot use a graph"):
            job.result()


def test_a_job_keeps_its_jobs(graph: tg.Graph) -> None:
    assert len(graph.jobs().submit("degree").result()) == 6


def test_a_cancelled_job_says_so(large: tg.Graph) -> None:
    with large.jobs() as jobs:
        job = endless(jobs)
        job.cancel()
        with pytest.raises(tg.Cancelled, match="the job was cancelled"):
            job.result()


def test_the_end_of_the_interpreter_ends_jobs() -> None:
    code = """
import time, tegula as tg
g = tg.from_edges([(i, i + 1) for i in range(2000)])
jobs = g.jobs()
jobs.submit("pagerank", iterations=10**9, progress=lambda *a: time.sleep(0.03))
time.sleep(0.3)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_fork_leaves_the_jobs_of_its_parent(graph: tg.Graph) -> None:
    code = """
import os, sys, tegula as tg
g = tg.from_edges([(1, 2), (2, 3)])
with g.jobs(concurrent=1) as jobs:
    first = jobs.submit("pagerank", iterations=10000)
    second = jobs.submit("pagerank", personalize={1: 1.0})
    child = os.fork()
    if child == 0:
        sys.exit()
    os.waitpid(child, 0)
    second.result()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "sources",
    [[1, 2], range(1, 3), np.array([1, 2]), pd.Series([1, 2]), pl.Series([1, 2])],
    ids=["list", "range", "numpy", "pandas", "polars"],
)
def test_a_job_is_submitted_for_each_value(graph: tg.Graph, sources) -> None:
    with graph.jobs() as jobs:
        found = jobs.map("bfs", source=sources, direction="out")
    assert [job.result()[3] for job in found] == [2, 1]
    with pytest.raises(tg.UsageError, match="map needs one option that is a list"):
        graph.jobs().map("bfs", source=pa.table({"source": [1]}))


def test_a_table_is_the_same_for_all_jobs(graph: tg.Graph) -> None:
    with graph.jobs() as jobs:
        found = jobs.map("k-hop", sources=[1, 5], hops=[0, 1])
        assert [len(job.result()) for job in found] == [2, 4]
        with pytest.raises(tg.UsageError, match="but there is none"):
            jobs.map("k-hop", sources=[1, 5])
