"""The cast and the tools that many tests share.

The cast is fixed: an administrator, an operator, a contributor, a viewer. `api_token` issues a token of the operator
with the scopes it is given.
"""

from __future__ import annotations

import fcntl
import gc
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

# The browser tests drive Playwright's loop in the thread that also asks the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

# Hashed file names need `collectstatic`, which the tests that start the whole system do for real.
PLAIN_STATIC_FILES = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}

REPOSITORY = Path(__file__).resolve().parent.parent

# The subject of these tests is the same on any database: documents, words and numbers on pages, content of articles.
# Pages are opened on each database by tests/test_access_table.py, and the queries behind them are tested with the room
# that asks them.
SAME_ON_ANY_DATABASE = (
    "tests/benchmarks",
    # Who may see what is one condition of each list, asked on both by tests/runs/access and tests/test_access_table.py.
    "tests/test_access_leaks.py",
    "tests/agents/views",
    # A program over HTTP, and what it prints.
    "tests/runs/api/test_benchctl_ask.py",
    "tests/runs/api/test_examples.py",
    "tests/docs",
    # What a plan may ask for, and who may ask.
    "tests/agents/plans/test_again.py",
    "tests/agents/plans/test_bisect.py",
    "tests/agents/plans/test_estimate.py",
    "tests/agents/plans/test_fields.py",
    "tests/agents/plans/test_matrix.py",
    "tests/agents/plans/test_rights.py",
    "tests/agents/plans/test_schedule.py",
    "tests/agents/plans/test_timetable.py",
    # Refused before anything is asked of the database.
    "tests/agents/api/test_batch.py::test_it_names_",
    "tests/agents/api/test_batch.py::test_it_refuses_what_",
    "tests/agents/api/test_observations.py::test_the_token_of_the_job_sends_nothing_",
    "tests/agents/api/test_experiments.py",
    "tests/agents/api/test_generated_client.py",
    "tests/agents/api/test_register.py",
    "tests/agents/machines/test_connections.py",
    "tests/agents/machines/test_identity.py",
    "tests/agents/test_taken_away.py",
    "tests/agents/test_visibility.py",
    "tests/runs/access/test_changes.py",
    "tests/runs/access/test_closed_reading.py",
    "tests/runs/access/test_own_paths.py",
    "tests/runs/access/test_people.py",
    "tests/runs/access/test_visibility.py",
    # What a document, a form or a file says, and what is answered of one row.
    "tests/runs/api/test_configs.py",
    "tests/runs/api/test_edits.py",
    "tests/runs/api/test_inside_runs.py",
    "tests/runs/api/test_lists.py",
    # Refused before anything is asked of the database; what is changed at random (never 500) is sent to both.
    "tests/runs/api/test_bulk.py::test_it_answers_400_",
    "tests/runs/api/test_bulk.py::test_it_names_",
    "tests/runs/api/test_bulk.py::test_it_refuses_",
    "tests/runs/api/test_bulk.py::test_no_form_of_a_secret_is_kept",
    "tests/runs/api/test_bulk.py::test_what_is_no_document_",
    "tests/runs/api/test_results.py::test_it_answers_400_to_what_is_no_document",
    "tests/runs/api/test_results.py::test_it_bounds_the_number_of_repeats",
    "tests/runs/api/test_results.py::test_it_names_",
    "tests/runs/api/test_results.py::test_it_refuses_",
    "tests/runs/configs/test_configs.py",
    "tests/runs/imports/test_columns.py",
    # The rows are those of any upload; tests/runs/imports/test_large.py and test_worker.py store on both.
    "tests/runs/imports/test_imports.py",
    "tests/runs/imports/test_tools.py",
    # Articles once they are stored: tests/runs/publications/test_importer.py stores them on both.
    "tests/agents/reruns",
    "tests/runs/api/test_publications.py",
    "tests/runs/publications/test_fifth.py",
    # What is computed from series of batches: tests/runs/history/test_filing.py and test_pages.py file and list them.
    "tests/runs/history/test_as_answered.py",
    "tests/runs/history/test_beside.py",
    "tests/runs/history/test_gate.py",
    "tests/runs/history/test_grids.py",
    "tests/runs/history/test_headline.py",
    "tests/runs/history/test_more_pages.py",
    "tests/runs/history/test_one_cause.py",
    "tests/runs/history/test_order_of_arrival.py",
    "tests/runs/history/test_past.py",
    "tests/runs/history/test_spent.py",
    "tests/runs/history/test_watching.py",
    "tests/runs/history/test_zeros.py",
    # What is computed from runs; they are read as every list reads them.
    "tests/runs/answers",
    "tests/runs/api/test_compare.py",
    "tests/runs/charts",
    "tests/runs/compare/test_axes.py",
    "tests/runs/compare/test_choosing.py",
    "tests/runs/compare/test_compare.py",
    "tests/runs/compare/test_grouping.py",
    "tests/runs/compare/test_guard.py",
    "tests/runs/compare/test_levels.py",
    "tests/runs/compare/test_reports.py",
    "tests/runs/compare/test_roles.py",
    "tests/runs/compare/test_verdicts.py",
    "tests/runs/run/",
    "tests/runs/results/test_agreement.py",
    # Brought as any upload, whose rows tests/runs/results/test_results.py stores on both.
    "tests/runs/results/test_bundle.py",
    # Which results tell of one measurement; what becomes of copies is asked on both.
    "tests/runs/results/test_copies.py::test_one_equal_rate_",
    "tests/runs/results/test_copies.py::test_what_two_measurements_may_share_",
    "tests/runs/results/test_given_settings.py",
    "tests/runs/results/test_invalid.py",
    "tests/runs/telling",
    "tests/runs/publications/test_articles.py",
    "tests/runs/publications/test_checks",
    "tests/runs/publications/test_matching.py",
    # The queries are written by Django; those that are another number on SQLite are named there.
    "tests/runs/test_query_counts.py",
    "tests/runs/views",
)
# Legs that collect one folder, by the marker of their tests.
FOLDERS = {"attack": "tests/attack/", "browser": "tests/e2e/", "ops": "tests/ops/"}
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "live_server"}

