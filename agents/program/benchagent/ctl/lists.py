"""Lists as tables, as columns of one's own, as JSON and as CSV: a table below says of each what it shows."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchagent.ctl.api import Params, connect, id_of
from benchagent.ctl.output import UsageError, plain_number, print_json, print_line, print_table

DEFAULT_LIMIT = 50
PAGE = 500
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Listing:
    """`columns`: heading -> the cell of a row, a field or a function. `page_size`: whether the API takes one."""

    path: str
    help: str
    columns: Mapping[str, str | Callable[[Row], str]]
    page_size: bool = False


def headline(row: Row) -> str:
    """12.300 s, Backup rate on backup size 159.350 MB/s: the number that counts, then those beside it."""
    first, *beside = row.get("result") or [{}]
    words = [f"{plain_number(float(first['value']))} {first['unit'] or first['label']}"] if first else []
    words += [f"{metric['label']} {plain_number(float(metric['value']))} {metric['unit']}".strip() for metric in beside]
    return ", ".join(words)


def dbms_of(row: Row) -> str:
    """Name and version; the name of a version often holds it already."""
    name, version = row["dbms"]["name"], row["dbms"]["version"]
    return name if version in name else f"{name} {version}"


def _on_machine(row: Row) -> str:
    """With what tells it from others of its name there, as its disk; a server of before tells none."""
    return f"{row['machine']} ({row['told_apart']})" if row.get("told_apart") else str(row["machine"])


def _newest(row: Row) -> str:
    return "" if row["newest"] is None else f"{plain_number(float(row['newest']))} {row['unit']}".rstrip()


def _change(row: Row) -> str:
    """In per cent, with its verdict; what is better or worse at zero, or than zero, has none."""
    change = row.get("change") or {}
    if not change.get("value"):
        return str(change["verdict"]) if change.get("verdict") in ("better", "worse") else ""
    return f"{change['value'] - 1:+.1%} {change.get('verdict', '')}".rstrip()


def _last_change(row: Row) -> str:
    """The last change that was confirmed; a server of before tells none."""
    change = row.get("last_change")
    if not change:
        return ""
    kind = "" if change["kind"] == "step" else f" {change['kind']}"
    is_open = open_words(change)
    value = (change.get("change") or {}).get("value")
    share = f"{change.get('zero') or 'from or to'} 0" if value is None else f"{value:+.1%}{kind}"
    return f"{is_open}{share} since {change['since'][:10]}"


def open_words(change: Row) -> str:
    """What a change is that all batches up to now do not show surely, or not by as much as matters; empty of others."""
    told = {"undecided": "not yet sure ", "too_small": "too small "}
    return told.get((change.get("change") or {}).get("verdict", ""), "")


def _state(row: Row) -> str:
    """An agent's state; what keeps it from work comes first."""
    if row["status"] != "approved":
        return str(row["status"])
    return row["pause"] or ("online" if row["online"] else f"offline since {_minute(row['last_seen_at'])}")


def _minute(time: str | None) -> str:
    return f"{time[:10]} {time[11:16]} UTC" if time else ""


def _measured(row: Row) -> str:
    """When a run was measured, as well as the server knows it."""
    time = row.get("measured_at") or ""
    match row.get("measured_at_precision"):
        case "time":
            return _minute(time)
        case "stored":
            return f"stored {time[:10]}"
    return time[:10]


def _parts(row: Row) -> str:
    """With how many runs and minutes each takes on the agent that was named."""
    on_agent = [(part["part"], part["on_agent"]) for part in row["parts"]]
    return ", ".join(
        f"{name} ({there['runs']} runs, {there['estimated_s'] / 60:.0f} min)".lstrip() if there else name
        for name, there in on_agent
    )


def _missing(row: Row) -> str:
    return "; ".join(dict.fromkeys(line for part in row["parts"] for line in (part["on_agent"] or {}).get("lacks", ())))


LISTS: Mapping[str, Listing] = {
    "runs": Listing(
        "/runs/",
        "list runs",
        {
            "RUN": "id", "WORKLOAD": "workload.slug", "DBMS": dbms_of, "MACHINE": "hardware.name", "STATUS": "status",
            "RESULT": headline, "MEASURED": _measured,
        },
        page_size=True,
    ),
    "benchmarks": Listing(
        "/benchmarks/",
        "what is measured again and again, what moved first",
        {
            "ID": "id", "BENCHMARK": "name", "MACHINE": _on_machine, "NEWEST": _newest, "CONFIRMED": _last_change,
            "CHANGE": _change,
        },
    ),
    "agents": Listing(
        "/agents/",
        "list machines that run benchmarks; pause or resume one",
        {
            "AGENT": "slug", "STATE": _state, "LABELS": lambda row: ",".join(row["labels"]),
            "ENGINES": lambda row: str(sum(engine["available"] for engine in row["engines"])), "MACHINE": "machine",
        },
    ),
    "queue": Listing(
        "/queue/",
        "what runs and waits, from when to when, and why it waits",
        {
            "EXPERIMENT": lambda row: row["experiment"] or row["run"] or "(not shown)", "RUNS": "runs",
            "AGENT": "agent", "STATE": "state", "BEGINS": lambda row: _minute(row["begins_at"]),
            "ENDS": lambda row: _minute(row["ends_at"]), "WHY": "reason",
        },
    ),
    "reservations": Listing(
        "/reservations/",
        "list times in which machines begin nothing that would not end before; add or end one",
        {
            "ID": "id", "AGENT": lambda row: row["agent"] or "(all)", "FROM": lambda row: _minute(row["begins_at"]),
            "UNTIL": lambda row: _minute(row["ends_at"]), "BY": "by", "WHAT FOR": "reason",
        },
    ),
    "experiments": Listing(
        "/experiments/",
        "list experiments, newest first",
        {
            "EXPERIMENT": "slug",
            "RUNS": lambda row: ", ".join(f"{count} {state}" for state, count in row["states"].items()),
            "STARTED": lambda row: _minute(row["created_at"]), "NAME": "name",
        },
    ),
    "templates": Listing(
        "/templates/",
        "list plans to start from: schedule --template TEMPLATE",
        {"TEMPLATE": "slug", "NAME": "name", "PARTS": _parts, "LACKS": _missing},
    ),
    "schedules": Listing(
        "/schedules/",
        "list what starts by the clock; add, pause, resume or delete one",
        {
            "SCHEDULE": "slug", "CRON": "cron", "TIME ZONE": "timezone",
            "NEXT": lambda row: "paused" if row["paused"] else _minute(next(iter(row["next_times"]), None)),
            "LAST": lambda row: next((each["experiment"] or each["note"] for each in row["occurrences"]), ""),
        },
    ),
}  # fmt: skip


