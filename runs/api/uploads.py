"""What comes in over REST: results that somebody else measured, files of tools; and the files that are kept of both."""

from __future__ import annotations

import gzip
from typing import IO, Annotated, Any, cast
from uuid import UUID
from wsgiref.util import FileWrapper

from benchagent.importers import PARSER_VERSION
from benchagent.importers.report import missing_details
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from pydantic import BaseModel, Field, RootModel, WithJsonSchema
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import imports, models, results
from runs.api.errors import Conflict
from runs.api.lists import ImportPage, listed_imports
from runs.api.outgoing import (
    FIELD_ERRORS,
    PAGING,
    BatchAnswer,
    Error,
    Outgoing,
    ResultAnswer,
    StoredResult,
    StoredRun,
    answered,
)
from runs.api.permissions import person_of, token_of
from runs.imports.documents import ImportSubject, checked, from_text
from runs.incoming.values import Strict
from runs.models import Artefact, Run, User
from runs.models.choices import ImportState
from runs.models.visible import Reader
from runs.results import UploadOutcome
from runs.results.editing import CORRECTING
from runs.results.remarks import warnings_of

HTTP_OF = {"created": 201, "same": 200, "deleted": 409, "conflict": 409, "invalid": 400}


class StoredResultOrAnswers(RootModel[StoredResult | BatchAnswer]):
    """The answer to one document, or to many."""


class Results(APIView):
    required_scope = "upload"

    @extend_schema(
        request={"application/json": {"$ref": "#/components/schemas/UploadRequest"}},
        responses={
            201: StoredResult,
            200: OpenApiResponse(
                StoredResultOrAnswers,
                description="The same id with the same body is there already; or the answers to many results.",
            ),
            400: OpenApiResponse(FIELD_ERRORS, description="Path of each wrong field and what is wrong with it."),
            409: OpenApiResponse(
                Error, description="The id belongs to another body, or runs of this result were deleted."
            ),
        },
    )
    def post(self, request: Request) -> Response:
        """Store results that you measured. Each document is the repeats of one cell: all of it is stored or nothing.

        One document answers 201, 200 (it is there already), 400 or 409. Many, as a list or as {"results": […]},
        always answer 200 with an answer for each. The body may be sent with `Content-Encoding: gzip`.
        """
        many = _many(request.data)
        outcomes = results.store_uploads(
            documents=[request.data] if many is None else many,
            token=token_of(request),
            owner=person_of(request),
        )
        base = request.build_absolute_uri("/").rstrip("/")
        new = [run for outcome in outcomes if outcome.status == "created" for run in outcome.runs]
        of_cells = warnings_of(new, request.user)
        warnings = [of_cells[_cell(outcome)] if outcome.status == "created" else [] for outcome in outcomes]
        if many is not None:
            rows = zip(outcomes, warnings, strict=True)
            return answered(BatchAnswer(results=[_answer(outcome, base, words) for outcome, words in rows]))
        (outcome,) = outcomes
        if outcome.status == "invalid":
            raise ValidationError(outcome.errors)
        if outcome.status in ("conflict", "deleted"):
            raise Conflict(_conflict(outcome, base))
        stored = StoredResult.of(outcome, runs=_runs(outcome, base), warnings=warnings[0])
        return answered(stored, status=HTTP_OF[outcome.status])


def _cell(outcome: UploadOutcome) -> tuple[object, str]:
    return outcome.runs[0].batch_id, outcome.runs[0].cell_key


def _many(body: Any) -> list[Any] | None:
    """The documents of a request that carries many; None for a single one."""
    if isinstance(body, dict) and "results" in body:
        if unknown := [key for key in body if key != "results"]:
            raise ValidationError({key: ["Unknown key. Known here: results."] for key in unknown})
        body = body["results"]
        if not isinstance(body, list):
            raise ValidationError({"results": ["A list of results is required."]})
    if not isinstance(body, list):
        return None
    if not body:
        raise ValidationError({"results": ["At least one result is required."]})
    return body


def _answer(outcome: UploadOutcome, base: str, warnings: list[str]) -> ResultAnswer:
    errors = {"id": [_conflict(outcome, base)]} if HTTP_OF[outcome.status] == 409 else outcome.errors
    runs = _runs(outcome, base) if outcome.status == "deleted" or not errors else []
    return ResultAnswer.of(outcome, http=HTTP_OF[outcome.status], runs=runs, errors=errors, warnings=warnings)


CORRECTED = f"Label, tags and commit of what is stored are changed by PATCH of its batch or run. {CORRECTING}"


