"""The server's side of the agent protocol in memory, over real HTTP on a loopback port."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchagent.catalog import WORKLOADS
from benchagent.protocol import API_ROOT, CLOCK_HEADER, PROTOCOL_VERSION, JobSpec

JOB_PATH = re.compile(r"/jobs/([^/]+)/(claim|heartbeat|batch)/\Z")
Answer = tuple[int, dict[str, Any]]


class FakeServer:
    """`jobs` are handed out in order. `down` answers 503; `lose_answers` applies a request and then drops the line."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.registrations: list[dict[str, Any]] = []
        self.polls: list[dict[str, Any]] = []
        self.jobs: list[JobSpec] = []
        self.claimed: list[str] = []
        self.heartbeats: list[str] = []
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.errands: list[dict[str, Any]] = []
        self.reports: dict[str, dict[str, Any]] = {}
        self.cancelled: set[str] = set()
        self.gone: set[str] = set()
        self.down = False
        self.lose_answers = 0
        self.stopped = False
        self.clock_ahead_s = 0.0
        self.spoken_version = PROTOCOL_VERSION
        self.known_tokens = {"agent-token"}
        self._start(0)

    def _start(self, port: int) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """No longer listen, and drop the lines that are open."""
        self.stopped = True
        self._http.shutdown()
        self._http.server_close()

    def start_again(self) -> None:
        self.stopped = False
        self._start(self.port)

    # What arrived

    def items(self, run_id: str, kind: str | None = None) -> list[dict[str, Any]]:
        with self.lock:
            found = [item for batch in self.batches.get(run_id, []) for item in batch["items"]]
        return [item for item in found if kind in (None, item["kind"])]

    def series(self, run_id: str, metric: str) -> list[float | None]:
        """The values of a metric; asserts that its chunks are numbered and follow each other."""
        chunks = [item for item in self.items(run_id, "samples") if item["metric"] == metric]
        assert [chunk["chunk"] for chunk in chunks] == list(range(len(chunks)))
        values: list[float | None] = []
        for chunk in chunks:
            assert chunk["t0_s"] == len(values)
            values += chunk["values"]
        return values

    def states(self, run_id: str) -> list[str]:
        return [item["state"] for item in self.items(run_id, "state")]

    def log(self, run_id: str) -> str:
        text = ""
        for item in self.items(run_id, "log"):
            assert item["offset"] == len(text.encode())
            text += item["text"]
        return text

    def finish(self, run_id: str) -> dict[str, Any] | None:
        return next(iter(self.items(run_id, "finish")), None)

    def wait_for_finish(self, run_id: str, timeout_s: float = 60) -> dict[str, Any]:
        wait_until(lambda: self.finish(run_id), timeout_s)
        found = self.finish(run_id)
        assert found is not None
        return found

    # Answers

    def answer(self, path: str, token: str | None, body: dict[str, Any]) -> Answer:
        with self.lock:
            self.requests.append((path, token))
            if self.down:
                return 503, {"detail": "down"}
            found = JOB_PATH.search(path)
            if found:
                answer: Answer = getattr(self, f"_{found[2]}")(found[1], token, body)
                return answer
            return self._register(body) if path == "/register/" else self._poll(token, body)

    def _register(self, body: dict[str, Any]) -> Answer:
        self.registrations.append(body)
        status = "approved" if body.get("code") == "right-code" else "pending"
        return 200, {"agent_id": "agent-1", "token": "agent-token", "status": status}

    def _poll(self, token: str | None, body: dict[str, Any]) -> Answer:
        if body["protocol"] != self.spoken_version:
            return 426, {"detail": f"the server speaks {self.spoken_version}, the agent {body['protocol']}"}
        if token not in self.known_tokens:
            return 401, {"detail": "unknown token"}
        self.polls.append(body)
        job = next((job["run_id"] for job in self.jobs if job["run_id"] not in self.claimed), None)
        if report := body.get("errand"):
            self.reports[report["id"]] = report
        ended = [report["id"] for report in self.reports.values() if report["state"] != "running"]
        answer: dict[str, Any] = {"status": "approved", "poll_after_s": 0.1, "job": job, "message": ""}
        if errand := next((errand for errand in self.errands if errand["id"] not in ended), None):
            answer |= {"errand": errand, "job": None}
        return 200, answer

    def _claim(self, run_id: str, _token: str | None, _body: dict[str, Any]) -> Answer:
        if run_id in self.claimed:
            return 409, {"detail": "not assigned to this agent"}
        self.claimed.append(run_id)
        job = next(job for job in self.jobs if job["run_id"] == run_id)
        return 200, {"job": job, "job_token": f"token-{run_id}", "lease_s": 600}

    def _heartbeat(self, run_id: str, token: str | None, _body: dict[str, Any]) -> Answer:
        if token != f"token-{run_id}":
            return 401, {"detail": "unknown token"}
        self.heartbeats.append(run_id)
        return 200, {"lease_s": 600, "cancel": run_id in self.cancelled}

    def _batch(self, run_id: str, token: str | None, body: dict[str, Any]) -> Answer:
        if token != f"token-{run_id}":
            return 401, {"detail": "unknown token"}
        if run_id in self.gone:
            return 404, {"detail": "no such run"}
        taken = self.batches.setdefault(run_id, [])
        expected = len(taken) + 1
        if body["seq"] > expected:
            return 409, {"detail": "out of order", "expected": expected}
        if body["seq"] == expected:
            taken.append(body)
        else:
            assert body == taken[body["seq"] - 1], "a batch was sent again with other content"
        return 200, {"seq": body["seq"], "cancel": run_id in self.cancelled}


def _handler(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            given = self.headers.get("Authorization")
            token = given.removeprefix("Bearer ") if given else None
            if server.stopped:
                self.close_connection = True
                return
            status, content = server.answer(self.path.removeprefix(API_ROOT), token, body)
            if server.lose_answers > 0:
                server.lose_answers -= 1
                self.close_connection = True
                return
            payload = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            now = time.time() + server.clock_ahead_s
            self.send_header(CLOCK_HEADER, f"{now:.6f} {now:.6f}")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_args: object) -> None: ...

    return Handler


def wait_until(condition: Any, timeout_s: float = 60, every_s: float = 0.02) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(every_s)


def job_spec(run_id: str = "run-1", **changes: Any) -> JobSpec:
    spec: JobSpec = {
        "run_id": run_id,
        "workload": "tpcb",
        "workload_version": WORKLOADS[changes.get("workload", "tpcb")].version,
        "dbms": "sqlite",
        "dbms_version": "",
        "settings": [],
        "factors": {"scale_factor": 1, "terminals": 2, "warm_up_s": 1, "duration_s": 2},
        "seed": 42,
    }
    return {**spec, **changes}


def main() -> None:
    """Serve until the input ends; the first line of the output is the address."""
    server = FakeServer()
    print(server.url, flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
