"""How many of our functions a reader passes to follow one request, and how often the next one lies in another module.

Sends each request twice through Django's test client, on a private SQLite file with the four articles, and traces the
second one: distinct functions of `runs`, `agents`, `benchsite` and `benchagent`, and pairs of consecutive calls that
lie in two modules, each pair once; the last column counts repeats, as of a loop over runs. Comprehensions and lambdas
belong to the function that holds them; a generator that goes on is no call. Run by `make bench-journeys
[ARGS="--list compare"]`.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from benchmarks.bench_uploads import document
from scripts.private import set_up_here

if TYPE_CHECKING:
    from django.test import Client

    from runs.models import User

# Its module and its name.
Function = tuple[str, str]
OURS = frozenset({"runs", "agents", "benchsite", "benchagent"})
PASSWORD = "correct horse battery"
PGBENCH = """pgbench (16.4)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: prepared
number of clients: 4
number of threads: 2
duration: 60 s
number of transactions actually processed: {count}
number of failed transactions: 0 (0.000%)
latency average = {latency:.3f} ms
tps = {tps:.6f} (without initial connection time)
"""
SUBJECT = {
    "new_hardware": "bench 7", "dbms_name": "PostgreSQL", "dbms_version": "16.4", "visibility": "public", "keep": "0",
}  # fmt: skip
PLAN = {
    "action": "start", "workload": "tpcb", "engines": ["h2:2.3.232", "sqlite:3.50.1"], "scale_factor": "1",
    "terminals": "2", "warm_up_s": "2", "duration_s": "5", "repeats": "2", "agent": "", "name": "",
}  # fmt: skip
MACHINE = {
    "hostname": "bench1", "os": "Debian 12", "kernel": "6.1", "cpu_model": "Example 3000", "cpu_cores": 2,
    "cpu_threads": 4, "ram_bytes": 8 * 2**30, "motherboard": None, "virtualisation": None, "storage": [],
}  # fmt: skip


@dataclass
class Journey:
    """`calls` of each function, by module and name; `changes`: calls of another module's function than the last one."""

    calls: Counter[Function] = field(default_factory=Counter)
    changes: Counter[tuple[Function, Function]] = field(default_factory=Counter)
    last: Function = ("", "")

    def see(self, frame: FrameType, event: str, argument: Any) -> None:
        module, code = str(frame.f_globals.get("__name__", "")), frame.f_code
        if event != "call" or module.partition(".")[0] not in OURS:
            return
        # Lambdas and the like, and what `dataclass` writes.
        if code.co_name.startswith("<") or code.co_filename.startswith("<"):
            return
        # The argument of RESUME: 0 where a function begins, else a generator goes on after a yield.
        if code.co_code[frame.f_lasti + 1] & 3:
            return
        function = (module, code.co_qualname)
        self.calls[function] += 1
        if module != self.last[0]:
            self.changes[self.last, function] += 1
        self.last = function


def traced(send: Callable[[], Any], status: int) -> Journey:
    journey = Journey()
    sys.setprofile(journey.see)
    try:
        answer = send()
    finally:
        sys.setprofile(None)
    if answer.status_code != status:
        raise RuntimeError(f"{answer.status_code} {answer.content[:500]!r}")
    return journey


def upload(client: Client, secret: str, generator: random.Random) -> Journey:
    def send() -> Any:
        body, headers = json.dumps(document(generator)), {"Authorization": f"Bearer {secret}"}
        return client.post("/api/v1/results/", body, content_type="application/json", headers=headers)

    send()
    return traced(send, 201)


def compare(client: Client) -> Journey:
    """Eight cells of the article on group commits."""
    from runs.models import Run

    runs = Run.objects.filter(publication__slug="tpcb-2010", state="finished").order_by("order_index", "id")
    cells = list(dict.fromkeys(runs.values_list("cell_key", flat=True)))[:8]
    address = "/compare/?" + "&".join(f"cell={key[:12]}" for key in cells)
    client.get(address)
    return traced(lambda: client.get(address), 200)


def schedule(client: Client) -> Journey:
    client.post("/schedule/", PLAN)
    return traced(lambda: client.post("/schedule/", PLAN), 302)


def import_file(client: Client) -> dict[str, Journey]:
    """The three requests of a file of pgbench: sent, looked at, stored."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    requests: dict[str, Journey] = {}
    for tps in (800.0, 820.0):
        text = PGBENCH.format(count=int(60 * tps), tps=tps, latency=4000 / tps)
        files = {"file": SimpleUploadedFile("run.txt", text.encode())}
        requests["import: send"] = traced(lambda sent=files: client.post("/imports/", sent), 302)  # type: ignore[misc]
        path = newest_import()
        requests["import: look"] = traced(lambda at=path: client.get(at), 200)  # type: ignore[misc]
        requests["import: store"] = traced(lambda at=path: client.post(at, SUBJECT), 302)  # type: ignore[misc]
    return requests


def newest_import() -> str:
    from runs.models import FileImport

    return f"/imports/{FileImport.objects.order_by('-created_at')[0].id}/"


def journeys() -> dict[str, Journey]:
    from django.test import Client

    from runs.models import ApiToken, User

    owner: User = User.objects.create_user(username="bench", password=PASSWORD, role="operator")
    secret = ApiToken.issue(owner=owner, name="bench", scopes=["upload"])[1]
    register_machine()
    client = Client()
    client.force_login(owner)
    return {
        "upload": upload(Client(), secret, random.Random(2026)),
        "compare": compare(Client()),
        "schedule": schedule(client),
        **import_file(client),
    }


def register_machine() -> None:
    from benchagent.protocol import PROTOCOL_VERSION

    from agents import enqueueing, machines
    from agents.models import EnrolmentCode

    # There is no broker here, and nothing that would take its messages.
    enqueueing.sender.put = lambda message: None  # type: ignore[method-assign]
    engines = [
        {"dbms": dbms, "version": version, "available": True, "reason": "", "path": "/x"}
        for dbms, version in (("h2", "2.3.232"), ("sqlite", "3.50.1"))
    ]
    message: Any = {
        "protocol": PROTOCOL_VERSION, "agent_version": "0.1.0", "name": "bench1", "hardware": MACHINE,
        "engines": engines, "code": EnrolmentCode.issue(), "confinement": {"confined": True, "words": ""},
    }  # fmt: skip
    machines.register(message=message)


def report(journeys_by_name: dict[str, Journey], listed: str) -> None:
    print(f"{'request':<16}{'functions':>10}{'modules':>9}{'changes of module':>19}{'calls':>8}{'with repeats':>14}")
    for name, journey in journeys_by_name.items():
        modules = len({module for module, _ in journey.calls})
        distinct, total = len(journey.changes), journey.changes.total()
        print(f"{name:<16}{len(journey.calls):>10}{modules:>9}{distinct:>19}{journey.calls.total():>8}{total:>14}")
    for (module, function), count in journeys_by_name[listed].calls.items() if listed else ():
        print(f"{count:>6}  {module}.{function}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", default="", metavar="REQUEST", help="also list the functions of this request")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchsite-") as state:
        set_up_here(state)
        from django.core.management import call_command

        call_command("import_publication", stdout=io.StringIO())
        report(journeys(), arguments.list)


if __name__ == "__main__":
    main()
