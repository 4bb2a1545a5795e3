from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest
from benchagent.machine.system import ServiceUser, first_blocked, service_user


@pytest.fixture
def accounts(monkeypatch) -> dict[str, int]:
    """The machine's users; the agent is root."""
    known = {"benchagent-job": 101, "nobody": 65534}

    def by_name(name: str) -> pwd.struct_passwd:
        return pwd.struct_passwd((name, "x", known[name], known[name], "", "/", ""))

    monkeypatch.setattr(pwd, "getpwnam", by_name)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return known


def test_it_takes_the_first_user_that_there_is(accounts: dict[str, int]):
    assert service_user() == ServiceUser("benchagent-job", 101, 101)


def test_it_falls_back_to_nobody(accounts: dict[str, int]):
    del accounts["benchagent-job"]
    assert service_user() == ServiceUser("nobody", 65534, 65534)


def test_it_says_which_users_it_looked_for(accounts: dict[str, int]):
    accounts.clear()
    with pytest.raises(LookupError, match="no user 'benchagent-job' or 'nobody'"):
        service_user()


def test_an_agent_that_is_not_root_runs_servers_itself(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert service_user() is None


def test_it_names_the_first_folder_that_a_user_cannot_enter(dirs, monkeypatch):
    user = service_user()
    folder: Path = dirs.tmp / "closed" / "inner"
    folder.mkdir(parents=True)
    if user is None:  # not root: only this user itself can be tried
        user = ServiceUser("ourselves", os.getuid(), os.getgid())
        monkeypatch.setattr(ServiceUser, "popen", lambda self: {})
    assert first_blocked(user, dirs.tmp) is None
    (dirs.tmp / "closed").chmod(0o000)
    assert first_blocked(user, folder) == dirs.tmp / "closed"
    (dirs.tmp / "closed").chmod(0o700)
