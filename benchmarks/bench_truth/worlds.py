"""Worlds whose truth is known: cells, the mean that each has in truth, and what was measured of it, with noise.

A world is made of its seed and number alone. Its documents are what a tool or an agent would send; what it prints is
the folder of an article.
"""

from __future__ import annotations

import math
import random
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

Facts = Mapping[str, str | float]
SYSTEMS = (
    ("PostgreSQL", "17.2"), ("MariaDB", "11.4.4"), ("Firebird", "5.0.1"), ("MySQL", "8.0.36"), ("CUBRID", "11.3"),
    ("Oracle Database", "19.3"),
)  # fmt: skip
VERSIONS = ("14.15", "15.10", "16.6", "17.2", "18.0")
DISKS = (("SATA", "hdd"), ("SSD", "ssd"), ("NVMe", "nvme"))
NOISES = ("2 %", "8 %", "20 %", "heavy tails", "two modes", "an outlier")
# Standard deviation of the logarithm of one repeat.
SIGMA = {"2 %": 0.02, "8 %": 0.08, "20 %": 0.20, "heavy tails": 0.05, "two modes": 0.10, "an outlier": 0.02}
METRICS = {"tps": "higher", "latency_p99_ms": "lower", "load_mb_per_s": "higher", "stalled_s": "lower"}
RAM_GB = 64
# What is sent as a number; a loss is asked over the latter.
FACTORS = ("terminals", "duration_s", *(AXES := ("size_gb", "page_kb", "delay_ms")))
SETTINGS = {"max_wal_size": ("1GB", "64GB"), "wal_compression": ("off", "on"), "random_page_cost": ("1.1", "4")}
# What a result tells of itself and no name of a cell holds: as most of a world have it, and as some have it that were
# sent beside them, faster in truth. `buffer` is a setting of PostgreSQL's.
UNLIKE = {"durability": ("power_loss", "none"), "isolation": ("read committed", "serializable"),
          "tool": ("pgbench", "sysbench"), "buffer": ("128MB", "16GB")}  # fmt: skip
FASTER = 1.6
# What engines make of the same rows, and for how long no night was measured.
BLOAT = {"PostgreSQL": 1.7, "MariaDB": 1.3, "Firebird": 1.0}
GAP_DAYS = 14
# Standard deviation of the logarithm between nights.
NIGHT_SIGMA = 0.03
FIRST_DAY = date(2025, 3, 1)


@dataclass(frozen=True)
class Cell:
    """`means`: in truth, by metric. `runs`: by the run's id what was measured, None where the run has no number, as one
    that `failed`. `size_bytes`: what its database came to. `is_printed`: it stands in an article.
    """

    facts: Facts
    means: Mapping[str, float]
    runs: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    batch: str = ""
    day: date | None = None
    starved: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    size_bytes: float | None = None
    # What all repeats of a night have in common, as a logarithm.
    night: float = 0.0
    is_copy: bool = False
    is_printed: bool = False

    def values(self, metric: str) -> dict[str, float]:
        """Those that count: of a starved run no latency does, of what was sent twice the first alone."""
        if self.is_copy:
            return {}
        of_metric = {run: numbers.get(metric) for run, numbers in self.runs.items()}
        unfair = self.starved if metric.startswith("latency") else ()
        return {run: value for run, value in of_metric.items() if value is not None and run not in unfair}


@dataclass(frozen=True)
class World:
    """`metric` is the one that is asked about. Truths by series: `knees` (shape and place; of a curve that turns,
    whether it is highest or lowest there), `peaks` (None: still grows), `steps` (day and change of the logarithm);
    `effects` by setting, of the second value to the first. `asks`: questions that fit, which must be answered.
    """

    number: int
    kind: str
    noise: str
    metric: str
    cells: Sequence[Cell]
    features: frozenset[str] = frozenset()
    knees: Mapping[str, tuple[str, float | None]] = field(default_factory=dict)
    peaks: Mapping[str, float | None] = field(default_factory=dict)
    effects: Mapping[str, float] = field(default_factory=dict)
    steps: Mapping[str, Sequence[tuple[date, float]]] = field(default_factory=dict)
    asks: Sequence[Mapping[str, str]] = ()

    @property
    def tag(self) -> str:
        return f"world-{self.number}"

    @property
    def slug(self) -> str:
        """Of the article, where one is printed."""
        return f"article-{self.number}" if any(cell.is_printed for cell in self.cells) else ""

    @property
    def selects(self) -> Sequence[tuple[str, str]]:
        """What an address says to have all of it."""
        if self.slug:
            return [("set", f"tag={self.tag}"), ("set", f"publication={self.slug}")]
        return [("tag", self.tag)]

    @property
    def better(self) -> str:
        return METRICS[self.metric]

    @property
    def sigma(self) -> float:
        return SIGMA[self.noise]

    @property
    def by_run(self) -> dict[str, Cell]:
        return {run: cell for cell in self.cells for run in cell.runs}


