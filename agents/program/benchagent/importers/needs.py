"""What becomes of a run that a file tells of, and what must still be said of it before it can be stored.

Server and `benchctl` ask the same. Items are entries of `as_json`, so that no file is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchagent.importers.report import Subject

Item = dict[str, Any]

_WORDS = {
    "items": "Nothing is left to store: no file was understood, or all are left out.",
    "hardware": "Say on which machine this was measured.",
    "dbms.name": "The files do not say which DBMS it was.",
    "dbms.version": "The files do not say which version of the DBMS it was.",
    "workload": "The files do not say what was run.",
}


def becomes_a_run(item: Item, said: Mapping[str, Any]) -> bool:
    """Understood, whole in itself, with something measured or a reason why not, not left out."""
    if item["status"] == "not_understood" or item["part_of"] or item.get("index") in said.get("leave_out", []):
        return False
    return bool(item["metrics"] or item["series"]) or item["status"] in ("aborted", "failed")


def dbms_of(known: Subject, tool: str, tool_version: str, said: Mapping[str, Any]) -> tuple[str, str]:
    """Name and version: the file's own words first, then what a person says; empty where neither tells.

    A storage benchmark knows no DBMS: it stands under the tool's own name.
    """
    if known.workload.startswith("fio"):
        return tool, tool_version or "not stated"
    given = said.get("dbms") or {}
    name = known.dbms or str(given.get("name", ""))
    # A version belongs to the DBMS that it was said of.
    of_this = str(given.get("name", "")).casefold() in ("", name.casefold())
    return name, known.dbms_version or (str(given.get("version", "")) if of_this else "")


def lacks(items: Iterable[Item], said: Mapping[str, Any]) -> dict[str, list[str]]:
    """field -> what has to be said before these items can be stored; empty when nothing is missing."""
    missing = {"items"}
    for item in items:
        if not becomes_a_run(item, said):
            continue
        told = item["subject"]
        known = Subject(
            workload=told["workload"] or "",
            dbms=told["dbms"] or "",
            dbms_version=told["dbms_version"] or "",
        )
        name, version = dbms_of(known, item.get("tool") or "", item.get("tool_version") or "", said)
        known_or_said = {
            "hardware": "hardware" in said,
            "dbms.name": name,
            "dbms.version": version,
            "workload": known.workload or "workload" in said,
        }
        missing = (missing - {"items"}) | {field for field, value in known_or_said.items() if not value}
    return {field: [words] for field, words in _WORDS.items() if field in missing}
