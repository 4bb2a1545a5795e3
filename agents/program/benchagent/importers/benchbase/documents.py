"""The JSON and XML files: summary, params, metrics, histograms, config."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from benchagent.importers.base import Metric, NotUnderstood, Report, Scalar, Status, Subject, agree
from benchagent.importers.benchbase.names import check_rising, dbms, latency, plain, snake, workload
from benchagent.redaction import redact_text, redact_value

TOOL = "benchbase"
_SUMMARY = re.compile(r'"(?:Throughput \(requests/second\)|Goodput \(requests/second\)|Latency Distribution)"\s*:')
_HISTOGRAMS = re.compile(r'"NUM_SAMPLES"\s*:')
_SETTINGS = (
    {"shared_buffers", "max_connections"},
    {"innodb_buffer_pool_size", "max_connections"},
    {"db_block_size", "processes"},
)
_METRICS = ("pg_stat_database", "pg_stat_bgwriter", "pg_stat_user_tables")
_STATUS = {"bytes_received", "com_select"}
_OUTCOMES = {
    "completed": ("completed_transactions", "transactions"),
    "aborted": ("aborted_transactions", "transactions"),
    "rejected": ("retries", "retries"),
    "unexpected": ("errors", "errors"),
}
SETTINGS_ONLY = "the settings of the DBMS: not a result by itself"
METRICS_ONLY = "counters of the DBMS: not a result by itself, and not read"
CONFIG_ONLY = "the configuration of a run: not a result by itself"
_WINDOWS = re.compile(r"windows?\b", re.IGNORECASE)


def claims(text: str) -> bool:
    head = text.lstrip()[:1]
    if head == "{":
        return bool(_SUMMARY.search(text) or (_HISTOGRAMS.search(text) and '"completed"' in text) or _is_settings(text))
    return head == "<" and bool(re.search(r"<works?>", text)) and ("<terminals>" in text or "<transactiontype" in text)


def _is_settings(text: str) -> bool:
    names = set(re.findall(r'"(\w+)"\s*:', text[:200_000]))
    return any(known <= names for known in _SETTINGS) or any(name in names for name in _METRICS) or names >= _STATUS


def read(text: str) -> Report:
    if text.lstrip().startswith("<"):
        return config(text)
    document = _json(text)
    if "Latency Distribution" in document or _SUMMARY.search(text):
        return summary(document)
    if {"completed"} <= document.keys():
        return histograms(document)
    if any(name in document for name in _METRICS) or document.keys() >= _STATUS:
        return Report(tool=TOOL, status=Status.COMPLETE, warnings=(METRICS_ONLY,))
    return settings(document)


def _json(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_constant)
    except NotUnderstood:
        raise
    except (ValueError, RecursionError) as error:
        raise NotUnderstood(f"broken JSON: {error}") from error
    if not isinstance(document, dict):
        raise NotUnderstood("not a JSON object")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotUnderstood("the JSON says something twice")
    return found


def _constant(name: str) -> float:
    raise NotUnderstood(f"the JSON holds {name}")


def _number(document: Mapping[str, Any], key: str) -> float | None:
    value = document.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotUnderstood(f"{key!r} is no number")
    return float(value)


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key, "")
    return value if isinstance(value, str) else ""


def summary(document: Mapping[str, Any]) -> Report:
    if any(latency_key for latency_key in document if re.search(r"Latency \(\w+\)", latency_key)):
        raise NotUnderstood("a latency outside of the latency distribution: lines have changed places")
    if any(_WINDOWS.search(key) for key in document):
        raise NotUnderstood("a summary of measurement windows, which BenchBase itself does not write")
    metrics, warnings = _throughput(document)
    metrics += _latencies(document.get("Latency Distribution"))
    status, reason = _state(document, metrics, warnings)
    elapsed_s = next((metric.value for metric in metrics if metric.name == "elapsed_s"), None)
    told = _parameters(document, _text(document, "Benchmark Type"))
    if elapsed_s is not None:
        told["duration_s"] = round(elapsed_s, 3)
    if status is not Status.COMPLETE and metrics:
        warnings.append("the figures are those of the part that ran")
    kind = _text(document, "Benchmark Type")
    slug, name = workload(kind)
    engine, version = dbms(_text(document, "DBMS Type"), _text(document, "DBMS Version"))
    return Report(
        tool=TOOL, status=status, reason=reason, parameters=told, metrics=tuple(metrics),
        warnings=tuple(warnings), started_at=_started(document),
        subject=Subject(workload=slug, workload_name=name, dbms=engine, dbms_version=version),
    )  # fmt: skip


def _throughput(document: Mapping[str, Any]) -> tuple[list[Metric], list[str]]:
    rate, goodput = _number(document, "Throughput (requests/second)"), _number(document, "Goodput (requests/second)")
    elapsed_ns, measured = _number(document, "Elapsed Time (nanoseconds)"), _number(document, "Measured Requests")
    metrics: list[Metric] = []
    if rate is None and goodput is None:
        raise NotUnderstood("neither throughput nor goodput")
    if elapsed_ns is not None and elapsed_ns <= 0:
        raise NotUnderstood("an elapsed time that is not positive")
    known = rate is not None and elapsed_ns and measured is not None
    if known and not agree(rate or 0.0, (measured or 0.0) / (elapsed_ns or 1.0) * 1e9, relative=1e-6, absolute=1e-6):
        raise NotUnderstood("throughput, requests and elapsed time contradict each other")
    if rate is not None and goodput is not None and not (rate >= 0 and 0 <= goodput <= max(rate * 10, rate + 100)):
        raise NotUnderstood("throughput and goodput contradict each other")
    if rate is not None:
        metrics += [
            Metric("tps", "TPS", rate, better="higher"),
            Metric("requests_per_s", "requests/s", rate, better="higher"),
        ]
    if goodput is not None:
        metrics.append(Metric("goodput_per_s", "requests/s", goodput, better="higher"))
    if measured is not None:
        metrics.append(Metric("transactions", "transactions", measured, better="none"))
    if elapsed_ns is not None:
        metrics.append(Metric("elapsed_s", "s", elapsed_ns / 1e9, better="none"))
    return metrics, []


def _latencies(distribution: Any) -> list[Metric]:
    if distribution is None:
        return []
    if not isinstance(distribution, dict):
        raise NotUnderstood("the latency distribution is no object")
    found: dict[str, float] = {}
    for heading in distribution:
        known = latency(heading)
        value = _number(distribution, heading)
        if known is None or value is None:
            raise NotUnderstood(f"an unknown entry of the latency distribution: {heading[:60]!r}")
        if value >= 0:
            found[known[0]] = value * known[1]
    check_rising(found, "the latency distribution")
    return [Metric(f"latency_{rank}_ms", "ms", round(value, 9), better="lower") for rank, value in found.items()]


def _state(document: Mapping[str, Any], metrics: Sequence[Metric], warnings: list[str]) -> tuple[Status, str]:
    state = _text(document, "Final State")
    if state == "ERROR":
        return Status.FAILED, "BenchBase ended in state ERROR: a worker died"
    if state and state != "EXIT":
        return Status.ABORTED, redact_text(f"BenchBase ended in state {state[:40]}, not EXIT")
    if "Measured Requests" in document and not state:
        warnings.append(
            "the final state is missing, which this version prints: whether the run came to its end is unknown"
        )
    if not any(metric.value for metric in metrics if metric.name in ("tps", "goodput_per_s")):
        return Status.FAILED, "no request was measured"
    return Status.COMPLETE, ""


def _parameters(document: Mapping[str, Any], kind: str) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for key, name in (("isolation", "isolation"), ("scalefactor", "scale_factor"), ("terminals", "terminals")):
        value = document.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
            found[name] = plain(str(value))
    if kind.lower() == "tpcc" and isinstance(found.get("scale_factor"), int | float):
        found["warehouses"] = found["scale_factor"]
    return found


def _started(document: Mapping[str, Any]) -> str:
    for key in ("Start timestamp (milliseconds)", "Start Timestamp (milliseconds)"):
        value = _number(document, key)
        if value is not None and 1e12 < value < 4e12:
            return datetime.fromtimestamp(value / 1000, UTC).isoformat()
    return ""


def settings(document: Mapping[str, Any]) -> Report:
    """All settings of the server, as text, in the file's order."""
    if not all(isinstance(value, str | int | float | None) for value in document.values()):
        raise NotUnderstood("settings that are neither text nor number")
    found = tuple((name, _setting(name, value)) for name, value in document.items())
    postgres, mysql = "server_version" in document, "innodb_buffer_pool_size" in document
    version = str(document.get("server_version", document.get("version", "")))
    engine = "mariadb" if "mariadb" in version.lower() else "mysql" if mysql else "postgresql" if postgres else ""
    number = re.match(r"\d+(?:\.\d+)*", version)
    return Report(
        tool=TOOL, status=Status.COMPLETE, warnings=(SETTINGS_ONLY,),
        subject=Subject(dbms=engine, dbms_version=number[0] if engine and number else "", settings=found),
    )  # fmt: skip