TokenFactory = Callable[..., str]


def pytest_configure() -> None:
    from django.conf import settings

    # A shell starts what runs in the background with SIGINT ignored, and every child would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.STORAGES = settings.STORAGES | {"staticfiles": PLAIN_STATIC_FILES}
    settings.WHITENOISE_AUTOREFRESH = True
    # All tests ask from one address.
    settings.RATE_LIMITS = False
    # The cast logs in by the hundred; its passwords need no slow hash.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    delete_instead_of_truncate()


def delete_instead_of_truncate() -> None:
    """After a test with transactions of its own: PostgreSQL truncates by new files for each table and index, hundreds
    of them. As on SQLite, its few rows are deleted instead.
    """
    from django.db.backends.postgresql.operations import DatabaseOperations

    def flush(operations: DatabaseOperations, style: object, tables: list[str], **_: bool) -> list[str]:
        return ["; ".join(f"DELETE FROM {operations.quote_name(table)}" for table in tables)]

    DatabaseOperations.sql_flush = flush


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which `-m` would choose no test are not even read: that takes seconds."""
    name = collection_path.relative_to(REPOSITORY).as_posix()
    is_same = not {name, f"{name}/"}.isdisjoint(SAME_ON_ANY_DATABASE)
    return True if is_same and "not any_database" in config.option.markexpr else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs on one database only, before `-m` chooses; whatever else may ask the database runs on both."""
    for item in items:
        for marker, folder in FOLDERS.items():
            if item.get_closest_marker(marker) and not item.nodeid.startswith(folder):
                raise pytest.UsageError(f"{item.nodeid}: tests marked `{marker}` belong into {folder}")
        fixtures: list[str] = getattr(item, "fixturenames", [])
        asks = item.get_closest_marker("django_db") or not DATABASE_FIXTURES.isdisjoint(fixtures)
        if not asks or item.nodeid.startswith(SAME_ON_ANY_DATABASE):
            item.add_marker(pytest.mark.any_database)


def pytest_collection_finish() -> None:
    """What is imported by now stays until the end: the collector of garbage need not look at it again and again."""
    from runs.results import rows

    # Nobody else waits to write to the database of these tests.
    rows.LONGEST_LOOK_S = 0.0
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


