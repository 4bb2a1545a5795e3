"""The first seconds of `make up` on machines that lack something. The whole installation is the leg `bare`."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.benchagent.company import Authority, Mirror
from tests.ops.site import naming, wait_until

pytestmark = pytest.mark.ops

OLD_PYTHON = """
import runpy, sys
sys.version_info = (3, 6, 9, "final", 0)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def checkout(tmp_path, repository) -> Path:
    """What `bootstrap.py` reads, elsewhere, without a .venv."""
    for name in ("scripts/bootstrap.py", "requirements.txt", "requirements-dev.txt", "agents/program/pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, tmp_path / name)
    return tmp_path


def bootstrap(checkout: Path, *command: str, **environment: str) -> subprocess.CompletedProcess:
    """With Python's own interpreter: inside a virtual environment `ensurepip` is always there."""
    base = {"PATH": os.defpath, "HOME": str(checkout / "home"), "STATE": str(checkout / "state")} | environment
    arguments = [*(command or [os.path.realpath(sys.executable)]), "scripts/bootstrap.py", "manage.py", "up"]
    return subprocess.run(arguments, cwd=checkout, env=base, capture_output=True, text=True, check=False, timeout=60)


def test_it_refuses_an_old_python_in_one_line(checkout):
    done = bootstrap(checkout, sys.executable, "-c", OLD_PYTHON, PATH="/nowhere")
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "needs Python 3.11 or newer" in done.stderr
    assert "is 3.6" in done.stderr
    assert "make up PYTHON=" in done.stderr


def test_it_takes_a_newer_python_beside_an_old_one(checkout):
    (checkout / "bin").mkdir()
    newer = checkout / "bin" / "python3.12"
    newer.write_text('#!/bin/sh\necho "newer: $*"\n')
    newer.chmod(0o755)
    done = bootstrap(checkout, sys.executable, "-c", OLD_PYTHON, PATH=f"{newer.parent}:/bin:/usr/bin")
    assert done.stdout == "newer: scripts/bootstrap.py manage.py up\n"


@pytest.mark.parametrize("missing", ["ensurepip", "venv"])
def test_it_names_the_package_that_lacks_in_one_line(checkout, missing):
    (checkout / "site").mkdir()
    (checkout / "site" / "sitecustomize.py").write_text(f"import sys; sys.modules[{missing!r}] = None\n")
    done = bootstrap(checkout, PYTHONPATH=str(checkout / "site"))
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "apt install python3-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_it_says_in_one_line_why_an_installation_failed(checkout):
    """An index that does not answer; the reason is pip's own."""
    (checkout / "requirements.txt").write_text("no-such-package==1 --hash=sha256:" + "0" * 64 + "\n")
    done = bootstrap(checkout, PIP_INDEX_URL="http://127.0.0.1:9/", PIP_RETRIES="0", PIP_FIND_LINKS="")
    last = done.stderr.splitlines()[-1]
    assert done.returncode != 0
    assert last.startswith("installing requirements.txt failed: ")
    assert "no-such-package" in last
    assert "Traceback" not in done.stderr
    assert not (checkout / "home").exists()


def test_it_installs_from_an_index_whose_authority_only_the_system_knows(checkout, tmp_path_factory):
    """One package of our own; what then fails is the agent, of which this checkout has no code."""
    folder = tmp_path_factory.mktemp("index")
    wheel = folder / "thing-1-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        about = "thing-1.dist-info"
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", f"{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    (folder / "links.html").write_text(f'<!DOCTYPE html><a href="{wheel.name}">{wheel.name}</a>')
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (checkout / "requirements.txt").write_text(f"thing==1 --hash=sha256:{digest}\n")
    authority = Authority(tmp_path_factory.mktemp("authority"))
    index = Mirror(folder, authority)
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": f"{index.url_with_login}/links.html", "PIP_RETRIES": "0"}
    alone = bootstrap(checkout, PIP_CONFIG_FILE=os.devnull, **pip)
    assert alone.stderr.splitlines()[-1].startswith("installing requirements.txt failed: ")
    assert index.asked == []
    known = bootstrap(checkout, PIP_CONFIG_FILE=os.devnull, SSL_CERT_FILE=str(authority.certificate), **pip)
    index.stop()
    assert known.stderr.splitlines()[-1].startswith("installing the agent failed: "), known.stderr
    assert f"/{wheel.name}" in index.asked
    assert index.password not in alone.stderr + known.stderr


def test_it_does_nothing_when_everything_is_there(checkout):
    """A stamp that fits: the command is run at once with the environment's own Python."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "ran: $*"\n')
    python.chmod(0o755)
    code = (
        "import json, sys; sys.path.insert(0, 'scripts'); import bootstrap; print(json.dumps(bootstrap.fingerprints()))"
    )
    command = [os.path.realpath(sys.executable), "-c", code]
    stamp = json.loads(subprocess.run(command, cwd=checkout, capture_output=True, check=True).stdout)
    (checkout / ".venv" / "benchsite.json").write_text(json.dumps(stamp | {"dev": ""}))
    done = bootstrap(checkout)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran: manage.py up\n", "")


def test_a_linked_environment_of_another_checkout_stays_as_it_is(checkout, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "benchsite.json").write_text(json.dumps({"root": "/elsewhere", "python": "3.11", "server": "", "dev": ""}))
    (checkout / ".venv").symlink_to(other)
    (checkout / "requirements.txt").write_text("no-such-package==1 --hash=sha256:" + "0" * 64 + "\n")
    bootstrap(checkout, PIP_INDEX_URL="http://127.0.0.1:9/", PIP_RETRIES="0", PIP_FIND_LINKS="")
    assert [each.name for each in other.iterdir()] == ["benchsite.json"]
    assert not (checkout / ".venv").is_symlink()


def test_it_ends_when_make_has_ended(checkout):
    """--parent names a process that is not the parent any more."""
    command = [os.path.realpath(sys.executable), "scripts/bootstrap.py", "--parent", "1", "manage.py", "up"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert not (checkout / ".venv").exists()


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """A virtual environment with pip and nothing else."""
    folder = tmp_path_factory.mktemp("environment") / ".venv"
    subprocess.run([os.path.realpath(sys.executable), "-m", "venv", folder], check=True)
    return folder


@pytest.fixture
def silent_index():
    """A package index that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_leaves_no_pip_behind_when_it_is_ended(checkout, environment, silent_index, number):
    shutil.copytree(environment, checkout / ".venv", symlinks=True)
    pip = {"PIP_INDEX_URL": silent_index, "PIP_FIND_LINKS": "", "STATE": str(checkout / "state")}
    command = [os.path.realpath(sys.executable), "scripts/bootstrap.py", "manage.py", "up"]
    with (checkout / "said").open("w") as said:
        process = subprocess.Popen(command, cwd=checkout, env=os.environ | pip, stderr=said, start_new_session=True)
    assert wait_until(lambda: any("pip install" in line for line in naming(checkout).values()), 60)
    process.send_signal(number)
    process.wait(60)
    wait_until(lambda: not naming(checkout), 60)
    assert naming(checkout) == {}
    assert "Traceback" not in (checkout / "said").read_text()


def pins(lock: Path) -> dict[str, str]:
    """Name and version -> its marker and hashes."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", lock.read_text(), flags=re.M)
    return {block.split()[0]: block for block in blocks if "==" in block}


def test_the_locks_hold_for_every_supported_python_and_carry_hashes_but_no_address(repository):
    server, dev = (pins(repository / name) for name in ("requirements.txt", "requirements-dev.txt"))
    assert set(server) <= set(dev)
    assert [name for name, block in dev.items() if "--hash=sha256:" not in block] == []
    assert any("python_full_version < '3.11.3'" in block for block in server.values())
    assert "://" not in "".join(dev.values())
