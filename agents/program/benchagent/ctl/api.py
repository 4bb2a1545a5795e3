"""The server's REST API as `benchctl` needs it: one call is one request, errors in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

import requests

from benchagent import __version__
from benchagent.link.client import Bearer, Refused, Unreachable, checked_url, is_loopback

API_ROOT = "/api/v1"
TIMEOUT_S = (10.0, 60.0)
# A large file takes time to arrive and to be read.
UPLOAD_TIMEOUT_S = (10.0, 600.0)
Params = Sequence[tuple[str, str]]


class Api:
    def __init__(self, server: str, token: str = "") -> None:
        self.server = checked_url(server)
        self._auth = Bearer(token)
        self._session = requests.Session()
        self._session.headers["User-Agent"] = f"benchctl/{__version__}"
        # A proxy of the environment is not asked for an address on this machine.
        loopback = is_loopback(urlsplit(self.server).hostname or "")
        self._proxies: Any = {"http": None, "https": None} if loopback else None

    def get(self, path: str, params: Params = ()) -> dict[str, Any]:
        return self._send("GET", self._url(path), params=list(params), timeout=TIMEOUT_S)

    def post(self, path: str, body: Any) -> dict[str, Any]:
        return self._send("POST", self._url(path), json=body, timeout=UPLOAD_TIMEOUT_S)

    def post_files(self, path: str, files: Sequence[tuple[str, bytes]], fields: Mapping[str, str]) -> dict[str, Any]:
        parts = [("file", (name, data, "application/octet-stream")) for name, data in files]
        return self._send("POST", self._url(path), files=parts, data=dict(fields), timeout=UPLOAD_TIMEOUT_S)

    def pages(self, path: str, params: Params) -> Iterator[dict[str, Any]]:
        """Every row of a list, page after page, as the server's own `next` says."""
        page = self.get(path, params)
        while True:
            yield from page.get("results", [])
            following = page.get("next")
            if not following:
                return
            page = self._send("GET", self._same_server(str(following)), timeout=TIMEOUT_S)

    def _url(self, path: str) -> str:
        return f"{self.server}{API_ROOT}{path}"

    def _same_server(self, url: str) -> str:
        """The token goes to no other server, whatever the answer says."""
        whole = urljoin(f"{self.server}/", url)
        parts = urlsplit(whole)
        return f"{self.server}{parts.path}" + (f"?{parts.query}" if parts.query else "")

    def _send(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        try:
            response = self._session.request(
                method, url, auth=self._auth, allow_redirects=False, proxies=self._proxies, **more
            )
        except (requests.RequestException, OSError) as error:
            raise Unreachable(f"{self.server} does not answer: {_cause(error)}") from error
        return _answer(response)


def _cause(error: Exception) -> str:
    return "connection refused" if "refused" in str(error) else type(error).__name__


def _answer(response: requests.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = None
    if response.status_code == 429:
        raise Unreachable("the server asks to wait (429): try again later")
    if response.status_code >= 500:
        raise Unreachable(f"the server answered {response.status_code}")
    if 200 <= response.status_code < 300:
        if isinstance(body, dict):
            return cast(dict[str, Any], body)
        raise Unreachable("the answer is not JSON: is this address really a Benchsite server's?")
    raise Refused(response.status_code, _words(response, body))


def _words(response: requests.Response, body: Any) -> str:
    if response.is_redirect:
        return f"redirected to {response.headers.get('Location')}: give that address as --server"
    if not isinstance(body, dict) or not body:
        return response.text[:300] or response.reason
    lines = []
    for field, messages in body.items():
        words = " ".join(map(str, messages)) if isinstance(messages, list) else str(messages)
        lines.append(words if field == "detail" else f"{field}: {words}")
    return "\n".join(lines)


Progress = Callable[[str], None]