def series_of(facts: Facts) -> str:
    """What names a curve: all but the axis. A machine that is upgraded is one curve."""
    names = ("dbms", "disk", "machine") if "upgraded" not in facts else ("machine",)
    return " · ".join(str(facts[name]) for name in names if name in facts)


def kind_of(number: int) -> str:
    return list(KINDS)[number % len(KINDS)]


def world(seed: int, number: int, kind: str = "") -> World:
    generator = random.Random(f"{seed} {number}")
    kind = kind or kind_of(number)
    noise = generator.choices(NOISES, weights=(3, 3, 2, 1, 1, 1))[0]
    made = KINDS[kind](generator, World(number, kind, noise, "tps", ()))
    features = _features(generator, made)
    made = replace(made, features=frozenset(features))
    if made.kind in ("systems", "versions", "loads", "machines"):
        made = _unlike(random.Random(f"{seed} {number} unlike"), made)
    life = random.Random(f"{seed} {number} life")
    made = _of_life(life, made)
    made = replace(made, cells=_measured(generator, made))
    return _with_a_failed_run(life, made) if life.random() < 1 / 5 else made


def _of_life(generator: random.Random, made: World) -> World:
    """In a part of the worlds what is measured is lower the better, databases of one size come to sizes of their own,
    or for two weeks no night was measured.
    """
    cells, features = list(made.cells), set[str]()
    if made.kind in ("versions", "sizes", "machines") and generator.random() < 1 / 4:
        made, features = replace(made, metric="latency_p99_ms"), {"lower is better"}
        cells = [replace(cell, means={made.metric: 20_000 / cell.means["tps"]}) for cell in cells]
    if made.kind in ("systems", "sizes", "sweep") and generator.random() < 1 / 3:
        features |= {"sizes of their own"}
        cells = [replace(cell, size_bytes=_loaded_bytes(cell)) for cell in cells]
    if made.kind == "nightlies" and generator.random() < 1 / 3:
        features |= {"a gap"}
        days = sorted({cell.day for cell in cells if cell.day})
        middle, gap = days[len(days) // 2], timedelta(days=GAP_DAYS)
        cells = [replace(cell, day=cell.day + gap) if cell.day and cell.day >= middle else cell for cell in cells]
        steps = {name: [(day + gap if day >= middle else day, change) for day, change in of_series]
                 for name, of_series in made.steps.items()}  # fmt: skip
        made = replace(made, steps=steps)
    return replace(made, cells=cells, features=made.features | features)


def _loaded_bytes(cell: Cell) -> float:
    return float(cell.facts["size_gb"]) * 1024**3 * BLOAT.get(str(cell.facts["dbms"]).rpartition(" ")[0], 1.1)


def _with_a_failed_run(generator: random.Random, made: World) -> World:
    """One that was not the last of its cell has no number."""
    may_fail = [
        at for at, cell in enumerate(made.cells) if not cell.is_printed and (len(cell.runs) > 1 or not cell.day)
    ]
    if "copies" in made.features or made.kind in ("two", "published") or not may_fail:
        return made
    cells, at = list(made.cells), generator.choice(may_fail)
    failed = [*cells[at].runs][len(cells[at].runs) // 2]
    numbers = {**cells[at].runs, failed: dict.fromkeys(cells[at].means, None)}
    cells[at] = replace(cells[at], runs=numbers, failed=frozenset({failed}))
    return replace(made, cells=cells, features=made.features | {"a failed run"})


def _unlike(generator: random.Random, made: World) -> World:
    """In a quarter of the worlds some cells stand there twice, the second with something in force that is unlike."""
    if generator.random() >= 1 / 4:
        return made
    only_postgresql = all(str(cell.facts["dbms"]).startswith("PostgreSQL") for cell in made.cells)
    what = generator.choice([*UNLIKE] if only_postgresql else [*UNLIKE][:-1])
    usual, other = UNLIKE[what]
    cells = [replace(cell, facts={**cell.facts, what: usual}) for cell in made.cells]
    twins = [
        replace(cell, facts={**cell.facts, what: other},
                means={name: mean * FASTER for name, mean in cell.means.items()})
        for cell in generator.sample(cells, generator.randint(1, len(cells)))
    ]  # fmt: skip
    return replace(made, cells=[*cells, *twins], features=made.features | {"unlike settings"})


def _features(generator: random.Random, made: World) -> set[str]:
    """What goes wrong in practice; of a world of many dates only what does not unmake its dates."""
    possible = {"starving": 0.1, "unequal repeats": 0.3, "a cell missing": 0.25, "mixed windows": 0.12, "copies": 0.08,
                "several batches": 0.15, "zeros": 0.06}  # fmt: skip
    if made.kind in ("nightlies", "upgrades", "zeros", "two"):
        possible = {"starving": 0.1, "unequal repeats": 0.3}
    if made.kind == "sweep":
        possible = {"starving": 0.1, "a cell missing": 0.25, "copies": 0.08}
    if made.kind == "published":
        possible = {"unequal repeats": 0.3, "unlike windows": 0.3, "unlike durability": 0.2}
    if made.noise == "an outlier":
        possible["outlier"] = 1.0
    return {name for name, share in possible.items() if generator.random() < share}


# Kinds of worlds


def _differences(generator: random.Random, count: int) -> list[float]:
    """Factors of the truth: all alike in a third of the worlds, else some alike and some not."""
    if generator.random() < 1 / 3:
        return [1.0] * count
    steps = (1.0, 1.0, 1.05, 1.12, 1.3, 1.8, 3.0)
    return [generator.choice(steps) for _ in range(count)]


def _systems(generator: random.Random, base: World) -> World:
    count, metric = generator.randint(2, 6), generator.choice(("tps", "tps", "latency_p99_ms"))
    factors = _differences(generator, count)
    cells = [
        Cell({"dbms": f"{name} {version}", "size_gb": 10, "terminals": 16}, {metric: 900 * factor})
        for (name, version), factor in zip(SYSTEMS, factors, strict=False)
    ]
    return replace(base, metric=metric, cells=cells, asks=[{}, {"ask": "best"}, {"ask": "a_b"}])


def _versions(generator: random.Random, base: World) -> World:
    """Versions of one system over a few sizes: a ratio that is the same at all, or is not."""
    count, sizes = generator.randint(2, 5), (10, 40, 160)[: generator.randint(2, 3)]
    factors = _differences(generator, count)
    tilts = [generator.choice((0.0, 0.0, 0.15)) if factor > 1 else 0.0 for factor in factors]
    cells = [
        Cell({"dbms": f"PostgreSQL {version}", "size_gb": size, "terminals": 16},
             {"tps": 1200 / (1 + at) * factor * (1 + tilt) ** at})
        for version, factor, tilt in zip(VERSIONS, factors, tilts, strict=False)
        for at, size in enumerate(sizes)
    ]  # fmt: skip
    return replace(base, cells=cells, asks=[{}, {"ask": "best"}, {"ask": "a_b"}])


def _sizes(generator: random.Random, base: World) -> World:
    """Systems × disks over sizes: each falls off at the RAM, by a step behind it, smoothly from the first, or not."""
    systems, disks = SYSTEMS[: generator.randint(1, 2)], DISKS[: generator.randint(1, 3)]
    sizes = (8, 16, 32, 64, 128, 256, 512)[: generator.choice((2, 5, 7, 7))]
    cells, knees = [], {}
    for name, version in systems:
        for disk, medium in disks:
            shape, level = (
                generator.choice(("knee", "knee", "step", "smooth", "flat")),
                generator.choice((1.0, 1.0, 1.5)),
            )
            slope = generator.choice((0.3, 0.6, 0.9))
            own = {"dbms": f"{name} {version}", "disk": disk, "medium": medium}
            knees[series_of(own)] = (shape, RAM_GB if shape in ("knee", "step") else None)
            for size in sizes:
                loss = {"knee": max(0.0, math.log(size / RAM_GB)), "step": float(size > RAM_GB),
                        "smooth": math.log(size / 8), "flat": 0.0}[shape]  # fmt: skip
                cells.append(
                    Cell({**own, "size_gb": size, "terminals": 16}, {"tps": 2000 * level * math.exp(-slope * loss)})
                )
    asks = [{"ask": "loss", "x": "factor:size_gb", "from": str(sizes[0]), "to": str(sizes[-1])}, {}]
    asks += [{"ask": "falls_off", "x": "factor:size_gb"}] if len(sizes) > 4 else []
    asks += [{"ask": "rank", "fact": "storage:data"}] if len(disks) > 1 else []
    return replace(base, cells=cells, knees=knees, asks=asks)


def _terminals(generator: random.Random, base: World) -> World:
    """The universal scalability law: with a peak among the levels, or growing to the last."""
    cells, peaks = [], {}
    for name, version in SYSTEMS[: generator.randint(1, 3)]:
        sigma, kappa = generator.choice((0.02, 0.08)), generator.choice((0.0, 0.0, 0.0008, 0.003))
        own = {"dbms": f"{name} {version}"}
        peaks[series_of(own)] = math.sqrt((1 - sigma) / kappa) if kappa else None
        for clients in (1, 2, 4, 8, 16, 32, 64):
            rate = 300 * clients / (1 + sigma * (clients - 1) + kappa * clients * (clients - 1))
            cells.append(Cell({**own, "size_gb": 10, "terminals": clients}, {"tps": rate}))
    return replace(
        base, cells=cells, peaks=peaks, asks=[{"ask": "scales", "x": "factor:terminals"}, {}, {"ask": "best"}]
    )


def _settings(generator: random.Random, base: World) -> World:
    """All combinations of two or three settings: each does something or nothing, whatever the others are."""
    names = list(SETTINGS)[: generator.randint(2, 3)]
    effects = {name: generator.choice((1.0, 1.0, 1.08, 1.17, 0.9)) for name in names}
    cells: list[Cell] = [Cell({"dbms": "PostgreSQL 17.2", "size_gb": 10, "terminals": 16}, {"tps": 1500.0})]
    for name in names:
        cells = [
            replace(cell, facts={**cell.facts, f"setting {name}": value},
                    means={"tps": cell.means["tps"] * (effects[name] if at else 1.0)})
            for cell in cells for at, value in enumerate(SETTINGS[name])
        ]  # fmt: skip
    return replace(base, cells=cells, effects=effects, asks=[{"ask": "effects"}, {}])


def _nightlies(generator: random.Random, base: World) -> World:
    """A batch a night of one or two series: no change, or a step at a known commit; some nights are left out."""
    count, metric = generator.choice((12, 30, 60)), generator.choice(("tps", "latency_p99_ms"))
    days = [FIRST_DAY + timedelta(days=at) for at in sorted(generator.sample(range(count + count // 5), count))]
    cells, steps = [], {}
    for name, version in SYSTEMS[: generator.randint(1, 2)]:
        own = {"dbms": f"{name} {version}"}
        change = generator.choice((0.0, 0.0, -0.06, 0.1, -0.3))
        at = generator.randint(4, count - 4)
        steps[series_of(own)] = [(days[at], change)] if change else []
        for number, day in enumerate(days):
            mean = 1000 * math.exp(change if number >= at else 0.0)
            commit = f"{random.Random(f'{base.number} {name} {day}').getrandbits(160):040x}"
            facts: Facts = {**own, "size_gb": 10, "terminals": 16, "commit": commit}
            cells.append(Cell(facts, {metric: mean}, day=day, batch=_uuid(generator)))
    asks = [{}, {"ask": "since"}, {"ask": "newer", "than": "last:10"}, {"ask": "newer", "than": "days:30"}]
    return replace(base, metric=metric, cells=cells, steps=steps, asks=asks)


def _upgrades(generator: random.Random, base: World) -> World:
    """Nights of two or three machines, each of which is upgraded on a day of its own, and the first of a third of the
    worlds is taken back: faster by it, slower, or alike. No night is quite as another. One plan measures them all, or
    one each.
    """
    count, change = generator.choice((24, 40)), generator.choice((0.0, -0.06, 0.1, -0.3))
    days, is_taken_back = [FIRST_DAY + timedelta(days=at) for at in range(count)], generator.random() < 1 / 3
    batches = [_uuid(generator) for _ in days] if generator.random() < 1 / 2 else []
    cells, steps = [], {}
    for at in range(generator.randint(2, 3)):
        machine = f"machine {base.number}{'abc'[at]}"
        first = generator.randint(6, count // 2)
        last = count - 6 if is_taken_back and not at else count
        ends = [(first, change), (last, -change)] if last < count else [(first, change)]
        steps[machine] = [(days[end], step) for end, step in ends if change]
        for number, day in enumerate(days):
            is_new = first <= number < last
            facts: Facts = {"dbms": f"PostgreSQL {'17.2' if is_new else '16.6'}", "machine": machine, "size_gb": 10,
                            "terminals": 16, "upgraded": "nightly"}  # fmt: skip
            mean = 1000 * (1 + at) * math.exp(change if is_new else 0.0)
            night = generator.gauss(0, NIGHT_SIGMA)
            batch = batches[number] if batches else _uuid(generator)
            cells.append(Cell(facts, {"tps": mean}, day=day, batch=batch, night=night))
    pooled = {"fact": "dbms", "group": "all"}
    asks: list[Mapping[str, str]] = [{}, {"ask": "since"}, {"ask": "newer", "than": "last:10"}]
    asks += [{"ask": "best", **pooled}, {"ask": "a_b", **pooled}, {"ask": "rank", "fact": "hardware", "group": "all"}]
    return replace(base, cells=cells, steps=steps, asks=asks)


def _loads(generator: random.Random, base: World) -> World:
    factors, rates = (_differences(generator, 4) for _ in range(2))
    cells = [
        Cell(
            {"dbms": f"{name} {version}", "size_gb": 10, "terminals": 16}, {"tps": 700 * one, "load_mb_per_s": 80 * two}
        )
        for (name, version), one, two in zip(SYSTEMS, factors, rates, strict=False)
    ]
    return replace(base, metric="load_mb_per_s", cells=cells, asks=[{"ask": "load"}, {"ask": "best", "metric": "tps"}])


def _machines(generator: random.Random, base: World) -> World:
    count, sizes = generator.randint(2, 3), (10, 40, 160)
    factors = _differences(generator, count)
    cells = [
        Cell({"dbms": "MariaDB 11.4.4", "machine": f"machine {base.number}{'abc'[at]}", "size_gb": size},
             {"tps": 1000 / (1 + level) * factor})
        for at, factor in enumerate(factors) for level, size in enumerate(sizes)
    ]  # fmt: skip
    return replace(base, cells=cells, asks=[{"ask": "rank", "fact": "hardware"}, {}])


def _zeros(generator: random.Random, base: World) -> World:
    """Seconds of stall, of which there are none or hardly any: no ratio is known of them."""
    cells = [
        Cell({"dbms": f"{name} {version}", "size_gb": 10, "terminals": 16}, {"stalled_s": mean})
        for (name, version), mean in zip(SYSTEMS, generator.choices((0.0, 1e-6, 0.5, 20.0), k=3), strict=False)
    ]
    return replace(base, metric="stalled_s", cells=cells, asks=[{"ask": "best"}, {}])


def _two(generator: random.Random, base: World) -> World:
    """Two cells that differ in what is known."""
    what = generator.choice(("version", "machine", "setting"))
    factor = generator.choice((1.0, 1.1, 1.5))
    first: dict[str, str | float] = {"dbms": "PostgreSQL 16.6", "size_gb": 10, "terminals": 16}
    other = {"version": {"dbms": "PostgreSQL 17.2"}, "machine": {"machine": f"machine {base.number}b"},
             "setting": {"setting max_wal_size": "64GB"}}[what]  # fmt: skip
    own = {"machine": {"machine": f"machine {base.number}a"}, "setting": {"setting max_wal_size": "1GB"}}.get(what, {})
    cells = [Cell({**first, **own}, {"tps": 800.0}), Cell({**first, **own, **other}, {"tps": 800.0 * factor})]
    return replace(base, cells=cells, asks=[{"ask": "changed"}, {"ask": "a_b"}, {"ask": "best"}, {}])


def _published(generator: random.Random, base: World) -> World:
    """An article prints its repeats of some systems; most of them were measured here again, faster or alike."""
    count = generator.randint(2, 5)
    printed, here = _differences(generator, count), _differences(generator, count)
    cells = []
    for at, (name, version) in enumerate(SYSTEMS[:count]):
        facts: Facts = {"dbms": f"{name} {version}", "size_gb": 10, "terminals": 16, "duration_s": 60}
        cells.append(Cell({**facts, "set": "printed"}, {"tps": 700 * printed[at]}, is_printed=True))
        if at < 2 or generator.random() < 0.7:
            cells.append(Cell({**facts, "set": "here"}, {"tps": 700 * printed[at] * here[at]}))
    return replace(base, cells=cells, asks=[{"ask": "published"}])


def _sweep(generator: random.Random, base: World) -> World:
    """A night's plan of 36 cells, each measured once: three systems, sizes and four numbers of terminals."""
    factors = _differences(generator, 3)
    cells = [
        Cell({"dbms": f"{name} {version}", "size_gb": size, "terminals": terminals},
             {"tps": 400 * factor * terminals**0.6 / (1 + at)})
        for (name, version), factor in zip(SYSTEMS, factors, strict=False)
        for at, size in enumerate((10, 40, 160)) for terminals in (1, 4, 16, 64)
    ]  # fmt: skip
    return replace(base, cells=cells, asks=[{}, {"ask": "best"}, {"ask": "a_b"}])


def _collapse(generator: random.Random, base: World) -> World:
    """Systems over sizes or terminals, of which some come to nothing from a level on."""
    over_sizes = generator.random() < 1 / 2
    levels = (8, 16, 32, 64, 128, 256) if over_sizes else (1, 2, 4, 8, 16, 32)
    cells, knees, peaks = [], {}, {}
    count = generator.randint(2, 4)
    for (name, version), factor in zip(SYSTEMS, _differences(generator, count), strict=False):
        own = {"dbms": f"{name} {version}"}
        alive = levels[: generator.choice((2, 4, 5, 6, 6))]
        knees[series_of(own)] = ("flat", None)
        peaks[series_of(own)] = None if alive == levels else alive[-1]
        for level in levels:
            rate = 1500.0 if over_sizes else 300 * level / (1 + 0.02 * (level - 1))
            facts: Facts = {**own, "size_gb" if over_sizes else "terminals": level}
            cells.append(Cell(facts, {"tps": rate * factor if level in alive else 0.0}))
    asks: list[Mapping[str, str]] = [{}, {"ask": "best"}, {"ask": "a_b"}]
    ends = {"x": "factor:size_gb", "from": str(levels[0]), "to": str(levels[-1])}
    asks.append({"ask": "loss", **ends} if over_sizes else {"ask": "scales", "x": "factor:terminals"})
    return replace(base, cells=cells, knees=knees, peaks=peaks, asks=asks)


def _at_zero(generator: random.Random, base: World) -> World:
    """Systems over a delay that begins at 0: each gets slower with it from the beginning, or not at all."""
    levels, count = (0, 1, 2, 5, 10, 20, 50), generator.randint(1, 3)
    cells, knees = [], {}
    for (name, version), factor in zip(SYSTEMS, _differences(generator, count), strict=False):
        own = {"dbms": f"{name} {version}"}
        shape, slope = generator.choice((("smooth", 0.02), ("smooth", 0.05), ("flat", 0.0)))
        knees[series_of(own)] = (shape, None)
        cells += [Cell({**own, "delay_ms": at}, {"tps": 1000 * factor * math.exp(-slope * at)}) for at in levels]
    asks = [{"ask": "loss", "x": "factor:delay_ms", "from": "0", "to": "50"}, {}]
    asks += [{"ask": "falls_off", "x": "factor:delay_ms"}, {"ask": "scales", "x": "factor:delay_ms"}]
    return replace(base, cells=cells, knees=knees, asks=asks)


def _hills(generator: random.Random, base: World) -> World:
    """Systems over a size of pages, each best or worst between the ends, or alike at all."""
    levels, count = (1, 2, 4, 8, 16, 32, 64), generator.randint(1, 3)
    cells, knees, peaks = [], {}, {}
    for (name, version), factor in zip(SYSTEMS, _differences(generator, count), strict=False):
        own = {"dbms": f"{name} {version}"}
        shape, slope = generator.choice((("highest", -0.4), ("highest", -0.2), ("lowest", 0.3), ("flat", 0.0)))
        top = generator.choice((4, 8, 16))
        knees[series_of(own)] = (shape, top if slope else None)
        peaks[series_of(own)] = top if shape == "highest" else None
        for at in levels:
            cells.append(
                Cell({**own, "page_kb": at}, {"tps": 900 * factor * math.exp(slope * abs(math.log2(at / top)))})
            )
    asks = [{"ask": name, "x": "factor:page_kb"} for name in ("falls_off", "scales", "loss")]
    return replace(base, cells=cells, knees=knees, peaks=peaks, asks=[*asks, {}])


def _reversed(generator: random.Random, base: World) -> World:
    """Systems × disks: which is best depends on the disk, or does not."""
    count, disks, sizes = generator.randint(2, 4), DISKS[: generator.randint(2, 3)], (10, 40)[: generator.randint(1, 2)]
    factors, is_reversed = _differences(generator, count), generator.random() < 2 / 3
    cells = []
    for at, (name, version) in enumerate(SYSTEMS[:count]):
        for speed, (disk, medium) in enumerate(disks, 1):
            gain = generator.choice((1.3, 2.0)) if is_reversed and at == (speed - 1) % count else 1.0
            factor = gain if is_reversed else factors[at]
            cells += [
                Cell({"dbms": f"{name} {version}", "disk": disk, "medium": medium, "size_gb": size},
                     {"tps": 400 * speed * factor * 10 / size})
                for size in sizes
            ]  # fmt: skip
    asks = [{}, {"ask": "best"}, {"ask": "a_b"}, {"ask": "rank", "fact": "dbms"}]
    return replace(base, cells=cells, asks=asks)


def _configurations(generator: random.Random, base: World) -> World:
    """Systems of which each has a configuration of its own, and one has two: the second is faster at all sizes, or not;
    a version of it may have the first as well.
    """
    configured = [
        ("PostgreSQL 17.2", "shared_buffers", "4GB"), ("PostgreSQL 17.2", "shared_buffers", "16GB"),
        ("MariaDB 11.4.4", "innodb_buffer_pool_size", "8GB"), ("PostgreSQL 16.6", "shared_buffers", "4GB"),
        ("Firebird 5.0.1", "DefaultDbCachePages", "65536"),
    ][: generator.randint(3, 5)]  # fmt: skip
    sizes, factors = (10, 40, 160)[: generator.randint(1, 3)], _differences(generator, len(configured))
    cells = [
        Cell({"dbms": dbms, f"setting {setting}": value, "size_gb": size}, {"tps": 9000 / size * factor})
        for (dbms, setting, value), factor in zip(configured, factors, strict=True) for size in sizes
    ]  # fmt: skip
    return replace(base, cells=cells, asks=[{}, {"ask": "best"}, {"ask": "a_b"}, {"ask": "rank", "fact": "dbms"}])


def _own_disks(generator: random.Random, base: World) -> World:
    """Systems on machines, each of which has two disks that the others have not."""
    disks = [(at, f"{name}{at}", medium) for at in range(generator.randint(2, 3)) for name, medium in DISKS[::2]]
    systems, factors = SYSTEMS[: generator.randint(2, 4)], _differences(generator, len(disks))
    cells = [
        Cell({"dbms": f"{name} {version}", "machine": f"machine {base.number}{'abc'[at]}", "disk": disk,
              "medium": medium}, {"tps": 500 / (1 + level) * factor})
        for (at, disk, medium), factor in zip(disks, factors, strict=True)
        for level, (name, version) in enumerate(systems)
    ]  # fmt: skip
    asks = [{"ask": "rank", "fact": "storage:data"}, {}, {"ask": "rank", "fact": "dbms"}]
    return replace(base, cells=cells, asks=asks)


KINDS: dict[str, Callable[[random.Random, World], World]] = {
    "systems": _systems, "versions": _versions, "sizes": _sizes, "terminals": _terminals, "settings": _settings,
    "nightlies": _nightlies, "loads": _loads, "machines": _machines, "zeros": _zeros, "two": _two,
    "published": _published, "sweep": _sweep, "collapse": _collapse, "at zero": _at_zero, "hills": _hills,
    "reversed": _reversed, "configurations": _configurations, "own disks": _own_disks, "upgrades": _upgrades,
}  # fmt: skip


# Measuring


def _uuid(generator: random.Random) -> str:
    return str(uuid.UUID(int=generator.getrandbits(128), version=4))


def _measured(generator: random.Random, made: World) -> list[Cell]:
    cells = list(made.cells)
    if "a cell missing" in made.features and len(cells) > 3:
        cells.pop(generator.randrange(len(cells)))
    batch, repeats = _uuid(generator), generator.choice((3, 4, 5, 8))
    if "mixed windows" in made.features:
        at = generator.randrange(len(cells))
        cells[at] = replace(cells[at], facts={**cells[at].facts, "duration_s": generator.choice((5, 120))})
    if "unlike windows" in made.features:
        # Short enough beside what is printed that the rules forbid a ratio, or just not.
        window = generator.choice((4, 120))
        cells = [
            cell if cell.is_printed else replace(cell, facts={**cell.facts, "duration_s": window}) for cell in cells
        ]
    spoilt = generator.randrange(len(cells))
    measured = []
    for at, cell in enumerate(cells):
        own = replace(cell, batch=cell.batch or batch)
        count = {"nightlies": 3, "upgrades": 3, "sweep": 1}.get(made.kind, repeats)
        count = generator.randint(2, 7) if "unequal repeats" in made.features else count
        is_spoilt = at == spoilt and "outlier" in made.features
        measured.append(_filled(generator, made, own, count, is_spoilt=is_spoilt))
        if "copies" in made.features and generator.random() < 0.3:
            # What is zero is equal by chance.
            runs = {_uuid(generator): numbers for numbers in measured[-1].runs.values() if all(numbers.values())}
            measured.append(replace(own, runs=runs, is_copy=True))
    if "several batches" in made.features:
        again = generator.sample([cell for cell in measured if not cell.is_copy], max(1, len(cells) // 3))
        measured += [_filled(generator, made, replace(cell, batch=_uuid(generator)), repeats) for cell in again]
    return measured


def _filled(generator: random.Random, made: World, cell: Cell, count: int, *, is_spoilt: bool = False) -> Cell:
    runs: dict[str, dict[str, float | None]] = {}
    for number in range(count):
        numbers: dict[str, float | None] = {}
        for metric, mean in cell.means.items():
            value = mean * math.exp(cell.night + _error(generator, made.noise))
            if is_spoilt and number == 0:
                value *= 0.4
            if "zeros" in made.features and metric == made.metric and generator.random() < 0.1:
                value = 0.0
            numbers[metric] = float(f"{value:.8g}")
        runs[_uuid(generator)] = numbers
    if cell.is_printed:
        runs = {article_run(made.number, cell, at): numbers for at, numbers in enumerate(runs.values(), 1)}
    starved = [run for run in runs if "starving" in made.features and generator.random() < 0.3]
    return replace(cell, runs=runs, starved=frozenset(starved))


def _error(generator: random.Random, noise: str) -> float:
    """Of the logarithm, 0 in the mean."""
    if noise == "heavy tails":
        # Student's t of three degrees of freedom, scaled to its standard deviation.
        chi = sum(generator.gauss(0, 1) ** 2 for _ in range(3)) / 3
        return SIGMA[noise] / math.sqrt(3) * generator.gauss(0, 1) / math.sqrt(chi)
    if noise == "two modes":
        return generator.choice((-1, 1)) * SIGMA[noise] + generator.gauss(0, 0.01)
    return generator.gauss(0, SIGMA[noise])


# As a tool sends it


def documents(made: World) -> Iterator[dict[str, Any]]:
    """One of each cell that was measured here, and one of what failed of it."""
    for cell in made.cells:
        if not cell.is_printed and cell.failed < cell.runs.keys():
            yield _document(made, cell, [run for run in cell.runs if run not in cell.failed])
        if cell.failed:
            yield _document(made, cell, cell.failed) | {"outcome": "failed", "message": "out of disk space"}


def _document(made: World, cell: Cell, runs: Iterable[str]) -> dict[str, Any]:
    facts, numbers_of = cell.facts, {run: cell.runs[run] for run in runs}
    name, _, version = str(facts["dbms"]).rpartition(" ")
    settings = [(key.removeprefix("setting "), value) for key, value in facts.items() if key.startswith("setting ")]
    factors = {key: facts[key] for key in FACTORS if key in facts}
    own_disk = [(facts["disk"], facts["medium"])] if "disk" in facts else []
    disks = [{"name": name, "medium": medium} for name, medium in dict.fromkeys([*DISKS, *own_disk])]
    document: dict[str, Any] = {
        "schema_version": 1,
        "id": str(uuid.uuid5(uuid.UUID(next(iter(numbers_of))), "document")),
        "batch": cell.batch,
        "tags": [made.tag],
        "workload": f"workload-{made.slug}" if made.slug else "tpcb",
        "dbms": {"name": name, "version": version},
        "hardware": {
            "name": facts.get("machine", f"machine {made.number}"),
            "ram_bytes": RAM_GB * 10**9,
            "storage": disks,
        },
        "durability": "none" if "unlike durability" in made.features else facts.get("durability", "power_loss"),
        "factors": {"duration_s": 60, **factors},
        "repeats": [_repeat(cell, run, numbers) for run, numbers in numbers_of.items()],
    }
    if settings:
        document["config"] = [{"name": key, "value": value} for key, value in settings]
    if "disk" in facts:
        document["storage"] = [{"role": "data", "device": facts["disk"]}]
    if "tool" in facts or "isolation" in facts:
        told = {"name": facts.get("tool"), "isolation": facts.get("isolation")}
        document["driver"] = {name: value for name, value in told.items() if value}
    if "buffer" in facts:
        document["effective_settings"] = [["shared_buffers", facts["buffer"]]]
    if "commit" in facts:
        document["tested"] = {"commit": facts["commit"], "branch": "main"}
    if cell.day:
        document["started_at"] = f"{cell.day}T02:00:00Z"
    return document


def _repeat(cell: Cell, run: str, numbers: Mapping[str, float | None]) -> dict[str, Any]:
    metrics = [
        {"name": name, "value": value, **({"unit": "s", "better": "lower"} if name == "stalled_s" else {})}
        for name, value in numbers.items() if value is not None
    ]  # fmt: skip
    if cell.size_bytes and run not in cell.failed:
        metrics.append({"name": "db_size_bytes", "value": cell.size_bytes})
    # What a driver counts for each of 16 terminals.
    return {"id": run, "metrics": metrics, **({"per_terminal": [0, *[1000] * 15]} if run in cell.starved else {})}


# As an article prints it


def article_run(number: int, cell: Cell, repeat: int) -> str:
    """Its id on every site."""
    from runs.publications.folder import stable_id

    return str(stable_id("run", f"article-{number}", _printed_id(cell, repeat)))


def _printed_id(cell: Cell, repeat: int) -> str:
    return f"{str(cell.facts['dbms']).replace(' ', '-')}-{repeat}"


def article(made: World) -> dict[str, Any]:
    """Its files by name, each as JSON; one machine, one workload, every repeat printed."""
    slug, printed = made.slug, [cell for cell in made.cells if cell.is_printed]
    versions = {str(cell.facts["dbms"]): str(cell.facts["dbms"]).rpartition(" ") for cell in printed}
    systems = {name: name.lower() for name, _, _ in versions.values()}
    of_version = {whole: f"{systems[name]}-{version}" for whole, (name, _, version) in versions.items()}
    results = {
        "publication": {"slug": slug, "language": "en", "title_original": made.tag, "title_en": made.tag,
                        "author": "A. Judge", "publisher": "The bench of truth", "date": "2020-05-01"},
        "hardware": [{"id": f"hw-{slug}", "name": f"Server of {slug}", "ram_gb": RAM_GB,
                      "storage": [{"id": f"disk-{slug}", "name": "data", "medium": "ssd"}]}],
        "dbms": [{"slug": system, "name": name} for name, system in systems.items()],
        "versions": [{"id": of_version[whole], "dbms": systems[name], "version": version}
                     for whole, (name, _, version) in versions.items()],
        "configs": [{"id": f"config-{slug}", "name": "as installed", "applies_to": [*of_version.values()],
                     "durability": "power_loss", "durability_reason": "stated"}],
        "workloads": [{"id": f"workload-{slug}", "name": f"Load of {slug}", "kind": "tpcb", "primary_metric": "tps"}],
        "metrics": [{"name": "tps", "unit": "TPS", "label": "Throughput", "better": "higher"}],
        "runs": [
            {"id": _printed_id(cell, at), "version": of_version[str(cell.facts["dbms"])],
             "workload": f"workload-{slug}", "hardware": f"hw-{slug}", "config": f"config-{slug}", "repeat": at,
             "storage": {"data": f"disk-{slug}"}, "provenance": "printed",
             "factors": {name: cell.facts[name] for name in ("size_gb", "terminals", "duration_s")},
             "metrics": [{"name": "tps", "unit": "TPS", "value": numbers["tps"], "as_printed": str(numbers["tps"])}]}
            for cell in printed for at, numbers in enumerate(cell.runs.values(), 1)
        ],
    }  # fmt: skip
    return {"results.json": results, "page.json": {"parts": [{"part": "bars", "id": "all", "say": "extremes"}]}}
