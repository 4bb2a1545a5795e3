"""HTTP to the server. One call is one request; who calls decides about trying again (`Backoff`)."""

from __future__ import annotations

import contextlib
import ipaddress
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlsplit

import requests
from requests.auth import AuthBase

from benchagent import __version__
from benchagent.protocol import (
    API_ROOT,
    CLOCK_HEADER,
    Ack,
    Batch,
    Claimed,
    ClockFacts,
    Lease,
    ObservedBatch,
    Ordered,
    Poll,
    PollAnswer,
    Registered,
    Registration,
    Watch,
)

# How far the server's clock is from this machine's, from the exchanges that there are anyway (as in NTP, RFC 5905).

# The shortest of so many exchanges counts: about the last minute of a waiting agent, less of a busy one.
EXCHANGES = 32


class Clock:
    """Safe to use from several threads. `wall` is this machine's time in seconds since 1970."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self.wall = wall
        self._lock = threading.Lock()
        self._exchanges: deque[ClockFacts] = deque(maxlen=EXCHANGES)

    def add(self, sent_at: float, elapsed_s: float, server_received_at: float, server_answered_at: float) -> None:
        """One exchange: sent at this machine's time, answered after `elapsed_s`; times of the server in between.

        What the server took for the answer is no part of the way; nobody knows how the rest is split.
        """
        way_s = elapsed_s - (server_answered_at - server_received_at)
        if way_s < 0:  # the server's clock was set meanwhile
            return
        middle = (server_received_at + server_answered_at) / 2 - (sent_at + elapsed_s / 2)
        with self._lock:
            self._exchanges.append({"offset_s": middle, "uncertainty_s": way_s / 2})

    def best(self) -> ClockFacts | None:
        """To be added to this machine's time for the server's; None while the server has not told its time."""
        with self._lock:
            return min(self._exchanges, key=lambda facts: facts["uncertainty_s"], default=None)


TIMEOUT_S = (5.0, 30.0)


class ClientError(Exception):
    """Anything that went wrong between agent and server."""


class InsecureUrl(ClientError):
    """Plain http to another machine would show the token to everybody on the way."""


class Unreachable(ClientError):
    """Network error, 429 or 5xx: try again later. `retry_after_s`: when, where the server says so, else None."""

    def __init__(self, words: str, retry_after_s: float | None = None) -> None:
        super().__init__(words)
        self.retry_after_s = retry_after_s


class Refused(ClientError):
    """The server answered and said no; trying the same again changes nothing."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail


class Bearer(AuthBase):
    """As an auth object, because a netrc entry would replace a plain Authorization header."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.token:
            request.headers["Authorization"] = f"Bearer {self.token}"
        return request


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def send(session: requests.Session, method: str, url: str, token: str, **more: Any) -> requests.Response:
    """Raises requests.RequestException, OSError."""
    # A proxy of the environment is not asked for an address on this machine.
    proxies: Any = {"http": None, "https": None} if is_loopback(urlsplit(url).hostname or "") else None
    return session.request(method, url, auth=Bearer(token), allow_redirects=False, proxies=proxies, **more)


def checked_url(url: str, *, plain_http: bool = False) -> str:
    """The server's address without a trailing slash; `plain_http`: also to another machine. Raises `InsecureUrl`."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InsecureUrl(f"{url!r} is not an http(s) address of a server")
    if parts.scheme == "http" and not plain_http and not is_loopback(parts.hostname):
        raise InsecureUrl(f"{url!r}: plain http is accepted on a loopback address only; use https")
    return url.rstrip("/")


