"""The server's REST API as `benchctl` needs it: one call is one request, errors in words."""

from __future__ import annotations

import json
import os
import ssl
import stat
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from uuid import UUID

import requests

from benchagent import __version__
from benchagent.ctl.output import Tries, UsageError
from benchagent.link.client import Unreachable, answer_of, checked_url, send
from benchagent.paths import write_private

# Which server, and the token for it: environment before file; the file is for its owner's eyes only.

CONFIG_VARIABLE = "BENCHCTL_CONFIG"
SERVER_VARIABLE = "BENCHCTL_SERVER"
TOKEN_VARIABLE = "BENCHCTL_TOKEN"  # a name
CA_VARIABLE = "BENCHCTL_CA"


@dataclass(frozen=True)
class Login:
    """`ca`: a file with the authority of the server's certificate; empty: whom the system trusts."""

    server: str
    token: str
    ca: str = ""


def config_path() -> Path:
    if given := os.environ.get(CONFIG_VARIABLE):
        return Path(given)
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "benchsite" / "benchctl.json"


def load() -> Login:
    """Raises UsageError where no server is known, or the file cannot be used."""
    server, token = os.environ.get(SERVER_VARIABLE, ""), os.environ.get(TOKEN_VARIABLE, "")
    ca = os.environ.get(CA_VARIABLE, "")
    if server:
        return Login(server, token, ca)
    path = config_path()
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise UsageError(f"{path} can be read by others: chmod 600 it, or log in again")
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Login(str(kept["server"]), token or str(kept["token"]), ca or str(kept.get("ca", "")))
    except FileNotFoundError:
        words = f"no server is known: run `benchctl login --server URL`, or set {SERVER_VARIABLE} and {TOKEN_VARIABLE}"
        raise UsageError(words) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be read ({type(error).__name__}): log in again") from error


def forget() -> Path | None:
    """The file that kept the login; None where there is none."""
    path = config_path()
    try:
        path.unlink()
    except FileNotFoundError:
        return None
    return path


def save(login: Login) -> Path:
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, asdict(login))
    return path


API_ROOT = "/api/v1"
TIMEOUT_S = (10.0, 60.0)
# A large file takes time to arrive and to be read.
UPLOAD_TIMEOUT_S = (10.0, 600.0)
# How long it waits when the server asks it to: its database is locked or away, or others ask too much; and how long,
# where that is wanted, for one that does not answer: one that starts anew is back after some seconds.
PATIENCE_S, AWAY_S = 120.0, 300.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 2.0, 60.0
# OpenSSL's numbers for an unknown issuer and for a certificate that signs itself.
UNKNOWN_AUTHORITY = {18, 19, 20, 21}
Params = Sequence[tuple[str, str]]


def id_of(text: str) -> str:
    """The id that a text is, in its usual spelling; empty where it is none."""
    try:
        return str(UUID(text))
    except ValueError:
        return ""


def connect(*, patient: bool = False) -> Api:
    """The server that somebody has logged in to. Raises UsageError."""
    login = load()
    api = Api(login.server, login.token, login.ca)
    api.patient = patient
    return api


def tls_words(error: BaseException) -> str:
    """What is wrong with a certificate, and what to do."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__context__ or cause.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        words = f"its certificate is not trusted: {cause.verify_message}"
        own = cause.verify_code in UNKNOWN_AUTHORITY
        return f"{words}. If it is your own authority's: benchctl login --ca FILE" if own else words
    if isinstance(cause, ssl.SSLError) and cause.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return "it speaks no TLS at this address: is it http, or another port?"
    return f"no TLS connection: {cause or error}"


class Api:
    """`patient`: a server that does not answer is waited for. What is sent again is known there by its content."""

    patient = False

    def __init__(self, server: str, token: str = "", ca: str = "") -> None:
        self.server = checked_url(server)
        self._token = token
        self._session = requests.Session()
        # With each request, because the environment's REQUESTS_CA_BUNDLE comes before a session's own.
        self._trust = {"verify": ca} if ca else {}
        self._session.headers["User-Agent"] = f"benchctl/{__version__}"

    def get(self, path: str, params: Params = ()) -> dict[str, Any]:
        return self._send("GET", path, params=list(params), timeout=TIMEOUT_S)

    def post(self, path: str, body: Any) -> dict[str, Any]:
        return self._send("POST", path, json=body, timeout=UPLOAD_TIMEOUT_S)

    def patch(self, path: str, body: Any) -> dict[str, Any]:
        return self._send("PATCH", path, json=body)

    def post_form(self, path: str, files: Sequence[tuple[str, Path]], values: Params) -> dict[str, Any]:
        """Files, each with its name, and fields: what has no file name is a field."""
        parts: list[tuple[str, Any]] = [(name, (None, value)) for name, value in values]
        parts += [("file", (name, path.read_bytes(), "application/octet-stream")) for name, path in files]
        return self._send("POST", path, files=parts, timeout=UPLOAD_TIMEOUT_S)

    def download(self, path: str) -> bytes:
        return self.ask("GET", path, timeout=UPLOAD_TIMEOUT_S).content

    def pages(self, path: str, params: Params) -> Iterator[dict[str, Any]]:
        """Every row of a list, page after page, as the server's own `next` says."""
        page = self.get(path, params)
        while True:
            yield from page.get("results", [])
            following = page.get("next")
            if not following:
                return
            # The token goes to no other server, whatever the answer says.
            parts = urlsplit(urljoin(f"{self.server}/", str(following)))
            query = f"?{parts.query}" if parts.query else ""
            page = self._send("GET", f"{parts.path}{query}", root="", timeout=TIMEOUT_S)

    def ask(self, method: str, path: str, *, root: str = API_ROOT, **more: Any) -> requests.Response:
        """A good answer, which need not be JSON. Raises `Unreachable`, `Refused`.

        Asks again, for `PATIENCE_S` in all, when the server says after how long: it has done nothing yet. One that is
        patient does so for `AWAY_S` where there is no answer at all.
        """
        waited_s, pause_s = 0.0, FIRST_PAUSE_S
        with Tries() as tries:
            while True:
                try:
                    response = self._response(method, f"{root}{path}", **more)
                    if not response.ok or response.is_redirect:
                        answer_of(response)
                    return response
                except Unreachable as error:
                    asked_s = error.retry_after_s
                    if waited_s > (AWAY_S if self.patient else PATIENCE_S) or (asked_s is None and not self.patient):
                        raise
                    wait_s = pause_s if asked_s is None else max(1.0, asked_s)
                    tries.wait(str(error), wait_s)
                    waited_s, pause_s = waited_s + wait_s, min(2 * pause_s, LONGEST_PAUSE_S)

    def _send(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        return answer_of(self.ask(method, path, **more))

    def _response(self, method: str, path: str, **more: Any) -> requests.Response:
        try:
            return send(self._session, method, f"{self.server}{path}", self._token, **self._trust, **more)
        except requests.exceptions.SSLError as error:
            raise Unreachable(f"{self.server}: {tls_words(error)}") from error
        except (requests.RequestException, OSError) as error:
            raise Unreachable(f"{self.server} does not answer: {_cause(error)}") from error


def _cause(error: Exception) -> str:
    if isinstance(error, requests.Timeout):
        return "not in time"
    signs = {"refused": "connection refused", "resol": "its name is not known"}
    return next((words for sign, words in signs.items() if sign in str(error)), "the connection broke")
