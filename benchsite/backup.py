"""All of a site in one file, and back again, from SQLite to PostgreSQL or the other way round.

The file is a ZIP archive: `backup.json` (what it is of), the rows of every table as lines of JSON, the artefacts as
they lie on the disk, the secret key and the local agent's own files. It holds secrets: mode 0600.

A backup is taken while the site runs. What is taken away once it is among the rows is copied first: files that wait for
a worker, and the agent's spool, whose batches the rows recognise by their numbers. Then the rows are read in one
snapshot, and the artefacts that they name last: a file is written before its row.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sqlite3
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from benchagent import __version__
from django.apps import apps
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import IntegrityError, connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from benchsite.schema import steps
from benchsite.state import State, write_private
from runs.models import User
from runs.results.checking import forget_judged

FORMAT = 1
ABOUT = "backup.json"
# What lies in STATE/agent and cannot be had again; the first two hold secrets.
AGENT_FILES = ("identity.json", "connections.json", "observations.json", "places.json")
SPOOL = "spool.sqlite3"
# Below STATE/artefacts: large files as they were sent.
LAID_ASIDE = "imports/waiting"
# Who has logged out since must not be in again.
LEFT_OUT = ("sessions.Session",)
# Programs, and not the server's own vacuum.
OTHERS = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND backend_type = 'client backend'"""
AT_ONCE = 500
# Folders in STATE, of what a restore makes: under way, and whole. In them, beside what is called as in STATE, the mark
# of a restore into PostgreSQL, which its tables carry too.
DRAFT, WHOLE = "restore.draft", "restore.whole"
DATABASE, MARK = "db.sqlite3", "mark"
ZIPPED = zipfile.ZIP_DEFLATED


class BackupError(Exception):
    """Why there is no backup, or nothing was restored, in words."""


@dataclass(frozen=True)
class Contents:
    """What went into a backup or came out of it. `missing`: artefacts whose file was not on the disk."""

    rows: int
    artefacts: int
    agent_files: Sequence[str]
    missing: Sequence[str] = ()

    @property
    def words(self) -> str:
        return (
            f"{self.rows:,} rows, {self.artefacts:,} artefacts, {', '.join(self.agent_files) or 'nothing'} of the agent"
        )


# There


def backup(state: State, target: Path) -> Contents:
    """Write all of the site to `target`, which appears when it is complete. Raises BackupError."""
    check_schema()
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if target.exists():
            raise BackupError(f"{target} is there already; choose another name")
        with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                contents = _fill(archive, state)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(target)
    except OSError as error:
        raise BackupError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return contents


