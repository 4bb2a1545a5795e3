"""Configurations over REST."""

from __future__ import annotations

from typing import Any, cast

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import configs
from runs.access.rules import may_describe
from runs.api.config_messages import (
    ConfigGiven,
    ConfigPageSerializer,
    ConfigSerializer,
    ConfigSummarySerializer,
    DiffSerializer,
    FactsGiven,
)
from runs.api.serializers import FIELD_ERRORS, ErrorSerializer
from runs.configs.pages import diff_table, matching
from runs.incoming.reading import read
from runs.models import Config, Run, User

MOST_COMPARED = 8


class ConfigPages(PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500


class ConfigList(APIView):
    required_scope = "upload"

    @extend_schema(
        operation_id="v1_configs_list",
        parameters=[
            OpenApiParameter("q", str, description="Words in the name, the note, or a parameter."),
            OpenApiParameter("dbms", str, description="Slug of a DBMS."),
            OpenApiParameter("page", int),
            OpenApiParameter("page_size", int, description="50 by itself, at most 500."),
        ],
        responses={200: ConfigPageSerializer, 400: FIELD_ERRORS, 404: ErrorSerializer},
    )
    def get(self, request: Request) -> Response:
        """All configurations, by name."""
        _refuse_unknown(request, {"q", "dbms", "page", "page_size"})
        words, dbms = (request.query_params.get(name, "").strip()[:120] for name in ("q", "dbms"))
        rows = matching(configs.for_pages(configs.listed_configs(request.user)), _clean(words), _clean(dbms))
        pages = ConfigPages()
        page = pages.paginate_queryset(rows.order_by("name", "revision", "pk"), request, view=self) or []
        counts = _runs_of(request, page)
        answers = [_summary(config, counts.get(config.pk, 0)) for config in page]
        return pages.get_paginated_response(ConfigSummarySerializer(answers, many=True).data)

    @extend_schema(
        request=ConfigGiven,
        responses={200: ConfigSerializer, 201: ConfigSerializer, 400: FIELD_ERRORS, 403: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Add a configuration from files or parameters, or the next revision of one. 200: an equal one is there."""
        given = read(ConfigGiven, request.data)
        began = timezone.now()
        made = _made(request, given)
        status = 201 if made.created_at >= began else 200
        return Response(ConfigSerializer(_whole(request, made.slug)).data, status=status)


class ConfigDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: ConfigSerializer, 404: ErrorSerializer})
    def get(self, request: Request, slug: str) -> Response:
        """One configuration with parameters, files and what they mean."""
        return Response(ConfigSerializer(_whole(request, slug)).data)

    @extend_schema(
        request=FactsGiven,
        responses={200: ConfigSerializer, 400: FIELD_ERRORS, 403: ErrorSerializer, 404: ErrorSerializer},
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Correct name, note, page size or forced writes; who, when and the old value are kept."""
        config = _editable(request, slug)
        facts = read(FactsGiven, request.data).model_dump(exclude_unset=True)
        configs.correct(config, facts, by=cast(User, request.user))
        return Response(ConfigSerializer(_whole(request, slug)).data)


class ConfigDiff(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("config", str, many=True, description="Slug; two to eight of them."),
            OpenApiParameter("by", str, enum=["meaning", "name"], description="By itself: meaning across engines."),
            OpenApiParameter("show", str, enum=["all", "differences"]),
        ],
        responses={200: DiffSerializer, 400: FIELD_ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Configurations side by side, with units made alike."""
        _refuse_unknown(request, {"config", "by", "show"})
        wanted = list(dict.fromkeys(_clean(slug) for slug in request.query_params.getlist("config") if slug))
        if not 0 < len(wanted) <= MOST_COMPARED:
            raise ValidationError({"config": [f"One to {MOST_COMPARED} slugs are required."]})
        table, unknown = diff_table(wanted, request.user, request.query_params)
        answer = {
            "configs": [config.slug for config in table.configs],
            "unknown": unknown,
            "by": "meaning" if table.by_meaning else "name",
            "durability": table.promises,
            "rows": table.shown,
        }
        return Response(DiffSerializer(answer).data)


def _clean(text: str) -> str:
    return text.replace("\x00", "")


def _refuse_unknown(request: Request, known: set[str]) -> None:
    if unknown := [name for name in request.query_params if name not in known]:
        raise ValidationError({name: ["Unknown parameter."] for name in unknown})


def _editable(request: Request, slug: str) -> Config:
    config = get_object_or_404(configs.for_pages(configs.readable_configs(request.user)), slug=slug)
    if not may_describe(request.user, config):
        raise PermissionDenied("Only operators may change what somebody else gave, nobody a published configuration.")
    return config


def _runs_of(request: Request, rows: list[Config]) -> dict[Any, int]:
    return Run.objects.present().listed_for(request.user).filter(config__in=rows).counts_by("config")


def _made(request: Request, given: ConfigGiven) -> Config:
    by = cast(User, request.user)
    if given.revises is None:
        return configs.create_config(given.content(), by=by)
    rows = configs.readable_configs(by).filter(slug=given.revises)
    if not rows.exists():
        raise configs.ConfigError({"revises": [f"No configuration {given.revises}."]})
    return configs.revise(_editable(request, given.revises), given.content(), by=by, note=given.reason)


def _whole(request: Request, slug: str) -> dict[str, Any]:
    config = get_object_or_404(configs.for_pages(configs.readable_configs(request.user)), slug=slug)
    runs = _runs_of(request, [config]).get(config.pk, 0)
    return _summary(config, runs) | {
        "note": config.note,
        **{name: config.details.get(name) for name in configs.DETAIL_FIELDS},
        "includes_missing": config.details.get("includes_missing", []),
        "parameters": configs.parameter_rows(config),
        "files": configs.files_of(config),
        "meanings": [
            {"label": label, "parameters": item.names, "normalised": item.quantity, "note": item.note}
            for label, item in configs.meanings_of(config)
        ],
        "revisions": [item.slug for item in configs.family_of(config, request.user)],
    }


def _summary(config: Config, runs: int) -> dict[str, Any]:
    return {
        "slug": config.slug,
        "name": config.name,
        "dbms": configs.dbms_of(config),
        "versions": config.applies_to.all(),
        "revision": config.revision,
        "revision_of": config.revision_of and config.revision_of.slug,
        "publication": config.publication and config.publication.slug,
        "parameters": len(config.parameters.all()),
        "durability": configs.durability_of(config),
        "runs": runs,
        "created_at": config.created_at,
    }
