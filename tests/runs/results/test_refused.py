"""What is refused leaves nothing: no workload, DBMS, version, machine, device, configuration, metric or batch."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.apps import apps

from runs import results
from runs.models import Batch
from tests.runs.builders import document

pytestmark = pytest.mark.django_db

NEW = {
    "workload": {"slug": "ghost", "name": "Ghost workload", "version": "1", "kind": ""},
    "dbms": {"name": "GhostDB", "version": "11.9.9"},
    "hardware": {"name": "ghost machine", "storage": [{"name": "ghost0"}]},
    "storage": [{"role": "data", "device": "ghost0"}],
    "repeats": [{"metrics": [{"name": "ghosts", "value": 1.5, "unit": "ghosts/s"}]}],
}
MYSQL = {"dbms": {"name": "MySQL", "version": "9.9.9"}}
FILE = {"files": [{"name": "a.conf", "text": "shared_buffers = 4GB\nwal_level = replica\n", "format": "postgresql"}]}
HIDDEN = {"dbms": {"slug": "secretdb", "name": "SecretDB", "version": "1"}}
# The field that is refused -> what the document says.
REFUSED = {
    "batch": {"batch": "theirs"},
    "config.files[0].format": {**MYSQL, "config": FILE},
    "artefacts[0].base64": {"artefacts": [{"name": "x.bin", "base64": "?"}]},
    "config": {"config": "no-such"},
    "storage[0].device": {"storage": [{"role": "data", "device": "ghost1"}]},
}


def rows() -> dict[str, int]:
    """Number of rows of each table."""
    return {model.__name__: model._default_manager.count() for model in apps.get_app_config("runs").get_models()}


def refused(field: str, theirs: str) -> dict[str, Any]:
    given = {name: theirs if value == "theirs" else value for name, value in REFUSED[field].items()}
    return document(**{"id": str(uuid.uuid4()), **NEW, **given})


@pytest.fixture
def theirs(operator) -> str:
    """The id of somebody else's batch; its document told a configuration."""
    results.store_uploads(documents=[document()], owner=operator)
    return str(Batch.objects.get().pk)


@pytest.mark.parametrize("field", REFUSED)
def test_a_refused_document_leaves_nothing(field, theirs, contributor):
    before = rows()
    (outcome,) = results.store_uploads(documents=[refused(field, theirs)], owner=contributor)
    assert (outcome.status, list(outcome.errors)) == ("invalid", [field])
    assert rows() == before


def test_in_a_list_the_others_are_stored_as_if_it_had_not_been_there(theirs, contributor):
    bad = [refused(field, theirs) for field in REFUSED]
    taken = [document(id=str(uuid.uuid4()), factors={"terminals": n}) for n in (1, 2)]
    results.store_uploads(documents=[document(id=str(uuid.uuid4()), factors={"terminals": 3})], owner=contributor)
    before = rows()
    outcomes = results.store_uploads(documents=[taken[0], *bad, taken[1]], owner=contributor)
    assert [outcome.status for outcome in outcomes] == ["created", *["invalid"] * len(bad), "created"]
    added = {name: count - before[name] for name, count in rows().items() if count != before[name]}
    assert added["Batch"] == added["Upload"] == 2
    assert not {"Workload", "Dbms", "DbmsVersion", "HardwareProfile", "StorageDevice", "Config", "Metric"} & {*added}


def test_a_document_with_a_batch_of_its_own_that_is_refused_leaves_no_batch(contributor):
    before = rows()
    body = document(id=str(uuid.uuid4()), batch=str(uuid.uuid4()), hardware="no-such-machine")
    assert results.store_uploads(documents=[body], owner=contributor)[0].status == "invalid"
    assert rows() == before


def test_files_of_a_dbms_that_somebody_else_hides_are_taken(operator, contributor):
    results.store_uploads(documents=[document(**HIDDEN, visibility="private")], owner=operator)
    body = document(**{**NEW, **HIDDEN}, id=str(uuid.uuid4()), config=FILE)
    (outcome,) = results.store_uploads(documents=[body], owner=contributor)
    assert outcome.errors == {} and outcome.runs[0].config.dbms.name == "SecretDB"