def check_schema() -> None:
    """Raises BackupError where the tables are not those of this version."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise BackupError("the tables are of an older version, or not there at all; start this version once")


def _fill(archive: zipfile.ZipFile, state: State) -> Contents:
    agent_files = list(_agent_files(archive, state.agent))
    laid_aside = _add_laid_aside(archive, state, set())
    if not (os.environ.get("SECRET_KEY") or os.environ.get("SECRET_KEY_FILE")):
        archive.write(state.path / "secret_key", "secret_key", ZIPPED)
    counts: dict[str, int] = {}
    names: list[str] = []
    with snapshot():
        # Again: what came before the snapshot began, and was not there yet.
        _add_laid_aside(archive, state, laid_aside)
        for model in apps.get_models(include_auto_created=True):
            if model._meta.label not in LEFT_OUT and model._meta.managed and not model._meta.proxy:
                counts[model._meta.label] = _write_rows(archive, model)
                for field in model._meta.concrete_fields:
                    if isinstance(field, models.FileField):
                        names += filter(None, model._base_manager.values_list(field.name, flat=True).iterator())
        migrations = sorted(MigrationRecorder(connection).applied_migrations())
    missing = []
    for name in names:
        try:
            # They are packed already.
            archive.write(default_storage.path(name), f"artefacts/{name}", zipfile.ZIP_STORED)
        except FileNotFoundError:
            missing.append(name)
    about = {
        "format": FORMAT,
        "version": __version__,
        "made_at": timezone.now().isoformat(),
        "database": connection.vendor,
        "migrations": migrations,
        "rows": counts,
        "artefacts": len(names) - len(missing),
        "agent_files": agent_files,
    }
    archive.writestr(ABOUT, json.dumps(about, indent=1), ZIPPED)
    return Contents(sum(counts.values()), len(names) - len(missing), agent_files, missing)


def _add_laid_aside(archive: zipfile.ZipFile, state: State, added: set[str]) -> set[str]:
    """Files that a worker has still to read: no row names them. -> those that are in the archive."""
    for path in (state.artefacts / LAID_ASIDE).rglob("*"):
        name = f"artefacts/{path.relative_to(state.artefacts)}"
        if name not in added and path.is_file():
            with suppress(FileNotFoundError):  # it has been read meanwhile
                archive.write(path, name, ZIPPED)
                added.add(name)
    return added


def _agent_files(archive: zipfile.ZipFile, folder: Path) -> Iterator[str]:
    if (folder / SPOOL).exists():
        with closing(sqlite3.connect(folder / SPOOL)) as spool, closing(sqlite3.connect(":memory:")) as copy:
            spool.backup(copy)
            archive.writestr(f"agent/{SPOOL}", copy.serialize(), ZIPPED)
        yield SPOOL
    for name in AGENT_FILES:
        with suppress(FileNotFoundError):
            archive.write(folder / name, f"agent/{name}", ZIPPED)
            yield name


@contextmanager
def snapshot() -> Iterator[None]:
    """Everything that is read within is as it was at one moment. Nobody who writes has to wait for it."""
    if connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
        return
    # Not `atomic`, which takes SQLite's write lock.
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1").fetchone()
            yield
        finally:
            cursor.execute("ROLLBACK")


def _write_rows(archive: zipfile.ZipFile, model: type[models.Model]) -> int:
    """The names of the columns, then a line for each row. -> how many."""
    names = [field.attname for field in model._meta.concrete_fields]
    rows = model._base_manager.order_by("pk").values_list(*names)
    count = 0
    member = zipfile.ZipInfo(f"rows/{model._meta.label}.jsonl", timezone.now().timetuple()[:6])
    member.compress_type = ZIPPED
    with archive.open(member, "w", force_zip64=True) as lines:
        lines.write(_line(names))
        for count, row in enumerate(rows.iterator(chunk_size=AT_ONCE), 1):  # noqa: B007 (used after the loop)
            lines.write(_line(row))
    return count


def _line(values: Sequence[Any]) -> bytes:
    def as_text(value: Any) -> str:
        """What JSON has no form for: bytes; times, dates and UUIDs, which their fields read again."""
        if isinstance(value, bytes | memoryview):
            return base64.b64encode(value).decode()
        return value.isoformat() if hasattr(value, "isoformat") else str(value)

    return (json.dumps(values, default=as_text, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


# And back again


def restore(state: State, source: Path, *, replace: bool = False) -> Contents:
    """Make the site what it was when `source` was made. It must not run. Raises BackupError; then nothing has changed.

    A backup of an older version is brought to the tables of this one.
    """
    os.umask(0o077)
    try:
        with zipfile.ZipFile(source) as archive:
            about = json.loads(archive.read(ABOUT))
            check_version(about)
            check_stopped()
            finish(state)
            if damaged := archive.testzip():
                raise zipfile.BadZipFile(f"{damaged} is damaged")
            if not replace and (present := what_is_there(state)):
                raise BackupError(f"{present} would be lost; say --replace if that is meant")
            # What comes may have been judged by older rules.
            forget_judged()
            return _restore(archive, about, state)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise BackupError(f"{source} is no backup of Benchsite, or not a whole one ({error})") from error
    except IntegrityError as error:
        raise BackupError(f"the rows in {source} do not fit together: {error}") from error
    except SuspiciousFileOperation as error:
        raise BackupError(f"{source} holds a file for a folder that is not its own: {error}") from error
    except OSError as error:
        raise BackupError(f"{error.filename or source}: {error.strerror or error}") from error


def check_version(about: dict[str, Any]) -> None:
    migrations = MigrationLoader(connection).disk_migrations
    strange = [".".join(key) for key in sorted(steps(about["migrations"])) if key not in migrations]
    if about["format"] > FORMAT or strange:
        raise BackupError(
            f"the backup was made by Benchsite {about['version']}, which is newer than this one ({__version__}): "
            f"restore it with that version or a later one{f' (not known here: {strange[0]})' if strange else ''}"
        )


def check_stopped() -> None:
    """STATE is held by the caller; a database may serve programs on other machines too."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(OTHERS)
            if others := cursor.fetchone()[0]:
                raise BackupError(f"{others} others are connected to the database: stop web servers, worker and beat")


