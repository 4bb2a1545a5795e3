"""Files of tools over REST: send, look at what was understood, complete, store."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from benchagent.importers import PARSER_VERSION, SourceFile
from benchagent.importers.needs import lacks
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import imports
from runs.api.objects import person_of
from runs.api.parsers import StrictJSONParser
from runs.api.serializers import FIELD_ERRORS, ErrorSerializer
from runs.imports.subject import ImportSubject, checked, from_text
from runs.incoming.values import Strict
from runs.models import ApiToken, FileImport, User


class ImportedRunSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    url = serializers.CharField()


class ImportedFileSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    size_bytes = serializers.IntegerField()
    sha256 = serializers.CharField()


class FileImportSerializer(serializers.Serializer[Any]):
    """`items`: what was understood, one entry a run of a file, as `benchctl inspect --json` shows it."""

    id = serializers.UUIDField()
    url = serializers.CharField()
    state = serializers.ChoiceField(choices=["draft", "stored"])
    parser_version = serializers.IntegerField()
    newer_parser = serializers.BooleanField()
    files = ImportedFileSerializer(many=True)
    items = serializers.ListField(child=serializers.DictField())
    needs = serializers.ListField(child=serializers.CharField(), help_text="fields that must be said before storing")
    subject = serializers.DictField()
    runs = ImportedRunSerializer(many=True)


class SentFilesSerializer(serializers.Serializer[Any]):
    file = serializers.ListField(child=serializers.FileField(), help_text="the field `file`, once per file")
    subject = serializers.CharField(required=False, help_text="JSON, as for storing")


class StoreRequest(Strict):
    """For the description: errors name the fields of the subject as they stand in it."""

    subject: ImportSubject | None = None


def own(request: Request, import_id: UUID) -> FileImport:
    person = person_of(request)
    if person is None:
        raise Http404  # an import without an owner is nobody's, not everybody's
    return get_object_or_404(imports.imports_of(person), id=import_id)


def _writer(request: Request) -> tuple[User, ApiToken | None]:
    assert isinstance(request.user, User)  # noqa: S101  # the permission class has seen to it
    return request.user, request.auth if isinstance(request.auth, ApiToken) else None


def _answer(request: Request, taken: FileImport, status: int = 200) -> Response:
    runs = imports.runs_of(taken)
    body = {
        "id": taken.id,
        "url": request.build_absolute_uri(f"/imports/{taken.id}/"),
        "state": "stored" if taken.stored_at else "draft",
        "parser_version": taken.parser_version,
        "newer_parser": taken.parser_version < PARSER_VERSION,
        "files": taken.artefacts.all(),
        "items": taken.items,
        "needs": [] if taken.stored_at else sorted(lacks(taken.items, taken.subject)),
        "subject": taken.subject,
        "runs": [{"id": run.id, "url": request.build_absolute_uri(run.get_absolute_url())} for run in runs],
    }
    return Response(FileImportSerializer(body).data, status=status)


class Imports(APIView):
    required_scope = "upload"
    parser_classes = [MultiPartParser]

    @extend_schema(
        request={"multipart/form-data": SentFilesSerializer},
        responses={200: FileImportSerializer, 201: FileImportSerializer, 400: FIELD_ERRORS, 413: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Send files of pgbench, sysbench, HammerDB, … They are kept and read; nothing is stored as a run yet."""
        owner, _ = _writer(request)
        files = [SourceFile(sent.name or "file", sent.read()) for sent in request.FILES.getlist("file")]
        subject = checked(from_text(request.POST.get("subject", "")))
        try:
            taken, created = imports.take(files=files, owner=owner)
        except imports.BadFiles as error:
            raise ValidationError({"file": [str(error)]}) from error
        if subject and not taken.stored_at:
            imports.say(taken, subject)
        return _answer(request, taken, status=201 if created else 200)


class ImportDetail(APIView):
    # Who sends files with a token of the scope upload looks at what became of them with the same.
    reading_scopes = ("read", "upload")

    @extend_schema(responses={200: FileImportSerializer, 404: ErrorSerializer})
    def get(self, request: Request, import_id: UUID) -> Response:
        """What was understood, what is missing, what became of it."""
        return _answer(request, own(request, import_id))


class ImportStore(APIView):
    required_scope = "upload"
    parser_classes = [StrictJSONParser]

    @extend_schema(
        request=StoreRequest,
        responses={200: FileImportSerializer, 201: FileImportSerializer, 400: FIELD_ERRORS, 404: ErrorSerializer},
    )
    def post(self, request: Request, import_id: UUID) -> Response:
        """Store the import as runs: all of them or none."""
        owner, token = _writer(request)
        taken = own(request, import_id)
        body = request.data if isinstance(request.data, dict) else {}
        if unknown := [name for name in body if name != "subject"]:
            raise ValidationError({str(name): ["Unknown key. Known here: subject."] for name in unknown})
        _, created = imports.store(taken, subject=body.get("subject") or {}, owner=owner, token=token)
        return _answer(request, taken, status=201 if created else 200)


class ImportReadAgain(APIView):
    required_scope = "upload"

    @extend_schema(request=None, responses={200: FileImportSerializer, 404: ErrorSerializer, 400: OpenApiTypes.OBJECT})
    def post(self, request: Request, import_id: UUID) -> Response:
        """Read the kept files with the importers of today; runs of a stored import are replaced."""
        owner, token = _writer(request)
        taken = own(request, import_id)
        imports.read_again(taken, owner=owner, token=token)
        return _answer(request, taken)
