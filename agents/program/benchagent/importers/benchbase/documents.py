"""The JSON and XML files: summary, params, metrics, histograms, config."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

from benchagent.importers.report import Report, Scalar, Subject, all_measured, as_factors, dbms_called, rising, utc
from benchagent.importers.source import NotUnderstood, json_of, number_in, slug, xml_of
from benchagent.redaction import redact_value

# Names and units that the files of a run share.

_TO_MS = {"microsecond": 1e-3, "microseconds": 1e-3, "us": 1e-3, "millisecond": 1.0, "milliseconds": 1.0, "ms": 1.0}
_RANKS = {"minimum": "min", "average": "avg", "median": "p50", "maximum": "max", "sd": "stddev"}
_RANKS |= {rank: rank for rank in ("min", "avg", "max")}
_RANKS |= {
    f"{rank}th{word}": f"p{rank.replace('.', '')}"
    for rank in ("25", "50", "75", "90", "95", "99", "99.9")
    for word in ("", " percentile")
}
RANKS = ("min", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max")


def latency(heading: str) -> tuple[str, float] | None:
    """ "95th Percentile Latency (microseconds)" -> ("p95", 0.001); "median_lat(ms)" of OLTP-Bench alike.

    None where the heading names no latency. Raises NotUnderstood for a latency of an unknown rank or unit.
    """
    match = re.fullmatch(r"(.+?)(?: Latency |_lat)\(?\s*\(?(\w+)\)", heading.strip(), re.IGNORECASE)
    if match is None:
        if re.search(r"latency|_lat\b", heading, re.IGNORECASE):
            raise NotUnderstood(f"an unknown latency: {heading[:60]!r}")
        return None
    rank, unit = _RANKS.get(match[1].strip().lower()), _TO_MS.get(match[2].lower())
    if rank is None or unit is None:
        raise NotUnderstood(f"an unknown rank or unit of a latency: {heading[:60]!r}")
    return rank, unit


def check_rising(values: dict[str, float], what: str) -> None:
    rising(values, *RANKS, of=what)
    least, most = values.get("min", 0.0), values.get("max", math.inf)
    if "avg" in values and not least * 0.999 - 0.002 <= values["avg"] <= most * 1.001 + 0.002:
        raise NotUnderstood(f"{what}: the average lies outside of least and greatest")


def snake(name: str) -> str:
    """com.oltpbenchmark.….NewOrder/01 -> new_order"""
    last = name.split("/", maxsplit=1)[0].rsplit(".", 1)[-1]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", last)
    return slug(spaced, longest=40)


def subject_of(benchmark: str, dbms: str, version: str = "") -> Subject:
    workload, slug_of_dbms = slug(benchmark, "-"), dbms_called(dbms)
    if slug_of_dbms == "mysql" and "mariadb" in version.lower():
        slug_of_dbms = "mariadb"
    digits = re.search(r"\d+(?:\.\d+)+|^\d+|\b\d{2}(?!\d)", version)
    return Subject(
        workload=f"{workload}-benchbase" if workload else "",
        workload_name=f"BenchBase {benchmark.upper()}" if workload else "",
        dbms=slug_of_dbms, dbms_version=digits[0] if slug_of_dbms and digits else "",
    )  # fmt: skip


def plain(text: str) -> Scalar:
    """A setting of the configuration as number where it is one: "1" -> 1, "0.5" -> 0.5, "1.0" -> 1."""
    text = text.strip()
    value = float(text) if re.fullmatch(r"\d{1,15}|\d{1,12}\.\d{1,12}", text) else None
    return text if value is None else int(value) if value.is_integer() else value


# Settings by their names in the configuration; the log writes them apart and with capitals.
_CONFIGURED = {
    "isolation": "isolation", "scalefactor": "scale_factor", "terminals": "terminals", "batchsize": "batch_size",
    "loaderThreads": "loader_threads", "randomSeed": "seed", "retries": "max_retries",
}  # fmt: skip
_OF_PHASE = {"warmup": "warm_up_s", "rate": "rate_limit_tps", "active_terminals": "active_terminals"}


def configured(settings: Mapping[str, Any], benchmark: str = "") -> dict[str, Scalar]:
    """What a run was told. The scale factor of TPC-C is its number of warehouses."""
    texts = {slug(name, ""): str(value) for name, value in settings.items() if type(value) in (str, int, float)}
    values = {alias: plain(texts.get(name.lower(), "")) for name, alias in _CONFIGURED.items()}
    parameters = {alias: value for alias, value in values.items() if value not in ("", "null")}
    if (reconnects := texts.get("newconnectionpertxn", "").lower()) in ("true", "false"):
        parameters["new_connection_per_transaction"] = reconnects == "true"
    if benchmark.lower() == "tpcc" and isinstance(scale := parameters.get("scale_factor"), int | float):
        parameters["warehouses"] = scale
    return parameters


def of_phases(phases: Sequence[Mapping[str, str]]) -> dict[str, Scalar]:
    """How long all phases are together, and what else is said of a single one."""
    times = [time for phase in phases if isinstance(time := plain(phase.get("time", "")), int | float)]
    parameters: dict[str, Scalar] = {"duration_s": sum(times)} if times and len(times) == len(phases) else {}
    if len(phases) != 1:
        return parameters | ({"phases": len(phases)} if phases else {})
    (phase,) = phases
    values = {alias: plain(phase.get(name, "")) for name, alias in _OF_PHASE.items()}
    parameters |= {alias: value for alias, value in values.items() if isinstance(value, int | float)}
    if phase.get("serial", "").lower() == "true":
        parameters["serial"] = True
    if weights := phase.get("weights", "").replace(" ", ""):
        parameters["transaction_mix"] = weights
    return parameters


TOOL = "benchbase"
_SUMMARY = re.compile(r'"(?:Throughput \(requests/second\)|Goodput \(requests/second\)|Latency Distribution)"\s*:')
_HISTOGRAMS = re.compile(r'"NUM_SAMPLES"\s*:')
_OF_SERVERS = (
    {"shared_buffers", "max_connections"}, {"innodb_buffer_pool_size", "max_connections"},
    {"db_block_size", "processes"},
)  # fmt: skip
_OUTCOMES = {"completed": "completed_transactions", "aborted": "aborted_transactions", "rejected": "retries",
             "unexpected": "errors"}  # fmt: skip
# The DBMS and how it is reached; where results go.
_NO_FACTORS = {"type", "dbtype", "driver", "db_url", "db_name", "upload_code", "upload_url", "upload_hash"}
_WINDOWS = re.compile(r"windows?\b", re.IGNORECASE)


def kind_of(text: str) -> str:
    """Which of its documents a text is, by the keys of `READERS`; empty where it is none."""
    head = text.lstrip()[:1]
    if head == "{" and _SUMMARY.search(text):
        return "summary"
    if head == "<" and re.search(r"<works?>", text) and ("<terminals>" in text or "<transactiontype" in text):
        return "config"
    names = set(re.findall(r'"(\w+)"\s*:', text[:200_000])) if head == "{" else set[str]()
    if "completed" in names and _HISTOGRAMS.search(text):
        return "histograms"
    if names & {"pg_stat_database", "pg_stat_bgwriter", "pg_stat_user_tables"} or names >= {
        "bytes_received",
        "com_select",
    }:
        return "metrics"
    return "settings" if any(known <= names for known in _OF_SERVERS) else ""


def read(text: str, kind: str) -> Report:
    return READERS[kind](text if kind == "config" else json_of(text))


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key, "")
    return value if isinstance(value, str) else ""


def summary(document: Mapping[str, Any]) -> Report:
    if any(re.search(r"Latency \(\w+\)", key) for key in document):
        raise NotUnderstood("a latency outside of the latency distribution: lines have changed places")
    if any(_WINDOWS.search(key) for key in document):
        raise NotUnderstood("a summary of measurement windows, which BenchBase itself does not write")
    elapsed_ns = number_in(document, "Elapsed Time (nanoseconds)")
    values = rates(
        number_in(document, "Throughput (requests/second)"), number_in(document, "Goodput (requests/second)"),
        number_in(document, "Measured Requests"), None if elapsed_ns is None else elapsed_ns / 1e9,
    )  # fmt: skip
    metrics = all_measured(values | _latencies(document.get("Latency Distribution")))
    state, benchmark = _text(document, "Final State"), _text(document, "Benchmark Type")
    failure, reason = ended(state, measured=bool(values["tps"] or values["goodput_per_s"]))
    warnings: list[str] = []
    if "Measured Requests" in document and not state:
        unknown = "whether the run came to its end is unknown"
        warnings.append(f"the final state is missing, which this version prints: {unknown}")
    if (failure or reason) and metrics:
        warnings.append("the figures are those of the part that ran")
    parameters = configured(document, benchmark)
    if values["elapsed_s"] is not None:
        parameters["duration_s"] = round(values["elapsed_s"], 3)
    started = (number_in(document, f"Start {word} (milliseconds)") for word in ("timestamp", "Timestamp"))
    started_ms = next((ms for ms in started if ms is not None and 1e12 < ms < 4e12), None)
    return Report(
        TOOL, reason=reason, failure=failure, parameters=parameters, metrics=metrics, warnings=tuple(warnings),
        started_at="" if started_ms is None else utc(started_ms / 1000),
        subject=subject_of(benchmark, _text(document, "DBMS Type"), _text(document, "DBMS Version")),
    )  # fmt: skip


def ended(state: str, *, measured: bool) -> tuple[str, str]:
    """Why a run failed, and why it was aborted, by the state in which it ended; older versions do not tell it."""
    if state in ("", "EXIT"):
        return "" if measured else "no request was measured", ""
    failure = "BenchBase ended in state ERROR: a worker died" if state == "ERROR" else ""
    return failure, f"BenchBase ended in state {state[:40]}, not EXIT"


def rates(
    rate: float | None, goodput: float | None, done: float | None, elapsed_s: float | None
) -> dict[str, float | None]:
    """The headline of a run. Raises NotUnderstood where its figures contradict each other."""
    if rate is None and goodput is None:
        raise NotUnderstood("neither throughput nor goodput")
    if elapsed_s is not None and elapsed_s <= 0:
        raise NotUnderstood("an elapsed time that is not positive")
    expected = done / elapsed_s if elapsed_s and done is not None else None
    if rate is not None and expected is not None and not math.isclose(rate, expected, rel_tol=1e-6, abs_tol=1e-6):
        raise NotUnderstood("throughput, requests and elapsed time contradict each other")
    if rate is not None and goodput is not None and not (rate >= 0 and 0 <= goodput <= max(rate * 10, rate + 100)):
        raise NotUnderstood("throughput and goodput contradict each other")
    return {"tps": rate, "requests_per_s": rate, "goodput_per_s": goodput, "transactions": done, "elapsed_s": elapsed_s}


def _latencies(distribution: Any) -> dict[str, float]:
    distribution = {} if distribution is None else distribution
    if not isinstance(distribution, dict):
        raise NotUnderstood("the latency distribution is no object")
    ranks: dict[str, float] = {}
    for heading in distribution:
        rank_and_scale, value = latency(heading), number_in(distribution, heading)
        if rank_and_scale is None or value is None:
            raise NotUnderstood(f"an unknown entry of the latency distribution: {heading[:60]!r}")
        if value >= 0:
            ranks[rank_and_scale[0]] = value * rank_and_scale[1]
    check_rising(ranks, "the latency distribution")
    return {f"latency_{rank}_ms": round(value, 9) for rank, value in ranks.items()}


def server_settings(document: Mapping[str, Any]) -> Report:
    """All settings of the server, as text, in the file's order."""
    if not all(isinstance(value, str | int | float | None) for value in document.values()):
        raise NotUnderstood("settings that are neither text nor number")
    texts = {name: "" if value is None else str(value) for name, value in document.items()}
    version = texts.get("server_version", texts.get("version", ""))
    is_mysql = "innodb_buffer_pool_size" in texts or "mariadb" in version.lower()
    engine = "mysql" if is_mysql else "postgresql" if "server_version" in texts else ""
    settings = tuple((name, redact_value(name, text) or "") for name, text in texts.items())
    warning = "the settings of the DBMS: not a result by itself"
    return Report(TOOL, warnings=(warning,), subject=replace(subject_of("", engine, version), settings=settings))


