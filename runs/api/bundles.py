"""Experiments as bundles over REST: one is taken along, another one is brought."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from pydantic import BaseModel, Field
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.outgoing import Outgoing, answered, page_of
from runs.api.uploads import Anything, SentFile, files_of, writer
from runs.imports import BadFiles, note_used
from runs.models import Experiment, User
from runs.results import bundle


class BundleBusy(APIException):
    status_code, default_code, wait = 503, "busy", 5


def taken_in(request: HttpRequest | Request, owner: User) -> tuple[Experiment, bool]:
    """The experiment of the bundle that a form holds or names, and whether it is new. Raises BadBundle, BadFiles."""
    files = files_of(request, owner)
    if len(files) != 1:
        raise bundle.BadBundle("No file was sent." if not files else "One bundle at a time is taken.")
    content = files[0].content.read(bundle.MAX_TOTAL_BYTES + 1)
    if len(content) > bundle.MAX_TOTAL_BYTES:
        raise bundle.BadBundle(f"It is larger than {bundle.MAX_TOTAL_BYTES // 1024**2} MB.")
    taken = bundle.take_in(content, owner=owner, visibility=str(request.POST.get("visibility", "")))
    note_used(files)
    return taken


class BundleRequest(BaseModel):
    """A form with one bundle."""

    file: SentFile = ""
    parts: Annotated[str, Field(description="instead of a file: the id of one that was sent in parts")] = ""
    visibility: Annotated[str, Field(description="public, unlisted or private, which is the default")] = ""


class BundleAnswer(Outgoing):
    slug: str
    url: str
    runs: int
    created: Annotated[bool, Field(description="False: it was here already.")]


class ExperimentBundle(APIView):
    content_negotiation_class = Anything

    @extend_schema(
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, description="The bundle.")}
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """An experiment as one file: plan, settings, results, raw files, machine facts and their checksums."""
        experiment = get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)
        try:
            content = bundle.export(
                experiment, request.user, address=request.build_absolute_uri(experiment.get_absolute_url())
            )
        except bundle.Busy as error:
            raise BundleBusy(str(error)) from error
        except bundle.BadBundle as error:
            raise ValidationError({"detail": str(error)}) from error
        response = HttpResponse(content, content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{experiment.slug}.benchsite.zip"'
        return response


class Bundles(APIView):
    required_scope = "upload"
    parser_classes = [MultiPartParser]

    @extend_schema(request={"multipart/form-data": BundleRequest}, responses={200: BundleAnswer, 201: BundleAnswer})
    def post(self, request: Request) -> Response:
        """Store the experiment of a bundle that another Benchsite made, whole or not at all; private unless said."""
        try:
            experiment, created = taken_in(request, writer(request))
        except bundle.Busy as error:
            raise BundleBusy(str(error)) from error
        except (bundle.BadBundle, BadFiles) as error:
            raise ValidationError({"file": [str(error)]}) from error
        answer = BundleAnswer(
            slug=experiment.slug, url=page_of(experiment, request), runs=experiment.runs.present().count(),
            created=created,
        )  # fmt: skip
        return answered(answer, status=201 if created else 200)