def _user(name: str, role: str):
    from runs.models import User

    return User.objects.create_user(username=name, password="correct horse battery", role=role)


@pytest.fixture
def administrator(db):
    return _user("ada-administrator", "admin")


@pytest.fixture
def operator(db):
    return _user("olga-operator", "operator")


@pytest.fixture
def contributor(db):
    return _user("carl-contributor", "contributor")


@pytest.fixture
def viewer(db):
    return _user("vera-viewer", "viewer")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A STATE as the first start of every site makes it (tests/ops/site.py), made once: to be copied, not changed.

    The legs of one `make test` share it.
    """
    from tests.ops.site import prepare

    folder = Path(os.environ.get("BENCHSITE_TEST_RUN") or tmp_path_factory.mktemp("prepared"))
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "prepared").exists():
            prepare(folder / "draft")
            (folder / "draft").rename(folder / "prepared")
    return folder / "prepared"


@pytest.fixture(scope="session")
def publish(django_db_setup, django_db_blocker) -> Callable[[], None]:
    """`publish()`: what import_own() stores where no publication is yet, copied from tables that it filled once."""
    from django.db import connection, transaction

    from runs.publications.importer import import_own

    def execute(statements: Iterable[str]) -> None:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def filled() -> set[str]:
        with connection.cursor() as cursor:
            sizes = {}
            for name in connection.introspection.table_names(cursor):
                cursor.execute(f"SELECT COUNT(*) FROM {name}")
                sizes[name] = cursor.fetchone()[0]
        return {name for name, rows in sizes.items() if rows}

    with django_db_blocker.unblock(), transaction.atomic(durable=True):
        before = filled()
        import_own()
        tables = sorted(filled() - before)
        execute(f"CREATE TABLE published_{name} AS SELECT * FROM {name}" for name in tables)
        execute(f"DELETE FROM {name}" for name in tables)
        with connection.cursor() as cursor:
            # By name: a migration that a test takes back and makes again leaves them in another order.
            columns = {
                name: ", ".join(
                    connection.ops.quote_name(column.name)
                    for column in connection.introspection.get_table_description(cursor, name)
                )
                for name in tables
            }

    @transaction.atomic
    def stored() -> None:
        execute(f"INSERT INTO {name} ({columns[name]}) SELECT {columns[name]} FROM published_{name}" for name in tables)

    return stored


@pytest.fixture
def published(publish, db) -> None:
    """Named before what else a test stores: it is copied to where no publication is yet."""
    publish()


@pytest.fixture(scope="module")
def kept(publish, django_db_blocker) -> Callable[[], AbstractContextManager[None]]:
    """`with kept():` rows that are stored once for all tests of a file, each of which is rolled back to them.

    After `publish`, whose tables would else be rolled back too.
    """

    @contextmanager
    def rows() -> Iterator[None]:
        from django.db import transaction

        with django_db_blocker.unblock(), transaction.atomic():
            yield
            transaction.set_rollback(True)

    return rows


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    """The site of the table of access: built once for a file of tests, whose requests are rolled back."""
    from tests.access.world import built

    with django_db_blocker.unblock(), built() as everything:
        yield everything


@pytest.fixture
def own_folder(settings, tmp_path: Path) -> None:
    """Files of results lie in a folder of this test alone."""
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "default": backend}


@pytest.fixture
def api_token(operator) -> TokenFactory:
    """`api_token("upload", "schedule")` -> the secret of a new token with these scopes."""
    from runs.models import ApiToken

    def issue(*scopes: str) -> str:
        return ApiToken.issue(owner=operator, name="test", scopes=scopes)[1]

    return issue


@pytest.fixture
def bearer(api_token: TokenFactory) -> Callable[..., dict[str, str]]:
    """`bearer("upload")` -> headers for Django's test client."""

    def headers(*scopes: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {api_token(*scopes)}"}

    return headers


# Of each class of attack, for the summary of the leg.
TRIES: Counter[str] = Counter()


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> Callable[[int], None]:
    """Add a number of tries to those of the class of attack that the test's module is named after."""
    name = request.path.stem.removeprefix("test_").replace("_", " ")

    def add(number: int = 1) -> None:
        TRIES[name] += number

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, number in sorted(TRIES.items()):
        terminalreporter.write_line(f"tried, {name}: {number}")
