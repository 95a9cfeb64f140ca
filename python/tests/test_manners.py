"""Interrupts, threads, progress, errors, and what becomes of closed graphs."""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace

import pytest

import tegula as tg
from tegula import _jobs

from .conftest import EDGES, random_edges

# Longer than any test waits.
ITERATIONS = 1_000_000


def test_an_interrupt_ends_a_run_at_once(large: tg.Graph) -> None:
    def interrupt() -> None:
        nonlocal sent
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    sent = 0.0
    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        large.pagerank(iterations=ITERATIONS)
    took = time.monotonic() - sent
    timer.join()
    # 0.2 s where the machine is idle.
    assert took < float(os.environ.get("TEGULA_PATIENCE", "1"))
    assert len(large.pagerank(iterations=1)) == large.info().vertices


def test_an_interrupt_ends_an_import_and_leaves_nothing(folder: Path) -> None:
    edges = random_edges(1 << 16, 1 << 15)

    def batches():
        for _ in range(1000):
            yield tg.Table(tg._internal.Table(["a", "b"], [edges[:, 0].copy(), edges[:, 1].copy()]))

    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        tg.from_edges(batches(), path=folder / "g.tegula")
    timer.join()
    assert list(folder.iterdir()) == []


def test_other_threads_run_meanwhile(large: tg.Graph) -> None:
    ended = threading.Event()
    turns = 0

    def count() -> None:
        nonlocal turns
        while not ended.wait(0.001):
            turns += 1

    other = threading.Thread(target=count)
    other.start()
    large.pagerank(max_iterations=100, tolerance=0)
    ended.set()
    other.join()
    assert turns > 3


def test_many_threads_may_use_one_graph(graph: tg.Graph) -> None:
    found: list[list[float]] = []

    def run() -> None:
        found.append(graph.pagerank(iterations=5).to_numpy()["rank"].tolist())

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(ranks == found[0] for ranks in found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda path: tg.open(path, memory=-1), "memory=-1"),
        (lambda path: tg.open(path, memory=True), "memory=True"),
        (lambda path: tg.open(path, memory=1 << 70), "memory="),
        (lambda path: tg.open(path, memory="much"), "memory="),
        (lambda path: tg.open(path, threads=0), "threads"),
        (lambda path: tg.open(path, threads=10**30), "threads"),
        (lambda path: tg.open(path).wcc(progress=5), "progress=5"),
        (lambda path: tg.open(path).pagerank(personalize=5), "personalize"),
    ],
)
def test_wrong_arguments_are_refused_by_name(graph: tg.Graph, call, message: str) -> None:
    with pytest.raises(tg.UsageError) as error:
        call(graph.path)
    assert message in str(error.value)


def test_progress_reaches_a_callback(graph: tg.Graph) -> None:
    told: list[tuple] = []
    graph.pagerank(iterations=5, progress=lambda *stage: told.append(stage))
    stage, done, total, unit = told[-1]
    assert (done, unit) == (5, "iterations")
    assert isinstance(stage, str)
    assert total is None or total == 5


def test_a_callback_that_raises_ends_the_run(large: tg.Graph) -> None:
    def refuse(*_stage: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        large.pagerank(iterations=ITERATIONS, progress=refuse)


def test_every_error_has_its_kind_and_hint(graph: tg.Graph, tmp_path: Path) -> None:
    with pytest.raises(tg.NotAGraph) as error:
        tg.open(tmp_path)
    assert error.value.kind == "not_a_graph"
    assert error.value.hint == "make a graph of an edge list with tegula.read()"
    with pytest.raises(tg.InputOutputError, match=r"missing\.csv") as error:
        tg.read(tmp_path / "missing.csv")
    assert isinstance(error.value, OSError)
    assert (error.value.errno, error.value.strerror) == (errno.ENOENT, os.strerror(errno.ENOENT))
    again = pickle.loads(pickle.dumps(error.value))
    assert (type(again), str(again)) == (tg.InputOutputError, str(error.value))
    assert again.errno == errno.ENOENT
    assert tg.InputOutputError("no number").errno is None
    with tg.open(graph.path, memory="1MiB") as small, pytest.raises(tg.OverBudget) as error:
        small.pagerank()
    assert "raise memory=" in str(error.value)
    assert isinstance(error.value, MemoryError)
    with pytest.raises(tg.UsageError, match="needs both directions"):
        graph.mis()


def test_kinds_are_those_of_the_command() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "GUIDE.md").read_text()
    listed = guide.split("`kind` is one of ")[1].split(".")[0].split("`")[1::2]
    # The command alone has these: a batch, its standard output, and ranks.
    others = {"jobs_failed", "closed_pipe", "out_of_memory"}
    others |= {"not_a_partition", "not_on_ranks", "rank_failed", "rank_lost"}
    classes = {below.kind for below in vars(tg.errors).values() if _is_error(below)}
    assert classes - {"error"} == set(listed) - others


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, tg.Error)


