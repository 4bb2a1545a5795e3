"""The table of what ranks, judged by its facts alone. `pytest -s` prints it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchagent.catalog.durability import HOST, Observation, Statement, judge, of_observation, of_storage, weakest
from benchagent.configfiles.meaning import durability, in_sessions
from benchagent.configfiles.settings import Given

from tests.benchagent.durability_table import (
    CASES,
    CIFS,
    DBMS,
    FUSE,
    GLUSTER,
    HOST_FOLDER,
    LOOP,
    NEW_VOLATILE_OVERLAY,
    NFS,
    NO_BARRIERS,
    OVERLAY,
    POWER,
    SAFE_NO_BARRIERS,
    SSD,
    TMPFS,
    UNKNOWN_CACHE,
    VIRTUAL,
    WAITED,
    ZFS,
    Case,
)


def judged(case: Case):
    every = []
    for settings, of in in_sessions(case.dbms, case.settings, case.script):
        promise = durability(case.dbms, [Given(*pair) for pair in settings.items()], case.facts)
        every.append(Statement(promise.durability, f"{of}{promise.reason}"))
    storage = of_storage({"data": case.layers, "log": case.log or case.layers})
    return judge(weakest(every) or every[0], storage, of_observation(case.seen))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.dbms} {case.durability}")
def test_the_weakest_of_what_is_promised_held_and_observed_ranks(case: Case):
    found = judged(case)
    assert found.durability is case.durability, found
    # Where two say the same, the first of them says why: what is promised, then the storage.
    assert case.words in f"{found.reason}; {found.contradiction or found.storage.reason}", found
    assert bool(found.contradiction) is case.against, found


def test_the_table_prints_itself():
    assert len(CASES) >= 40
    for case in CASES:
        found = judged(case)
        mark = " CONTRADICTED" if found.contradiction else ""
        how = case.live if isinstance(case.live, str) else "live"
        print(f"| {case.name} | {found.durability or 'not known'}{mark} | {found.reason} | {how} |")


@pytest.mark.parametrize(
    ("layers", "expected", "words"),
    [
        ((NFS,), None, "whether its server has a commit on a disk is not known from here"),
        ((CIFS,), None, "not known from here"),
        ((GLUSTER,), None, "not known from here"),
        ((HOST_FOLDER,), None, "what becomes of a sync there is not known from here"),
        ((FUSE,), None, "not known from here"),
        ((OVERLAY,), None, "which disk is beneath it is not told"),
        ((NEW_VOLATILE_OVERLAY, SSD), DBMS, "is mounted volatile: syncs are passed over"),
        ((OVERLAY, UNKNOWN_CACHE), None, "nothing is known of its write cache"),
        ((replace(NO_BARRIERS, write_cache="with a battery"),), None, "“with a battery”"),
        ((ZFS,), None, "property sync"),
        ((VIRTUAL,), POWER, "as far as its host obeys"),
        ((replace(SSD, write_cache="Power-loss protected"),), POWER, "cache that is protected against power loss"),
        ((replace(NO_BARRIERS, write_cache="power-loss protected"),), POWER, "but has a write cache that is protected"),
        ((SAFE_NO_BARRIERS,), POWER, "mounted barrier=0, but reports no volatile write cache"),
        ((LOOP, SSD), POWER, "loop3, a file on nvme0n1p2 (ext4) has a write cache that each sync empties"),
        ((LOOP, NFS), None, "loop3, a file on nfs4 filer:/export"),
    ],
)
def test_a_storage_says_what_it_can_hold_and_what_is_not_known_of_it(layers, expected, words):
    found = of_storage({"data": layers, "log": layers, "temp": (TMPFS,)})
    assert found.durability is expected
    assert found.reason.startswith("log and data: ")
    assert words in found.reason


def test_log_and_data_on_two_storages_are_told_apart():
    found = of_storage({"data": (SSD,), "log": (NFS,)})
    assert found == Statement(
        None,
        "log: nfs4 filer:/export: whether its server has a commit on a disk is not known from here; "
        "data: nvme0n1p2 (ext4) has a write cache that each sync empties",
    )


@pytest.mark.parametrize(
    ("seen", "expected", "words"),
    [
        (WAITED, POWER, "60,000 commits by 22,000 flushes of 4 terminals (the engine)"),
        (Observation(1000, 10, 4, syncs_per_s=800), None, "100 TPS that write, 4 terminals × 800 syncs/s"),
        (Observation(1000, 10, 1), None, "nobody counted syncs, and the device's rate is not known"),
        (
            Observation(4000, 10, 4, device_flushes=900),
            None,
            "900 flushes of 4 terminals (the log's disk, whoever asked for them)",
        ),
        (Observation(4000, 10, 4, device_flushes=200), DBMS, "asked for them): most commits did not wait for one"),
        (Observation(0, 10, 4, 3, "the engine"), None, "no commits that write were counted"),
        (Observation(4 * 1000, 10, 4, 1000, "the engine"), POWER, "each commit can have waited"),
        (Observation(4 * 1000, 10, 4, 500, "the engine"), DBMS, "most commits did not wait for one"),
    ],
)
def test_what_was_observed(seen, expected, words):
    found = of_observation(seen)
    assert found.durability is expected, found
    assert words in found.reason


def test_a_statement_comes_back_as_it_was_sent():
    for statement in (Statement(POWER, "why"), Statement(None, "not known")):
        assert Statement.of_row(statement.row) == statement
    with pytest.raises(ValueError, match="forever"):
        Statement.of_row({"durability": "forever"})


@pytest.mark.parametrize(("layer", "of_host"), [(VIRTUAL, True), (SSD, False)])
def test_the_class_of_a_virtual_disk_says_that_its_host_has_a_say(layer, of_host: bool):
    """Was: "survives power loss" in the headline, and "as far as its host obeys" further down only."""
    storage = of_storage({"data": (layer,), "log": (layer,)})
    judged = judge(Statement(POWER, "each commit is synced"), storage, NOTHING_SEEN)

    assert judged.durability is POWER
    assert judged.reason.endswith(HOST) is of_host
    assert HOST not in judge(Statement(DBMS, "off"), storage, NOTHING_SEEN).reason


NOTHING_SEEN = of_observation(Observation())
