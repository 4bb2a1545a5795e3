"""The questions of a DBA, how each is answered from the home page, and the results that hold the answers.

`RESULTS` are uploaded through the API beside the published articles. The noise is made by a formula, so that every
verdict is the same each time.
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SPACE = uuid.UUID("6f1c1f6e-5a0e-4b52-9a53-0d1f7f6a1c11")
MOST_CLICKS = 3
RAM_BYTES = 32 * 1000**3
SERVER = {"name": "db-server", "cpu_model": "EPYC 9124", "cpu_cores": 16, "ram_bytes": RAM_BYTES}
DISKS = [{"name": "sata", "medium": "hdd", "model": "ST4000"}, {"name": "nvme", "medium": "nvme", "model": "P5800X"}]


def _document(name: str, batch: str, **more: Any) -> dict[str, Any]:
    return {
        "schema_version": 1, "id": str(uuid.uuid5(SPACE, name)), "batch": str(uuid.uuid5(SPACE, batch)), "label": batch,
        "workload": "tpcb", "hardware": SERVER | {"storage": DISKS}, "measured_on": "2026-05-04",
        "storage": [{"role": "data", "device": "nvme"}], "durability": "power_loss", **more,
    }  # fmt: skip


def _repeats(
    tps: float, *, p99_ms: float = 0, load_mb_per_s: float = 0, scatter: float = 0.004
) -> list[dict[str, Any]]:
    """Three repeats around these values."""
    repeats = []
    for off in (-1.0, 0.2, 0.8):
        metrics = {"tps": round(tps * (1 + off * scatter), 2)}
        if p99_ms:
            metrics["latency_p99_ms"] = round(p99_ms * (1 - off * scatter), 3)
        if load_mb_per_s:
            metrics["load_mb_per_s"] = round(load_mb_per_s * (1 + off * scatter), 3)
        repeats.append({"metrics": metrics})
    return repeats


# System: TPS of one terminal, contention and coherence of the scaling law.
SYSTEMS = {
    ("PostgreSQL", "17.2"): (900, 0.02, 0.00010), ("MariaDB", "11.4.4"): (1000, 0.05, 0.00060),
    ("Firebird", "5.0.1"): (700, 0.12, 0.00150), ("H2", "2.2.224"): (895, 0.0201, 0.00010),
}  # fmt: skip
TERMINALS = (1, 4, 8, 16, 32, 64)
SCALES = (100, 400, 1600, 6400, 25600)


def _over_terminals() -> list[dict[str, Any]]:
    return [
        _document(
            f"{system} {count}",
            "four systems over terminals",
            dbms={"name": system, "version": version},
            factors={"scale_factor": 400, "terminals": count},
            config=[{"name": "buffer", "value": "8 GB"}],
            repeats=_repeats(
                first * count / (1 + contention * (count - 1) + coherence * count * (count - 1)), p99_ms=2 + count / 4
            ),
        )
        for (system, version), (first, contention, coherence) in SYSTEMS.items()
        for count in TERMINALS
    ]


def _over_sizes() -> list[dict[str, Any]]:
    """On the hard disk the rate falls off where the database leaves memory, at about 2,100 branches."""
    documents = []
    for disk, beyond in (("sata", 0.9), ("nvme", 0.25)):
        for scale in SCALES:
            tps = 5000 * scale**-0.03 * min(1.0, (2100 / scale) ** beyond)
            documents.append(
                _document(
                    f"{disk} {scale}",
                    "PostgreSQL over sizes on two disks",
                    dbms={"name": "PostgreSQL", "version": "17.2"},
                    factors={"scale_factor": scale, "terminals": 16},
                    storage=[{"role": "data", "device": disk}],
                    repeats=_repeats(tps, load_mb_per_s=140 if disk == "nvme" else 90 - math.log2(scale)),
                )
            )
    return documents


def _two_versions() -> list[dict[str, Any]]:
    """The same cell before and after a change, on two machines and with two configurations."""
    made = (("17.1", 4000, "128MB", SERVER), ("17.2", 3300, "4GB", SERVER | {"name": "db-server-2", "cpu_cores": 8}))
    return [
        _document(
            f"version {version}",
            "before and after the upgrade",
            dbms={"name": "PostgreSQL", "version": version},
            hardware=machine | {"storage": DISKS},
            factors={"scale_factor": 400, "terminals": 16},
            config=[{"name": "shared_buffers", "value": buffers}, {"name": "fsync", "value": "on"}],
            repeats=_repeats(tps),
        )
        for version, tps, buffers, machine in made
    ]


def _with_stall() -> list[dict[str, Any]]:
    values = [1200.0 + 10 * (second % 7) for second in range(120)]
    values[60:68] = [5.0] * 8
    series = [{"name": "tps", "t0_s": 0, "interval_s": 1, "values": values}]
    repeats = [{"metrics": {"tps": round(sum(values) / 120, 2)}, "series": series}]
    return [
        _document(
            "a stall", "a night with a stall", dbms={"name": "PostgreSQL", "version": "17.2"}, repeats=repeats,
            factors={"scale_factor": 400, "terminals": 16, "duration_s": 120},
        )
    ]  # fmt: skip


def _nights() -> list[dict[str, Any]]:
    """A commit of the ninth of twelve nights costs a tenth."""
    return [
        _document(
            f"night {night}", f"night {night}", label="every night", dbms={"name": "PostgreSQL", "version": "18.0"},
            factors={"scale_factor": 100, "terminals": 8}, measured_on=f"2026-10-{night:02d}",
            tested={"commit": f"{night:02d}" * 20},
            repeats=_repeats((5000 if night < 9 else 4500) + 20 * (night % 3)),
        )
        for night in range(1, 13)
    ]  # fmt: skip


RESULTS = [*_over_sizes(), *_over_terminals(), *_two_versions(), *_nights(), *_with_stall()]


def store(send: Callable[[list[dict[str, Any]]], Any]) -> None:
    """`send` stores documents and gives the API's answer. The last one alone, so that it is the newest."""
    for documents in (RESULTS[:-1], RESULTS[-1:]):
        stored = send(documents).json()["results"]
        assert {result["status"] for result in stored} <= {"created", "same"}, stored


