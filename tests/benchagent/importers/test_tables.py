"""The reader that all text reports share, tried on a tool of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from benchagent.importers.pgbench import logs
from benchagent.importers.report import Report, Status, measured, unit_of
from benchagent.importers.series import grid_of
from benchagent.importers.source import Line, Lines, NotUnderstood, SourceFile
from benchagent.importers.tables import Figures, Table

from tests.benchagent.importers.samples import sample

TABLE = Table(
    "minibench",
    ("version", "minibench {version:token}"),
    ("mode", "mode: {mode:simple|prepared}[ {note:rest}]"),
    ("transactions", "transactions: {transactions:int} ({tps:num} per sec.)"),
    ("latency", "{mean|average} latency: {latency_avg_ms:time}", r"(?:mean|average) latency"),
    ("#end", "done"),
)
EXAMPLE = Path(__file__).parents[3] / "docs/extend/example-plugin/benchsite_example/minibench.py"
LOOSE = Table("minibench", ("rows", "{rows:int} rows"), strict=False)


def figures(*texts: str) -> Figures:
    read = Figures(1)
    with Lines(SourceFile("x", "\n".join([*texts, ""]).encode())) as lines:
        for line in lines:
            match = TABLE.match(line)
            assert match is not None
            read.add(line, match)
    return read


def test_it_reads_a_line_as_the_table_writes_it() -> None:
    read = figures("mode: prepared", "transactions:   120 (12.5 per sec.)", "average latency: 3.1ms", "done")
    assert read.values == {"mode": "prepared", "transactions": 120, "tps": 12.5, "latency_avg_ms": 3.1}
    assert [*read.rows] == ["mode", "transactions", "latency", "#end"]


def test_it_passes_over_what_is_of_something_else() -> None:
    assert TABLE.match(Line(1, "some other words: 5")) is None
    assert LOOSE.match(Line(1, "5 columns")) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("transactions: 120 (12,5 per sec.)", "line 7: a decimal comma may mean two things"),
        ("transactions: 120 per sec.", "line 7: not a wording or number that minibench prints"),
        ("mode: fast", "line 7: not a wording or number that minibench prints"),
    ],
)
def test_it_refuses_a_damaged_line_and_names_it(text: str, why: str) -> None:
    with pytest.raises(NotUnderstood, match=why):
        figures(*["mode: simple"] * 6, text)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("transactions: 120 (12.5 per sec.)", False), ("transactions: 12", True), ("average latency: 3", True),
        ("average latency: 3.1ms", False), ("minibench 1.", True), ("done", False),
    ],
)  # fmt: skip
def test_it_takes_a_last_line_only_where_its_form_shows_that_it_is_whole(text: str, cut: bool) -> None:
    match = TABLE.match(Line(1, text, whole=False))
    assert match is not None
    assert match.cut is cut


def test_of_a_last_line_whose_last_value_may_go_on_it_takes_the_others() -> None:
    match = TABLE.match(Line(1, "mode: simple and mo", whole=False))
    assert match is not None
    assert (match.cut, match.values) == (False, {"mode": "simple"})


def test_it_takes_a_line_twice_but_no_other_one_and_none_too_late() -> None:
    assert figures("mode: simple", "mode: simple").values == {"mode": "simple"}
    with pytest.raises(NotUnderstood, match=r"line 2: .* an earlier line something else"):
        figures("mode: simple", "mode: prepared")
    with pytest.raises(NotUnderstood, match="line 2: out of order"):
        figures("transactions: 1 (1 per sec.)", "mode: simple")


def test_it_knows_units_by_the_end_of_a_name() -> None:
    assert unit_of("new_order_latency_p95_ms") == ("ms", "lower")
    assert (measured("script_1_tps", 5.0).unit, measured("elapsed_s", 1.0, better="lower").better) == ("TPS", "lower")
    with pytest.raises(KeyError):
        unit_of("furlongs")


def test_it_lays_samples_on_a_grid_that_was_told() -> None:
    grid = grid_of([1.0, 3.0], interval_s=1.0)
    assert (grid.t0_s, grid.interval_s, grid.values([5.0, 6.0])) == (0.0, 1.0, (5.0, None, 6.0))
    with pytest.raises(NotUnderstood, match="does not lie on a grid of 2 s"):
        grid_of([2.0, 5.0], interval_s=2.0)


def test_it_works_something_out_of_a_file_once() -> None:
    file = SourceFile("x", sample("pgbench", "v15_transactions.4242"))
    assert logs.log_of(file) is logs.log_of(file)
    asked: list[int] = []
    assert [file.once("asked", lambda: asked.append(1) or len(asked)) for _ in range(3)] == [1, 1, 1]


MINIBENCH = """$ minibench run
minibench 2.1
clients: 4
transactions: 120 (11.98 per sec.)
average latency: 8.3 ms
done in 10.01 s
"""


def minibench() -> ModuleType:
    """The tool that the docs add."""
    module = ModuleType("minibench")
    sys.modules["minibench"] = module
    exec(EXAMPLE.read_text(), module.__dict__)
    return module


def test_it_reads_the_tool_that_the_docs_add() -> None:
    tool = minibench()
    file = SourceFile("x", MINIBENCH.encode())
    (report,) = tool.read(file)
    assert tool.claims(file)
    assert (report.status, report.tool_version, report.parameters) == ("complete", "2.1", {"terminals": 4})
    assert (report.metric("tps"), report.metric("latency_avg_ms"), report.metric("elapsed_s")) == (11.98, 8.3, 10.01)
    two = tool.read(SourceFile("x", (MINIBENCH + MINIBENCH.replace("11.98", "11,98")).encode()))
    assert [(one.status, one.metric("tps")) for one in two] == [("complete", 11.98), ("not_understood", None)]
    (cut,) = tool.read(SourceFile("x", MINIBENCH[:-8].encode()))
    assert (cut.status, cut.metric("elapsed_s")) == ("aborted", None)
    with pytest.raises(NotUnderstood, match=r"line 2: transactions by time are not 12.98 a second"):
        tool.read(SourceFile("x", MINIBENCH.replace("11.98", "12.98").encode()))


def test_it_leaves_out_a_last_line_that_may_be_cut_unless_asked() -> None:
    file = SourceFile("x", b"one\ntwo")
    assert [line.text for line in Lines(file)] == ["one"]
    assert list(Lines(file, with_cut=True)) == [Line(1, "one"), Line(2, "two", whole=False)]


def test_no_secret_gets_into_a_report() -> None:
    told = "jdbc:postgresql://u:hunter2@host/db"
    report = Report(
        "x", Status.FAILED, reason=told, warnings=(told, told), command_lines=(told,), parameters={"url": told, "n": 1}
    )
    assert "hunter2" not in str(report)
    assert (len(report.warnings), report.parameters["n"]) == (1, 1)
