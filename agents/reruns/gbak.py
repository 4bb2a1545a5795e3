"""The gbak article of 2007: a backup by four methods, and the switch -v."""

from __future__ import annotations

from dataclasses import replace

from agents.machines import SecondStorage
from agents.plans.matrix import FactorValue
from agents.reruns.parts import ONE_STORAGE, SECOND, ArticleExperiment, Part, Wanted, gaps, gone, with_nature
from runs.models.shapes import CellFacts, Match

FIREBIRD_SETTINGS = (("DefaultDbCachePages", "8192"), ("page_size", "16384"))
DATASET: dict[str, FactorValue] = {
    "dataset_mb": 1_000, "data_origin": "restored", "cache_state": "cold", "verbose": "off", "cpus": 2,
}  # fmt: skip
METHODS = ("gbak_tcp", "gbak_local", "gbak_services", "gbak_services_same")
# The target is no slower than the database's disk: in the article both gave six times what gbak took.
TARGET = ("backup_storage",)
# Against the cell of gbak over TCP: -v, and one CPU instead of two.
SWITCHES: tuple[dict[str, FactorValue], ...] = (
    {"method": "gbak_tcp", "verbose": "on"}, {"method": "gbak_tcp", "cpus": 1},
)  # fmt: skip
SAME_DISK = ("method", "gbak_services_same", {"backup_storage": ""})
GONE = (
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


def _methods_and_switches(other: SecondStorage | None) -> list[Match]:
    plain = [
        replace(match, ours=match.ours and {**PLAIN, **match.ours}, base=match.base and {**PLAIN, **match.base})
        for match in _methods(other)
    ]
    tcp: CellFacts = {**PLAIN, "method": "gbak_tcp"}
    verbose = Match(
        "-v against none", "backup_s", ours={**tcp, "verbose": "on"}, base=tcp, extra="extra time", extra_on_s=360,
        percent=True, differs="there on a backup of 6 minutes; what -v prints goes to a file here",
    )  # fmt: skip
    return [*plain, verbose]


def _methods(other: SecondStorage | None) -> list[Match]:
    there, all_servers = "published for Firebird 1.5.3", "published for five servers together"
    one_disk = "Services API, backup on the database's disk against another"
    return [
        _method("local protocol against localhost (TCP)", "gbak_local", "gbak_tcp", "gbak-a", there),
        _method("Services API against localhost (TCP)", "gbak_services", "gbak_tcp", "gbak-b", there),
        _method(one_disk, "gbak_services_same", "gbak_services", "gbak-c", with_nature(there, other))
        if other
        else Match(one_disk, claim="gbak-c", gap=ONE_STORAGE),
        _method(
            "Services API against localhost (TCP), all servers", "gbak_services", "gbak_tcp", "gbak-d", all_servers
        ),
        _method(
            "Services API against local protocol, all servers", "gbak_services", "gbak_local", "gbak-d", all_servers
        ),
        Match(
            "count(*) of the largest table: rate of the disk", "count_disk_read_mb_per_s", ours={"method": "gbak_tcp"},
            theirs={"workload": "wl-gbak-count"}, their_metric="disk_transfer_rate",
            differs="the largest table has 1.9 GB there and the same share of a smaller data set here",
        ),
        *GONE,
    ]  # fmt: skip


def _method(label: str, ours: str, base: str, claim: str, differs: str) -> Match:
    return Match(label, "backup_s", ours={"method": ours}, base={"method": base}, claim=claim, differs=differs)


PARTS = tuple(
    Part(
        f"methods-{mode.lower()}", f"Firebird 3, ServerMode {mode}", "backup", (Wanted("firebird", "3.0"),), DATASET, 3,
        sweep={"method": METHODS}, settings={"firebird": (("ServerMode", mode), *FIREBIRD_SETTINGS)},
        figure="gbak-fig1", gaps=gaps("fb-1.5.3", "fb-2.1", "ib-7.5.1sp1", "ib-2007", "yaffil-892"), apart=TARGET,
        second=SECOND, overrides=(SAME_DISK,), extra=extra, matches=matches,
    )
    for mode, extra, matches in (("Super", SWITCHES, _methods_and_switches), ("SuperClassic", (), _methods))
)  # fmt: skip
EXPERIMENT = ArticleExperiment("gbak-backup-2007", "gbak by four methods", PARTS)