def _setting(name: str, value: Any) -> str:
    text = "" if value is None else str(value)
    return redact_text(redact_value(name, text) or "")


def histograms(document: Mapping[str, Any]) -> Report:
    """Counts per outcome and transaction type; warm-up and cool-down are counted too."""
    metrics: list[Metric] = []
    for outcome, (name, unit) in _OUTCOMES.items():
        block = document.get(outcome)
        if block is None:
            continue
        counts = block.get("HISTOGRAM") if isinstance(block, dict) else None
        if not isinstance(block, dict) or not isinstance(counts, dict):
            raise NotUnderstood(f"{outcome} without its counts")
        metrics += counted(outcome, counts, block.get("NUM_SAMPLES"), name, unit)
    warning = "counts of transactions without the run's throughput; they include warm-up and cool-down"
    return Report(tool=TOOL, status=Status.COMPLETE, metrics=tuple(metrics), warnings=(warning,))


def counted(outcome: str, counts: Mapping[str, Any], total: Any, name: str, unit: str) -> list[Metric]:
    """Metrics of one histogram. Raises NotUnderstood when the parts are not the total."""
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts.values()):
        raise NotUnderstood(f"{outcome}: a count that is no whole number")
    if total is not None and total != sum(counts.values()):
        raise NotUnderstood(f"{outcome}: the counts do not add up to the total")
    metrics = [Metric(name, unit, sum(counts.values()), better="none")]
    kinds = [snake(kind) for kind in counts]
    if len(set(kinds)) == len(kinds):
        metrics += [
            Metric(f"{kind}_{name}", unit, count, better="none")
            for kind, count in zip(kinds, counts.values(), strict=True)
        ]
    return metrics