def what_is_there(state: State) -> str:
    """What people have put into this site, in words; empty for a fresh one."""
    if User._meta.db_table in connection.introspection.table_names() and (people := User.objects.count()):
        return f"a site with {people} account{'s' * (people != 1)}"
    return "a site with artefacts" if any(state.artefacts.rglob("*.gz")) else ""


def _restore(archive: zipfile.ZipFile, about: dict[str, Any], state: State) -> Contents:
    """All of it is made beside what is there, then moved to where it belongs: `finish` does the rest after a kill."""
    draft = state.path / DRAFT
    names = set(archive.namelist())
    agent_files = [name for name in (SPOOL, *AGENT_FILES) if f"agent/{name}" in names]
    try:
        draft.mkdir()
        count = _unpack_artefacts(archive, draft / "artefacts")
        (draft / "agent").mkdir()
        for name in agent_files:
            write_private(draft / "agent" / name, archive.read(f"agent/{name}"))
        if "secret_key" in names:
            write_private(draft / "secret_key", archive.read("secret_key"))
        with new_database(draft, state.path / WHOLE):
            _fill_tables(archive, about)
    finally:
        finish(state)
    return Contents(sum(about["rows"].values()), count, agent_files)


@contextmanager
def new_database(draft: Path, whole: Path) -> Iterator[None]:
    """A database without tables, for the body to fill; then all that was made in `draft` is whole.

    It is a file in there, or on a server a transaction, whose end decides: its mark tells which of the two it was.
    """
    if connection.vendor == "postgresql":
        mark = str(uuid.uuid4())
        (draft / MARK).write_text(mark)
        with transaction.atomic():
            _drop_tables()
            yield
            with connection.cursor() as cursor:
                cursor.execute(f"COMMENT ON TABLE django_migrations IS '{mark}'")
            os.sync()
            draft.rename(whole)
        return
    present = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = str(draft / DATABASE)
    try:
        yield
        # The last to leave moves what is in the journal into the file.
        connection.close()
        os.sync()
        draft.rename(whole)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = present


def finish(state: State) -> None:
    """After a restore that was killed, move what is whole to where it belongs and forget what is not.

    Each step can be done again. The artefacts come last of what replaces something: while they wait, so does the rest.
    """
    draft, whole = state.path / DRAFT, state.path / WHOLE
    shutil.rmtree(draft, ignore_errors=True)
    if not whole.exists():
        return
    if (whole / MARK).exists() and (whole / MARK).read_text() != _mark():  # its rows were not committed
        whole.rename(draft)
        shutil.rmtree(draft)
        return
    old = state.path / "artefacts.replaced"
    if (whole / "artefacts").exists():
        state.agent.mkdir(exist_ok=True)
        state.agent.chmod(0o711)
        for name in ("identity.json", SPOOL, f"{SPOOL}-wal", f"{SPOOL}-shm"):
            (state.agent / name).unlink(missing_ok=True)
        if (whole / DATABASE).exists():
            connection.close()
            for ending in ("-wal", "-shm"):
                state.database.with_name(state.database.name + ending).unlink(missing_ok=True)
            (whole / DATABASE).rename(state.database)
        shutil.rmtree(old, ignore_errors=True)
        with suppress(FileNotFoundError):
            state.artefacts.rename(old)
        (whole / "artefacts").rename(state.artefacts)
    for path in (whole / "agent").iterdir():
        path.rename(state.agent / path.name)
    with suppress(FileNotFoundError):
        (whole / "secret_key").rename(state.path / "secret_key")
    shutil.rmtree(old, ignore_errors=True)
    os.sync()
    whole.rename(draft)
    shutil.rmtree(draft)