class Client:
    """Safe to use from several threads: each has its own connection. Every answer tells `clock` the server's time."""

    def __init__(
        self,
        server: str,
        token: str = "",
        clock: Clock | None = None,
        *,
        plain_http: bool = False,
        ca: Path | None = None,
    ) -> None:
        """`ca`: file with the authority that signed the server's certificate, where the system does not know it."""
        # With each request: what the environment says comes before what a session says.
        self._trust = {"verify": str(ca)} if ca else {}
        self.clock = clock or Clock()
        self.server = checked_url(server, plain_http=plain_http)
        self.token = token
        self._local = threading.local()

    def register(self, message: Registration) -> Registered:
        return cast(Registered, self._post("/register/", message, token=""))

    def poll(self, message: Poll) -> PollAnswer:
        return cast(PollAnswer, self._post("/poll/", message, token=self.token))

    def claim(self, run_id: str) -> Claimed:
        return cast(Claimed, self._post(f"/jobs/{quote(run_id)}/claim/", {}, token=self.token))

    def heartbeat(self, run_id: str, job_token: str) -> Lease:
        return cast(Lease, self._post(f"/jobs/{quote(run_id)}/heartbeat/", {}, token=job_token))

    def batch(self, run_id: str, job_token: str, batch: Batch) -> Ack:
        return cast(Ack, self._post(f"/jobs/{quote(run_id)}/batch/", batch, token=job_token))

    def claim_observation(self, run_id: str) -> Ordered:
        return cast(Ordered, self._post(f"/observations/{quote(run_id)}/claim/", {}, token=self.token))

    def watch(self, run_id: str, order_token: str) -> Watch:
        return cast(Watch, self._post(f"/observations/{quote(run_id)}/heartbeat/", {}, token=order_token))

    def observed(self, run_id: str, order_token: str, batch: ObservedBatch) -> Ack:
        return cast(Ack, self._post(f"/observations/{quote(run_id)}/batch/", batch, token=order_token))

    def wheel(self, name: str) -> bytes:
        """The agent as the server has it."""
        try:
            response = send(
                self._session(),
                "GET",
                f"{self.server}/agents/install/{quote(name)}",
                "",
                timeout=TIMEOUT_S,
                **self._trust,
            )
        except (requests.RequestException, OSError) as error:
            raise Unreachable(f"{self.server}: {type(error).__name__}: {error}") from error
        if response.status_code != 200:
            raise Refused(response.status_code, f"the server does not have {name} (any more)")
        return response.content

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            session.headers["User-Agent"] = f"benchagent/{__version__}"
        return session

    def _post(self, path: str, message: Any, *, token: str) -> dict[str, Any]:
        url = f"{self.server}{API_ROOT}{path}"
        sent_at, sent = self.clock.wall(), time.monotonic()
        try:
            response = send(self._session(), "POST", url, token, json=message, timeout=TIMEOUT_S, **self._trust)
        except (requests.RequestException, OSError) as error:
            raise Unreachable(f"{self.server}: {type(error).__name__}: {error}") from error
        elapsed_s = time.monotonic() - sent
        with contextlib.suppress(ValueError):  # a header that is not there, or not two numbers, tells nothing
            received_at, answered_at = map(float, response.headers.get(CLOCK_HEADER, "").split())
            self.clock.add(sent_at, elapsed_s, received_at, answered_at)
        return answer_of(response)


def answer_of(response: requests.Response) -> dict[str, Any]:
    """The JSON object of a server's answer. Raises `Unreachable`, `Refused`."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if response.status_code == 429 or response.status_code >= 500:
        seconds = response.headers.get("Retry-After", "")
        retry_after_s = float(seconds) if seconds.isascii() and seconds.isdecimal() else None
        why = body["detail"] if isinstance(body, dict) and isinstance(body.get("detail"), str) else "try again later"
        asks = "asks to wait (429)" if response.status_code == 429 else f"answered {response.status_code}"
        raise Unreachable(f"the server {asks}: {why}", retry_after_s)
    if 200 <= response.status_code < 300:
        if isinstance(body, dict):
            return body
        raise Unreachable("the answer is not JSON: is this address really a Benchsite server's?")
    if response.is_redirect:
        words = f"redirected to {response.headers.get('Location')}: give that address as --server"
    elif isinstance(body, dict) and body:
        fields = {
            field: " ".join(map(str, value)) if isinstance(value, list) else value for field, value in body.items()
        }
        words = "\n".join(f"{value}" if field == "detail" else f"{field}: {value}" for field, value in fields.items())
    else:
        words = response.text[:300] or response.reason
    raise Refused(response.status_code, words)


class Backoff:
    """Waiting times that double up to a limit, spread at random so that agents do not come all at once."""

    def __init__(self, first_s: float = 0.5, limit_s: float = 15.0) -> None:
        self._first_s = first_s
        self._limit_s = limit_s
        self._next_s = first_s

    def wait_s(self) -> float:
        wait_s = self._next_s * random.uniform(0.5, 1.0)  # noqa: S311
        self._next_s = min(self._next_s * 2, self._limit_s)
        return wait_s

    def reset(self) -> None:
        self._next_s = self._first_s