def show(options: argparse.Namespace, parameters: Params = ()) -> int:
    """`options`: list, filters, limit, all, fields, json, csv. `parameters` are those of the API besides filters."""
    listing = LISTS[options.list]
    limit = None if options.all else options.limit
    params = [*map(a_filter, options.filters), *parameters]
    if listing.page_size:
        params.append(("page_size", str(min(limit or PAGE, PAGE))))
    rows = list(itertools.islice(connect().pages(listing.path, params), limit))
    if options.fields:
        _columns(rows, options.fields, as_csv=options.csv, as_json=options.json)
    elif options.json:
        print_json(rows)
    elif options.csv:
        _csv(rows if options.list != "runs" else [_flat_run(row) for row in rows])
    else:
        cells = [
            [cell(row) if callable(cell) else _text(field(row, cell)) for cell in listing.columns.values()]
            for row in rows
        ]
        print_table(cells, heading=tuple(listing.columns))
        if limit is not None and len(rows) == limit:
            print_line(f"the first {limit}; --all shows all, --limit N more")
    return 0


def benchmarks(options: argparse.Namespace) -> int:
    """All that filters choose, or one by its id with its changes."""
    parameters = [("than", options.than)] if options.than else []
    ids = [text for text in options.filters if "=" not in text]
    if not ids and options.json and not options.fields:
        print_json(connect().get("/benchmarks/", [*map(a_filter, options.filters), *parameters]))
        return 0
    if not ids:
        return show(options, parameters)
    if len(options.filters) > 1 or not id_of(ids[0]):
        raise UsageError("give filters as NAME=VALUE, or the id of one benchmark")
    answer = connect().get(f"/benchmarks/{ids[0]}/", parameters)
    if options.json:
        print_json(answer)
    else:
        print_line(f"{answer['name']}, {answer['batches']} batches on {answer['machine']}")
        print(answer["words"])
        for change in answer["changes"]:
            if change["state"] != "refuted":
                # What is not settled says so itself.
                is_settled = change["state"] == "confirmed" and not open_words(change)
                print(f"{'confirmed: ' * is_settled}{change['words']}")
    return 0


def a_filter(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise UsageError(f"{text!r}: a filter is NAME=VALUE, as workload=tpcb or factor.scale_factor=10")
    return name, value


def field(row: Any, path: str) -> Any:
    """`dbms.version`, `metrics.tps`: the names of the API's answer, one within the other; None where it is not."""
    for name in path.split("."):
        row = row.get(name) if isinstance(row, Mapping) else None
    return row


def _columns(rows: Sequence[Row], fields: Sequence[str], *, as_csv: bool, as_json: bool) -> None:
    chosen = [{name: field(row, name) for name in fields} for row in rows]
    if unknown := [name for name in fields if rows and all(line[name] is None for line in chosen)]:
        print_line(f"no row has {', '.join(unknown)}; fields begin with: {', '.join(rows[0])}")
    if as_json:
        print_json(chosen)
    elif as_csv:
        _csv(chosen)
    else:
        print_table([[_text(value) for value in line.values()] for line in chosen], heading=fields)


def _text(value: Any) -> str:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _csv(rows: Sequence[Row]) -> None:
    """One line a row; columns in the order in which they first appear."""
    writer = csv.DictWriter(sys.stdout, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows({name: _text(value) for name, value in row.items()} for row in rows)


def _flat_run(row: Row) -> Row:
    """What it is, when it was measured of which commit, its factors, its metrics."""
    named = {name: (row.get(name) or {}).get("slug", "") for name in ("workload", "hardware", "config")}
    line = {
        "id": row["id"], **named, "dbms": row["dbms"]["name"], "dbms_version": row["dbms"]["version"],
        "status": row["status"], "repeat": row.get("repeat"), "measured_at": row.get("measured_at"),
        "label": row.get("label"), "commit": (row.get("tested") or {}).get("commit"),
        "created_at": row.get("created_at"), "url": row.get("url"),
    }  # fmt: skip
    factors = {f"factor.{name}": value for name, value in (row.get("factors") or {}).items()}
    return {**line, **factors, **(row.get("metrics") or {})}