def histograms(document: Mapping[str, Any]) -> Report:
    """Counts per outcome and transaction type; warm-up and cool-down are counted too."""
    counts: dict[str, float] = {}
    for outcome, name in _OUTCOMES.items():
        if (block := document.get(outcome)) is not None:
            if not isinstance(block, dict) or not isinstance(block.get("HISTOGRAM"), dict):
                raise NotUnderstood(f"{outcome} without its counts")
            counts |= counted(outcome, block["HISTOGRAM"], block.get("NUM_SAMPLES"), name)
    warning = "counts of transactions without the run's throughput; they include warm-up and cool-down"
    return Report(TOOL, metrics=all_measured(counts, better="none"), warnings=(warning,))


def counted(outcome: str, counts: Mapping[str, Any], total: Any, name: str) -> dict[str, float]:
    """Figures of one histogram. Raises NotUnderstood when the parts are not the total."""
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts.values()):
        raise NotUnderstood(f"{outcome}: a count that is no whole number")
    if total is not None and total != sum(counts.values()):
        raise NotUnderstood(f"{outcome}: the counts do not add up to the total")
    of_kinds = {f"{snake(kind)}_{name}": count for kind, count in counts.items()}
    return {name: sum(counts.values())} | (of_kinds if len(of_kinds) == len(counts) else {})


