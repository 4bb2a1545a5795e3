"""Cells of the gbak article of 2007: four methods, and the switch -v."""

from __future__ import annotations

from dataclasses import replace

from agents.machines import SecondStorage
from agents.reruns.published.common import ONE_STORAGE, gone, with_nature
from runs.publications.matching import CellFacts, Match

GBAK_GONE = (
    gone("Firebird 2.1 against 1.5", "gbak-e", "fb-2.1"),
    gone("InterBase: local protocol against localhost (TCP)", "gbak-f", "ib-2007"),
    gone("InterBase: one disk against two", "gbak-g", "ib-2007"),
    gone("Yaffil against the others", "gbak-h", "yaffil-892"),
    gone("Firebird against InterBase", "gbak-i", "ib-2007"),
    gone("Firebird 2.0 against 2.1", "gbak-j", "fb-2.1"),
    gone("Yaffil 884 against 892", "gbak-k", "yaffil-892"),
    gone("Disk rate of InterBase against Firebird", "gbak-n", "ib-2007"),
    gone("Disk rate of Yaffil against Firebird 1.5", "gbak-o", "yaffil-892"),
    Match(
        "Classic against SuperServer over TCP", claim="gbak-l",
        gap="its two sides are two experiments here, ServerMode Super and SuperClassic: ratios stay within one",
    ),
    Match(
        "A database in the server's own format against ODS 10.1", claim="gbak-m",
        gap="Firebird 3.0, the oldest that can be installed, opens databases of its own format only",
    ),
)  # fmt: skip


# The switches of a plain cell of the methods, where others vary them.
PLAIN: CellFacts = {"verbose": "off", "cpus": 2}


def matches(part: str, other: SecondStorage | None) -> tuple[Match, ...]:
    found = _methods(other)
    return (*map(_plain, found), _verbose()) if part == "methods-super" else found


def _plain(match: Match) -> Match:
    ours, base = ({**PLAIN, **facts} if facts else facts for facts in (match.ours, match.base))
    return replace(match, ours=ours, base=base)


def _methods(other: SecondStorage | None) -> tuple[Match, ...]:
    there = "published for Firebird 1.5.3"
    return (
        _method("local protocol against localhost (TCP)", "gbak_local", "gbak_tcp", "gbak-a", there),
        _method("Services API against localhost (TCP)", "gbak_services", "gbak_tcp", "gbak-b", there),
        _one_disk(other, there),
        _method("Services API against localhost (TCP), all servers", "gbak_services", "gbak_tcp", "gbak-d",
                "published for five servers together"),
        _method("Services API against local protocol, all servers", "gbak_services", "gbak_local", "gbak-d",
                "published for five servers together"),
        Match(
            "count(*) of the largest table: rate of the disk", "count_disk_read_mb_per_s", ours={"method": "gbak_tcp"},
            theirs={"workload": "wl-gbak-count"}, their_metric="disk_transfer_rate",
            differs="the largest table has 1.9 GB there and the same share of a smaller data set here",
        ),
        *GBAK_GONE,
    )  # fmt: skip


def _method(label: str, ours: str, base: str, claim: str, differs: str) -> Match:
    return Match(
        label, "backup_s", ours={"method": ours}, base={"method": base}, claim=claim, differs=differs
    )  # fmt: skip


def _one_disk(other: SecondStorage | None, there: str) -> Match:
    label, claim = "Services API, backup on the database's disk against another", "gbak-c"
    if other is None:
        return Match(label, claim=claim, gap=ONE_STORAGE)
    return _method(label, "gbak_services_same", "gbak_services", claim, with_nature(there, other))


def _verbose() -> Match:
    tcp: CellFacts = {**PLAIN, "method": "gbak_tcp"}
    return Match(
        "-v against none", "backup_s", ours={**tcp, "verbose": "on"}, base=tcp, extra="extra time", extra_on_s=360,
        percent=True, differs="there on a backup of 6 minutes; what -v prints goes to a file here",
    )  # fmt: skip
