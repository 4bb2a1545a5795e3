"""What a run's commits are worth, as three statements; `benchagent.catalog.durability` says what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchagent.catalog import Durability
from benchagent.catalog.durability import NOT_STATED, Judgement, Statement, StorageLayer, judge, of_storage, weakest
from benchagent.configfiles.meaning import durability, set_by, set_by_options
from benchagent.configfiles.settings import Facts, Given

from runs.models import Run, StorageDevice
from runs.models.choices import Provenance

# The key in a run's `statistics`.
KEY = "durability"
STATEMENTS = ("promised", "storage", "observed")
NOT_OBSERVED = Statement(None, "not observed: nobody counted syncs beside these commits")
STATED = "as whoever sent it states"
PRINTED = "as the publication states"


def kept(judged: Judgement) -> dict[str, Any]:
    """As it is stored in `statistics` and given by the API."""
    rows: dict[str, Any] = {name: getattr(judged, name).row for name in STATEMENTS}
    return {**rows, "contradiction": judged.contradiction}


def of_rows(rows: Mapping[str, Any]) -> Judgement:
    """Raises ValueError for what no statement says."""
    return judge(*(Statement.of_row(rows.get(name)) for name in STATEMENTS))


def of_devices(devices: Iterable[tuple[str, StorageDevice]]) -> Statement:
    """`devices` by role. What was stated of them is all that is known."""
    return of_storage({
        role: [
            StorageLayer(
                device.name, device.file_system, device.mount_options, device.medium.lower(), device.write_cache,
                device.emulated,
            )
        ]
        for role, device in devices
    })  # fmt: skip


def storage_statement(run: Run) -> Statement:
    """What its storage can hold of a commit. Reads prefetched rows of its storage."""
    rows = run.statistics.get(KEY)
    if rows:
        return Statement.of_row(rows.get("storage"))
    return of_devices((use.role, use.device) for use in run.storage_rows)


def judgement(run: Run, stored: Mapping[str, Any] | None = None) -> Judgement:
    """`stored`: where the run's `statistics` were not read. Reads prefetched rows of its storage."""
    rows = stored if stored is not None else run.statistics.get(KEY)
    if rows:
        judged = of_rows(rows)
        return Judgement(**{**vars(judged), "contradiction": run.durability_doubt})
    source = "" if run.provenance == Provenance.MEASURED else PRINTED if run.publication_id else STATED
    promised = Statement(Durability(run.durability), run.durability_reason or source) if run.durability else UNKNOWN
    observed = Statement(Durability.DBMS_CRASH, run.durability_doubt) if run.durability_doubt else NOT_OBSERVED
    return judge(promised, of_devices((use.role, use.device) for use in run.storage.all()), observed)


UNKNOWN = Statement(None, NOT_STATED)


def of_sent(
    run: Run, stated: str, devices: Mapping[str, StorageDevice], sql: str, configured: Sequence[Given]
) -> Judgement:
    """Judge a result that somebody sends: what is not stated is not known, and nobody looked on.

    Settings in force count, else as `configured`, on command lines and in the `sql` of its scripts too, else what is
    stated: of these the weakest. Where the settings promise less than is stated that is a contradiction.
    """
    dbms, facts = run.dbms_version.dbms.slug, Facts(version=run.dbms_version.version, complete=False)
    claimed = Statement(Durability(stated), STATED) if stated else UNKNOWN
    given = [*configured, *(Given(str(name), str(value)) for name, value in run.effective_settings)]
    own = [("the script sets", each) for each in set_by(dbms, sql)]
    own += [("its command line sets", each) for line in run.command_lines for each in set_by_options(dbms, line)]
    cases = [("", given), *((f"{who} {each.name}: ", [*given, each]) for who, each in own)]
    promises = [(words, durability(dbms, case, facts)) for words, case in cases]
    every = [Statement(promise.durability, f"{words}{promise.reason}") for words, promise in promises]
    in_force = weakest(every) or every[0]
    judged = judge(claimed if stated else in_force, of_devices(devices.items()), NOT_OBSERVED)
    if not judge(claimed, UNKNOWN, in_force).contradiction:
        return judged
    weaker = judge(in_force, judged.storage, NOT_OBSERVED)
    words = f"stated: {stated.replace('_', ' ')}; by its settings: {in_force.reason}"
    return Judgement(**{**vars(weaker), "contradiction": words})


def columns_of(judged: Judgement) -> dict[str, Any]:
    """The columns of a run, but for its `statistics`. Without a promise nothing is known."""
    if judged.durability is None:
        return {"durability": "", "durability_reason": "", "durability_doubt": ""}
    return {
        "durability": judged.durability.value, "durability_reason": judged.reason,
        "durability_doubt": judged.contradiction,
    }  # fmt: skip