def test_a_closed_graph_refuses_runs_but_keeps_results(graph: tg.Graph) -> None:
    ranks = graph.pagerank(iterations=2)
    graph.close()
    graph.close()
    assert graph.closed
    for call in (graph.pagerank, graph.info, lambda: graph.neighbours(1)):
        with pytest.raises(tg.UsageError, match="is closed"):
            call()
    assert len(ranks.table) == 6
    assert "(closed)" in repr(graph)


def test_a_graph_pickles_as_its_path(graph: tg.Graph) -> None:
    with pickle.loads(pickle.dumps(graph)) as other:
        assert (other.path, other.memory, other.threads) == (graph.path, 256 << 20, 2)
        assert other.info() == graph.info()
    pickled = pickle.dumps(tg.open(os.path.relpath(graph.path)))
    with chdir("/"), pickle.loads(pickled) as other:
        assert other.info() == graph.info()
    error = pickle.loads(pickle.dumps(tg.BadInput("no", "yes")))
    assert (error.message, error.hint, error.kind) == ("no", "yes", "bad_input")


def test_graphs_of_one_directory_share_one_open_copy(folder: Path) -> None:
    def files() -> int:
        names = [os.readlink(entry) for entry in Path("/proc/self/fd").iterdir() if entry.exists()]
        return sum(name.startswith(str(folder)) for name in names)

    path = folder / "g.tegula"
    with tg.from_edges(EDGES, path=path, memory="256MiB", threads=2) as first:
        opened = files()
        assert opened > 0
        (folder / "link").symlink_to(path)
        second = tg.open(folder / "link", memory="256MiB", threads=2)
        assert files() == opened
        # Runs with another budget have memory of their own.
        with tg.open(path, memory="128MiB", threads=2) as other:
            assert files() > opened
            assert other.memory == 128 << 20
        assert files() == opened
    assert first.closed
    assert not second.closed
    assert len(second.wcc()) == 6
    # What replaces the directory is another graph.
    with tg.from_edges([(1, 2)], path=path, force=True, memory="256MiB", threads=2) as new:
        assert (new.info().vertices, second.info().vertices) == (2, 6)
    second.close()
    assert files() == 0


def _count(graph: tg.Graph, found) -> None:
    try:
        found.put(len(graph.pagerank(iterations=1)))
    except tg.Error as error:
        found.put(str(error))


class Terminal(io.StringIO):
    """A terminal that remembers what it was shown."""

    def isatty(self) -> bool:
        return True


def test_a_bar_is_shown_where_it_is_asked_for(graph: tg.Graph, capsys, monkeypatch) -> None:
    graph.pagerank(iterations=5)
    graph.verify(progress=False)
    assert capsys.readouterr().err == ""
    graph.verify(progress=True)
    assert "verifying" in capsys.readouterr().err
    tg.from_edges(EDGES, progress=True).close()
    assert "edges" in capsys.readouterr().err
    monkeypatch.setattr("tegula._progress._has_tqdm", lambda: False)
    with pytest.raises(tg.UsageError, match="progress=True needs tqdm"):
        graph.wcc(progress=True)
    graph.wcc()


