"""`make up` from outside: first start, second start, what it prints and writes, and that every end leaves nothing."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import stat
from pathlib import Path

import pytest
import redis

from tests.ops.site import Site, slowness, wait_until
from tests.ops.test_crash import kill_make, kill_supervisor
from tests.whole import whole_but

pytestmark = pytest.mark.ops

PARTS = ["broker", "worker", "beat", "web", "agent"]


@pytest.fixture(scope="module")
def site(new_site) -> Site:
    """Started once for the tests of this module that only look."""
    site = new_site(empty=True)
    site.first_words = site.up()
    site.warm_starts_s = []
    assert wait_until(identity(site).exists, 60)
    site.identity = identity(site).read_text()
    return site


def identity(site: Site) -> Path:
    return site.state / "agent" / "identity.json"


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_prints_the_address_and_the_first_login_and_keeps_them_in_a_private_file(site):
    login = site.state / "first-login.txt"
    password = re.search(r"password +(\S+)", site.first_words)[1]
    assert login.read_text() == f"url: http://127.0.0.1:{site.port}/\nuser: operator\npassword: {password}\n"
    assert f"http://127.0.0.1:{site.port}/" in site.first_words
    assert [mode(site.state / name) for name in ("first-login.txt", "secret_key", "db.sqlite3")] == [0o600] * 3


def test_it_lets_a_service_user_through_to_the_agent_and_nowhere_else(site):
    assert [mode(site.state / name) for name in (".", "agent")] == [0o711] * 2
    assert [mode(site.state / name) for name in ("logs", "broker", "run", "beat", "static")] == [0o700] * 5


def test_it_is_healthy_and_ready(site):
    assert site.get("/healthz") == (200, '{"status": "ok"}')
    status, body = site.ready()
    assert status == 200
    assert body["parts"] == dict.fromkeys(["database", "broker", "worker", "beat"], "ok")


def test_it_runs_every_part_and_all_of_them_in_state(site):
    assert [site.child(name) > 0 for name in PARTS] == [True] * 5
    assert (site.state / "logs" / "web.log").exists()
    assert (site.state / "broker" / "broker.sock").is_socket()


def test_its_broker_answers_to_nobody_without_the_password(site):
    secret = site.state / "broker_password"
    password, socket_path = secret.read_text(), str(site.state / "broker" / "broker.sock")
    assert mode(secret) == mode(site.state / "broker" / "access.conf") == 0o600
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(unix_socket_path=socket_path).ping()
    assert redis.Redis(unix_socket_path=socket_path, password=password).ping()
    assert not [line for line in site.processes().values() if password in line]
    assert password not in "".join(log.read_text() for log in (site.state / "logs").iterdir())


def test_it_refuses_a_second_up_on_the_same_state_in_one_line(site):
    done = site.run("up", f"PORT={site.port + 1}")
    assert done.returncode != 0
    ours = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert len(ours) == 1
    assert "already running" in ours[0]
    assert str(site.supervisor) in ours[0]


def test_it_names_a_taken_port_in_one_line(new_site):
    other = new_site()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", other.port))
        taken.listen()
        done = other.run("up")
    ours = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert ours == [f"make up: port {other.port} on 127.0.0.1 is taken; choose another: make up PORT={other.port + 1}"]
    assert done.stdout == ""


def test_it_prints_a_token_and_nothing_else(site):
    done = site.run("token", "NAME=a laptop", "SCOPES=read,upload")
    assert re.fullmatch(r"bst_[\w-]{43}\n", done.stdout)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("variables", "field"),
    [(["NAME=x", "SCOPES=fly"], "SCOPES"), (["NAME=x"], "SCOPES"), (["SCOPES=read"], "NAME"),
     (["NAME=x", "SCOPES=read", "DAYS=soon"], "DAYS")],
)  # fmt: skip
def test_it_names_the_wrong_field_of_a_token(site, variables, field):
    done = site.run("token", *variables)
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.startswith(f"CommandError: {field}: ")


def test_it_makes_a_new_password(site):
    before = (site.state / "first-login.txt").read_text()
    done = site.run("login")
    password = re.search(r"password +(\S+)", done.stdout)[1]
    after = (site.state / "first-login.txt").read_text()
    assert f"password: {password}\n" in after
    assert after != before
    assert f"url: http://127.0.0.1:{site.port}/\n" in after
    assert mode(site.state / "first-login.txt") == 0o600


def test_it_starts_a_crashed_worker_again(site):
    before = site.child("worker")
    os.kill(before, signal.SIGKILL)
    assert wait_until(lambda: site.child_changed("worker", before), 30)
    assert wait_until(lambda: site.ready()[0] == 200, 60)
    assert "worker ended (-9); starts again in 0.5 s" in site.said


def interrupt(site: Site) -> None:
    """Ctrl-C: the terminal sends it to make and everything in its process group."""
    os.killpg(site.make.pid, signal.SIGINT)


def terminate_supervisor(site: Site) -> None:
    os.kill(site.supervisor, signal.SIGTERM)


def hang_up(site: Site) -> None:
    os.killpg(site.make.pid, signal.SIGHUP)


def terminate_make(site: Site) -> None:
    site.make.terminate()


def start_warm(site: Site) -> None:
    words = site.up()
    assert "password" not in words
    site.warm_starts_s.append(float(re.search(r"ready after ([\d.]+) s", words)[1]) / slowness())


ENDS = (kill_supervisor, kill_make, terminate_make, terminate_supervisor, hang_up, interrupt)


# The supervisor is killed by tests/ops/test_crash.py too.
@pytest.mark.parametrize("end", whole_but((kill_make, interrupt), ENDS))
def test_it_continues_with_the_same_data_and_leaves_nothing_behind(site, end):
    """Runs after the tests above have looked: each way to end it, and a start after each."""
    if site.make.poll() is not None:
        start_warm(site)
    database = (site.state / "db.sqlite3").stat().st_ino
    end(site)
    assert site.left() == {}
    site.make.wait(30)
    assert (site.state / "db.sqlite3").stat().st_ino == database


def test_it_was_ready_within_10_s(site):
    """The quickest of the starts above, and of some more if need be: the others may have met a busy machine."""
    assert site.warm_starts_s
    while min(site.warm_starts_s) > 10 and len(site.warm_starts_s) < 10:
        start_warm(site)
        terminate_supervisor(site)
        assert site.left() == {}
    assert min(site.warm_starts_s) <= 10


def test_it_was_one_agent_through_all_these_starts(site):
    assert identity(site).read_text() == site.identity
    assert [mode(file) for file in (identity(site), site.state / "agent" / "code")] == [0o600] * 2
    with sqlite3.connect(site.state / "db.sqlite3") as database:
        assert database.execute("SELECT COUNT(*) FROM agents_agent").fetchone() == (1,)


def test_it_wrote_nothing_to_home(site):
    assert list(site.home.rglob("*")) == []


def test_it_says_what_it_cannot_do_in_one_line(new_site):
    site = new_site()
    for variables, words in (
        (["PORT=many"], "PORT must be a number"),
        (["HOST=no.such.host.invalid"], "HOST=no.such.host.invalid is not an address"),
        (["STATE=/proc/nowhere"], "cannot write to STATE=/proc/nowhere"),
    ):
        done = site.run("up", *variables)
        ours = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
        assert len(ours) == 1
        assert words in ours[0]
        assert done.returncode != 0


def test_it_reports_a_database_that_does_not_work_in_one_line(new_site):
    site = new_site(DATABASE_URL="postgres://nobody@127.0.0.1:1/none")
    done = site.run("up")
    assert "make up: the database does not work" in done.stderr
    told = [
        site.run("token", "NAME=x", "SCOPES=read"),
        site.run("login"),
        site.run("backup", f"FILE={site.state}/x.zip"),
    ]
    assert all("the database does not work" in each.stderr for each in told)
    assert "Traceback" not in "".join(each.stderr for each in (done, *told))
    assert site.left() == {}
