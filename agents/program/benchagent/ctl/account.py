"""`benchctl login`, `logout`, `whoami`."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from pathlib import Path

from benchagent.ctl.api import Api, Login, connect, forget, save
from benchagent.ctl.output import UsageError, print_json, print_line


def login(options: argparse.Namespace) -> int:
    server = options.server
    if not server:
        if not sys.stdin.isatty():
            raise UsageError("say --server URL")
        print_line("Server (https://…): ")
        server = input().strip()
    ca = str(Path(options.ca).resolve()) if options.ca else ""
    if ca and not Path(ca).is_file():
        raise UsageError(f"--ca {options.ca}: no such file")
    token = _token(options.token)
    api = Api(server, token, ca)
    # Any page that needs the token to be right.
    api.get("/runs/", [("page_size", "1")])
    path = save(Login(api.server, token, ca))
    print_line(f"logged in to {api.server}; remembered in {path}")
    return 0


def _token(given: str | None) -> str:
    """From standard input, the environment or the keyboard; never from an argument, which every process can read."""
    if given == "-":
        token = sys.stdin.readline().strip()
    elif given is not None:
        if given not in os.environ:
            raise UsageError("--token takes - or the name of an environment variable, never the token itself")
        token = os.environ[given].strip()
    elif sys.stdin.isatty():
        token = getpass.getpass("Token: ").strip()
    else:
        raise UsageError(
            "say --token - and give the token on standard input, or --token NAME of an environment variable"
        )
    if not token or any(character.isspace() for character in token):
        raise UsageError("that is no token")
    return token


def logout(_options: argparse.Namespace) -> int:
    path = forget()
    print_line(
        f"{path} is gone; the token opens the server until it is revoked on the account page" if path else "no login"
    )
    return 0


def whoami(options: argparse.Namespace) -> int:
    api = connect()
    account = api.get("/me/")
    if options.json:
        print_json({"server": api.server, **account})
        return 0
    token = account["token"] or {"name": "", "scopes": [], "expires_at": None}
    until = f", until {token['expires_at'][:10]}" if token["expires_at"] else ""
    print(f"{account['user'] or 'a stranger'} ({account['role'] or 'no role'}) at {api.server}")
    print(f"token {token['name']}: {', '.join(token['scopes'])}{until}" if account["token"] else "without a token")
    return 0
