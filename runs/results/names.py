"""Rows of metrics, workloads and batches: by name from the catalogue, by id, or made on demand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any
from uuid import UUID

from benchagent.catalog import METRICS, SECONDS_EACH, WORKLOADS, WorkloadEntry

from runs.models import Batch, Metric, UnknownName, User, Workload
from runs.models.choices import Better

# Between a metric's name and the direction in which it is another one than that of the plain name.
PARTED = ":"
OPPOSITE = {"higher": "lower", "lower": "higher"}
LONGEST_NAME = 110
# So many letters of a DBMS's name say that it is meant: Postgres is PostgreSQL.
LEAST_NAME = 4

# What HammerDB, TPC-C and others call their rates.
ACRONYMS = {"nopm": "NOPM", "tpm": "TPM", "tpmc": "tpmC", "qps": "QPS"}
# What a name says already that needs no such word behind it.
RATE_NOUNS, TIME_NOUNS = {"rate", "throughput", "speed", "bandwidth"}, {"time", "latency", "duration", "wait", "lag"}
# A unit of so many letters is a symbol, no word of a name (failed_transactions in transactions).
LONGEST_SYMBOL = 3


def resolve_metrics(names: Iterable[str]) -> dict[str, Metric]:
    """Metric rows of the names an agent sends. What the catalogue does not know is descriptive, without unit."""
    wanted = dict.fromkeys(names)
    keys = {name: (name, METRICS[name].unit if name in METRICS else "") for name in wanted}
    rows = resolve_metric_rows(dict.fromkeys(keys.values()))
    return {name: rows[key] for name, key in keys.items()}


def resolve_metric_rows(wanted: dict[tuple[str, str], str | None]) -> dict[tuple[str, str], Metric]:
    """Metric rows by (name, unit); the value says which direction is better, where the source tells.

    The catalogue's label and direction win for its own metrics; who names any other first sets its direction.
    """
    names = {name for name, _ in wanted}
    rows = {(metric.name, metric.unit): metric for metric in Metric.objects.filter(name__in=names)}
    for (name, unit), better in wanted.items():
        if (name, unit) not in rows:
            rows[name, unit] = make_metric(name, unit, better)
    return {key: rows[key] for key in wanted}


def make_metric(name: str, unit: str, better: str | None) -> Metric:
    """A new metric, or the one that somebody made meanwhile. The catalogue knows label and direction of its own."""
    entry = METRICS.get(name)
    own = entry is not None and entry.unit == unit
    defaults = {"label": metric_label(name, unit), "better": entry.better if entry and own else better or Better.NONE}
    return Metric.objects.get_or_create(name=name, unit=unit, defaults=defaults)[0]


def metric_label(name: str, unit: str) -> str:
    """The catalogue's, else the words of the name, as they stand in a sentence: the unit is not said twice, and a rate
    or a time is called so (restore_mb_per_s in MB/s: Restore rate; energy_j_per_tx in J: Energy per tx; hit_percent
    in %: Hit share).
    """
    entry = METRICS.get(name)
    if entry is not None and entry.unit == unit:
        return entry.label
    name, _, direction = name.partition(PARTED)
    words = ACRONYMS.get(name) or _words_of(name, unit)
    return f"{words} ({direction} is better)" if direction in OPPOSITE else f"{words}{PARTED}{direction}".rstrip(PARTED)


def _words_of(name: str, unit: str) -> str:
    words, of_unit = name.split("_"), unit.replace("/", " per ").replace("%", "percent").split()
    is_symbol = len(of_unit) > 1 or len(unit) <= LONGEST_SYMBOL or unit == "bytes"
    as_named = [word.casefold() for word in of_unit] if is_symbol else []
    if words == as_named:
        return " ".join([of_unit[0][:1].upper() + of_unit[0][1:], *of_unit[1:]])
    # Many write load_mb_s for load_mb_per_s.
    ends = [end for end in (as_named, [word for word in as_named if word != "per"]) if end]
    if end := next((end for end in ends if words[-len(end) :] == end), None):
        words = words[: -len(end)]
        if unit.endswith("/s") and not RATE_NOUNS & {*words}:
            words.append("rate")
        elif unit in SECONDS_EACH and len(words) == 1 and words[0].isalpha() and words[0] not in TIME_NOUNS:
            words.append("time")
        elif unit == "%" and len(words) == 1:
            words.append("share")
    following = [*words[1:], ""]
    kept = [word for word, after in zip(words, following, strict=True) if [word] != as_named or after != "per"]
    return " ".join(kept).capitalize()


def of_other_direction(metric: Metric, better: str | None) -> str:
    """The name under which this direction is kept apart from the metric's own; empty where it is no other.

    Two senders who call two things alike: neither is better than the other by the other's rule.
    """
    return f"{metric.name[:LONGEST_NAME]}{PARTED}{better}" if better and OPPOSITE.get(better) == metric.better else ""


def plain_version(dbms: str, version: str) -> str:
    """The number alone: of v16.4, of PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc, of
    16.4 (Debian 16.4-1.pgdg120+2), where the parentheses have it once more, and of MariaDB's own 11.4.4-MariaDB-log,
    before which it says 5.5.5- to old replicas."""
    word, _, rest = version.strip().partition(" ")
    text = rest.strip() if rest and len(word) >= LEAST_NAME and dbms.casefold().startswith(word.casefold()) else version
    text = re.sub(r"\A(?:version\s*|v\.?\s*)(?=\d)", "", text.strip(), flags=re.IGNORECASE)
    text = re.sub(r"\s+on \S+, compiled by .*", "", text, flags=re.DOTALL)
    text = re.sub(rf"\A(?:5\.5\.5-)?(\d[\d.]*)-{re.escape(dbms)}\b.*", r"\1", text, flags=re.IGNORECASE)
    return re.sub(r"\A(\S+)\s+\([^()]*\b\1\b[^()]*\)\Z", r"\1", text) or version


def batch_of(source_id: UUID, *, owner: User | None = None, **described: Any) -> Batch:
    """The batch of an experiment, upload, import or publication, by its id: the one that is there, else a new one."""
    return Batch.objects.get_or_create(pk=source_id, defaults={"owner": owner, **described})[0]


def present_slug(entry: WorkloadEntry) -> str:
    """The slug of the row that a catalogue workload has in its present version."""
    return entry.slug if entry.version == "1" else f"{entry.slug}-v{entry.version}"


@cache
def catalogue_slugs() -> frozenset[str]:
    """The slugs of the rows of catalogue workloads: the first version's and the present one's."""
    return frozenset((*WORKLOADS, *map(present_slug, WORKLOADS.values())))


def resolve_workload(slug: str) -> Workload:
    """The row of a catalogue workload in its present version. Raises UnknownName.

    `version` breaks comparability, so that another version is another row; the first keeps the plain slug.
    """
    entry = WORKLOADS.get(slug)
    if entry is None:
        raise UnknownName(f"unknown workload {slug!r}; known: {', '.join(sorted(WORKLOADS))}")
    return Workload.objects.get_or_create(
        slug=present_slug(entry),
        defaults={
            "name": entry.name,
            "version": entry.version,
            "kind": entry.slug,
            "summary": entry.summary,
            "primary_metric": entry.primary_metric,
        },
    )[0]
