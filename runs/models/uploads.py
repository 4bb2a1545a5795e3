"""What people send: files with their imports, documents, and what is kept of both."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from runs.models.accounts import ApiToken
from runs.models.base import UUIDModel
from runs.models.choices import ImportState, Visibility
from runs.models.shapes import Document, Item, Progress, Subject
from runs.models.stored import StoredJSON
from runs.models.visible import VisibleQuerySet


class FileImport(UUIDModel):
    """Files that somebody dropped: kept as artefacts, read by an importer, stored as runs once what is missing is said.

    `items` is what the importers found (`benchagent.importers.as_json`, one entry a run of a file); `subject` is what a
    person said about it. The files can be read again by a better parser.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="file_imports"
    )
    # SHA-256 over the files: the same files dropped again are the same import.
    digest = models.CharField(max_length=64)
    parser_version = models.PositiveIntegerField()
    subject = StoredJSON(shape=Subject, default=dict, blank=True)
    items = StoredJSON(shape=list[Item], default=list, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    stored_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=10, choices=ImportState.choices, default=ImportState.DRAFT)
    # Why it was not read, in words.
    problem = models.TextField(blank=True)
    # Until they are read: `files` (their names), `size_bytes` of all; of those that take longer than a second, while
    # they are kept, then read, which `step` says: `file` at hand, `read_bytes` of it and those before, `bytes_per_s`,
    # `left_s`.
    progress = StoredJSON(shape=Progress, default=dict, blank=True)
    # How often somebody began to read, and the last sign of life of who reads.
    attempts = models.PositiveSmallIntegerField(default=0)
    seen_at = models.DateTimeField(null=True, blank=True)
    # What was read of the files, so that storing need not read them again: gzip under STATE/artefacts.
    reports = models.FileField(upload_to="imports/%Y/%m/", max_length=300, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["owner", "digest"], name="file_import_digest_per_owner")]

    def __str__(self) -> str:
        return str(self.id)


class FileInParts(UUIDModel):
    """A file that a person sends in parts (tus), to be named then where files or bundles are taken.

    What lies in the file beyond `received_bytes` was not acknowledged, and is written over.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="files_in_parts")
    name = models.CharField(max_length=255)
    size_bytes = models.BigIntegerField()
    received_bytes = models.BigIntegerField(default=0)
    # Its sender finds it again by this: SHA-256 of the file, or what else tells it from others.
    mark = models.CharField(max_length=200, blank=True)
    file = models.FileField(upload_to="imports/parts/", max_length=300)
    created_at = models.DateTimeField(default=timezone.now)
    # A file that an import or a bundle was made of expires soon, not at once: its sender may not have heard of it.
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return self.name


class ToolDescription(UUIDModel):
    """A tool that a person described in YAML (`benchagent.importers.described`), with output that it was tried on.

    It is asked of its owner's files; who sees it can take it over.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tool_descriptions")
    name = models.CharField(max_length=60)
    text = models.TextField()
    example = models.TextField()
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE)
    created_at = models.DateTimeField(default=timezone.now)

    objects = VisibleQuerySet["ToolDescription"].as_manager()

    class Meta:
        ordering = ["name", "created_at"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="tool_description_name_per_owner")]

    def __str__(self) -> str:
        return self.name


class Upload(UUIDModel):
    """One document taken by POST /api/v1/results/. The client makes the id; `digest` tells a repeat from a conflict."""

    digest = models.CharField(max_length=64)
    schema_version = models.PositiveIntegerField()
    token = models.ForeignKey(ApiToken, on_delete=models.SET_NULL, null=True, blank=True, related_name="uploads")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="uploads"
    )
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PUBLIC)
    file_import = models.ForeignKey(
        FileImport, on_delete=models.SET_NULL, null=True, blank=True, related_name="uploads"
    )
    received_at = models.DateTimeField(default=timezone.now)
    document = StoredJSON(shape=Document, default=dict)

    objects = VisibleQuerySet["Upload"].as_manager()

    class Meta:
        ordering = ["-received_at"]

    def __str__(self) -> str:
        return str(self.id)

    def get_absolute_url(self) -> str:
        return reverse("upload", args=[self.id])


class Artefact(UUIDModel):
    """A file kept beside results: raw output of a tool, a log, a plan. Belongs to a run, an upload or an import."""

    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, null=True, blank=True, related_name="artefacts")
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, null=True, blank=True, related_name="artefacts")
    file_import = models.ForeignKey(
        FileImport, on_delete=models.CASCADE, null=True, blank=True, related_name="artefacts"
    )
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=255)
    media_type = models.CharField(max_length=100, blank=True)
    # The size of the content as kept (secrets redacted, not compressed).
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    # gzip on disk, under STATE/artefacts.
    file = models.FileField(upload_to="results/%Y/%m/", max_length=300)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position", "name"]

    def __str__(self) -> str:
        return self.name
