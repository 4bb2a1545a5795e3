"""Apache Derby's properties, after its Reference Manual and "Tuning Derby"."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.settings import Engine, Promise, Settings, commit_flush, one, survives
from benchagent.configfiles.units import changed, count, flag, pages, size, text, time

DURABILITY = "derby.system.durability"

SPECS = {
    "derby.storage.pageCacheSize": pages("1000"),
    "derby.storage.pageSize": size("4096"),
    "derby.storage.initialPages": count("1"),
    "derby.storage.minimumRecordSize": size("12"),
    "derby.storage.pageReservedSpace": count("20"),
    "derby.storage.logBufferSize": size(),
    "derby.storage.logSwitchInterval": size("1048576"),
    "derby.storage.checkpointInterval": size("10485760"),
    "derby.storage.rowLocking": flag("true"),
    "derby.storage.fileSyncTransactionLog": flag("false"),
    "derby.storage.tempDirectory": text(),
    DURABILITY: text("default"),
    "derby.system.home": text(),
    "derby.locks.waitTimeout": time("60", 1, minus_1="no limit"),
    "derby.locks.deadlockTimeout": time("20"),
    "derby.locks.escalationThreshold": count("5000"),
    "derby.language.statementCache.size": count("100"),
    "derby.database.forceDatabaseLock": flag("false"),
    "derby.storage.indexStats.auto": flag(changed(None, ("10.8", "true"))),
}
_MORE = """derby.authentication.provider derby.authentication.builtin.algorithm derby.connection.requireAuthentication
derby.database.classpath derby.database.defaultConnectionMode derby.database.fullAccessUsers
derby.database.noAutoBoot derby.database.propertiesOnly derby.database.readOnlyAccessUsers
derby.database.sqlAuthorization derby.infolog.append derby.jdbc.xaTransactionTimeout derby.language.logQueryPlan
derby.language.logStatementText derby.language.sequence.preallocator derby.language.spsCacheSize
derby.locks.deadlockTrace derby.locks.monitor derby.replication.logBufferSize derby.replication.maxLogShippingInterval
derby.replication.minLogShippingInterval derby.replication.verbose derby.storage.indexStats.log
derby.storage.indexStats.trace derby.storage.useDefaultFilePermissions derby.stream.error.extendedDiagSeverityLevel
derby.stream.error.field derby.stream.error.file derby.stream.error.logBootTrace derby.stream.error.logSeverityLevel
derby.stream.error.method derby.stream.error.style derby.stream.error.rollingFile.count
derby.stream.error.rollingFile.limit derby.stream.error.rollingFile.pattern derby.system.bootAll"""


def _commit(settings: Settings) -> str | None:
    mode = settings.text(DURABILITY)
    return None if mode is None else "never" if mode == "test" else "each"


MEANINGS = {
    "buffer_pool": one("derby.storage.pageCacheSize", "tables with long columns have pages of 32 KiB"),
    "page_size": one("derby.storage.pageSize"),
    "log_buffer": one("derby.storage.logBufferSize"),
    "commit_flush": commit_flush((DURABILITY,), _commit),
    "sync_method": one("derby.storage.fileSyncTransactionLog"),
    "log_capacity": one("derby.storage.checkpointInterval"),
    "lock_timeout": one("derby.locks.waitTimeout"),
    "deadlock_check": one("derby.locks.deadlockTimeout"),
    "data_storage": one("derby.system.home"),
    "temp_storage": one("derby.storage.tempDirectory"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    mode = settings.text(DURABILITY)
    if mode == "test":
        return Promise(Durability.NONE, f"{DURABILITY}=test: Derby does not sync its log")
    if mode is None:
        return Promise(None, f"{settings.words(DURABILITY)}, and Derby's SQL does not tell it")
    words = "" if settings.is_set(DURABILITY) else f"{settings.words(DURABILITY)}: "
    return survives(f"{words}each commit syncs Derby's log", write_cache)


ENGINE = Engine(
    slug="derby",
    source="Derby Reference Manual and “Tuning Derby”, chapter on properties",
    specs=SPECS,
    meanings=MEANINGS,
    durability=durability,
    canonical=str.strip,
    more_names=frozenset(_MORE.split()),
)