@dataclass
class Journey:
    """A reader who begins at the home page; what was clicked is counted. A choice in a select is a click too."""

    page: Any
    url: str
    clicks: int = 0
    # Figures that were drawn on the way: id -> the words in them.
    drawn: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        self.page.goto(f"{self.url}/")

    def click(self, words: str | re.Pattern[str], within: str = "main", about: str = "") -> None:
        room = self.page.locator(within)
        if about:
            room = room.locator("li", has_text=about)
        self.follow(room.get_by_role("link", name=words).first)

    def choose(self, label: str, option: str | re.Pattern[str]) -> None:
        select = self.page.locator("main").get_by_label(label, exact=True)
        wanted = [text for text in select.locator("option").all_inner_texts() if re.search(option, text)]
        self._then(lambda: select.select_option(label=wanted[0].strip()))

    def follow(self, link: Any) -> None:
        self._then(link.click)

    def _then(self, act: Callable[[], None]) -> None:
        """Every click of these leads to another address, perhaps only when htmx has brought the page."""
        before = self.page.url
        act()
        self.clicks += 1
        self.page.wait_for_function("before => location.href !== before", arg=before)
        self.page.wait_for_load_state("networkidle")
        # What htmx brought may be of another kind, which is fetched first.
        self.page.wait_for_function("() => !document.querySelector('figure.chart:not([data-drawn])')")
        self.drawn |= self.charts()

    def sentence(self, pattern: str) -> bool:
        return re.search(pattern, re.sub(r"\s+", " ", self.page.locator("main").inner_text())) is not None

    def charts(self) -> dict[str, str]:
        """Of the figures that Chart.js has drawn with data: id -> names of its rows, lines and axes."""
        return self.page.evaluate(
            """() => Object.fromEntries([...document.querySelectorAll('figure.chart')].flatMap(figure => {
                const chart = window.Chart?.getChart(figure.querySelector('canvas'));
                const drawn = chart?.data.datasets.filter(set => set.data.some(point => point !== null)) ?? [];
                const scales = Object.values(chart?.scales ?? {});
                const titles = scales.map(scale => scale.options.title?.text);
                const rows = scales.flatMap(scale => scale.type === 'category' ? scale.getLabels() : []);
                const words = [...drawn.map(set => set.label), ...rows.flat(), ...titles].filter(Boolean);
                return drawn.length ? [[figure.id, words.join(' | ')]] : [];
            }))"""
        )


