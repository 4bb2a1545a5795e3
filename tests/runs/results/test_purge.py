"""Purging: files. What goes from which page is tested with the table of access (tests/runs/access/test_deleted.py)."""

from __future__ import annotations

import io

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from runs import imports
from runs.models import Artefact, Batch, FileImport, Upload
from runs.models.choices import ImportState
from runs.results import purge
from runs.run import artefacts
from tests.runs.builders import document, store_upload

pytestmark = pytest.mark.django_db


def begun_to_be_stored(owner):
    taken, _ = imports.receive(files=[imports.Sent("raw.log", io.BytesIO(b"nothing"))], owner=owner)
    taken.stored_at = timezone.now()
    return taken


def test_its_file_leaves_the_disk(contributor, administrator):
    body = document()
    store_upload(document=body, token=None, owner=contributor)
    upload = Upload.objects.get(pk=body["id"])
    kept = artefacts.keep(name="raw.txt", content=b"raw", upload=upload)
    assert kept.file.storage.exists(kept.file.name)
    purge.purge(upload, by=administrator)
    assert not kept.file.storage.exists(kept.file.name)


def test_the_dropped_files_go_with_the_last_upload_that_was_read_from_them(contributor, administrator):
    taken = begun_to_be_stored(contributor)
    taken.reports.save("read.json.gz", ContentFile(b"what was read of it"))
    name = taken.reports.name
    for number in (1, 2):
        store_upload(
            document=document(id=f"00000000-0000-4000-8000-00000000000{number}"), owner=contributor, file_import=taken
        )
    first, second = Upload.objects.order_by("id")
    assert purge.purge(first, by=administrator).old["files"] == 0
    assert FileImport.objects.exists()
    assert Batch.objects.get().pk == taken.pk, "the second upload's runs are still in it"
    assert purge.purge(second, by=administrator).old["files"] == 1
    assert not FileImport.objects.exists() and not Batch.objects.exists()
    assert not Artefact.objects.exists()
    assert not taken.reports.storage.exists(name)


@pytest.mark.parametrize("what", ["upload", "run"])
def test_it_waits_until_the_files_are_read_again(what, contributor, administrator):
    taken = begun_to_be_stored(contributor)
    body = document(repeats=document()["repeats"][:1])
    (run,) = store_upload(document=body, owner=contributor, file_import=taken).runs
    FileImport.objects.update(state=ImportState.READING)
    target = run if what == "run" else run.upload
    with pytest.raises(purge.CannotPurge, match="being read again"):
        purge.purge(target, by=administrator)
    assert Upload.objects.exists()
    FileImport.objects.update(state=ImportState.STORED)
    purge.purge(target, by=administrator)
    assert not Upload.objects.exists() and not FileImport.objects.exists()