def test_a_bar_is_shown_on_a_terminal_if_a_run_takes_long(large: tg.Graph, monkeypatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    large.pagerank(iterations=1)
    assert terminal.getvalue() == ""
    monkeypatch.setattr("tegula._progress._PATIENCE", 0.0)
    large.pagerank(iterations=5)
    assert "iterating: " in terminal.getvalue()
    shown = len(terminal.getvalue())
    large.pagerank(iterations=5, progress=False)
    assert len(terminal.getvalue()) == shown


def test_a_notebook_is_one_with_a_kernel(monkeypatch) -> None:
    shell = SimpleNamespace(kernel=None)
    assert not tg._progress._is_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert tg._progress._is_notebook()
    del shell.kernel
    assert not tg._progress._is_notebook()


def test_imports_and_runs_are_logged_with_their_figures(caplog) -> None:
    caplog.set_level("DEBUG", logger="tegula")
    with tg.from_edges(EDGES) as graph:
        graph.pagerank(iterations=3)
        path = graph.path
    assert {record.name for record in caplog.records} == {"tegula"}
    imported, asked, ran = caplog.messages
    assert imported.startswith(f"import of {path}: 6 vertices, 5 edges, ")
    assert asked.startswith(f"pagerank on {path} with")
    assert "'iterations': 3" in asked
    assert ran.startswith(f"pagerank on {path}: ")
    assert " 3 iterations, " in ran
    assert [record.levelname for record in caplog.records] == ["INFO", "DEBUG", "INFO"]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_new_process_opens_a_graph_and_a_fork_is_refused(graph: tg.Graph, method: str) -> None:
    context = multiprocessing.get_context(method)
    found = context.Queue()
    process = context.Process(target=_count, args=(graph, found))
    process.start()
    told = found.get(timeout=60)
    process.join()
    if method == "spawn":
        assert told == 6
    else:
        assert "opened before this process forked" in told


# What a script does while a daemon thread of it uses a graph; then the script ends.
SCRIPT = """
import threading
import numpy as np
import tegula as tg

edges = np.random.default_rng(1).integers(0, 1 << 12, (1 << 15, 2), dtype=np.uint64)
graph = tg.from_edges(edges, memory="256MiB", threads=1)
begun = threading.Event()

def told(*_stage):
    begun.set()
    sum(range(1 << 18))

def edges_again():
    while True:
        begun.set()
        for table in graph.edges():
            pass

threading.Thread(target=CALL, daemon=True).start()
assert begun.wait(60)
"""
IN_DAEMON_THREADS = [
    "lambda: graph.pagerank(iterations=1 << 30, progress=told)",
    "lambda: graph.jobs().submit('pagerank', iterations=1 << 30, progress=told).result()",
    "edges_again",
]


@pytest.mark.parametrize("call", IN_DAEMON_THREADS, ids=["run", "job", "batches"])
def test_a_daemon_thread_ends_with_the_interpreter(call: str) -> None:
    line = [sys.executable, "-c", SCRIPT.replace("CALL", call)]
    place = {**os.environ, "PYTHONPATH": str(Path(tg.__file__).parents[1])}
    # Before calls were counted, most of these ended by a signal.
    for _ in range(3):
        ended = subprocess.run(line, capture_output=True, text=True, env=place, timeout=60)
        assert (ended.returncode, ended.stdout) == (0, "")
        assert "Fatal" not in ended.stderr


def test_ctrl_c_at_the_end_of_jobs_does_not_skip_that_of_calls(monkeypatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    jobs = SimpleNamespace(cancel=lambda: None, close=interrupt)
    ended: list[bool] = []
    monkeypatch.setattr(_jobs, "_open", [jobs])
    monkeypatch.setattr(_jobs._internal, "end_calls", lambda: ended.append(True))
    with pytest.raises(KeyboardInterrupt):
        _jobs._end_all()
    assert ended == [True]


def refusals(calls) -> list[str]:
    """Return what each call is refused with."""
    told = []
    for call in calls:
        try:
            call()
        except tg.UsageError as error:
            told.append(error.message)
        else:
            told.append("it was not refused")
    return told


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_refused_while_other_threads_hold_locks(large: tg.Graph) -> None:
    with large.jobs() as jobs:
        job, found = jobs.submit("pagerank", iterations=ITERATIONS), large.info
        rows = jobs.submit("pagerank", iterations=1)
        result = rows.result()
        calls = [
            *(found, large.verify, large.edges, large.degrees, large.jobs, large.pagerank),
            *(lambda: large.neighbours(1), lambda: large.estimate("wcc")),
            *(lambda: large.pagerank(personalize={1: 1}), lambda: large.run("wcc")),
            *(lambda: jobs.submit("wcc"), lambda: jobs.statistics, jobs.close),
            *(job.cancel, job.result, job.exception, lambda: job.state, lambda: job.done),
            *(lambda: result.table, result.batches, result.top, lambda: result.summary),
        ]
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            # A deadlock, or another exception than the expected one, ends the child.
            signal.alarm(30)
            try:
                jobs.cancel()
                large.close()
                os.write(into, "\n".join([*refusals(calls), f"{large.closed}"]).encode())
            finally:
                os._exit(0)
        os.close(into)
        told = os.read(out, 1 << 16).decode().splitlines()
        os.close(out)
        assert os.waitpid(child, 0)[1] == 0
        assert not large.closed
        job.cancel()
    assert len(told) == len(calls) + 1
    assert told[-1] == "True"
    assert all("was opened before this process forked" in line for line in told[:-1]), told


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_leaves_the_temporary_graph_of_its_parent() -> None:
    with tg.from_edges(EDGES) as graph:
        child = os.fork()
        if child == 0:
            graph.close()
            os._exit(0 if Path(graph.path).exists() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(graph.wcc()) == 6
    assert not Path(graph.path).exists()


def test_importing_loads_no_other_library() -> None:
    code = "import sys, tegula; print(*sorted(m for m in sys.modules if '.' not in m))"
    line = [sys.executable, "-c", code]
    place = {**os.environ, "PYTHONPATH": str(Path(tg.__file__).parents[1])}
    loaded = subprocess.run(line, capture_output=True, text=True, check=True, env=place)
    assert not {"pandas", "polars", "pyarrow", "networkx"} & set(loaded.stdout.split())
