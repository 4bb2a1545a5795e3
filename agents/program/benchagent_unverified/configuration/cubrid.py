"""CUBRID's settings, after its manual, "Database Server Configuration", and the cubrid.conf of 2008 R3."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import UNDOCUMENTED, at_commit, read_engine, switched_on
from benchagent.configfiles.settings import Promise, Settings
from benchagent.configfiles.units import BINARY, Kind, Quantity, Suffixes, time_words

_ISOLATION = {
    "1": "read committed rows, read uncommitted schema",
    "2": "read committed rows, read committed schema",
    "3": "read uncommitted rows, repeatable schema",
    "tran_rep_class_uncommit_instance": "read uncommitted rows, repeatable schema",
    "4": "read committed",
    "tran_rep_class_commit_instance": "read committed",
    "tran_read_committed": "read committed",
    "5": "repeatable read",
    "tran_rep_class_rep_instance": "repeatable read",
    "tran_repeatable_read": "repeatable read",
    "6": "serializable",
    "tran_serializable": "serializable",
}


def _isolation(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    given = settings.low("isolation_level")
    if not given:
        return None
    words = _ISOLATION.get(given, given)
    return Quantity(Kind.TEXT, words, words, settings.words("isolation_level"))


def _commit(settings: Settings) -> str | None:
    async_commit = settings.value("async_commit")
    if not isinstance(async_commit, bool):
        return None
    return "later" if async_commit else "each"


def durability(settings: Settings) -> Promise:
    words, group = settings.words("async_commit"), settings.number("group_commit_interval_in_msecs")
    doing = _commit(settings)
    if doing is None:
        return Promise(None, f"{words}: what a commit waits for is not known")
    if doing == "each":
        waits = f", waiting up to {time_words(group)} for others" if group and group > 0 else ""
        return Promise(Durability.POWER_LOSS, f"{words}: each commit waits until the log is flushed{waits}")
    if not group or group < 0:
        return Promise(Durability.BOUNDED_LOSS, f"{words}: a commit does not wait for the log, which is flushed later")
    about = "about a second" if group == 1 else f"about {time_words(group)}"
    return Promise(
        Durability.BOUNDED_LOSS,
        f"{words} with {settings.words('group_commit_interval_in_msecs')}: a commit does not wait for the log; "
        f"{about} may be lost in a crash",
    )


READERS = {
    "commit_flush": at_commit(_commit),
    "torn_pages": switched_on(lambda size: size != "0"),
    "isolation": _isolation,
}
SUFFIXES = Suffixes(
    sizes={"b": 1, **BINARY, **{f"{letter}b": factor for letter, factor in BINARY.items()}},
    times={"ms": 0.001, "s": 1, "sec": 1, "min": 60, "h": 3_600},
)
ENGINE = read_engine(
    "cubrid", durability, READERS, SUFFIXES, duplicates=UNDOCUMENTED, package=__package__,
    is_server=lambda section: section.lower() in ("", "common", "server") or section.startswith("@"),
)  # fmt: skip
