from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from benchagent import histogram
from benchagent.java import LoadGenerator
from benchagent.java.loadgen import jvm_options
from benchagent.java.toolchain import JavaRuntime

from tests.benchagent.small import RATE_PER_S, start_sooner

ABORTED = 3
# An agent that dies the hard way: no death signal is set, only the life line can end the JVM.
PARENT = """
import json, sys, time
from pathlib import Path
from benchagent.java import JavaToolchain, LoadGenerator
generator = LoadGenerator(JavaToolchain(Path(sys.argv[1])), [Path(jar) for jar in sys.argv[3:]], cwd=Path(sys.argv[2]))
generator.start(json.loads(sys.stdin.readline()))
for event in generator.events():
    if event["event"] == "second":
        print(generator.pid, flush=True)
        time.sleep(600)
"""


def job(url: str, *, seconds: int = 1, create: str = "CREATE TABLE history (n INTEGER)") -> dict:
    variable = {"name": "n", "kind": "uniform", "min": 1, "max": 9}
    insert = {"sql": "INSERT INTO history VALUES (?)", "bind": ["n"], "expect_rows": 1}
    run = {"op": "run", "phase": "run", "terminals": 2, "warm_up_s": 1, "duration_s": seconds, "seed": 1}
    run["rate_per_s"] = RATE_PER_S
    run["transactions"] = [{"name": "insert", "weight": 1, "variables": [variable], "statements": [insert]}]
    return {
        "version": 1,
        "connection": {"url": url, "driver_class": None, "properties": {}},
        "retryable": {"codes": [5]},
        "steps": [
            {"op": "execute", "phase": "create", "statements": [create]},
            run,
            {"op": "query", "name": "rows", "sql": "SELECT COUNT(*) FROM history"},
        ],
    }