@dataclass(frozen=True)
class Asked:
    """`walk` leads from the home page to the answer, `sentence` says it there; `chart`: how the id begins of what was
    drawn there, or on the way to a table of facts, and `shows` what stands in it.
    """

    words: str
    walk: Callable[[Journey], None]
    sentence: str
    chart: str = "curve"
    shows: str = ""


def _ask(words: str | re.Pattern[str], about: str) -> Callable[[Journey], None]:
    return lambda journey: journey.click(words, within="#questions", about=about)


def _walk(*steps: Callable[[Journey], None]) -> Callable[[Journey], None]:
    def walk(journey: Journey) -> None:
        for step in steps:
            step(journey)

    return walk


FIREBIRD, TPCB = "OLTP simulation, TPC-C-like", "100 MB TPC-B test of databases"
LOST, FASTEST, SCALES_TO = (
    re.compile(words, re.I) for words in ("what is lost from", r"which (system|version of \w+) is best", "how far")
)
BY_SIZE, FOUR = "PostgreSQL over sizes on two disks", "four systems over terminals"
CHOOSE = "Choose runs, narrow or add"
VERSIONS, STALLS = "before and after the upgrade", "a night with a stall"


def _recent(label: str) -> Callable[[Journey], None]:
    """The latest run of that label, in the list of runs: that of the home page is short."""

    def walk(journey: Journey) -> None:
        journey.click("All runs")
        row = journey.page.locator("main table.runs tr", has_text=label).first
        journey.follow(row.get_by_role("link").first)

    return walk


def _click(words: str | re.Pattern[str]) -> Callable[[Journey], None]:
    return lambda journey: journey.click(words)


def _metric(option: str) -> Callable[[Journey], None]:
    return lambda journey: journey.choose("Metric", option)


