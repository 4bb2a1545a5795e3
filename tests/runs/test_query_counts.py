"""How many queries each page and list asks: recorded here, and one more fails.

A number may fall (change it here); a page that needs one more says why in the commit.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from runs.history import filing
from runs.models import Benchmark, Experiment, Run, User
from runs.run import artefacts
from tests.runs.builders import document, store_upload
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db

# Address -> queries of a stranger with everything stored twice over. {…}: of a stored row.
RECORDED = {
    # With four for the questions that the results answer, one for the ids of the newest runs, and one for open alerts.
    "/": 18,
    "/runs/": 16,
    # With one for the newest runs, in which alone words are looked for, one that tells SQLite whether the DBMS has few,
    # and one for the runs without a value, which come after the others.
    "/runs/?dbms=postgresql&factor.scale_factor=10&ordering=-value&q=xeon": 16,
    "/runs/?ordering=hardware": 16,
    # With one for the benchmarks that hold it.
    "/runs/{run}/": 16,
    "/experiments/": 3,
    "/experiments/{experiment}/": 8,
    "/compare/": 2,
    "/compare/?cell={cell}": 22,
    "/compare/?set=publication%3Dtpcb-2010%26dbms%3Dpostgresql&set=experiment%3Done&base_set=1": 41,
    "/compare/?publication=tpcb-2010": 25,  # one for the settings of which the page asks what each did
    "/publications/": 1,
    "/publications/tpcb-2010/": 36,  # one for the re-runs that bundles brought and nobody has accepted
    "/publications/gbak-backup-2007/": 29,
    "/publications/cubrid-mysql-ssd-2011/": 28,
    "/publications/firebird-terabyte-2015/": 29,
    "/hardware/": 3,
    "/hardware/my-server/": 14,  # one for the runs of its best results
    "/configs/": 8,
    "/configs/{config}/": 14,
    "/benchmarks/": 17,
    # With one for whether an agent has measured any of it, so that it may measure between.
    "/benchmarks/{benchmark}/": 12,  # two for what speaks against the numbers of its batches
    "/alerts/": 4,
    "/api/v1/benchmarks/": 6,
    "/agents/": 3,
    "/api/v1/runs/": 8,
    # With the last two of these.
    "/api/v1/runs/?dbms=postgresql&factor.scale_factor=10&ordering=-value": 13,
    "/api/v1/runs/?format=csv": 8,
    "/api/v1/runs/{run}/": 9,
    "/api/v1/runs/{run}/series/": 2,
    "/api/v1/runs/{run}/changes/": 2,
    # Rows of each kind are read by a query of their own, as of every comparison.
    "/api/v1/compare/?cell={cell}": 14,
    "/api/v1/hardware/": 2,
    "/api/v1/artefacts/{artefact}/": 1,
    "/api/v1/publications/firebird-terabyte-2015/": 28,
    "/api/v1/publications/firebird-terabyte-2015/?format=csv": 25,
}


@pytest.fixture(scope="module")
def stored(kept, publish, tmp_path_factory) -> Iterator[dict[str, str]]:
    """Stored once; what a test adds is rolled back."""
    location = tmp_path_factory.mktemp("artefacts")
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": location}}
    with kept(), override_settings(STORAGES=settings.STORAGES | {"default": backend}):
        publish()
        yield everything()


def everything() -> dict[str, str]:
    owner = User.objects.create_user(username="olga", password="correct horse battery", role="operator")
    run = store_upload(document=document(), owner=owner).runs[0]
    experiment = Experiment.objects.create(slug="one", name="One")
    for number in range(6):
        make_run("SQLite 3.53", number, experiment=experiment, order_index=number + 1)
    kept = artefacts.keep(name="x.log", content=b"x", run=run)
    filing.keep_up()
    return {
        "run": str(run.id), "cell": run.cell_key, "experiment": "one", "artefact": str(kept.id),
        "config": run.config.slug, "benchmark": str(Benchmark.objects.get(series__run=run).pk),
    }  # fmt: skip


@pytest.mark.parametrize("address", RECORDED)
def test_it_asks_no_more_queries_than_recorded(client, stored, address):
    path = address.format(**stored)
    client.get(path)
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
        if response.streaming:
            b"".join(response.streaming_content)
    assert response.status_code == (302 if path == "/compare/" else 200)
    listed = "\n".join(query["sql"][:150] for query in queries.captured_queries)
    assert len(queries) <= RECORDED[address], f"{len(queries)} queries instead of {RECORDED[address]}:\n{listed}"


@pytest.mark.parametrize(
    "address", ["/runs/", "/api/v1/runs/", "/runs/?ordering=-value", "/api/v1/runs/?format=csv", "/hardware/"]
)
def test_more_rows_ask_no_more_queries(client, stored, address):
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            response = client.get(address)
            if response.streaming:
                b"".join(response.streaming_content)
        counts.append(len(queries))
        for number in range(10):
            make_run("H2 2.4", number)
    # The rows that moved to the second page had storages, which are asked for where there are any.
    assert counts[1] <= counts[0]
    assert Run.objects.count() > 100
