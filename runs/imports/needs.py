"""What must still be said of an import before it can be stored, from its preview alone: no file is read again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Item = dict[str, Any]

_WORDS = {
    "items": "Nothing is left to store: no file was understood, or all are left out.",
    "hardware": "Say on which machine this was measured.",
    "dbms.name": "The files do not say which DBMS it was.",
    "dbms.version": "The files do not say which version of the DBMS it was.",
    "workload": "The files do not say what was run.",
}


def becomes_a_run(item: Item, subject: dict[str, Any]) -> bool:
    """Understood, whole in itself, with something measured or a reason why not, not left out."""
    left_out = item["index"] in subject.get("leave_out", [])
    says_something = bool(item["metrics"] or item["series"]) or item["status"] in ("aborted", "failed")
    return says_something and item["status"] != "not_understood" and not item["part_of"] and not left_out


def lacks(items: Iterable[Item], subject: dict[str, Any]) -> dict[str, list[str]]:
    """field -> what has to be said before these items can be stored; empty when nothing is missing."""
    chosen = [item["subject"] for item in items if becomes_a_run(item, subject)]
    given = subject.get("dbms", {})
    named = str(given.get("name", "")).casefold()
    # A storage benchmark knows no DBMS; it stands under the tool's own name.
    of_a_dbms = [said for said in chosen if not str(said["workload"] or "").startswith("fio")]
    missing = {
        "items": not chosen,
        "hardware": bool(chosen) and "hardware" not in subject,
        "dbms.name": not given.get("name") and any(not said["dbms"] for said in of_a_dbms),
        "dbms.version": any(
            not said["dbms_version"]
            and not (given.get("version") and (not said["dbms"] or named in ("", said["dbms"].casefold())))
            for said in of_a_dbms
        ),
        "workload": "workload" not in subject and any(not said["workload"] for said in chosen),
    }
    return {field: [_WORDS[field]] for field, lacking in missing.items() if lacking}