def _conflict(outcome: UploadOutcome, base: str) -> str:
    if outcome.status == "conflict":
        return f"The id {outcome.id} belongs to another body. {CORRECTED}"
    gone = [run for run in outcome.runs if run.deleted_at]
    return (
        f"This result was stored, and {len(gone)} of its {len(outcome.runs)} runs deleted. "
        f"POST {base}{reverse('api-run-restore', args=[gone[0].id])} restores one. "
        "A corrected document has a new id."
    )


def _runs(outcome: UploadOutcome, base: str) -> list[StoredRun]:
    """`restore_url` of those that are deleted; `copy_of` of those that are counted as another already."""
    return [
        StoredRun(
            id=run.id,
            url=f"{base}{run.get_absolute_url()}",
            batch=f"{base}{reverse('batch', args=[run.batch_id])}",
            repeat=run.repeat,
            restore_url=f"{base}{reverse('api-run-restore', args=[run.id])}" if run.deleted_at else "",
            copy_of=f"{base}{reverse('run', args=[run.copy_of_id])}" if run.copy_of_id else "",
        )
        for run in outcome.runs
    ]


class ImportedFile(Outgoing):
    name: str
    size_bytes: int
    sha256: str


class FileImport(Outgoing):
    """`items`: what was understood, one entry a run of a file, as `benchctl inspect --json` shows it.

    `progress`: while the files are read `files`, `size_bytes`; `step` (keep, read), `file`, `read_bytes`,
    `bytes_per_s`, `left_s`. `described`: of a stored one `label`, `tags`, `tested` as its batch has them: what is sent
    again changes nothing.
    """

    id: UUID
    url: str
    state: ImportState
    problem: Annotated[str, Field(description="why the files were not read")]
    progress: dict[str, Any]
    parser_version: int
    newer_parser: bool
    files: list[ImportedFile]
    items: list[dict[str, Any]]
    needs: Annotated[list[str], Field(description="fields that must be said before storing")]
    subject: dict[str, Any]
    described: dict[str, Any]
    warnings: Annotated[
        list[str], Field(description="repeats that lie several times apart; machines made beside others")
    ]
    runs: list[StoredRun]


SentFile = Annotated[str, WithJsonSchema({"type": "string", "format": "binary"})]


class SentFiles(BaseModel):
    """A form with files of tools."""

    file: Annotated[list[SentFile], Field(description="the field `file`, once per file")] = []
    parts: Annotated[list[str], Field(description="ids of files that were sent in parts, a field each")] = []
    subject: Annotated[str, Field(description="JSON, as for storing")] = ""


def files_of(request: HttpRequest | Request, owner: User) -> list[imports.Sent]:
    """The files in a form, and those that it names because they came in parts. Raises BadFiles."""
    within = [imports.Sent(sent.name or "file", sent) for sent in request.FILES.getlist("file")]
    return within + imports.sent_files(owner, request.POST.getlist("parts"))


class StoreRequest(Strict):
    """For the description: errors name the fields of the subject as they stand in it."""

    subject: ImportSubject | None = None


class TooManyWaiting(APIException):
    status_code = 429
    # An import of hundreds of megabytes is read within about so long.
    wait = 60


def own(request: Request, import_id: UUID) -> models.FileImport:
    person = person_of(request)
    if person is None:
        raise Http404  # an import without an owner is nobody's, not everybody's
    return get_object_or_404(imports.imports_of(person), id=import_id)


def writer(request: Request) -> User:
    assert isinstance(request.user, User)  # noqa: S101  # the permission class has seen to it
    return request.user


def _import_answer(request: Request, taken: models.FileImport, status: int = 200) -> Response:
    """202, and where to ask how far it is, as long as a worker reads the files."""
    headers = None
    if taken.state == ImportState.READING and request.method == "POST":
        status, headers = 202, {"Location": reverse("api-import", args=[taken.id]), "Retry-After": "1"}
    runs = [*imports.runs_of(taken), *imports.deleted_runs_of(taken)]
    answer = FileImport.of(
        taken, url=request.build_absolute_uri(f"/imports/{taken.id}/"),
        newer_parser=taken.parser_version < PARSER_VERSION, files=list(taken.artefacts.all()),
        needs=[] if taken.state != ImportState.DRAFT else sorted(missing_details(taken.items, taken.subject)),
        described=imports.described(taken), warnings=imports.warnings_of(taken, request.user),
        runs=_runs(UploadOutcome(runs=runs), request.build_absolute_uri("/").rstrip("/")),
    )  # fmt: skip
    return answered(answer, status, headers)


