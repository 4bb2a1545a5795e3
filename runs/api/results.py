"""POST /api/v1/results/: results that somebody else measured, one or many."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import results
from runs.api.exceptions import Conflict
from runs.api.serializers import (
    FIELD_ERRORS,
    BatchAnswerSerializer,
    ErrorSerializer,
    StoredResultSerializer,
)
from runs.models import ApiToken, User
from runs.results import UploadOutcome

HTTP_OF = {"created": 201, "same": 200, "conflict": 409, "invalid": 400}


class Results(APIView):
    required_scope = "upload"

    @extend_schema(
        request={"application/json": {"$ref": "#/components/schemas/UploadRequest"}},
        responses={
            201: StoredResultSerializer,
            200: OpenApiResponse(
                PolymorphicProxySerializer(
                    component_name="StoredResultOrAnswers",
                    serializers=[StoredResultSerializer, BatchAnswerSerializer],
                    resource_type_field_name=None,
                ),
                description="The same id with the same body is there already; or the answers to many results.",
            ),
            400: OpenApiResponse(FIELD_ERRORS, description="Path of each wrong field and what is wrong with it."),
            401: ErrorSerializer,
            403: ErrorSerializer,
            409: OpenApiResponse(ErrorSerializer, description="The id belongs to another body."),
            413: ErrorSerializer,
            415: ErrorSerializer,
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
            token=request.auth if isinstance(request.auth, ApiToken) else None,
            owner=request.user if isinstance(request.user, User) else None,
        )
        base = request.build_absolute_uri("/").rstrip("/")
        if many is not None:
            return Response({"results": [_answer(outcome, base) for outcome in outcomes]})
        (outcome,) = outcomes
        if outcome.status == "invalid":
            raise ValidationError(outcome.errors)
        if outcome.status == "conflict":
            raise Conflict(_conflict(outcome))
        return Response({"id": str(outcome.id), "runs": _runs(outcome, base)}, status=HTTP_OF[outcome.status])


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


def _answer(outcome: UploadOutcome, base: str) -> dict[str, Any]:
    errors = {"id": [_conflict(outcome)]} if outcome.status == "conflict" else outcome.errors
    return {
        "status": outcome.status,
        "http": HTTP_OF[outcome.status],
        "id": None if outcome.id is None else str(outcome.id),
        "runs": [] if errors else _runs(outcome, base),
        "errors": errors,
    }


def _conflict(outcome: UploadOutcome) -> str:
    return f"The id {outcome.id} belongs to another body."


def _runs(outcome: UploadOutcome, base: str) -> list[dict[str, Any]]:
    return [{"id": str(run.id), "url": f"{base}{run.get_absolute_url()}", "repeat": run.repeat} for run in outcome.runs]
