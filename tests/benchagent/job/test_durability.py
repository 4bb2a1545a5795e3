"""What the three statements say of real runs: of each thing that a configuration alone does not show, one run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchagent.dbms.postgresql.discovery import installations
from benchagent.machine.devices import flush_count, mounts
from benchagent.machine.process import Children
from benchagent.machine.storages import Storages
from benchagent.paths import AgentDirs

from tests.benchagent.jobs import MakeJob
from tests.benchagent.preload import eater

pytestmark = pytest.mark.engines
needs_postgresql = pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine")
SHM = Path("/dev/shm")
WAL = {"journal_mode": "WAL", "synchronous": "FULL"}
TABLE = "CREATE TABLE counter (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)"
SCRIPT = """
[setup]
{table};
{setup}
[load counter 100]
id = sequence
n = constant(0)
[transaction count]
\\set id random(1, 100)
{first}
UPDATE counter SET n = n + 1 WHERE id = :id;
"""


def script(*, table: str = TABLE, setup: str = "", first: str = "", **factors: int) -> dict[str, Any]:
    text = SCRIPT.format(table=table, setup=setup, first=first)
    return {"workload": "script", "script_text": text, "terminals": 4, "warm_up_s": 0, "duration_s": 3, **factors}


def statements(job: Any) -> dict[str, Any]:
    item = job.run()
    assert item["outcome"] == "finished", item["message"]
    return item["result"]["durability"]


def classes(told: dict[str, Any]) -> tuple[str, str, str]:
    """That which ranks, the promised one, the observed one."""
    return told["durability"], told["promised"]["durability"], told["observed"]["durability"]


@pytest.fixture
def in_memory(dirs: AgentDirs) -> Iterator[str]:
    if not any(mount.mount_point == str(SHM) and mount.file_system == "tmpfs" for mount in mounts()):
        pytest.skip("no tmpfs at /dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="benchagent-test-memory-", dir=SHM))
    folder.chmod(0o755)
    Storages(dirs).add("memory", folder)
    yield "memory"
    shutil.rmtree(folder)


def test_derby_on_tmpfs_promises_what_its_storage_cannot_hold(make_job: MakeJob, in_memory: str):
    told = statements(make_job("derby", data_storage=in_memory, duration_s=1))
    assert (told["promised"]["durability"], told["storage"]["durability"]) == ("power_loss", "dbms_crash")
    assert told["durability"] == "dbms_crash"
    assert "tmpfs is in the machine's memory" in told["reason"]


@needs_postgresql
@pytest.mark.parametrize(
    ("made", "promised", "words"),
    [
        (script(table=TABLE.replace("CREATE", "CREATE UNLOGGED")), "none", "of the tables 1 of 1 are UNLOGGED"),
        (script(first="SET LOCAL synchronous_commit = off;"), "bounded_loss", "the script sets synchronous_commit"),
    ],
)
def test_a_script_lowers_what_postgresql_promises(made, promised, words, make_job: MakeJob):
    told = statements(make_job("postgresql", **made))
    assert classes(told) == (promised, promised, "dbms_crash")
    assert words in told["reason"]
    assert "most commits did not wait for one" in told["observed"]["reason"]


@needs_postgresql
def test_a_setting_that_nobody_can_read_out_of_the_script_contradicts_what_is_promised(make_job: MakeJob):
    hidden = "SELECT set_config('synchronous_' || 'commit', 'off', true);"
    told = statements(make_job("postgresql", **script(first=hidden)))
    assert classes(told) == ("dbms_crash", "power_loss", "dbms_crash")
    assert "flushes of 4 terminals" in told["observed"]["reason"]
    honest = statements(make_job("postgresql", run_id="honest", **script()))
    assert classes(honest) == ("power_loss", "power_loss", "power_loss")
    assert "each commit can have waited" in honest["observed"]["reason"]


def test_sqlite_may_undo_a_commit_whose_journal_was_removed_from_a_folder_that_was_not_synced(make_job: MakeJob):
    brief = script(duration_s=1, terminals=1)
    told = statements(make_job("sqlite", settings={"journal_mode": "DELETE", "synchronous": "FULL"}, **brief))
    assert told["durability"] == "dbms_crash"
    assert "not the folder from which it removes the journal" in told["reason"]
    extra = {"journal_mode": "DELETE", "synchronous": "EXTRA"}
    assert statements(make_job("sqlite", run_id="extra", settings=extra, **brief))["durability"] == "power_loss"


def test_the_disk_counts_for_an_engine_that_does_not(make_job: MakeJob, dirs: AgentDirs):
    if flush_count(dirs.jobs) is None:
        pytest.skip("the disk beneath the jobs counts no flushes")
    told = statements(make_job("sqlite", settings=WAL, **script()))
    assert classes(told) == ("power_loss", "power_loss", "")
    assert "(the log's disk, whoever asked for them)" in told["observed"]["reason"]


def test_a_library_that_swallows_syncs_is_found_and_contradicts_what_is_promised(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
):
    library = eater()
    clean = Children.environment
    monkeypatch.setattr(
        Children, "environment", lambda self, **more: clean(self, **{"LD_PRELOAD": str(library), **more})
    )
    told = statements(make_job("sqlite", settings=WAL, **script(duration_s=1)))
    assert classes(told) == ("dbms_crash", "power_loss", "dbms_crash")
    assert told["observed"]["reason"].startswith(f"{library.name} in java")
