"""Each command that README and docs show in a block is run here as it stands, or stands below with the reason."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.test import Client

from runs.models import Experiment, HardwareProfile, Run
from tests.conftest import REPOSITORY
from tests.docs.test_docs import PAGES
from tests.ops.site import wait_until
from tests.runs.cells import make_run

CODESPEED = {
    "commitid": f"{2:040x}", "project": "db", "branch": "main", "executable": "server", "benchmark": "sort",
    "environment": "bench1", "result_value": 1200.5, "revision_date": "2026-01-02 10:00:00",
}  # fmt: skip
DATA = REPOSITORY / "tests" / "benchagent" / "importers" / "data"
BLOCK = re.compile(r"^```(?:sh)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(
    r"(?m)^(?:make |benchagent |(?:\.venv/bin/)?benchctl |curl |python |pip |docker |install |export |TOKEN=)"
)
# By how they begin.
NOT_RUN: Mapping[str, str] = {
    "make up": "tests/ops/test_up.py runs it",
    "make test": "it runs this",
    "make backup": "tests/ops/test_backup.py runs it",
    "make restore": "tests/ops/test_backup.py runs it",
    "make experiments": "takes hours; tests/ops/test_experiments.py runs parts of it",
    "TOKEN=": "tests/ops/test_up.py makes a token so",
    "python manage.py migrate": "tests/ops/site.py prepares each site so",
    "python manage.py web": "tests/ops/test_schema.py starts it",
    "python -m celery -A benchsite worker": "tests/agents/test_celery_real.py starts it",
    "file=": "sends a file in parts with curl and openssl: tests/runs/imports/test_parts.py does the same",
    "pip install": "needs an index of packages",
    "git rev-list": "needs a repository of commits: the fixture has what it prints",
    "docker ": "needs Docker: the leg containers runs it",
    "install -d": "makes a secret in the checkout: the leg containers runs it",
    "export SITE": "is for the commands of Docker",
    "(umask": "needs Docker: the leg containers runs it",
    "benchagent run": "runs until it is stopped: tests/benchagent/job/test_worker.py",
    "benchagent engines install": "fetches an engine: tests/benchagent/engines",
    "benchagent engines fetch": "fetches an engine: tests/benchagent/engines",
    "benchagent engines remove": "needs one that is installed: tests/benchagent/engines",
    "benchagent connections add": "asks a person for a password: tests/benchagent/cli/test_connections.py",
    "benchagent connections check": "needs a server of others: tests/benchagent/cli/test_connections.py",
    "benchagent connections password": "asks a person for a password: tests/benchagent/cli/test_connections.py",
    "benchagent connections pair": "needs one that was added: tests/benchagent/cli/test_connections.py",
    "benchagent connections clean": "needs one that was added: tests/benchagent/cli/test_connections.py",
    "benchagent connections remove": "needs one that was added: tests/benchagent/cli/test_connections.py",
    "benchagent observe add pg --pid-file": "names a server of that machine",
    "benchagent storage emulate": "needs root and 4 GB: tests/benchagent/cli/test_storage.py",
    "benchctl schedule ": "needs an agent: tests/benchagent/ctl/test_running.py",
    "benchctl bisect": "needs runs of an agent: tests/benchagent/ctl/test_bisect.py",
    "benchctl templates --agent": "needs an agent: tests/agents/reruns/test_templating.py",
    "benchctl schedules --add": "needs an experiment of this name: tests/benchagent/ctl/test_lab.py",
}
# A question may have no answer (docs/use/benchctl.md), a gate no baseline, and a machine may lack something.
ENDS = {"benchctl ask": {0, 19}, "benchctl gate": {0, 2, 3}, "benchagent doctor": {0, 1}}


def commands(page: Path) -> Iterator[str]:
    """Of its blocks, with what goes on in the lines below."""
    for block in filter(PROGRAM.search, BLOCK.findall(page.read_text())):
        if "\ndone" in block:  # a script
            yield block
            continue
        command = ""
        for line in block.splitlines():
            command += line
            try:
                shlex.split(command, comments=True)
            except ValueError:  # within quotes, or a line that goes on
                command += "\n"
                continue
            if command.strip():
                yield command
            command = ""


ALL = [(page, command) for page in PAGES for command in commands(page)]
RUN = [(page, command) for page, command in ALL if not command.startswith(tuple(NOT_RUN))]


def of(*programs: str) -> list[str]:
    return [command for _, command in RUN if command.removeprefix(".venv/bin/").startswith(programs)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """What the commands name, where a user of their own may enter."""
    with TemporaryDirectory(prefix="benchsite-docs-") as temporary:
        made = Path(temporary)
        made.chmod(0o755)
        log = (DATA / "pgbench" / "v15_aggregated_stdout.txt").read_text()
        files = {
            "pgbench.log": log, "sysbench/a.txt": log, "results/a.txt": log + "\n", "results.txt": "minibench 1\n",
            "results.json": json.dumps([CODESPEED]), "commits": f"{2:040x}\n{1:040x}\n",
            "home/years-of-results/a.txt": log + "\n\n", "postgresql.conf": "shared_buffers = 4GB\n",
        }  # fmt: skip
        for name, text in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(text)
        for name in ("nvme", "fast"):
            (made / name).mkdir()
        (made / ".venv").symlink_to(Path(sys.prefix))
        yield made


def failures(folder: Path, wanted: list[str], places: Mapping[str, str], said: str = "") -> list[str]:
    """Commands that do not end as they should. `places`: what stands for a name of somebody's machine or site."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.defpath}", "HOME": str(folder / "home"),
        "BENCHAGENT_STATE": str(folder / "agent"), "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    failed = []
    for command in wanted:
        there = command
        for name, place in places.items():
            there = there.replace(name, place)
        done = subprocess.run(
            ["bash", "-c", there], cwd=folder, env=environment, input=said, capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip
        ends = next((codes for begin, codes in ENDS.items() if command.startswith(begin)), {0})
        if done.returncode not in ends:
            failed.append(f"{command}\n{done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return failed


def test_every_command_is_run_or_has_a_reason():
    known = of("benchagent ", "benchctl ", "curl ", "python -m celery -A benchsite beat")
    assert [command for _, command in RUN if command not in known] == []
    assert [begin for begin in NOT_RUN if not any(command.startswith(begin) for _, command in ALL)] == []


def test_commands_of_the_agent(folder: Path):
    places = {f"{name} /mnt/nvme/bench": f"{name} {folder / name}" for name in ("nvme", "fast")}
    for program in (
        folder / "build" / side / "bin" / name for side in ("base", "head") for name in ("postgres", "initdb")
    ):
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.6'\n")
        program.chmod(0o755)
    places["/build/"] = f"{folder}/build/"
    assert failures(folder, of("benchagent "), places) == []


@pytest.mark.django_db(transaction=True)
def test_commands_of_benchctl(folder: Path, live_server, api_token):
    box = HardwareProfile.objects.create(slug="box7", name="Box 7")
    box.add_device(name="nvme0n1")
    experiment = Experiment.objects.create(slug="nightly-tpcb", name="Nightly TPC-B")
    for key, values in {"3f2a9c01b7de": (200, 202, 204), "9b1c77aa0142": (100, 101, 102)}.items():
        for repeat, value in enumerate(values, 1):
            run = make_run("PostgreSQL 17", value, on=box)
            Run.objects.filter(pk=run.pk).update(cell_key=key.ljust(64, "0"), experiment=experiment, repeat=repeat)
    described = (REPOSITORY / "docs/use/importers/own-tools.md").read_text()
    (folder / "minibench.yaml").write_text(re.findall(r"```yaml\n(.*?)```", described, re.DOTALL)[0])
    places = {"https://bench.example": live_server.url, "http://127.0.0.1:8000": live_server.url}
    assert failures(folder, of("benchctl "), places, api_token("read", "upload")) == []


@pytest.mark.django_db
@pytest.mark.parametrize("command", of("curl "), ids=lambda command: command[:80])
def test_commands_of_curl(client: Client, bearer, command: str):
    """Read as curl reads them, which not every machine has."""
    words = [word for word in shlex.split(command) if word.strip()]
    given = dict(pairwise(words))
    example = re.findall(r"```json\n(.*?)```", (REPOSITORY / "docs/use/uploads.md").read_text(), re.DOTALL)[0]
    body = example if given.get("--data") == "@result.json" else given["-d"]
    (address,) = [word for word in words if word.startswith("http")]
    assert words.count("-H") == 2 and "Authorization: Bearer $TOKEN" in words
    path = "/" + address.split("/", 3)[3]
    answer = client.post(path, body, content_type="application/json", headers=bearer("read", "upload"))
    assert answer.status_code == 201, answer.content


def test_beat_starts_as_it_is_written(tmp_path: Path):
    (command,) = of("python -m celery -A benchsite beat")
    environment = {**os.environ, "STATE": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.defpath}"}
    beat = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE)
    try:
        assert wait_until(lambda: beat.poll() is not None or list(tmp_path.glob("beat-schedule*")), 60)
        assert beat.poll() is None, beat.stderr and beat.stderr.read()
    finally:
        beat.kill()
        beat.wait()
