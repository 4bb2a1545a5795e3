"""The server's REST API in memory, over real HTTP on a loopback port."""

from __future__ import annotations

import hashlib
import json
import threading
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "bs_right"
Answer = tuple[int, Any]


class FakeApi:
    """`missing` is what every import lacks until it is said, `items` what is read in it. `down` answers 503."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, list[tuple[str, str]], Any]] = []
        self.tokens: list[str | None] = []
        self.imports: dict[str, dict[str, Any]] = {}
        # State and problem of an import each time that somebody asks, where a worker reads it.
        self.reading: list[tuple[str, str]] = []
        self.documents: dict[str, str] = {}
        # Ids of runs that were stored and are deleted.
        self.deleted: set[str] = set()
        self.runs: list[dict[str, Any]] = []
        self.comparison: dict[str, Any] = {}
        self.answered: dict[str, Any] = {}
        # By path: what is answered there, whatever the method.
        self.answers: dict[str, Any] = {}
        self.states: list[str] = []
        self.missing = ["hardware"]
        self.items: list[dict[str, Any]] = []
        self.down = False
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def sent(self, method: str, path: str) -> list[Any]:
        return [body for verb, where, _, body in self.requests if (verb, where) == (method, path)]

    def answer(self, method: str, path: str, params: list[tuple[str, str]], body: Any) -> Answer:
        self.requests.append((method, path, params, body))
        if self.down:
            return 503, {"detail": "down"}
        if self.tokens[-1] != TOKEN:
            return 401, {"detail": "Invalid token."}
        parts = path.strip("/").split("/")
        if method == "POST" and parts == ["imports"]:
            return self._take(body)
        if method == "GET" and parts[0] == "imports":
            return 200, self._progress(parts[1])
        if method == "POST" and parts[0] == "imports":
            return self._store(parts[1], body)
        if path in self.answers:
            return 200, self.answers[path]
        if method == "GET" and parts == ["experiments", "night"]:
            return 200, {"slug": "night"}
        if method == "PATCH" and parts[0] == "batches":
            return 200, body
        if method == "POST" and parts == ["tools"]:
            return 201, body
        if method == "POST" and parts == ["results"]:
            return 200, {"results": [self._result(document) for document in body["results"]]}
        if method == "POST" and (parts == ["experiments"] or parts[2:] == ["repeat"]):
            return 201, self._experiment(body)
        if parts == ["compare"]:
            return 200, self._compare(dict(params))
        if parts == ["answers"]:
            return 200, self.answered
        if parts == ["runs"]:
            return self._runs(dict(params))
        if method == "POST" and parts[2:] == ["restore"]:
            self.deleted.discard(parts[1])
            return 200, {"id": parts[1]}
        if parts[0] == "runs":
            found = next((run for run in self._now() if run["id"] == parts[1]), None)
            return (200, found) if found else (404, {"detail": "No Run matches the given query."})
        return 404, {"detail": "Not found."}

    def _take(self, files: list[tuple[str, bytes]]) -> Answer:
        key = hashlib.sha256(repr(sorted(files)).encode()).hexdigest()[:8]
        status = 200 if key in self.imports else 201
        for run in self.imports.get(key, {}).get("runs", []):
            run.pop("restore_url", None)
            if run["id"] in self.deleted:
                run["restore_url"] = f"{self.url}/api/v1/runs/{run['id']}/restore/"
        self.imports.setdefault(key, {
            "id": key, "url": f"{self.url}/imports/{key}/", "state": "draft", "items": self.items, "runs": [],
            "needs": self.missing, "names": [name for name, _ in files],
        })  # fmt: skip
        if self.reading:
            self.imports[key]["state"], status = "reading", 202
        return status, self.imports[key]

    def _progress(self, key: str) -> dict[str, Any]:
        """The next of the states that this import is to pass through."""
        state, problem = self.reading.pop(0)
        self.imports[key] |= {"state": state, "problem": problem}
        return self.imports[key]

    def _store(self, key: str, body: dict[str, Any]) -> Answer:
        lacking = [name for name in self.missing if name not in body["subject"]]
        if lacking:
            return 400, {name: ["Say on which machine this was measured."] for name in lacking}
        found = self.imports[key]
        found |= {
            "state": "stored",
            "subject": body["subject"],
            "runs": [{"id": f"run-{key}", "url": f"{self.url}/runs/{key}/"}],
        }
        return 201, found

    def _result(self, document: dict[str, Any]) -> dict[str, Any]:
        digest = json.dumps(document, sort_keys=True)
        if document.get("bad"):
            return {"status": "invalid", "http": 400, "id": None, "runs": [], "errors": {"bad": ["Unknown key."]}}
        known = self.documents.setdefault(document["id"], digest)
        status = "conflict" if known != digest else "created" if len(self.sent("POST", "/results/")) == 1 else "same"
        errors = {"id": ["belongs to another body"]} if status == "conflict" else {}
        run = {"id": "r", "url": "u"}
        if status == "same" and run["id"] in self.deleted:
            status, run["restore_url"] = "deleted", "u/restore/"
            errors = {"id": ["deleted"]}
        return {"status": status, "id": document["id"], "runs": [run], "errors": errors}

    def _experiment(self, body: dict[str, Any]) -> dict[str, Any]:
        runs = [{"id": run["id"], "url": "u", "dbms": "x", "repeat": 1, "order_index": 0} for run in self.runs]
        return {
            "slug": "night",
            "url": f"{self.url}/experiments/night/",
            "estimated_s": 75.0,
            "warnings": ["bench1 lacks space on storage default (76 GB of 300 GB)."],
            "runs": runs,
            "body": body,
        }

    def _compare(self, params: dict[str, str]) -> dict[str, Any]:
        groups = self.comparison["groups"]
        if [*params] == ["cell"]:
            of_cell = {run["id"] for run in self.runs if run["cell_key"].startswith(params["cell"])}
            groups = [group for group in groups if of_cell & {*group["runs"]}]
            groups = self.comparison["groups"] if params["cell"] == "abababab" else groups
        return {**self.comparison, "groups": groups, "baseline": params.get("baseline", self.comparison["baseline"])}

    def _now(self) -> list[dict[str, Any]]:
        state = self.states.pop(0) if len(self.states) > 1 else (self.states or [""])[0]
        return [{**run, "status": state or run["status"]} for run in self.runs]

    def _runs(self, params: dict[str, str]) -> Answer:
        if "nonsense" in params:
            return 400, {"nonsense": ["Unknown parameter."]}
        size, page = int(params.get("page_size", "50")), int(params.get("page", "1"))
        rows = [run for run in self._now() if params.get("experiment") in (None, run["experiment"])]
        more = f"{self.url}/api/v1/runs/?page={page + 1}&page_size={size}" if len(rows) > page * size else None
        return 200, {"next": more, "results": rows[(page - 1) * size : page * size]}


def _handler(server: FakeApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            self._reply()

        def do_DELETE(self) -> None:
            self._reply()

        def do_PATCH(self) -> None:
            self._reply()

        def _reply(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            given = self.headers.get("Authorization")
            server.tokens.append(given.removeprefix("Bearer ") if given else None)
            parts = urlsplit(self.path)
            path = parts.path.removeprefix("/api/v1")
            status, content = server.answer(self.command, path, parse_qsl(parts.query), _body(self.headers, raw))
            payload = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_args: object) -> None: ...

    return Handler


def _body(headers: Message, raw: bytes) -> Any:
    kind = headers.get("Content-Type", "")
    if kind.startswith("multipart/form-data"):
        message = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + raw)
        parts = [part for part in message.walk() if part.get_filename()]
        return [(str(part.get_filename()), part.get_payload(decode=True)) for part in parts]
    return json.loads(raw) if raw else None


def a_run(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"00000000-0000-4000-8000-{number:012d}", "url": f"http://x/runs/{number}/",
        "workload": {"slug": "tpcb", "name": "TPC-B"}, "dbms": {"name": "PostgreSQL 15.14", "version": "15.14"},
        "hardware": {"slug": "box", "name": "Box"}, "config": None, "status": "finished", "repeat": number,
        "order_index": number, "cell_key": f"{number:02d}" + "ab" * 31, "experiment": "night", "message": "",
        "factors": {"terminals": 8}, "created_at": "2026-11-21T08:00:00Z",
        "metrics": {"latency_avg_ms": 0.5, "tps": 1234.5},
        "result": [
            {"name": "tps", "label": "Throughput", "value": 1234.5, "unit": "TPS"},
            {"name": "latency_p99_ms", "label": "p99 latency", "value": 0.75, "unit": "ms"},
        ],
        **changes,
    }  # fmt: skip
