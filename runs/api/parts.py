"""Larger files in parts, by the protocol of tus.io (1.0.0: core, creation, checksum, expiration, termination)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import IO, Any, cast
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.http import http_date
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from runs.api.outgoing import Outgoing
from runs.api.permissions import person_of
from runs.imports import parts
from runs.models import FileInParts

VERSION = "1.0.0"
EXTENSIONS = "creation,checksum,expiration,termination"
CHECKSUM = "sha256"
MOST_DIGITS = 18


class Refused(APIException):
    def __init__(self, refusal: parts.PartRefused) -> None:
        super().__init__(str(refusal))
        self.status_code = refusal.status


class WrongVersion(APIException):
    status_code, default_detail = 412, f"This server speaks version {VERSION} of tus."


class Bytes(BaseParser):
    """The part as it comes; no more of it is held in memory than a piece."""

    media_type = "application/offset+octet-stream"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return stream


class PartsAnswer(Outgoing):
    """A file that is sent in parts. `mark`: what its sender called it by, to find it again."""

    id: UUID
    url: str
    name: str
    size_bytes: int
    received_bytes: int
    mark: str
    expires_at: datetime


class PartsList(BaseModel):
    results: list[PartsAnswer]


def _header(name: str, description: str, *, required: bool = True) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, required=required, description=description)


class TusView(APIView):
    required_scope = "upload"
    reading_scopes = ("read", "upload")
    parser_classes = [Bytes]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method != "OPTIONS" and request.headers.get("Tus-Resumable", VERSION) != VERSION:
            raise WrongVersion

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """What of tus there is."""
        limits = {"Tus-Extension": EXTENSIONS, "Tus-Max-Size": str(parts.quota_bytes())}
        return Response(status=204, headers={**limits, "Tus-Checksum-Algorithm": CHECKSUM})

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response["Tus-Resumable"] = response["Tus-Version"] = VERSION
        response["Cache-Control"] = "no-store"
        return super().finalize_response(request, response, *args, **kwargs)

    def answer(self, kept: FileInParts, status: int = 200) -> Response:
        """As JSON, and in the headers of tus."""
        about = _about(self.request, kept)
        headers = {
            "Location": about.url, "Upload-Offset": str(kept.received_bytes), "Upload-Length": str(kept.size_bytes),
            "Upload-Expires": http_date(kept.expires_at.timestamp()),
        }  # fmt: skip
        return Response(None if status == 204 else about.model_dump(), status=status, headers=headers)


def _about(request: Request, kept: FileInParts) -> PartsAnswer:
    return PartsAnswer.of(kept, url=reverse("api-part", args=[kept.pk], request=request))


class Parts(TusView):
    @extend_schema(operation_id="v1_parts_list", responses={200: PartsList})
    def get(self, request: Request) -> Response:
        """Your files that are sent in parts: how far each is."""
        person = person_of(request)
        own = parts.files_of(person).filter(owner=person) if person else FileInParts.objects.none()
        return Response(PartsList(results=[_about(request, kept) for kept in own]).model_dump())

    @extend_schema(
        request=None,
        parameters=[
            _header("Upload-Length", "Bytes of the whole file."),
            _header("Upload-Metadata", "`filename`, `mark`: each name, a blank, its value in base64.", required=False),
        ],
        responses={201: PartsAnswer},
    )
    def post(self, request: Request) -> Response:
        """Begin a file that is larger than a request may be: send its parts to `Location`, then name it."""
        owner = person_of(request)
        assert owner is not None  # noqa: S101  # the permission class has seen to it
        metadata = _metadata(request.headers.get("Upload-Metadata", ""))
        size_bytes, name = _count(request, "Upload-Length"), metadata.get("filename") or "file"
        try:
            begun = parts.begin(owner=owner, name=name, size_bytes=size_bytes, mark=metadata.get("mark", ""))
        except parts.PartRefused as refusal:
            raise Refused(refusal) from refusal
        return self.answer(begun, 201)


class Part(TusView):
    def kept(self, file_id: UUID) -> FileInParts:
        person = person_of(self.request)
        if person is None:
            raise Http404
        return get_object_or_404(parts.files_of(person), pk=file_id)

    @extend_schema(responses={200: PartsAnswer})
    def get(self, request: Request, file_id: UUID) -> Response:
        """How far it is: `Upload-Offset`. HEAD answers the same."""
        return self.answer(self.kept(file_id))

    @extend_schema(
        request={"application/offset+octet-stream": OpenApiTypes.BINARY},
        parameters=[
            _header("Upload-Offset", "Bytes before this part."),
            _header("Upload-Checksum", f"`{CHECKSUM}`, a blank, the digest of this part in base64.", required=False),
        ],
        responses={
            204: OpenApiResponse(description="It is on the disk: `Upload-Offset` says how much is."),
            409: OpenApiResponse(description="Another offset is wanted: HEAD tells it."),
            460: OpenApiResponse(description="The checksum differs; nothing of this part was taken."),
        },
    )
    def patch(self, request: Request, file_id: UUID) -> Response:
        """A part, which begins where the one before ended."""
        kept, (kind, _, digest) = self.kept(file_id), request.headers.get("Upload-Checksum", "").partition(" ")
        if kind not in ("", CHECKSUM):
            raise ValidationError({"Upload-Checksum": [f"Must be {CHECKSUM}, a blank and the digest in base64."]})
        try:
            offset = _count(request, "Upload-Offset")
            parts.append(kept, offset=offset, content=cast(IO[bytes], request.data), sha256=digest)
            kept.refresh_from_db()
        except parts.PartRefused as refusal:
            raise Refused(refusal) from refusal
        except (FileInParts.DoesNotExist, FileNotFoundError):
            raise Http404 from None
        return self.answer(kept, 204)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, file_id: UUID) -> Response:
        """Give it up, or say that what became of it is known."""
        parts.forget(self.kept(file_id))
        return Response(status=204)


def _count(request: Request, header: str) -> int:
    given = request.headers.get(header, "")
    if not (given.isascii() and given.isdecimal() and len(given) <= MOST_DIGITS):
        raise ValidationError({header: ["A number of bytes is required."]})
    return int(given)


def _metadata(given: str) -> dict[str, str]:
    pairs = (pair.split() for pair in given.split(",") if pair.strip())
    try:
        return {key: base64.b64decode("".join(value), validate=True).decode() for key, *value in pairs}
    except ValueError as error:
        raise ValidationError({"Upload-Metadata": ["Each value must be text in base64."]}) from error