class Imports(APIView):
    required_scope = "upload"
    reading_scopes = ("read", "upload")
    parser_classes = [MultiPartParser]

    @extend_schema(operation_id="v1_imports_list", parameters=PAGING, responses={200: ImportPage})
    def get(self, request: Request) -> Response:
        """One's own imports of files, newest first."""
        return listed_imports(request)

    @extend_schema(
        request={"multipart/form-data": SentFiles},
        responses={
            200: FileImport,
            201: FileImport,
            202: OpenApiResponse(FileImport, description="Large files: a worker reads them; ask `Location`."),
        },
    )
    def post(self, request: Request) -> Response:
        """Send files of pgbench, sysbench, HammerDB, … They are kept and read; nothing is stored as a run yet."""
        owner = writer(request)
        subject = checked(from_text(request.POST.get("subject", "")))
        try:
            taken, created = imports.receive(files=files_of(request, owner), owner=owner)
            if subject and not taken.stored_at:
                imports.keep_subject(taken, subject)
        except imports.TooManyWait as error:
            raise TooManyWaiting(str(error)) from error
        except imports.BadFiles as error:
            raise ValidationError({"file": [str(error)]}) from error
        return _import_answer(request, taken, status=201 if created else 200)


class ImportDetail(APIView):
    # Who sends files with a token of the scope upload looks at what became of them with the same.
    reading_scopes = ("read", "upload")

    @extend_schema(responses={200: FileImport})
    def get(self, request: Request, import_id: UUID) -> Response:
        """What was understood, what is missing, what became of it."""
        return _import_answer(request, own(request, import_id))


class ImportStore(APIView):
    required_scope = "upload"

    @extend_schema(
        request=StoreRequest,
        responses={
            200: FileImport,
            201: FileImport,
            409: OpenApiResponse(Error, description="The files are still being read."),
        },
    )
    def post(self, request: Request, import_id: UUID) -> Response:
        """Store the import as runs: all of them or none."""
        taken = own(request, import_id)
        body = request.data if isinstance(request.data, dict) else {}
        if unknown := [name for name in body if name != "subject"]:
            raise ValidationError({str(name): ["Unknown key. Known here: subject."] for name in unknown})
        said = body.get("subject") or {}
        _, created = imports.store(taken, subject=said, owner=writer(request), token=token_of(request))
        return _import_answer(request, taken, status=201 if created else 200)


class ImportReadAgain(APIView):
    required_scope = "upload"

    @extend_schema(request=None, responses={200: FileImport, 202: FileImport})
    def post(self, request: Request, import_id: UUID) -> Response:
        """Read the kept files with the importers of today; runs of a stored import are replaced."""
        taken = own(request, import_id)
        try:
            imports.read_again(taken)
        except imports.BadFiles as error:
            raise ValidationError({"detail": str(error)}) from error
        return _import_answer(request, taken)


PIECE_BYTES = 64 * 1024
# Anything else is bytes to the browser, which is told not to guess.
SHOWN_TYPES = frozenset({"text/plain", "text/csv", "application/json", "application/xml"})


class Anything(DefaultContentNegotiation):
    """A file is what it is, whatever the client would like; errors are JSON."""

    def select_renderer(self, request, renderers, format_suffix=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        return renderers[0], renderers[0].media_type


class ArtefactContent(APIView):
    content_negotiation_class = Anything

    @extend_schema(
        responses={(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY, description="The file.")}
    )
    def get(self, request: Request, artefact_id: UUID) -> HttpResponseBase:
        """A file kept beside runs: raw output of a tool, a log, a plan."""
        artefact = get_object_or_404(readable_artefacts(request.user), id=artefact_id)
        try:
            packed = artefact.file.open("rb")
        except FileNotFoundError as error:
            raise NotFound("The file is gone from the server's disk.") from error
        media_type = artefact.media_type if artefact.media_type in SHOWN_TYPES else "application/octet-stream"
        pieces = FileWrapper(cast(IO[bytes], gzip.GzipFile(fileobj=packed)), PIECE_BYTES)
        response = StreamingHttpResponse(pieces, content_type=media_type)
        response["Content-Length"] = str(artefact.size_bytes)
        response["Content-Disposition"] = content_disposition_header(True, artefact.name) or "attachment"
        return response


def readable_artefacts(user: Reader) -> QuerySet[Artefact]:
    """Files of runs that this person may open, and of their uploads: an upload goes with the last of its runs.

    Those of an import are its owner's alone.
    """
    runs = Run.objects.present().readable_by(user)
    shown = Q(Exists(runs.filter(pk=OuterRef("run"))) | Exists(runs.filter(upload=OuterRef("upload"))))
    if isinstance(user, User):
        shown |= Q(file_import__in=imports.imports_of(user))
    return Artefact.objects.filter(shown)
