"""What was stored by older rules loses its secrets, once, and nothing else."""

from __future__ import annotations

import uuid

import pytest
from benchagent import redaction
from django.core.management import call_command

from runs import imports
from runs.models import Artefact, FileImport, Run, Upload
from runs.results.redacting import redact_stored
from runs.run import artefacts
from tests.runs.builders import store_upload
from tests.runs.imports.test_imports import PGBENCH, SUBJECT, files

pytestmark = pytest.mark.django_db
CONNINFO = [["primary_conninfo", "user=rep password=''hunter2'' host=h"], ["password_encryption", "md5"]]
DUMP = b"dict connection {\n pg_superuserpass = hunter2\n}\n"


@pytest.fixture
def before(contributor, monkeypatch):
    """An import and an upload that were stored when nothing was known as a secret."""
    with monkeypatch.context() as old:
        old.setattr(redaction, "_HINTS", frozenset())
        taken, _ = imports.receive(files=files(DUMP + PGBENCH), owner=contributor)
        imports.store(taken, subject=SUBJECT, owner=contributor)
        store_upload(
            document={
                "schema_version": 1, "id": str(uuid.uuid4()), "workload": "tpcb", "hardware": {"name": "x"},
                "dbms": {"name": "MySQL", "version": "8.0"},
                "repeats": [{"metrics": {"tps": 100}}], "effective_settings": CONNINFO,
                "note": 'go-ycsb -p "mysql.password"="hunter2"', "command_lines": ["mysqlslap -uroot -phunter2"],
            },
            owner=contributor,
        )  # fmt: skip
    assert b"hunter2" in artefacts.content(Artefact.objects.get())


def everything() -> str:
    rows = [str(list(model.objects.values())) for model in (Run, Upload, FileImport)]
    return "".join(rows) + "".join(artefacts.content(kept).decode() for kept in Artefact.objects.all())


def test_a_trial_counts_and_changes_nothing(before, capsys):
    old = everything()
    call_command("redact", "--trial")
    assert "kept files: 1 would lose a secret" in capsys.readouterr().out
    assert everything() == old


def test_rows_and_files_lose_their_secrets_and_nothing_else(before, capsys):
    call_command("redact")
    said = capsys.readouterr().out
    assert "runs: 1 lost a secret" in said and "uploads: 1 lost" in said and "kept files: 1 lost" in said
    assert "hunter2" not in everything()
    (kept,) = Artefact.objects.all()
    content = artefacts.content(kept)
    assert b"pg_superuserpass = [redacted]" in content and b"tps = 800" in content and kept.size_bytes == len(content)
    assert Run.objects.filter(note='go-ycsb -p "mysql.password"="[redacted]"').exists()
    settings = Run.objects.get(note__contains="go-ycsb").effective_settings
    assert settings == [["primary_conninfo", "user=rep password=''[redacted]'' host=h"], ["password_encryption", "md5"]]
    assert not redact_stored()
    call_command("redact")
    assert "Nothing that is stored" in capsys.readouterr().out
