"""The backup workload on a bench without a DBMS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands, ToolCommand
from benchagent.dbms.base import JobError
from benchagent.dbms.counters import EngineCounters, IndexFacts, QueryRows, TableFacts
from benchagent.dbms.dialect import Dialect
from benchagent.machine.sampling import DiskCounters
from benchagent.workloads import backup
from benchagent.workloads.backup import WORKLOAD, dataset
from benchagent.workloads.base import Observe, ToolResult

from tests.benchagent.workloads.fake_bench import FakeBench

ROWS = dataset.tables(10)


class Copying(BackupMethod):
    """Two tools, of which the second leaves the backup."""

    slug = "copying"
    label = "copying"
    options = ("verbose",)

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.asked: dict[str, str] = {}

    def check(self, options: Options) -> None:
        self.calls.append("check")

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        self.asked = dict(options)
        return [ToolCommand(["prepare"]), ToolCommand(["copy", target])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [ToolCommand(["restore", source, scratch])]

    def prepare(self, scratch: Path) -> Sequence[Action]:
        return [ToolCommand(["repair", scratch])]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:made-up:{scratch}"

    def open_restored(self, source: Path, scratch: Path) -> Callable[[], None]:
        self.calls.append("open")
        return lambda: self.calls.append("close")

    def discard(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [ToolCommand(["discard"])]

    def cancel(self) -> None:
        self.calls.append("cancel")


class BySql(BackupMethod):
    slug = "by_sql"
    label = "by SQL"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        target.write_bytes(b"x" * 2000)
        return [SqlCommands([f"BACKUP TO '{target}'"])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [SqlCommands(["RESTORE"])]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return "jdbc:made-up:restored"


class Told(EngineCounters):
    """Of an engine that counts in the way that is given."""

    def __init__(self, plan: str) -> None:
        self._plan = plan

    def plan_queries(self, sql: str) -> Sequence[str]:
        return (f"EXPLAIN {sql}",)

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        return self._plan

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {"sizes": "SELECT sizes"}

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        return [IndexFacts("BIG_PARENT", "BIG")]

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        return [TableFacts("BIG", size_bytes=3_000_000), TableFacts("MIDDLE_1")]


class BackupBench(FakeBench):
    """Its tools take 1 s and make a backup of 2,000 bytes, its statements take half a second."""

    def __init__(self, folder: Path, *, tables: dict[str, int] | None = None, **more: Any) -> None:
        factors = {"dataset_mb": 10, **more.pop("factors", {})}
        counted = {name: [[count]] for name, count in {**ROWS, **(tables or {})}.items()}
        self.method = Copying()
        rows = {"count": [[ROWS["big"]]], **counted, **more.pop("rows", {})}
        super().__init__(WORKLOAD, factors, rows=rows, elapsed_s=0.5, **more)
        self.data_dir = folder / "data"
        self.backup_dir = folder / "backup"
        self.temp_dir = folder / "temp"
        for made in (self.data_dir, self.backup_dir, self.temp_dir):
            made.mkdir()
        self.instance.backup_methods = lambda: (self.method, BySql())
        self.tools: list[str] = []
        self.fails = ""

    def tool(self, command: ToolCommand, *, phase: str, timeout_s: float, observe: Observe | None = None) -> ToolResult:
        if observe is not None:
            observe(4711)
        name = str(command.argv[0])
        self.tools.append(f"{phase}: {name}")
        if name == self.fails:
            raise JobError(f"{name} ended with 1")
        if name == "copy":
            Path(command.argv[1]).write_bytes(b"x" * 2000)
        return ToolResult(1.0, "")

    def failed(self) -> list[str]:
        return [check["name"] for check in self.checks if not check["ok"]]


@pytest.fixture
def bench(tmp_path: Path) -> BackupBench:
    return BackupBench(tmp_path)


def test_the_data_set_is_the_articles_scaled():
    tables = dataset.tables(2_700)
    assert len(tables) == 150
    assert list(tables.items())[:3] == [("big", 14_000_000), ("middle_1", 1_500_000), ("middle_2", 1_100_000)]
    assert sum(tables.values()) * dataset.RECORD_BYTES == pytest.approx(2.7e9, rel=0.001)
    assert tables["big"] * dataset.RECORD_BYTES == pytest.approx(1.9e9)
    assert len(dataset.indexes(Dialect(), tables)) == 300
    assert dataset.tables(270)["big"] == 1_400_000
    assert min(dataset.tables(10).values()) >= 1


def test_every_table_is_created_and_filled_with_what_it_has(bench: BackupBench):
    WORKLOAD.perform(bench)
    create, load, index = bench.sessions[0]
    assert (len(create["statements"]), len(load["tables"]), len(index["statements"])) == (150, 150, 300)
    assert {table["name"]: table["rows"] for table in load["tables"]} == ROWS
    for table in load["tables"]:
        assert table["insert"].count("?") == len(table["columns"]) == 6


def test_the_backup_is_timed_as_a_whole_sized_restored_and_counted(bench: BackupBench):
    WORKLOAD.perform(bench)
    assert bench.tools == ["backup: prepare", "backup: copy", "restore: restore", "prepare: repair", "discard: discard"]
    assert bench.method.calls == ["check", "open", "close"]
    assert bench.metrics["backup_s"] == 2.0
    assert bench.metrics["backup_bytes"] == 2000
    assert bench.metrics["backup_mb_per_s"] == 0.001
    assert bench.metrics["backup_data_mb_per_s"] == 2.5
    assert bench.metrics["restore_s"] == 2.0
    assert bench.metrics["prepare_s"] == 1.0
    assert bench.metrics["count_s"] == 0.5
    assert [check["name"] for check in bench.checks] == ["backup_made", "rows_counted", "restored"]
    assert bench.failed() == []
    assert bench.checks[-1]["detail"] == f"restored and counted: 150 tables, {sum(ROWS.values())} rows"
    assert "backup_storage" in bench.conditions


@pytest.mark.parametrize(
    ("plan", "rate"), [("SCAN big", 6.0), ("SCAN big USING COVERING INDEX big_parent", None), ("", None)]
)
def test_the_count_has_a_rate_where_the_engine_read_the_table(tmp_path: Path, plan: str, rate: float | None):
    bench = BackupBench(tmp_path, rows={"plan:0": [["as it is"]], "schema:sizes": [["as they are"]]})
    bench.instance.engine_counters = Told(plan)
    WORKLOAD.perform(bench)
    assert bench.metrics.get("count_mb_per_s") == rate
    (query,) = bench.described["queries"]
    assert query == {
        "query": "count",
        "state": "warm",
        "sql": "SELECT COUNT(*) FROM big",
        "plan": plan,
        "elapsed_s": 0.5,
        "count": ROWS["big"],
    }


def test_an_engine_that_tells_nothing_has_no_rate_of_the_count(bench: BackupBench):
    WORKLOAD.perform(bench)
    assert "count_mb_per_s" not in bench.metrics


def test_a_backup_by_sql_is_sampled_as_one_by_a_tool(tmp_path: Path):
    bench = BackupBench(tmp_path, factors={"method": "by_sql"})
    WORKLOAD.perform(bench)
    assert bench.metrics["backup_s"] == 0.5
    assert bench.watched == ["backup", "count", "restore"]
    assert bench.urls == ["jdbc:made-up:restored"]


class Counting(EngineCounters):
    """Of an engine with a checkpoint between two looks at its counter."""

    none = {"deadlocks": "it has no locks"}

    def __init__(self) -> None:
        self._looks = 0

    def counter_queries(self) -> dict[str, str]:
        return {"all": "SELECT counters"}

    def counters(self, rows: QueryRows) -> dict[str, float]:
        self._looks += 1
        return {"checkpoints": float(self._looks)}

    def maintenance_queries(self, tables: Sequence[str]) -> dict[str, str]:
        return {"ages": "SELECT ages"}


@pytest.mark.parametrize(
    ("caches", "looks", "words"),
    [
        ("warm", 2, "1 checkpoint from just before the backup to just after it"),
        (
            "cold",
            2,
            "1 checkpoint from just before the backup to just after it; the look before it has read the engine's "
            "catalogue",
        ),
    ],
)
def test_a_backup_says_how_many_checkpoints_fell_into_it_and_how_old_statistics_were(
    tmp_path: Path, caches: str, looks: int, words: str
):
    bench = BackupBench(tmp_path, rows={"counters:all": [[1]]}, factors={"cache_state": caches})
    bench.instance.engine_counters = Counting()
    WORKLOAD.perform(bench)
    assert bench.conditions["checkpoints"] == words
    asked = [step["name"] for steps in bench.sessions for step in steps if step["op"] == "query"]
    assert asked.count("counters:all") == looks
    assert asked[0] == "maintenance:ages"
    assert bench.described["none"] == Counting.none


def test_an_engine_that_does_not_count_checkpoints_is_not_asked(bench: BackupBench):
    bench.instance.engine_counters.none = {"checkpoints": "it has no log"}
    WORKLOAD.perform(bench)
    assert bench.conditions["checkpoints"].endswith(": it has no log")


def test_data_that_are_there_are_not_loaded_again(tmp_path: Path):
    bench = BackupBench(tmp_path, data_missing=False)
    WORKLOAD.perform(bench)
    assert "data_loaded" not in bench.calls
    assert bench.phases() == ["count"]


def test_caches_are_as_asked_for_before_the_backup_and_before_the_count(bench: BackupBench, monkeypatch):
    """What the check of the way reads is not to be found in them."""
    monkeypatch.setattr(bench.method, "check", lambda options: bench.calls.append("check"))
    WORKLOAD.perform(bench)
    first = bench.calls.index("backup by copying")
    assert bench.calls[:first] == ["session", "data_loaded", "check", "before_run", "write_back data backup"]
    assert bench.calls[first + 1 : first + 4] == ["write_back backup", "before_run count", "session"]


def test_a_backup_is_brought_to_its_disk_and_timed_so_beside_the_time_of_its_tool(bench: BackupBench):
    WORKLOAD.perform(bench)
    assert bench.metrics["backup_s"] == 2.0
    assert bench.metrics["backup_synced_s"] == 2.25


def test_a_backup_tells_what_its_disks_have_read_and_written(bench: BackupBench, monkeypatch: pytest.MonkeyPatch):
    looks = iter(range(0, 4000, 1000))
    monkeypatch.setattr(backup, "device_of", lambda path: f"disk of {path.name}")
    monkeypatch.setattr(backup, "disk_counters", lambda device: DiskCounters(0, at := next(looks), 0, 3 * at, 0))
    WORKLOAD.perform(bench)
    assert (bench.metrics["backup_read_bytes"], bench.metrics["backup_written_bytes"]) == (2000, 6000)
    read, written = bench.conditions["backup_disks"].split(";")
    assert "disk of data" in read and "disk of backup" in written


def test_what_is_not_known_of_the_disks_is_said(bench: BackupBench, monkeypatch: pytest.MonkeyPatch):
    bench.instance.elsewhere = "on a server of others"
    monkeypatch.setattr(backup, "device_of", lambda path: "overlay")
    WORKLOAD.perform(bench)
    assert not {"backup_read_bytes", "backup_written_bytes"} & bench.metrics.keys()
    assert bench.conditions["backup_disks"].count("not known") == 2


def test_what_another_repeat_of_the_cell_has_proven_is_not_proven_again(bench: BackupBench):
    bench.verified_in_repeat = 2
    WORKLOAD.perform(bench)
    assert bench.tools == ["backup: prepare", "backup: copy"]
    assert "restore_s" not in bench.metrics
    assert "repeat 2" in bench.conditions["verified"]


def test_a_run_says_whether_its_backup_was_verified(tmp_path: Path, bench: BackupBench):
    WORKLOAD.perform(bench)
    assert bench.conditions["verified"] == "restored and verified in this run"
    (tmp_path / "more").mkdir()
    failing = BackupBench(tmp_path / "more")
    failing.fails = "copy"
    with pytest.raises(JobError):
        WORKLOAD.perform(failing)
    assert failing.conditions["verified"] == "not verified"


def test_an_unknown_method_is_refused_with_the_known_ones(tmp_path: Path):
    bench = BackupBench(tmp_path, factors={"method": "gbak"})
    with pytest.raises(JobError, match=r"'gbak'.*: copying, by_sql"):
        WORKLOAD.perform(bench)
    assert bench.sessions == []


def test_an_engine_without_any_method_is_told(bench: BackupBench):
    bench.instance.backup_methods = lambda: ()
    with pytest.raises(JobError, match="there are: none"):
        WORKLOAD.perform(bench)


def test_verbose_is_handed_on_and_refused_where_it_is_not_known(tmp_path: Path, bench: BackupBench):
    WORKLOAD.perform(bench)
    assert bench.method.asked == {"verbose": "off"}
    (tmp_path / "more").mkdir()
    more = BackupBench(tmp_path / "more", factors={"verbose": "on"})
    WORKLOAD.perform(more)
    assert more.method.asked == {"verbose": "on"}
    (tmp_path / "other").mkdir()
    other = BackupBench(tmp_path / "other", factors={"verbose": "on", "method": "by_sql"})
    with pytest.raises(JobError, match="backup method by_sql knows no verbose"):
        WORKLOAD.perform(other)


def test_parallel_jobs_are_handed_on_and_refused_where_they_are_not_known(tmp_path: Path, bench: BackupBench):
    bench.factors = bench.factors.replaced(jobs=3)
    with pytest.raises(JobError, match="backup method copying knows no jobs"):
        WORKLOAD.perform(bench)
    bench.method.options = ("jobs",)
    WORKLOAD.perform(bench)
    assert bench.method.asked == {"verbose": "off", "jobs": "3"}
    for wrong in (-1, 65):
        with pytest.raises(JobError, match=r"Parallel jobs of the tool must be between 0 and 64"):
            WORKLOAD.factors({"jobs": wrong})


@pytest.mark.parametrize("tool", ["prepare", "copy"])
def test_a_backup_that_fails_is_ended_on_the_server_too(bench: BackupBench, tool: str):
    bench.fails = tool
    with pytest.raises(JobError, match=f"{tool} ended with 1"):
        WORKLOAD.perform(bench)
    assert bench.method.calls == ["check", "cancel"]
    assert "backup_s" not in bench.metrics


def test_what_stopped_the_backup_is_told_and_not_what_went_wrong_then(bench: BackupBench, monkeypatch):
    def cancel() -> None:
        raise RuntimeError("the server is gone")

    bench.fails = "copy"
    monkeypatch.setattr(bench.method, "cancel", cancel)
    with pytest.raises(JobError, match="copy ended with 1"):
        WORKLOAD.perform(bench)


def test_a_restored_database_is_closed_whatever_happens(bench: BackupBench):
    bench.breaks_at_url = True
    with pytest.raises(JobError, match="cannot be opened"):
        WORKLOAD.perform(bench)
    assert bench.method.calls == ["check", "open", "close"]
    assert bench.tools[-1] == "discard: discard"


def test_a_table_with_fewer_rows_than_were_loaded_fails_the_run(tmp_path: Path):
    bench = BackupBench(tmp_path, tables={"middle_1": 7, "small_147": 0})
    WORKLOAD.perform(bench)
    assert bench.failed() == ["restored"]
    assert bench.conditions["verified"] == "restored, and it is wrong"
    detail = bench.checks[-1]["detail"]
    assert f"middle_1 7 instead of {ROWS['middle_1']}, small_147 0 instead of {ROWS['small_147']}" in detail


def test_a_count_that_differs_fails_the_run(tmp_path: Path):
    bench = BackupBench(tmp_path, rows={"count": [[ROWS["big"] - 1]]})
    WORKLOAD.perform(bench)
    assert bench.failed() == ["rows_counted"]


def test_an_empty_backup_fails_the_run(bench: BackupBench, monkeypatch):
    monkeypatch.setattr(bench.method, "backup", lambda target, options: [ToolCommand(["prepare"])])
    WORKLOAD.perform(bench)
    assert bench.failed() == ["backup_made"]


def test_a_database_in_memory_has_nothing_to_back_up(tmp_path: Path):
    with pytest.raises(JobError, match="a database in memory leaves nothing to back up"):
        WORKLOAD.perform(BackupBench(tmp_path, in_memory=True))


class Pretending(Copying):
    """It says that it is local, and its tools are seen to go over TCP."""

    def observe(self, pid: int) -> Sequence[str]:
        return [f"tcp 127.0.0.1:{pid}"]

    def honest(self, trace: Sequence[str]) -> str:
        return f"a local backup went over TCP: {trace[0]}" if trace else ""


def test_a_backup_that_was_not_what_it_claims_to_be_is_refused(bench: BackupBench):
    bench.method = Pretending()
    with pytest.raises(JobError, match=r"over TCP: tcp 127.0.0.1:4711"):
        WORKLOAD.perform(bench)
    assert "backup_s" not in bench.metrics and "backup_way" not in bench.conditions


def test_a_backup_says_which_way_it_was_seen_to_go(bench: BackupBench, monkeypatch):
    monkeypatch.setattr(bench.method, "observe", lambda pid: [f"process {pid}"])
    monkeypatch.setattr(bench.method, "way", lambda trace: f"seen by {len(trace)} looks")
    WORKLOAD.perform(bench)
    assert bench.conditions["backup_way"] == "seen by 2 looks"
