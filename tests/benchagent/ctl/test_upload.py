from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from benchagent.ctl import uploading
from benchagent.ctl.cli import main
from benchagent.ctl.output import how_far
from benchagent.link.client import Unreachable

from .fake_api import FakeApi

DATA = Path(__file__).parent.parent / "importers" / "data"
FIO = str(DATA / "fio" / "randrw.json")


def test_it_sends_files_and_stores_them_with_what_was_said(
    logged_in: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conf = tmp_path / "postgresql.conf"
    conf.write_text("shared_buffers = 1GB\nprimary_conninfo = 'host=a password=swordfish'\n")
    options = [
        "--hardware", "box", "--dbms", "PostgreSQL 15.14", "--config", str(conf), "--workload", "fio-randrw",
        "--storage", "data=nvme0", "--storage", "log=sda", "--visibility", "private", "--note", "nightly",
        "--label", "patched", "--tag", "ssd", "--tag", "night", "--commit", "1a2b3c4d", "--branch", "main",
    ]  # fmt: skip
    assert main(["upload", FIO, str(DATA / "fio" / "logs_bw.1.log"), *options, "--json"]) == 0
    (stored,) = logged_in.imports.values()
    assert stored["names"] == ["randrw.json", "logs_bw.1.log"]
    said: dict[str, Any] = stored["subject"]
    assert said.pop("config")["files"][0]["name"] == "postgresql.conf"
    assert said == {
        "hardware": "box", "dbms": {"name": "PostgreSQL", "version": "15.14"}, "workload": {"slug": "fio-randrw"},
        "storage": [{"role": "data", "device": "nvme0"}, {"role": "log", "device": "sda"}], "visibility": "private",
        "note": "nightly", "label": "patched", "tags": ["ssd", "night"],
        "tested": {"commit": "1a2b3c4d", "branch": "main"},
    }  # fmt: skip
    assert "swordfish" not in repr(logged_in.requests)
    (outcome,) = json.loads(capsys.readouterr().out)
    assert (outcome["state"], len(outcome["runs"])) == ("stored", 1)


def test_a_disk_that_the_machine_does_not_have_is_said_with_its_medium(
    logged_in: FakeApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seen: "An object with its facts adds one", which no option could say."""
    refusal = (400, {"storage[0].device": ["This machine has no device hdd0."]})
    store = logged_in._store
    monkeypatch.setattr(logged_in, "_store", lambda key, body: refusal)
    assert main(["upload", FIO, "--hardware", "box", "--storage", "data=hdd0"]) == 1
    assert "--storage ROLE=DEVICE[:MEDIUM] adds a device, as data=hdd0:hdd" in capsys.readouterr().err
    monkeypatch.setattr(logged_in, "_store", store)

    assert main(["upload", FIO, "--hardware", "box", "--storage", "data=hdd0:hdd", "--storage", "log=sda"]) == 0

    (stored,) = logged_in.imports.values()
    disk = {"role": "data", "device": {"name": "hdd0", "medium": "hdd"}}
    assert stored["subject"]["storage"] == [disk, {"role": "log", "device": "sda"}]
    assert "1 file stored" in capsys.readouterr().err


def test_each_file_without_a_day_has_that_of_its_last_change(
    logged_in: FakeApi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Was: all of them that of the last one; and of a log that says its start the server refused the other day."""
    real, names = uploading.send_files, ("a.json", "b.json", "c.json")
    said = {
        "items": [{"file": "c.json", "started_at": "2025-11-24T16:00:00Z", "status": "complete"}],
        "files": [{"name": name} for name in names],
    }
    monkeypatch.setattr(uploading, "send_files", lambda *sent: real(*sent) | said)
    for day, name in enumerate(names):
        (tmp_path / name).write_bytes(Path(FIO).read_bytes())
        os.utime(tmp_path / name, (day * 86_400, day * 86_400))
    paths = [str(tmp_path / name) for name in names]
    assert main(["upload", *paths, "--hardware", "box", "--measured-on", "mtime"]) == 0
    (stored,) = logged_in.imports.values()
    assert stored["subject"]["files"] == {
        "a.json": {"measured_on": "1970-01-01"}, "b.json": {"measured_on": "1970-01-02"}
    }  # fmt: skip
    assert "measured_on" not in stored["subject"]


def test_it_sends_the_description_of_a_tool_with_an_example_before_the_files(
    logged_in: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool, output = tmp_path / "tool.yaml", tmp_path / "out.txt"
    tool.write_text(
        "tool: minibench\nlines:\n  - minibench {version:token}\n  - '{tps:num} a second'\nmetrics: [tps]\n"
    )
    output.write_text("minibench 1.0\n12.5 a second\n")
    assert main(["upload", str(output), "--tool", str(tool), "--hardware", "box"]) == 0
    assert logged_in.sent("POST", "/tools/") == [{"text": tool.read_text(), "example": output.read_text()}]
    assert [path for verb, path, *_ in logged_in.requests if verb == "POST"][:2] == ["/tools/", "/imports/"]
    assert main(["inspect", "--tool", str(tool), str(output)]) == 0
    assert "12.500 TPS" in capsys.readouterr().out
    tool.write_text("tool: minibench\n")
    assert main(["inspect", "--tool", str(tool), str(output)]) == 2
    assert "lines: a list of 2" in capsys.readouterr().err


def test_it_says_what_is_missing_and_where_to_complete_it(
    logged_in: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["upload", FIO]) == 1
    captured = capsys.readouterr()
    assert "hardware: Say on which machine" in captured.err
    assert f"{logged_in.url}/imports/" in captured.err
    assert "incomplete" in captured.out


def test_what_a_server_without_the_plug_in_does_not_understand_cannot_be_completed(
    logged_in: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seen: "complete it at", where there is nothing to complete; and of a damaged file that the server lacked what
    reads it.
    """
    logged_in.items = [{"file": "fio.json", "status": uploading.NOT_UNDERSTOOD, "reason": "no importer knows it"}]
    assert main(["upload", FIO]) == 1
    captured = capsys.readouterr()
    assert "not understood" in captured.out
    assert "fio.json: no importer knows it" in captured.err
    assert f"the server makes no result of them, as it says there, too: {logged_in.url}" in captured.err
    assert "complete it" not in captured.err


def test_it_does_not_store_the_same_files_twice(logged_in: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    for state in ("stored", "there already"):
        assert main(["upload", FIO, "--hardware", "box", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)[0]["state"] == state
    assert len(logged_in.sent("POST", f"/imports/{next(iter(logged_in.imports))}/store/")) == 1


def test_it_says_that_what_was_stored_is_deleted_and_restores_it_on_request(
    logged_in: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "results.json"
    document.write_text(json.dumps([{"schema_version": 1, "id": "a"}]))

    def state(file: str, *options: str) -> tuple[int, str]:
        code = main(["upload", file, "--hardware", "box", "--json", *options])
        return code, json.loads(capsys.readouterr().out)[0]["state"]

    assert [state(str(document)), state(FIO)] == [(0, "stored")] * 2
    logged_in.deleted |= {"r", *(run["id"] for taken in logged_in.imports.values() for run in taken["runs"])}
    assert [state(str(document)), state(FIO)] == [(1, "deleted")] * 2
    assert [state(str(document), "--restore"), state(FIO, "--restore")] == [(0, "restored")] * 2
    assert not logged_in.deleted
    assert [state(str(document)), state(FIO)] == [(0, "there already")] * 2


def test_it_waits_for_a_worker_to_read_large_files(
    logged_in: FakeApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "ASK_EVERY_S", 0.0)
    logged_in.reading = [("reading", ""), ("draft", "")]
    assert main(["upload", FIO, "--hardware", "box", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0]["state"] == "stored"
    assert "the server reads" in captured.err


def test_it_says_why_the_server_could_not_read_files(
    logged_in: FakeApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "ASK_EVERY_S", 0.0)
    logged_in.reading = [("failed", "Reading took more than 5 minutes.")]
    assert main(["upload", FIO, "--hardware", "box"]) == 1
    assert "Reading took more than 5 minutes." in capsys.readouterr().err


def test_it_sends_nothing_in_a_dry_run(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upload", FIO, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["message"] == "1 complete"
    assert api.requests == []


def test_it_sends_result_documents_as_results(
    logged_in: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps([{"schema_version": 1, "id": "a"}, {"schema_version": 1, "id": "b", "bad": True}]))
    assert main(["upload", str(file)]) == 1
    assert 'document 2: {"bad": ["Unknown key."]}' in capsys.readouterr().err
    assert logged_in.imports == {}


def test_it_sends_as_many_documents_at_once_as_a_request_takes_and_none_that_is_larger(
    logged_in: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "MOST_BYTES", 1_000)
    sizes = {"a": 300, "b": 300, "c": 300, "d": 2_000, "e": 10, "f": 10}
    documents = [{"schema_version": 1, "id": name, "note": "x" * size} for name, size in sizes.items()]
    file = tmp_path / "results.json"
    file.write_text(json.dumps(documents))
    assert main(["upload", str(file)]) == 1
    sent = [[document["id"] for document in body["results"]] for body in logged_in.sent("POST", "/results/")]
    assert sent == [["a", "b"], ["c"], ["e", "f"]]
    assert "document 4: larger than" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--dbms", "PostgreSQL"],
        ["--storage", "nvme0"],
        ["--storage", "cache=nvme0"],
        ["--config", "/nowhere/postgresql.conf"],
    ],
)
def test_it_refuses_options_that_it_does_not_understand(logged_in: FakeApi, options: list[str]) -> None:
    assert main(["upload", FIO, *options]) == 2
    assert logged_in.requests == []


def test_it_ends_with_4_when_the_server_is_down(logged_in: FakeApi) -> None:
    logged_in.down = True
    assert main(["upload", FIO, "--hardware", "box"]) == 4


@pytest.fixture
def years(tmp_path: Path) -> Path:
    """Results as people keep them: a folder a run, notes between them."""
    folder = tmp_path / "years"
    shutil.copytree(DATA / "benchbase", folder / "2024" / "tpcc")
    (folder / "2025").mkdir()
    shutil.copy(FIO, folder / "2025" / "randrw.json")
    (folder / "2025" / "notes.txt").write_text("to do\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    return folder


def test_it_imports_a_folder_run_by_run(logged_in: FakeApi, years: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A log of transactions alone does not say what was run.
    shutil.copy(DATA / "pgbench" / "v15_aggregated.4242", years / "2024" / "tpcc")
    assert main(["import", str(years), "--hardware", "box", "--dbms", "PostgreSQL 15.14", "--json"]) == 1
    outcomes = json.loads(capsys.readouterr().out)
    states = {file: outcome["state"] for outcome in outcomes for file in outcome["files"]}
    assert states["2025/randrw.json"] == "stored"
    assert states["2025/notes.txt"] == "not understood"
    assert not any(".git" in file for file in states)
    ready, lacking, other = [stored["names"] for stored in logged_in.imports.values()]
    assert "2024/tpcc/tpcc_2025-11-21_08-05-45.summary.json" in ready
    assert lacking == ["2024/tpcc/v15_aggregated.4242"]
    assert other == ["2025/randrw.json"]


def test_it_tells_settings_from_results(logged_in: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    shutil.copy(DATA / "benchbase" / "tpcc_2025-11-21_08-05-45.params.json", folder)
    assert main(["import", str(folder), "--json"]) == 0
    assert [outcome["state"] for outcome in json.loads(capsys.readouterr().out)] == ["no result by itself"]
    assert logged_in.imports == {}


def test_a_folder_of_many_files_goes_in_several_imports(
    logged_in: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(uploading, "MAX_FILES_AT_ONCE", 100)
    results = json.loads((DATA / "histories" / "asv.json").read_text())
    (tmp_path / "cheetah").mkdir()
    # asv keeps it beside them.
    machine = {"arch": "x86_64", "cpu": "Example 9", "machine": "cheetah", "os": "Linux", "ram": "32GB", "version": 1}
    (tmp_path / "cheetah" / "machine.json").write_text(json.dumps(machine))
    for number in range(120):
        (tmp_path / "cheetah" / f"{number}.json").write_text(json.dumps(results | {"commit_hash": f"{number:040x}"}))
    assert main(["import", str(tmp_path / "cheetah"), "--hardware", "box", "--dbms", "PostgreSQL 18.1"]) == 0
    assert [len(stored["names"]) for stored in logged_in.imports.values()] == [100, 20]


def test_it_goes_on_where_an_import_stopped(
    logged_in: FakeApi, years: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (years / "2025" / "notes.txt").unlink()
    logged_in.missing = ["hardware"]
    shutil.move(years / "2025", years.parent / "later")
    assert main(["import", str(years), "--hardware", "box"]) == 0
    shutil.move(years.parent / "later", years / "2025")
    capsys.readouterr()
    assert main(["import", str(years), "--hardware", "box", "--json"]) == 0
    states = [outcome["state"] for outcome in json.loads(capsys.readouterr().out)]
    assert (states.count("skipped"), states.count("stored")) == (14, 1)
    assert len(logged_in.sent("POST", "/imports/")) == 3


def test_it_does_not_remember_what_was_refused(logged_in: FakeApi, years: Path) -> None:
    assert main(["import", str(years / "2025")]) == 1
    assert main(["import", str(years / "2025")]) == 1
    assert len(logged_in.sent("POST", "/imports/")) == 2


def test_a_server_that_went_away_is_asked_again(
    logged_in: FakeApi, years: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        logged_in.down = len(waits) < 2

    monkeypatch.setattr("benchagent.ctl.output.time.sleep", sleep)
    logged_in.down = True
    assert main(["import", str(years / "2025"), "--hardware", "box"]) == 1
    captured = capsys.readouterr()
    assert waits == [2.0, 4.0] and "(2 tries in" in captured.err
    assert [stored["names"] for stored in logged_in.imports.values()] == [["randrw.json"]]


@pytest.mark.parametrize(
    ("ends", "code", "words"), [(KeyboardInterrupt, 130, "interrupted"), (Unreachable("gone for good"), 4, "gone")]
)
def test_what_was_done_is_told_where_it_ends_early(
    ends: Any, code: int, words: str, logged_in: FakeApi, years: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(uploading.time, "sleep", lambda _: None)
    send = uploading.send_files

    def never_a_second_year(api: Any, path: str, files: Any, *said: Any) -> dict[str, Any]:
        if any(name.startswith("2025") for name, _ in files):
            raise ends
        return send(api, path, files, *said)

    monkeypatch.setattr(uploading, "send_files", never_a_second_year)
    assert main(["import", str(years), "--hardware", "box"]) == code
    captured = capsys.readouterr()
    assert "2 of 16 files are left: the same command goes on where this ended" in captured.err and words in captured.err
    assert "stored" in captured.out.partition("STATE  ")[2]


def test_a_table_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Names lose their beginning, addresses have a line of their own; a pipe gets whole rows."""
    url = "http://127.0.0.1:8000/imports/b0bc6f49-2751-4853-a745-8440e387687a/"
    long = uploading.Outcome(["a/long/folder/name/" * 5 + "out.txt", "b", "c"], "stored", [{}, {}], url)
    short = uploading.Outcome(["x.txt"], "not understood", message="no known tool wrote this")
    monkeypatch.setattr(uploading, "columns_of", lambda stream: 60)
    uploading.show([long, short])
    title, row, address, other = capsys.readouterr().out.splitlines()
    assert max(map(len, (title, row, other))) <= 60 and "out.txt and 2 more" in row and row.startswith("…")
    assert address == f"  {url}"
    monkeypatch.setattr(uploading, "columns_of", lambda stream: None)
    uploading.show([long, short])
    captured = capsys.readouterr()
    _, row, _ = captured.out.splitlines()
    assert long.files[0] in row and row.endswith(url)
    assert captured.err.splitlines() == ["x.txt:", f"  {short.message}"]


def test_of_many_runs_the_addresses_of_their_batches_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Was: 520 addresses of runs, and none of what holds them."""
    runs = [{"url": f"/runs/{number}/", "batch": f"/batches/{number // 20}/"} for number in range(40)]
    uploading.show([uploading.Outcome(["many.json"], "stored", runs)])
    assert capsys.readouterr().out.splitlines()[2:] == ["/batches/0/", "/batches/1/"]
    uploading.show([uploading.Outcome(["few.json"], "stored", runs[:2])])
    assert capsys.readouterr().out.splitlines()[2:] == ["/runs/0/", "/runs/1/"]


def test_what_many_files_are_refused_for_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    uploading.show([uploading.Outcome([f"{number}.txt"], "not understood", message="unknown") for number in range(5)])
    assert capsys.readouterr().err == "0.txt, 1.txt, 2.txt and 2 more:\n  unknown\n"


@pytest.mark.parametrize(
    ("done", "size", "rate", "words"),
    [(0, 227_000, 0, "0 of 227 kB"), (1_500, 9_000, 750, "1.5 of 9.0 kB, 0.8 kB/s, about 10 s left"),
     (45_000_000, 300_000_000, 12e6, "45 of 300 MB, 12.0 MB/s, about 21 s left")],
)  # fmt: skip
def test_how_far_it_is_has_a_unit_that_fits(done: int, size: int, rate: float, words: str) -> None:
    assert how_far(done, size, rate) == words


def test_files_that_are_stored_are_told_to_be_of_another_version(
    logged_in: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seen: the label alone, where another version was said of the same files."""
    main(["upload", FIO, "--hardware", "box", "--json"])
    (taken,) = logged_in.imports.values()
    taken["subject"] = {"dbms": {"name": "PostgreSQL", "version": "13.5"}}
    capsys.readouterr()

    told = []
    for version in ("13.5", "13.6"):
        main(["upload", FIO, "--hardware", "box", "--json", "--dbms", f"PostgreSQL {version}"])
        told.append(json.loads(capsys.readouterr().out)[0]["message"] or "")

    assert told[0] == "" and "dbms: stored PostgreSQL 13.5, said PostgreSQL 13.6" in told[1]


def test_files_that_are_stored_with_another_label_are_corrected_on_request_only(
    logged_in: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    def state(*options: str) -> tuple[str, str]:
        assert main(["upload", FIO, "--hardware", "box", "--json", *options]) == 0
        (outcome,) = json.loads(capsys.readouterr().out)
        return outcome["state"], outcome["message"] or ""

    assert state("--label", "before")[0] == "stored"
    (taken,) = logged_in.imports.values()
    taken["described"] = {"label": "before", "tags": [], "tested": {"build": "7"}}
    assert state("--label", "before") == ("there already", "")
    said = ("--label", "after", "--commit", "f00")
    told = state(*said)
    assert told[0] == "there already" and '"before"' in told[1] and "--correct" in told[1]
    assert not logged_in.sent("PATCH", f"/batches/{taken['id']}/")
    assert state(*said, "--correct")[0] == "corrected"
    assert logged_in.sent("PATCH", f"/batches/{taken['id']}/") == [
        {"label": "after", "tested": {"build": "7", "commit": "f00"}}
    ]


def test_it_says_how_many_were_copies(logged_in: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upload", FIO, "--hardware", "box"]) == 0
    assert "copy" not in capsys.readouterr().err
    (taken,) = logged_in.imports.values()
    taken["runs"].append({"id": "again", "url": "u", "copy_of": "first"})
    assert main(["upload", FIO, "--hardware", "box"]) == 0
    assert "1 of 2 runs: a copy" in capsys.readouterr().err


@pytest.mark.parametrize("as_document", [True, False])
def test_it_prints_the_warnings_of_the_server(
    logged_in: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    as_document: bool,
) -> None:  # fmt: skip
    """Seen: files of two settings were stored as repeats of one cell, 57 times apart, without a word."""
    words = "3 repeats of one cell go from 800 to 45,600 tps"
    file = FIO
    if as_document:
        (tmp_path / "result.json").write_text(json.dumps({"schema_version": 1, "id": "0b3c7a52", "repeats": []}))
        file = str(tmp_path / "result.json")
        logged_in.answers["/results/"] = {"results": [{"status": "created", "runs": [], "warnings": [words]}]}
    else:
        real = uploading.send_files
        monkeypatch.setattr(uploading, "send_files", lambda *sent: real(*sent) | {"warnings": [words]})
    assert main(["upload", file, "--hardware", "box"]) == 0
    printed = capsys.readouterr()
    assert f"warning: {words}" in printed.out + printed.err
    assert main(["upload", file, "--hardware", "box", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["warnings"] == [words]


@pytest.mark.parametrize(
    ("status", "state"), [("complete", "no result by itself"), ("not_understood", "not understood")]
)
def test_it_asks_nobody_to_complete_what_cannot_become_a_result(
    logged_in: FakeApi, capsys: pytest.CaptureFixture[str], status: str, state: str
) -> None:
    """Seen: "complete it at …" beside an import of which nothing can be stored, whatever is said."""
    logged_in.missing = ["items"]
    logged_in.items = [
        {"file": "randrw.json", "status": "complete", "reason": None, "part_of": "other"},
        {"file": "b.txt", "status": status, "reason": "no known tool wrote it", "part_of": None},
    ]
    main(["upload", FIO, "--hardware", "box"])
    printed = capsys.readouterr()
    assert "complete it" not in printed.out + printed.err
    assert state in printed.out
