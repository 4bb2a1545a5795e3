"""The one splitter of command lines, and what each importer's table makes of one."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchagent import importers
from benchagent.importers.commands import Commands, words_of
from benchagent.importers.source import Lines, SourceFile, seconds_of, size_bytes_of

from tests.benchagent.importers.samples import reports, sample

TOOL = Commands(
    ("minibench",),
    numbers={"-c --clients": "terminals", "--time": "duration_s", "--size": "size_bytes"},
    texts={"--ratio": "ratio", "-h": ""},
    switches={"-C --connect": "connect_per_transaction", "-S": "script=select-only", "-n -v": ""},
    either={"--warm": "warm_up"},
)


@pytest.mark.parametrize(
    "command",
    [
        "minibench -c 4 --ratio=1:10 run", "minibench -c4 --ratio 1:10", "minibench --clients=4 --ratio=1:10 > o -c 9",
        "minibench -nvc4 -h db1 --ratio '1:10' | tee -c 9", "minibench -c 4 --ratio \"1:10\"; minibench -c 9",
        "minibench -nhdb1 -c=4 --ratio 1:10 # first -c 9", "minibench -c 1 -c 4 --ratio 1:10 && echo -c 9",
    ],
)  # fmt: skip
def test_it_reads_options_however_they_are_written(command):
    assert TOOL.parameters([command]) == {"terminals": 4, "ratio": "1:10"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("-SC", {"script": "select-only", "connect_per_transaction": True}),
        ("--connect=false", {"connect_per_transaction": False}),
        ("--warm -c 2", {"warm_up": True, "terminals": 2}),
        ("--warm 5 -c 2", {"warm_up": 5, "terminals": 2}),
        ("--time 1h30m --size=8K", {"duration_s": 5400, "size_bytes": 8192}),
        ("-c $N --time <seconds> --ratio ${R}", {}),
        ("-c N", {}),
        ("--new-option 3 --other=a --host=db1 --password=s", {"new_option": 3, "other": "a"}),
    ],
)
def test_it_makes_factors_of_options(options, told):
    assert TOOL.parameters([f"minibench {options}"]) == told


@pytest.mark.parametrize(
    "line",
    [
        "minibench -c 4", "$ minibench -c 4", "root@db1:~/minibench# /opt/minibench -c 4", "+ minibench -c 4",
        "sudo time minibench -c 4", "docker exec -it db minibench -c 4", "kubectl exec pod/db -- minibench -c 4",
        "docker run --name minibench --rm bench/minibench -c 4", "sh -c 'minibench -c 4'",
        "C:\\bin\\minibench.exe -c 4",
        'ssh db1 "minibench -c 4"', "PGHOST=db1 minibench -c 4",
    ],
)  # fmt: skip
def test_it_finds_a_call_behind_whatever_calls_it(line):
    command = TOOL.find(line)
    assert command.startswith("minibench") and TOOL.parameters([command]) == {"terminals": 4}


@pytest.mark.parametrize("line", ["minibench is fast", "minibench", "see minibench (8 clients)", "x" * 5000])
def test_it_takes_no_prose_for_a_call(line):
    assert TOOL.find(line) == ""


def test_it_keeps_what_stands_in_quotes_together():
    assert words_of("x --query='SELECT 1; SELECT 2' -a \"b | c\" d\\ e; y") == [
        "x", "--query=SELECT 1; SELECT 2", "-a", "b | c", "d e",
    ]  # fmt: skip
    assert words_of("x -c 'never closed") == ["x", "-c", "'never", "closed"]


def test_it_joins_lines_and_keeps_their_numbers():
    file = SourceFile("x", b"a\nfio --bs=4k \\\n  --rw=write \\\n> --size=1g\nb\n")
    assert [(line.number, line.text) for line in Lines(file) if line.text] == [
        (1, "a"), (2, "fio --bs=4k --rw=write --size=1g"), (5, "b"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "name", "command", "told"),
    [
        ("fio", "seqwrite.txt", "fio --name=seqw --fsync=1 --size=1g", {"fsync_every": 1, "size_bytes": 1 << 30}),
        ("pgbench", "v15_tpcb_progress_statements.txt", "pgbench -Snc 4 -D size=10", {"variable_size": 10}),
        ("sysbench", "v10_read_write.txt", "sysbench oltp_read_write --table-size=100 run", {"table_size_rows": 100}),
        ("ycsb", "run_0_17_jdbc.txt", 'bin/ycsb run jdbc -p "fieldcount=10" -p x=1', {"fields": 10, "x": 1}),
        (
            "described",
            "cassandra-stress.txt",
            "cassandra-stress write n=500 cl=QUORUM",
            {"consistency_level": "QUORUM"},
        ),
    ],
)
def test_it_reads_a_command_over_several_lines_for_every_importer(tool, name, command, told):
    broken = command.replace(" ", " \\\n  ", 3)
    (report,) = reports("x", f"$ docker run --rm img {broken}\n".encode() + sample(tool, name))
    assert told.items() <= report.parameters.items()


def test_no_importer_splits_command_lines_itself():
    folder = Path(importers.__file__).parent
    texts = {path.name: path.read_text() for path in folder.rglob("*.py") if path.name != "commands.py"}
    assert [name for name, text in texts.items() if "shlex" in text or "command.split(" in text] == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5 h", 5400), ("1m24.17s", 84.17), ("424.77ms", 0.42477), ("312.5µs", 0.0003125), ("10 m", 600),
     ("abc", None), ("", None), ("1x", None), ("-5", None)],
)  # fmt: skip
def test_it_reads_spans_of_time(text, seconds):
    assert seconds_of(text) == (None if seconds is None else pytest.approx(seconds))


def test_it_reads_sizes_told_in_two_ways_as_one():
    assert {size_bytes_of(text) for text in ("8192", "8K", "8k", "8KiB", "8 kb")} == {8192}
    assert size_bytes_of("10%") is None