def config(text: str) -> Report:
    root = xml_of(text)
    for name in (*_CONFIGURED, "works"):
        if len(root.findall(name)) > 1 and not any(child.get("bench") for child in root.findall(name)):
            raise NotUnderstood(f"the configuration says {name} twice")
    settings, works = _texts(root), [*map(_texts, root.findall("./works/work"))]
    if not works:
        raise NotUnderstood("a configuration without work")
    leaves = {snake(child.tag): child.text or "" for child in root if not len(child) and not child.attrib}
    others = as_factors(leaves, {*map(snake, _CONFIGURED), "new_connection_per_txn"} | _NO_FACTORS)
    warning = "the configuration of a run: not a result by itself"
    return Report(
        TOOL, parameters=configured(settings) | others | of_phases(works), warnings=(warning,),
        subject=Subject(dbms=dbms_called(settings.get("type") or settings.get("dbtype", ""))),
    )  # fmt: skip


def _texts(element: ElementTree.Element) -> dict[str, str]:
    """The texts of its children by their names; empty of those that are there several times."""
    texts: dict[str, str] = {}
    for child in element:
        texts[child.tag] = "" if child.tag in texts else (child.text or "").strip()
    return texts


READERS: dict[str, Callable[[Any], Report]] = {
    "config": config, "summary": summary, "histograms": histograms, "settings": server_settings,
    "metrics": lambda _: Report(TOOL, warnings=("counters of the DBMS: not a result by itself, and not read",)),
}  # fmt: skip
