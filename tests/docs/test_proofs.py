"""docs/method/proofs.md: what was proven when, and which of it is older than its code."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from tests.benchagent.fake_server import wait_until
from tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))
import proofs


def test_its_page_has_a_row_of_each_proof_and_the_code_of_each_is_there():
    text = proofs.PAGE.read_text()
    assert [name for name in proofs.PROOFS if f"\n| {name} | " not in text] == []
    assert [path for proof in proofs.PROOFS.values() for path in proof.code if not (REPOSITORY / path).exists()] == []


def test_it_reads_back_what_it_wrote(monkeypatch, tmp_path):
    monkeypatch.setattr(proofs, "PAGE", tmp_path / "proofs.md")
    row = ["passed", "abc", "2026-11-27 00:10", "1.0", "TPS \\| p99: 7"]
    proofs.write({"bundle": row})
    assert proofs.read() == {"bundle": row}


def test_a_proof_is_stale_once_its_code_has_changed_or_it_failed():
    changed = proofs.git("log", "-1", "--format=%h", "--", "scripts/bundle.py")
    rest = ["2026-11-27 00:10", "1.0", ""]
    rows = {"bundle": ["passed", f"{changed}~", *rest], "durability": ["FAILED", "HEAD", *rest]}
    found = {words.partition(":")[0] for words in proofs.stale(rows | {"driver": ["passed", "HEAD+", *rest]})}
    assert found == proofs.PROOFS.keys() - {"driver"}


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("print('x: 2 passed, 0 failed, 0 skipped')", "passed"),
        ("print('x: 0 passed, 0 failed, 1 skipped')", "SKIPPED"),
        ("raise SystemExit('no')", "FAILED"),
        ("import time; time.sleep(60)", "NOT WITHIN AN HOUR"),
    ],
)
def test_it_says_passed_of_nothing_else(code, result, monkeypatch, tmp_path):
    monkeypatch.setattr(proofs, "STATE", tmp_path)
    monkeypatch.setattr(proofs, "LIMIT_S", 3)
    monkeypatch.setitem(proofs.PROOFS, "x", proofs.Proof("x", ("-c", code), ()))
    assert proofs.run("x")[0] == result


def test_what_is_being_proven_ends_with_it(tmp_path):
    sleeper = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = (
        f"import sys, pathlib, proofs; proofs.STATE = pathlib.Path({str(tmp_path)!r}); "
        f"proofs.PROOFS['x'] = proofs.Proof('x', ('-c', {sleeper!r}), ()); sys.argv[1:] = ['x']; proofs.main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=REPOSITORY / "scripts")
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    process.terminate()
    process.wait(30)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))