def config(text: str) -> Report:
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text):
        raise NotUnderstood("XML with a document type or entities")
    try:
        root = ElementTree.fromstring(text.strip())  # noqa: S314
    except (ElementTree.ParseError, ValueError) as error:
        raise NotUnderstood(f"broken XML: {error}") from error
    parameters = _told(root)
    works = root.findall("./works/work")
    if not works:
        raise NotUnderstood("a configuration without work")
    parameters |= _work(works)
    weights = _child(works[0], "weights").replace(" ", "")
    if weights and len(works) == 1:
        parameters["transaction_mix"] = redact_text(weights)
    engine = dbms(_child(root, "type") or _child(root, "dbtype"), "")[0]
    return Report(
        tool=TOOL, status=Status.COMPLETE, parameters=parameters, warnings=(CONFIG_ONLY,), subject=Subject(dbms=engine)
    )


def _child(element: ElementTree.Element, name: str) -> str:
    """The text of the only child of that name; empty where there is none or several."""
    found = element.findall(name)
    return (found[0].text or "").strip() if len(found) == 1 else ""


def _told(root: ElementTree.Element) -> dict[str, Scalar]:
    names = {
        "isolation": "isolation", "scalefactor": "scale_factor", "terminals": "terminals", "batchsize": "batch_size",
        "loaderThreads": "loader_threads", "randomSeed": "seed", "retries": "max_retries",
    }  # fmt: skip
    for name in (*names, "works"):
        if len(root.findall(name)) > 1 and not any(child.get("bench") for child in root.findall(name)):
            raise NotUnderstood(f"the configuration says {name} twice")
    found = {alias: plain(redact_text(_child(root, name))) for name, alias in names.items() if _child(root, name)}
    for name, alias in (("newConnectionPerTxn", "new_connection_per_transaction"),):
        if _child(root, name).lower() in ("true", "false"):
            found[alias] = _child(root, name).lower() == "true"
    return found


def _work(works: Sequence[ElementTree.Element]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    times = [plain(_child(work, "time")) for work in works]
    if all(isinstance(time, int | float) for time in times):
        found["duration_s"] = sum(time for time in times if isinstance(time, int | float))
    if len(works) > 1:
        return found | {"phases": len(works)}
    warm_up = plain(_child(works[0], "warmup"))
    if isinstance(warm_up, int | float):
        found["warm_up_s"] = warm_up
    rate = plain(_child(works[0], "rate"))
    if isinstance(rate, int | float):
        found["rate_limit_tps"] = rate
    active = plain(_child(works[0], "active_terminals"))
    if isinstance(active, int | float):
        found["active_terminals"] = active
    if _child(works[0], "serial").lower() == "true":
        found["serial"] = True
    return found