@pytest.fixture
def home(tmp_path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def generator(toolchain, engine, tmp_path, home, monkeypatch):
    """`generator("h2")` -> a load generator that may not leave its folder; ended afterwards."""
    start_sooner(monkeypatch)
    made: list[LoadGenerator] = []

    def build(dbms: str, **more) -> LoadGenerator:
        (tmp_path / "driver").mkdir(exist_ok=True)
        env = {"PATH": os.defpath, "HOME": str(home), "LC_ALL": "C.UTF-8"}
        class_path = toolchain.class_path(engine(dbms))
        made.append(LoadGenerator(toolchain, class_path, cwd=tmp_path / "driver", env=env, **more))
        return made[-1]

    yield build
    for one in made:
        one.abort()


def python_instead(code: str):
    """Spawns this program where the JVM would be."""
    return lambda argv, **popen: subprocess.Popen([sys.executable, "-c", code], **popen)


def runs(process: psutil.Process) -> bool:
    """False also when nobody has asked for its exit status: an orphan's new parent may never do."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(generator: LoadGenerator, event: str) -> dict:
    return next(found for found in generator.events() if found["event"] == event)


def test_it_hands_over_every_event_of_a_job(generator):
    loadgen = generator("h2")
    loadgen.start(job("jdbc:h2:mem:bench;DB_CLOSE_DELAY=-1", seconds=3))
    events = list(loadgen.events())
    assert loadgen.abort(grace_s=60) == 0
    names = [event["event"] for event in events]
    assert names == ["started", *["phase"] * 3, "connected", *["second"] * 4, "summary", "phase", "query"]
    summary = next(event for event in events if event["event"] == "summary")
    committed = sum(summary[key] for key in ("warm_up_transactions", "transactions", "tail_transactions"))
    assert events[-1]["rows"] == [[committed]]
    assert histogram.total_count(summary["histogram"]) == summary["transactions"] > 0
    for second in (event for event in events if event["event"] == "second"):
        buckets = dict(zip(second["buckets"][::2], second["buckets"][1::2], strict=True))
        assert sum(buckets.values()) == second["n"] > 0
        assert (
            2 ** (min(buckets) / 2) <= second["p50_us"] + 1 and second["max_us"] < 2 ** ((max(buckets) + 1) / 2) * 1.001
        )


def test_an_error_ends_it_with_an_event_that_names_the_phase(generator):
    loadgen = generator("h2")
    loadgen.start(job("jdbc:h2:mem:bench", create="CREATE TABEL history (n INTEGER)"))
    last = list(loadgen.events())[-1]
    assert loadgen.abort(grace_s=60) == 1
    assert (last["event"], last["phase"], last["sqlstate"]) == ("error", "create", "42001")
    assert "TABEL" in last["message"]
    assert "JdbcSQLSyntaxErrorException" in loadgen.stderr_tail


def test_a_database_that_cannot_be_reached_is_an_error(generator):
    loadgen = generator("h2")
    loadgen.start(job("jdbc:nothing:here"))
    assert list(loadgen.events())[-1]["message"].startswith("No suitable driver")
    assert loadgen.abort(grace_s=60) == 1


def test_abort_ends_a_run_at_once(generator):
    loadgen = generator("h2")
    loadgen.start(job("jdbc:h2:mem:bench", seconds=600))
    until(loadgen, "second")
    assert loadgen.abort(grace_s=60) == ABORTED
    assert not psutil.pid_exists(loadgen.pid)
    assert loadgen.abort(grace_s=60) == ABORTED, "once more does no harm"


def test_abort_kills_what_does_not_listen(generator):
    loadgen = generator(
        "h2", spawn=python_instead('import time; print(\'{"event": "started"}\', flush=True); time.sleep(600)')
    )
    loadgen.start({})
    until(loadgen, "started")
    assert loadgen.abort(grace_s=0.2) == -signal.SIGKILL


def test_the_jvm_ends_when_its_parent_is_killed(toolchain, engine, tmp_path):
    jars = map(str, toolchain.class_path(engine("h2")))
    arguments = [sys.executable, "-c", PARENT, str(toolchain.folder), str(tmp_path), *jars]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        parent.stdin.write(json.dumps(job("jdbc:h2:mem:bench", seconds=600)) + "\n")
        parent.stdin.flush()
        jvm = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    deadline = time.monotonic() + 60
    while runs(jvm) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not runs(jvm)


def test_it_reads_no_event_out_of_what_an_engine_prints(generator):
    printed = ["Opening database", '{"event": "started"}', '{"no": "event"}', "[1]", "", '{"event": "sec']
    code = (
        f"import sys; sys.stdin.readline(); print('warned', file=sys.stderr); print({chr(10).join(printed)!r}, end='')"
    )
    loadgen = generator("h2", spawn=python_instead(code))
    loadgen.start({})
    assert list(loadgen.events()) == [{"event": "started"}]
    assert loadgen.abort(grace_s=60) == 0
    assert sorted(loadgen.stderr_tail.splitlines()) == [
        "Opening database",
        "[1]",
        "warned",
        '{"event": "sec',
        '{"no": "event"}',
    ]


def test_a_jvm_that_does_not_start_says_why(generator):
    loadgen = generator("h2", spawn=python_instead("import sys; sys.exit('Could not create the Java Virtual Machine')"))
    loadgen.start(job("jdbc:h2:mem:bench"))
    assert list(loadgen.events()) == []
    assert loadgen.abort(grace_s=60) == 1
    assert loadgen.stderr_tail == "Could not create the Java Virtual Machine"


@pytest.mark.parametrize(
    ("dbms", "url"),
    [("sqlite", "jdbc:sqlite:bench.db"), ("h2", "jdbc:h2:./bench"), ("derby", "jdbc:derby:bench;create=true")],
)
def test_it_writes_nothing_outside_its_folder(generator, toolchain, engine, home, tmp_path, dbms, url):
    loadgen = generator(dbms)
    loadgen.start(job(url, seconds=600))
    until(loadgen, "second")
    process = psutil.Process(loadgen.pid)
    written = [Path(file.path) for file in process.open_files() if file.mode != "r"]
    libraries = [
        Path(mapped.path) for mapped in process.memory_maps() if "sqlite" in mapped.path and ".so" in mapped.path
    ]
    assert written
    assert [path for path in written if not path.is_relative_to(tmp_path / "driver")] == []
    unpacked_once = toolchain.sqlite_library(toolchain.class_path(engine(dbms)))
    assert set(libraries) == ({unpacked_once} if dbms == "sqlite" else set())
    assert loadgen.abort(grace_s=60) == ABORTED
    to_its_end = generator(dbms)
    to_its_end.start(job(url.replace("bench", "another")))
    list(to_its_end.events())
    assert to_its_end.abort(grace_s=60) == 0, to_its_end.stderr_tail
    assert list(home.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"home", "driver"}


def test_sqlites_driver_unpacks_its_library_where_the_one_that_was_unpacked_cannot_be_loaded(
    generator, toolchain, tmp_path, monkeypatch
):
    (broken := tmp_path / "libsqlitejdbc.so").write_bytes(b"no library")
    monkeypatch.setattr(toolchain, "sqlite_library", lambda class_path: broken)
    loadgen = generator("sqlite")
    loadgen.start(job("jdbc:sqlite:bench.db"))
    list(loadgen.events())
    assert loadgen.abort(grace_s=60) == 0, loadgen.stderr_tail


def test_passwords_are_no_arguments(generator):
    loadgen = generator("h2")
    secret = job("jdbc:h2:mem:bench", seconds=600)
    secret["connection"]["properties"] = {"user": "sa", "password": "correct horse"}
    loadgen.start(secret)
    until(loadgen, "started")
    assert "horse" not in loadgen.command_line + " ".join(psutil.Process(loadgen.pid).cmdline())


def test_native_code_is_allowed_where_java_asks(tmp_path):
    allowed = "--enable-native-access=ALL-UNNAMED"
    assert allowed in jvm_options(JavaRuntime(Path("java"), "25.0.2"), heap_mb=64, temporary=tmp_path)
    assert allowed not in jvm_options(JavaRuntime(Path("java"), "17.0.15"), heap_mb=64, temporary=tmp_path)
