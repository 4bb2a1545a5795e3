"""BenchmarkSQL 4, 5 and 6 (jTPCC): the block of its parameters and its result, as its log shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from benchagent.importers.report import Report, Scalar, Status, Subject, dbms_called, measured, rising
from benchagent.importers.source import Line, NotUnderstood, SourceFile, printed_lines, slug
from benchagent.importers.tables import Match, Run, Runs, Spoiled, Table, reports_of

TOOL = "BenchmarkSQL"
TABLE = Table(
    TOOL,
    ("version", "BenchmarkSQL v{version:S}"),
    ("db", "db={db:W}"),
    ("warehouses", "warehouses={warehouses:N}"),
    ("terminals", "terminals={terminals:N}"),
    ("workers", "sutThreads={sut_threads:N}"),
    ("transactions", "runTxnsPerTerminal={transactions_per_terminal:N}"),
    ("ramp up", "rampupMins={ramp_up_minutes:N}"),
    ("minutes", "runMins={run_minutes:N}"),
    ("limit", "limitTxnsPerMin={limit_tpm:N}"),
    ("fixed", "terminalWarehouseFixed={terminal_warehouse_fixed:W}"),
    ("procedures", "useStoredProcedures={stored_procedures:W}"),
    ("weight", "{name:newOrder|payment|orderStatus|delivery|stockLevel}Weight={percent:X}", r"[a-zA-Z]+Weight="),
    (
        "type", "\\| {type:NEW_ORDER|PAYMENT|ORDER_STATUS|STOCK_LEVEL|DELIVERY_BG|DELIVERY} \\| {count:G} \\| {:Z} \\| "
        "{mean_s:Z} \\| {max_s:Z} \\| {p90_s:Z} \\| {rollback_pct:Z} \\| {errors:cells} \\|",
        r"\| [A-Z]+_?[A-Z]* +\| +\d",
    ),
    ("nopm", "Overall NOPM: {nopm:G} ({efficiency_pct:X}% of the theoretical maximum)"),
    ("tpm6", "Overall TPM: {tpm:G}"),
    ("tpmc", "Measured tpmC (NewOrders) = {tpmc:E}"),
    ("total", "Measured tpmTOTAL = {tpm:E}"),
    ("start", "Session Start = {session_start:T}"),
    ("end", "Session End = {session_end:T}"),
    ("count", "Transaction Count = {transactions:N}"),
)  # fmt: skip
MARKS = re.compile(
    r"Measured tpm(?:C \(NewOrders\)|TOTAL) *=|\bjTPCC : (?:Term-00|main|result),|Overall (?:NOPM|TPM): "
    r"|BenchmarkSQL v\d"
)
# What stands before a line's own text; the running average is overwritten by the result, which may follow it.
FRONT = re.compile(r".*\b(?:Term-00|main|result),[ \t]*|.*\bjTPCC[ \t]*:[ \t]*", re.DOTALL)
# Of a type's row, without the transactions that deliver in the background.
TYPES = ("NEW_ORDER", "PAYMENT", "ORDER_STATUS", "STOCK_LEVEL", "DELIVERY")
PARAMETERS = ("warehouses", "terminals", "sut_threads", "transactions_per_terminal", "limit_tpm")


class Calls(Runs):
    def take(self, line: Line, part: Run | Spoiled | None) -> None:
        super().take(line._replace(text=FRONT.sub("", line.text.replace("\b", "")).strip()), part)

    def is_another(self, part: Run | Spoiled, match: Match) -> bool:
        if isinstance(part, Run) and match.key != "version":
            # The block begins with its banner, else with its DBMS, else with the result.
            return match.key in part.rows and part.rows[match.key] != match.values
        return super().is_another(part, match)


def claims(file: SourceFile) -> bool:
    return file.shows(MARKS)


def read(file: SourceFile) -> Sequence[Report]:
    reader = Calls(table=TABLE, begins={"version", "db", "tpmc"}, lists={"weight", "type"})
    reader.read(printed_lines(file, MARKS, re.compile(r"\brunBenchmark\.sh\b")))
    return reports_of(reader.parts, report_of, TOOL, "no run of BenchmarkSQL")


def report_of(run: Run) -> Report:
    told = run.values
    ended = "count" in run.rows or run.cut == "count" or "tpm6" in run.rows
    values: dict[str, float] = (of_6(run) if "nopm" in told else of_5(run)) if ended else {}
    parameters: dict[str, Scalar] = {name: told[name] for name in PARAMETERS if told.get(name)}
    for name in ("run", "ramp_up"):
        if told.get(f"{name}_minutes"):
            parameters["duration_s" if name == "run" else "ramp_up_s"] = told[f"{name}_minutes"] * 60
    parameters |= {
        name: told[name].lower() == "true" for name in ("terminal_warehouse_fixed", "stored_procedures") if name in told
    }
    for row in run.lists.get("weight", []):
        parameters[slug(re.sub(r"([A-Z])", r"_\1", row["name"])) + "_weight"] = row["percent"]
    return Report(
        tool=TOOL, tool_version=told.get("version", ""),
        status=Status.COMPLETE if ended else Status.ABORTED,
        reason="" if ended else "the log ends before the result",
        parameters=parameters,
        metrics=tuple(measured(name, value) for name, value in values.items()),
        subject=Subject(
            workload="tpcc-benchmarksql", workload_name="TPC-C (BenchmarkSQL)", dbms=dbms_called(told.get("db", ""))
        ),
        started_at=told["session_start"].replace(" ", "T") if "session_start" in told and ended else "",
    )  # fmt: skip


def of_5(run: Run) -> dict[str, float]:
    """Raises NotUnderstood where the rate, the time and the count contradict each other."""
    told = run.values
    if missing := [name for name in ("tpmc", "tpm", "session_start", "session_end") if name not in told]:
        raise NotUnderstood(f"line {run.line}: the result lacks {', '.join(missing)}")
    try:
        elapsed_s = (
            datetime.fromisoformat(told["session_end"]) - datetime.fromisoformat(told["session_start"])
        ).total_seconds()
    except ValueError as error:
        raise NotUnderstood(f"line {run.line}: the session has no times") from error
    # Times are whole seconds.
    by_rate, more = told["tpm"] * elapsed_s / 60, told["tpm"] / 60 * 1.5 + 2
    if elapsed_s <= 0 or told["tpmc"] > told["tpm"] or abs(by_rate - told.get("transactions", by_rate)) > more:
        raise NotUnderstood(f"line {run.line}: transactions by time are not {told['tpm']:g} a minute")
    return {name: told[name] for name in ("tpmc", "tpm", "transactions") if name in told} | {"elapsed_s": elapsed_s}


def of_6(run: Run) -> dict[str, float]:
    """Raises NotUnderstood where the types are not all there, or their counts are not the rate."""
    told, rows = run.values, {row["type"]: row for row in run.lists.get("type", [])}
    if not rows.keys() >= {*TYPES} or len(rows) != len(run.lists["type"]) or "tpm" not in told:
        raise NotUnderstood(f"line {run.line}: the transactions are not all there")
    orders, all_of_them = rows["NEW_ORDER"]["count"], sum(rows[name]["count"] for name in TYPES)
    if abs(told["nopm"] * all_of_them - told["tpm"] * orders) > 0.01 * told["nopm"] * all_of_them + 2 * all_of_them:
        raise NotUnderstood(f"line {run.line}: the counts of the transactions are not their rates")
    share_pct = told["nopm"] / (told["warehouses"] * 0.1286) if told.get("warehouses") else told["efficiency_pct"]
    if abs(share_pct - told["efficiency_pct"]) > 0.02 + 4 / told.get("warehouses", 1):
        raise NotUnderstood(
            f"line {run.line}: {told['efficiency_pct']:g} % is not the share of {told['warehouses']} warehouses"
        )
    minutes = told.get("run_minutes")
    if minutes and abs(orders / minutes - told["nopm"]) > 1:
        raise NotUnderstood(f"line {run.line}: {orders} new orders by time are not {told['nopm']} a minute")
    values: dict[str, float] = {name: told[name] for name in ("nopm", "tpm", "efficiency_pct")}
    values["transactions"] = all_of_them
    for name, row in rows.items():
        seconds = {key: row[f"{key}_s"] for key in ("mean", "p90", "max") if row.get(f"{key}_s") is not None}
        rising(seconds, "p90", "max")
        values[f"{name.lower()}_transactions"] = row["count"]
        values |= {
            f"{name.lower()}_latency_{'avg' if key == 'mean' else key}_ms": round(value * 1000, 6)
            for key, value in seconds.items()
        }
        if re.fullmatch(r"\d{1,3}(?:,\d{3})*", row["errors"]):
            values[f"{name.lower()}_errors"] = int(row["errors"].replace(",", ""))
    return values
