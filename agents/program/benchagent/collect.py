"""Takes in the load generator's events: the seconds go to the spool at once, the rest is kept for the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchagent.sampling import Sampler
from benchagent.spool import Spool

Event = Mapping[str, Any]
LATENCIES = ("p50", "p95", "p99", "max")


class Collector:
    """`on_state(state)` and `on_log(line)` report progress; `make_sampler()` is called when the run begins."""

    def __init__(
        self,
        spool: Spool,
        run_id: str,
        *,
        warm_up_s: int,
        make_sampler: Callable[[], Sampler],
        on_state: Callable[[str], None],
        on_log: Callable[[str], None],
        on_query: Callable[[str], None],
    ) -> None:
        self._spool = spool
        self._run_id = run_id
        self._warm_up_s = warm_up_s
        self._make_sampler = make_sampler
        self._sampler: Sampler | None = None
        self._on_state, self._on_log, self._on_query = on_state, on_log, on_query
        self.started: Event = {}
        self.connected: Event = {}
        self.phases: dict[str, Event] = {}
        self.rows: dict[str, list[list[Any]]] = {}
        self.samples: list[tuple[bool, dict[str, float | None]]] = []
        self.summary: Event | None = None
        self.error: Event | None = None

    def take(self, event: Event) -> None:
        handler = getattr(self, f"_{event['event']}", None)
        if handler:
            handler(event)

    def _started(self, event: Event) -> None:
        self.started = event
        self._on_log(f"load generator {event.get('driver')} on Java {event.get('java')}")

    def _connected(self, event: Event) -> None:
        self.connected = event
        self._on_log(
            f"{event.get('terminals')} terminals connected in {event.get('elapsed_s'):.2f} s to "
            f"{event.get('product')} {event.get('product_version')} with {event.get('driver_name')} "
            f"{event.get('driver_version')}"
        )

    def _phase(self, event: Event) -> None:
        name, begins = event["phase"], event["state"] == "begin"
        if not begins:
            self.phases[name] = event
            self._on_log(f"{name}: {event['elapsed_s']:.2f} s{_amount(event)}")
        if name == "run":
            self._run_begins() if begins else self._on_state("collecting")
        elif begins and self.summary is None:
            self._on_state("loading")

    def _run_begins(self) -> None:
        self._sampler = self._make_sampler()
        self._on_state("warming_up" if self._warm_up_s else "measuring")

    def _second(self, event: Event) -> None:
        values = _samples(event)
        if self._sampler:
            values.update(self._sampler.sample())
        self._spool.add_second(self._run_id, event, values)
        self.samples.append((event["warm_up"], values))
        if event["t"] == self._warm_up_s - 1:
            self._on_state("measuring")

    def _summary(self, event: Event) -> None:
        self.summary = event

    def _query(self, event: Event) -> None:
        self.rows[event["name"]] = event["rows"]
        self._on_query(event["name"])

    def _error(self, event: Event) -> None:
        self.error = event

    def measured(self, metric: str) -> list[float]:
        """Values of the measured seconds, gaps left out."""
        found = (values.get(metric) for warm_up, values in self.samples if not warm_up)
        return [value for value in found if value is not None]


def _amount(event: Event) -> str:
    return f", {event['rows']} rows" if event.get("rows") else ""


def _samples(event: Event) -> dict[str, float | None]:
    """The second as samples of the catalogue's metrics, unchanged but for the unit of latencies."""
    values: dict[str, float | None] = {
        "tps": float(event["n"]),
        "retries": float(event["retries"]),
        "driver_cpu_cores": event.get("cpu_s"),
    }
    for name in LATENCIES:
        micros = event.get(f"{name}_us")
        values[f"latency_{name}_ms"] = None if micros is None else micros / 1000
    return values