QUESTIONS = [
    Asked(
        "What do I lose on SATA from 9 to 30 GB?", _ask(LOST, FIREBIRD), r"−17\.5 % from 9\.04 to 30\.3 GB",
        shows=r"SATA RAID1.*Size \(GB\)",
    ),
    Asked(
        "At which size does it fall off?", _ask(LOST, BY_SIZE), r"Knee at scale factor 2,1\d\d \(",
        shows="Scale factor",
    ),
    Asked(
        "At which size is half of it left?", _ask(LOST, BY_SIZE), r"Half is left at scale factor 3,\d00 \(",
        shows=r"nvme.*sata|sata.*nvme",
    ),
    Asked(
        "Which of these four is fastest at 64 terminals, and is it sure?",
        _walk(_ask(FASTEST, FOUR), _click(CHOOSE), _click(re.compile("^64 "))),
        r"No winner by throughput: less than 3 % lie between PostgreSQL 17\.2 .* and H2 2\.2\.224", "comparison",
        r"MariaDB 11\.4\.4.*Throughput \(TPS\), higher is better",
    ),
    Asked(
        "Which of the six systems of the article is fastest, and is it sure?", _ask(FASTEST, TPCB),
        r"DB2 9\.7 .*has the highest throughput, 2,\d\d\d TPS: 2\.\d\d ×", "comparison", r"DB2 9\.7.*MySQL 5\.0",
    ),
    Asked("How many more repeats do I need?", _ask(FASTEST, TPCB), r"needs (about|over) \d+ more repeat", "comparison"),
    Asked(
        "How much faster is the SSD, at each size?", _ask(LOST, BY_SIZE),
        r"Level by level against nvme.*25,600 .*0\.19", shows=r"nvme",
    ),
    Asked(
        "Is the one disk faster at each level?", _ask(LOST, BY_SIZE),
        r"Level by level against nvme.*400 .* equivalent.*25,600 .* worse", shows=r"nvme",
    ),
    Asked(
        "Which of these cannot be told apart?", _walk(_ask(FASTEST, FOUR), _click(CHOOSE), _click(re.compile("^64 "))),
        r"1 PostgreSQL 17\.2 a – .* H2 2\.2\.224 a .* MariaDB 11\.4\.4 b .* Firebird 5\.0\.1 c", "comparison",
        r"PostgreSQL 17\.2.*H2 2\.2\.224",
    ),
    Asked("How far does it scale?", _ask(SCALES_TO, FOUR), r"Most at 64 terminals: 24\.0 × \(", shows="Terminals"),
    Asked(
        "Where is its peak?", _ask(SCALES_TO, FOUR), r"Peak at 24 terminals \(24 to 24\): 3,\d\d\d TPS",
        shows=r"Firebird 5\.0\.1",
    ),
    Asked(
        "How fast does it load, over the size?", _walk(_ask(LOST, BY_SIZE), _metric("load rate")),
        r"Data load rate over scale factor MB/s", shows=r"MB/s, higher is better",
    ),
    Asked(
        "What is the p99 over terminals?", _walk(_ask(SCALES_TO, FOUR), _metric("99")),
        r"p99 latency over terminals ms", shows=r"ms, lower is better",
    ),
    Asked(
        "What does throughput cost in latency?", _walk(_ask(SCALES_TO, FOUR), _click("Trade-off")),
        r"p99 latency.*Throughput", "trade", r"PostgreSQL 17\.2.*p99 latency \(ms\), lower is better",
    ),
    Asked(
        "When did it stall?", _recent(STALLS), r"stalls: 8 of \d+ seconds below a third of the median", "throughput",
        "TPS",
    ),
    Asked(
        "Did the new version get slower, and is it sure?", _ask(FASTEST, VERSIONS),
        r"PostgreSQL 17\.1 has the highest throughput, .*: 1\.21 × \(1\.\d\d–1\.2\d\) that of PostgreSQL 17\.2\.",
        "comparison", r"PostgreSQL 17\.1.*PostgreSQL 17\.2",
    ),
    Asked(
        "Since when is it slower, and which commit was it?", _click(re.compile("Has PostgreSQL 18.0 changed")),
        r"Throughput −\d+\.\d %.* since 2026-10-09 \(0909090909\), against the 8 batches before: worse",
        shows=r"Throughput over date|Date",
    ),
    Asked(
        "Which settings differ between the two?",
        _walk(_ask(FASTEST, VERSIONS), _click("Differences of the configurations")), r"shared_buffers.*128MB.*4GB",
        "comparison", r"PostgreSQL 17\.1.*PostgreSQL 17\.2",
    ),
    Asked(
        "What is different between the two machines?",
        _walk(_ask(FASTEST, VERSIONS), _click("Differences of the machines")),
        r"1 fact differs and is marked.*Cores 16 8 differs", "comparison", r"PostgreSQL 17\.1.*PostgreSQL 17\.2",
    ),
    Asked(
        "What changed between these two runs?",
        _walk(_ask(FASTEST, VERSIONS), _click("What differs between two runs")),
        r"\d+ of \d+ facts differ.*shared_buffers", "runs", r"PostgreSQL 17\.1.*PostgreSQL 17\.2",
    ),
    Asked(
        "Do my numbers agree with the published ones?",
        _walk(_ask(FASTEST, VERSIONS), _click(CHOOSE), _click(re.compile("PostgreSQL of “100 MB TPC-B"))),
        r"17\.1.*PostgreSQL 8\.3", "comparison", r"17\.1.*8\.3|8\.3.*17\.1",
    ),
    Asked("What has the article lost?", _ask(LOST, FIREBIRD), r"11 lost values are left out", shows="SSD"),
    Asked(
        "Does a commit survive a power loss there?", _ask(FASTEST, VERSIONS),
        r"Durability a commit survives power loss", "comparison", r"PostgreSQL 17\.1",
    ),
]  # fmt: skip