def _mark() -> str | None:
    """The mark of the restore that has made the tables."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT obj_description(to_regclass('django_migrations'), 'pg_class')")
        mark: str | None = cursor.fetchone()[0]
    connection.close()  # a web server that begins must not share it with its processes
    return mark


def _unpack_artefacts(archive: zipfile.ZipFile, folder: Path) -> int:
    """-> how many."""
    folder.mkdir()
    storage, prefix = FileSystemStorage(location=folder), "artefacts/"
    names = [name for name in archive.namelist() if name.startswith(prefix)]
    for name in names:
        path = Path(storage.path(name.removeprefix(prefix)))
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as packed, path.open("xb") as file:
            shutil.copyfileobj(packed, file)
    return len(names)


def _drop_tables() -> None:
    """All of ours, also those of an older version."""
    ours = ("django_", *(f"{app.label}_" for app in apps.get_app_configs()))
    tables = [name for name in connection.introspection.table_names() if name.startswith(ours)]
    if tables:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {', '.join(map(connection.ops.quote_name, tables))} CASCADE")


def _fill_tables(archive: zipfile.ZipFile, about: dict[str, Any]) -> None:
    """Make the tables as they were then, fill them, and bring them to this version."""
    executor = MigrationExecutor(connection)
    then, replacing = steps(about["migrations"]), executor.loader.replacements
    if all(then.issuperset(each.replaces) for each in replacing.values()):
        then = then.difference(*(each.replaces for each in replacing.values())) | replacing.keys()
    else:  # of a time between, to which the single steps lead
        executor.loader = MigrationLoader(connection, replace_migrations=False)
    nodes = executor.loader.graph.node_map
    followed = {parent.key for key in then for parent in nodes[key].parents if parent.key[0] == key[0]}
    models_then = executor.migrate(sorted(then - followed)).apps
    with transaction.atomic():
        for label in about["rows"]:
            _read_rows(archive, models_then.get_model(label))
        connection.check_constraints()
    call_command("migrate", verbosity=0, interactive=False)


def _read_rows(archive: zipfile.ZipFile, model: type[models.Model]) -> None:
    quote, table = connection.ops.quote_name, connection.ops.quote_name(model._meta.db_table)
    with archive.open(f"rows/{model._meta.label}.jsonl") as lines, connection.cursor() as cursor:
        # What a migration has put there is among the rows.
        cursor.execute(f"DELETE FROM {table}")  # noqa: S608
        by_column = {field.attname: field for field in model._meta.concrete_fields}
        fields = [by_column[name] for name in json.loads(next(lines))]
        columns = ", ".join(quote(str(field.column)) for field in fields)
        statement = f"INSERT INTO {table} ({columns}) VALUES ({', '.join(['%s'] * len(fields))})"  # noqa: S608
        prepared = [partial(_stored, field) for field in fields]
        while some := list(islice(lines, AT_ONCE)):
            rows = (zip(prepared, json.loads(line), strict=True) for line in some)
            cursor.executemany(statement, [[prepare(value) for prepare, value in row] for row in rows])
        for reset in connection.ops.sequence_reset_sql(no_style(), [model]):
            cursor.execute(reset)


def _stored(field: models.Field[Any, Any], value: Any) -> Any:
    """A value of `_line` as the database's driver takes it."""
    if isinstance(field, models.JSONField):
        # None is NULL where the column takes it, else the null of JSON.
        value = models.Value(None, field) if value is None and not field.null else value
    elif value is not None:
        value = base64.b64decode(value) if isinstance(field, models.BinaryField) else field.to_python(value)
    return field.get_db_prep_save(value, connection)
