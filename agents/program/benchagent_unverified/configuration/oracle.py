"""Oracle's initialization parameters, after the Oracle Database Reference, "Initialization Parameters"."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import at_commit, product, read_engine, switched_on
from benchagent.configfiles.settings import Promise, Settings
from benchagent.configfiles.units import BINARY, Quantity, Suffixes

COMMIT = ("commit_wait", "commit_logging", "commit_write")


def _buffers(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    if settings.is_set("db_block_buffers"):
        return product(settings, ("db_block_buffers", "db_block_size"))
    cache = settings.quantity("db_cache_size")
    automatic = [name for name in ("memory_target", "sga_target") if settings.is_set(name)]
    return cache.because(f"at least: {settings.words(automatic[0])} may give it more") if cache and automatic else cache


def _commit(settings: Settings) -> str | None:
    if settings.low("commit_wait"):
        return "later" if settings.low("commit_wait") == "nowait" else "each"
    if settings.is_set("commit_write") or settings.facts.complete:
        return "later" if "nowait" in settings.low("commit_write") else "each"
    return None


def durability(settings: Settings) -> Promise:
    if settings.value("_disable_logging") is True:
        return Promise(Durability.NONE, "_disable_logging=true: no redo is written")
    written = settings.low("commit_write")
    waits = settings.low("commit_wait")
    if waits == "nowait" or (not waits and "nowait" in written):
        source = settings.words("commit_wait" if waits else "commit_write")
        return Promise(
            Durability.BOUNDED_LOSS,
            f"{source}: a commit does not wait for the log writer, which writes at least every three seconds",
        )
    given = [settings.words(name) for name in COMMIT if settings.is_set(name)]
    if not given and not settings.facts.complete:
        return Promise(None, "commit_wait and commit_write are not stated")
    words = ", ".join(given) or "commit_wait and commit_write not set: default wait"
    return Promise(Durability.POWER_LOSS, f"{words}: each commit waits until its redo is on disk")


READERS = {
    "buffer_pool": _buffers,
    "commit_flush": at_commit(_commit),
    "direct_io": switched_on(lambda options: options in ("directio", "setall")),
}
ENGINE = read_engine("oracle", durability, READERS, Suffixes(sizes=BINARY, times={}), package=__package__)
