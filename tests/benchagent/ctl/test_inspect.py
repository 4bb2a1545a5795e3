from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchagent.ctl.cli import main

DATA = Path(__file__).parent.parent / "importers" / "data"


def entries(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_it_shows_what_was_understood_without_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "--json", str(DATA / "fio" / "randrw.json")]) == 0
    (entry,) = entries(capsys)
    assert {"file", "tool", "tool_version", "status", "parameters", "metrics", "series", "warnings"} <= entry.keys()
    assert (entry["file"], entry["tool"], entry["status"]) == ("randrw.json", "fio", "complete")


def test_it_ends_with_1_when_something_was_not_understood(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / "notes.txt"
    odd.write_text("nothing of interest\n")
    assert main(["inspect", str(odd), str(DATA / "gbak" / "backup_verbose.txt")]) == 1
    words = capsys.readouterr().out
    assert "notes.txt: not understood" in words
    assert "backup_size_bytes" in words
    assert words.rstrip().endswith("2 files: 1 complete, 1 not understood")


def test_it_walks_a_folder_and_joins_the_files_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(DATA / "benchbase")]) == 0
    words = capsys.readouterr().out
    assert "more files of the same run" in words and "part of" not in words
    assert main(["inspect", "-v", str(DATA / "benchbase")]) == 0
    assert "part of tpcc_2025-11-21_08-05-45.summary.json" in capsys.readouterr().out


def test_it_says_first_what_counts(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(DATA / "sysbench" / "v10_read_write.txt")
    assert main(["inspect", file]) == 0
    first, result, factors, *rest = capsys.readouterr().out.splitlines()
    assert first == "v10_read_write.txt: sysbench 1.0.20 · complete"
    assert result.split() == ["result", "tps", "970.990", "TPS,", "latency_p95_ms", "3.550", "ms"]
    assert factors.split() == ["factors", "terminals=4"]
    assert not any("reconnects" in line for line in rest) and rest[-2].endswith("(-v)")
    assert main(["inspect", "-v", file]) == 0
    words = capsys.readouterr().out
    assert "reconnects" in words and "latency_p95_ms (6 × 1 s)" in words


def test_it_keeps_files_of_the_same_name_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.json").write_bytes((DATA / "fio" / "randrw.json").read_bytes())
    assert main(["inspect", "--json", str(tmp_path / "a" / "x.json"), str(tmp_path / "b" / "x.json")]) == 0
    assert [entry["file"] for entry in entries(capsys)] == ["a/x.json", "b/x.json"]


def test_it_recognises_result_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "results.json"
    document = {"schema_version": 1, "workload": {"slug": "tpcb"}, "factors": {"x": 1}, "note": "long line " * 10_000}
    file.write_text(json.dumps({"results": [document]}))
    assert main(["inspect", "--json", str(file)]) == 0
    (entry,) = entries(capsys)
    assert (entry["tool"], entry["parameters"]) == ("result document", {"x": 1})


def test_it_names_a_path_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "/nowhere/x"]) == 2
    assert "/nowhere/x: no such file or folder" in capsys.readouterr().err
