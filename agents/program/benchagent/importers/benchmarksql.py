"""BenchmarkSQL 4, 5 and 6 (jTPCC): the block of its parameters and its result, as its log shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from benchagent.importers.report import Report, Scalar, Subject, all_measured, dbms_called, entries, rising
from benchagent.importers.source import NotUnderstood, SourceFile, shown_by, slug
from benchagent.importers.tables import Match, Run, Runs, Table, says_more

TOOL = "BenchmarkSQL"
TABLE = Table(
    TOOL,
    ("version", "BenchmarkSQL v{version:token}"),
    ("db", "db={db:word}"),
    ("warehouses", "warehouses={warehouses:int}"),
    ("terminals", "terminals={terminals:int}"),
    ("workers", "sutThreads={sut_threads:int}"),
    ("transactions", "runTxnsPerTerminal={transactions_per_terminal:int}"),
    ("ramp up", "rampupMins={ramp_up_minutes:int}"),
    ("minutes", "runMins={run_minutes:int}"),
    ("limit", "limitTxnsPerMin={limit_tpm:int}"),
    ("fixed", "terminalWarehouseFixed={terminal_warehouse_fixed:word}"),
    ("procedures", "useStoredProcedures={stored_procedures:word}"),
    ("weight", "{name:newOrder|payment|orderStatus|delivery|stockLevel}Weight={percent:num}", r"[a-zA-Z]+Weight="),
    (
        "type", "\\| {type:NEW_ORDER|PAYMENT|ORDER_STATUS|STOCK_LEVEL|DELIVERY_BG|DELIVERY} \\| {count:grouped} \\| "
        "{:num?} \\| {mean_s:num?} \\| {max_s:num?} \\| {p90_s:num?} \\| {rollback_pct:num?} \\| {errors:cells} \\|",
        r"\| [A-Z]+_?[A-Z]* +\| +\d",
    ),
    ("nopm", "Overall NOPM: {nopm:grouped} ({efficiency_pct:num}% of the theoretical maximum)"),
    ("tpm6", "Overall TPM: {tpm:grouped}"),
    ("tpmc", "Measured tpmC (NewOrders) = {tpmc:exp}"),
    ("total", "Measured tpmTOTAL = {tpm:exp}"),
    ("start", "Session Start = {session_start:rest}"),
    ("end", "Session End = {session_end:rest}"),
    ("count", "Transaction Count = {transactions:int}"),
)  # fmt: skip
MARKS = re.compile(
    r"Measured tpm(?:C \(NewOrders\)|TOTAL) *=|\bjTPCC : (?:Term-00|main|result),|Overall (?:NOPM|TPM): "
    r"|BenchmarkSQL v\d"
)
WORDS = ("Measured tpm", "jTPCC : ", "Overall NOPM: ", "Overall TPM: ", "BenchmarkSQL v")
IN_LOGS = True
claims = shown_by(MARKS, WORDS)
# What stands before a line's own text; the running average is overwritten by the result, which may follow it.
FRONT = re.compile(r".*\b(?:Term-00|main|result),[ \t]*|.*\bjTPCC[ \t]*:[ \t]*", re.DOTALL)
# The types with a row, without the transactions that deliver in the background.
TYPES = ("NEW_ORDER", "PAYMENT", "ORDER_STATUS", "STOCK_LEVEL", "DELIVERY")
PARAMETERS = ("warehouses", "terminals", "sut_threads", "transactions_per_terminal", "limit_tpm")


def is_another(run: Run, match: Match) -> bool:
    """The block begins with its banner, else with its DBMS, else with the result."""
    return says_more(run, match) if match.key == "version" else run.rows.get(match.key, match.values) != match.values


def read(file: SourceFile) -> Sequence[Report]:
    calls = Runs(
        table=TABLE, front=FRONT, begins={"version", "db", "tpmc"}, lists={"weight", "type"}, another=is_another
    )
    return calls.reports(file, report_of, "no run of BenchmarkSQL")


def report_of(run: Run) -> Report:
    values = run.values
    ended = "count" in run.rows or run.cut == "count" or "tpm6" in run.rows
    parameters: dict[str, Scalar] = {name: values[name] for name in PARAMETERS if values.get(name)}
    for name, minutes in (("duration_s", "run_minutes"), ("ramp_up_s", "ramp_up_minutes")):
        if values.get(minutes):
            parameters[name] = values[minutes] * 60
    switches = entries(values, "terminal_warehouse_fixed", "stored_procedures")
    parameters |= {name: text.lower() == "true" for name, text in switches.items()}
    for row in run.rows_of("weight"):
        parameters[slug(re.sub(r"([A-Z])", r"_\1", row["name"])) + "_weight"] = row["percent"]
    return Report(
        tool=TOOL, tool_version=values.get("version", ""), reason="" if ended else "the log ends before the result",
        parameters=parameters,
        metrics=all_measured((of_6(run) if "nopm" in values else of_5(run)) if ended else {}),
        subject=Subject("tpcc-benchmarksql", "TPC-C (BenchmarkSQL)", dbms=dbms_called(values.get("db", ""))),
        started_at=values["session_start"].replace(" ", "T") if "session_start" in values and ended else "",
    )  # fmt: skip


def of_5(run: Run) -> dict[str, float]:
    """Raises NotUnderstood where the rate, the time and the count contradict each other."""
    values = run.values
    if missing := [name for name in ("tpmc", "tpm", "session_start", "session_end") if name not in values]:
        raise NotUnderstood(f"the result lacks {', '.join(missing)}")
    try:
        begin, end = (datetime.fromisoformat(values[name]) for name in ("session_start", "session_end"))
        elapsed_s = (end - begin).total_seconds()
    except ValueError as error:
        raise NotUnderstood("the session has no times") from error
    # Times are whole seconds, and the rate is rounded.
    rounding = 0.5 if values["tpm"].is_integer() and values["tpmc"].is_integer() else 0.005
    by_rate, more = values["tpm"] * elapsed_s / 60, values["tpm"] / 60 * 1.5 + 2 + rounding * elapsed_s / 60
    if elapsed_s <= 0 or values["tpmc"] > values["tpm"] or abs(by_rate - values.get("transactions", by_rate)) > more:
        raise NotUnderstood(f"transactions by time are not {values['tpm']:g} a minute")
    return entries(values, "tpmc", "tpm", "transactions") | {"elapsed_s": elapsed_s}


def of_6(run: Run) -> dict[str, float]:
    """Raises NotUnderstood where the types are not all there, or their counts are not the rate."""
    values, typed_rows = run.values, run.rows_of("type")
    rows = {row["type"]: row for row in typed_rows}
    if not rows.keys() >= {*TYPES} or len(rows) != len(typed_rows) or "tpm" not in values:
        raise NotUnderstood("the transactions are not all there")
    nopm, tpm, efficiency_pct = values["nopm"], values["tpm"], values["efficiency_pct"]
    orders, transactions = rows["NEW_ORDER"]["count"], sum(rows[name]["count"] for name in TYPES)
    if abs(nopm * transactions - tpm * orders) > 0.01 * nopm * transactions + 2 * transactions:
        raise NotUnderstood("the counts of the transactions are not their rates")
    warehouses, minutes = values.get("warehouses"), values.get("run_minutes")
    share_pct = nopm / (warehouses * 0.1286) if warehouses else efficiency_pct
    if abs(share_pct - efficiency_pct) > 0.02 + 4 / (warehouses or 1):
        raise NotUnderstood(f"{efficiency_pct:g} % is not the share of {warehouses} warehouses")
    # The last transactions end after the last minute.
    if minutes and abs(orders / minutes - nopm) > 1 + 0.005 * nopm:
        raise NotUnderstood(f"{orders} new orders by time are not {nopm} a minute")
    figures: dict[str, float] = entries(values, "nopm", "tpm", "efficiency_pct")
    figures["transactions"] = transactions
    for name, row in rows.items():
        rising(row, "p90_s", "max_s")
        figures[f"{name.lower()}_transactions"] = row["count"]
        for key, rank in (("mean_s", "avg"), ("p90_s", "p90"), ("max_s", "max")):
            if row[key] is not None:
                figures[f"{name.lower()}_latency_{rank}_ms"] = round(row[key] * 1000, 6)
        if re.fullmatch(r"\d{1,3}(?:,\d{3})*", row["errors"]):
            figures[f"{name.lower()}_errors"] = int(row["errors"].replace(",", ""))
    return figures
