"""Configurations over REST."""

from __future__ import annotations

from typing import Any, cast

from benchagent.configfiles import FORMATS
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import configs
from runs.api.serializers import FIELD_ERRORS, ErrorSerializer, NamedRefSerializer
from runs.configs.pages import diff_table, matching
from runs.configs.reading import MOST_CHARACTERS
from runs.ingest import Parameter
from runs.ingest.fields import StrictSerializer
from runs.models import Config, User

MOST_COMPARED = 8
_TEXT: dict[str, Any] = {"required": False, "allow_blank": True}


class FileGiven(StrictSerializer):
    name = serializers.CharField(max_length=200)
    text = serializers.CharField(
        max_length=MOST_CHARACTERS, trim_whitespace=False, allow_blank=True,
        help_text="The file as it is; it is kept byte for byte but for its secrets.",
    )  # fmt: skip
    format = serializers.ChoiceField(
        choices=list(FORMATS), required=False, help_text="Without it the content tells the format."
    )


class ParameterGiven(StrictSerializer):
    name = serializers.CharField(max_length=200)
    value = serializers.CharField(max_length=100_000, allow_null=True, allow_blank=True, help_text="null is a flag")
    section = serializers.CharField(max_length=120, **_TEXT)
    comment = serializers.CharField(max_length=10_000, **_TEXT)


class FactsGiven(StrictSerializer):
    """Name, note and what is known of the database."""

    name = serializers.CharField(max_length=200, required=False)
    note = serializers.CharField(max_length=10_000, **_TEXT)
    page_size_bytes = serializers.IntegerField(min_value=1, max_value=2**31, required=False, allow_null=True)
    forced_writes = serializers.BooleanField(required=False, allow_null=True, help_text="Firebird: gstat -h")
    versions = serializers.ListField(
        child=serializers.SlugField(max_length=120), required=False, max_length=50, help_text="slugs of DBMS versions"
    )


class ConfigGiven(FactsGiven):
    """Files or parameters. `revises`: slug of the configuration whose next revision this is."""

    files = FileGiven(many=True, required=False, allow_empty=False)
    parameters = ParameterGiven(many=True, required=False, allow_empty=False)
    dbms = serializers.SlugField(max_length=120, required=False, help_text="needed where the files do not tell")
    revises = serializers.SlugField(max_length=120, required=False)
    reason = serializers.CharField(max_length=2_000, help_text="why it was revised", **_TEXT)


class QuantitySerializer(serializers.Serializer[Any]):
    """`value` in bytes or seconds by `kind`; pages where the page size is not known."""

    kind = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    words = serializers.CharField()
    reason = serializers.CharField()


class DurabilitySerializer(serializers.Serializer[Any]):
    durability = serializers.CharField(allow_null=True)
    reason = serializers.CharField()


class ConfigSummarySerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    dbms = NamedRefSerializer(allow_null=True)
    versions = NamedRefSerializer(many=True)
    revision = serializers.IntegerField()
    revision_of = serializers.CharField(allow_null=True)
    publication = serializers.CharField(allow_null=True)
    parameters = serializers.IntegerField(help_text="how many")
    durability = DurabilitySerializer()
    runs = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class ConfigPageSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ConfigSummarySerializer(many=True)


class ConfigPages(PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500


class ParameterSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    file = serializers.CharField(allow_null=True)
    line = serializers.IntegerField(allow_null=True)
    section = serializers.CharField()
    name = serializers.CharField()
    value = serializers.CharField(allow_null=True, help_text="as given; null is a flag")
    unit = serializers.CharField()
    comment = serializers.CharField()
    provenance = serializers.CharField()
    normalised = QuantitySerializer(allow_null=True)
    meaning = serializers.CharField(help_text="what other engines may call something else; empty where none is known")
    duplicate = serializers.BooleanField()
    overridden = serializers.BooleanField(help_text="a later one of the same name counts instead")
    read_by_server = serializers.BooleanField()


class FileSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    name = serializers.CharField()
    format = serializers.CharField()
    text = serializers.CharField()
    written = serializers.BooleanField(help_text="made from the parameters, as no file was given")


class MeaningSerializer(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]  # a field of the answer, not of the form
    parameters = serializers.ListField(child=serializers.CharField())
    normalised = QuantitySerializer(allow_null=True)
    note = serializers.CharField()


class ConfigSerializer(ConfigSummarySerializer):
    note = serializers.CharField()
    page_size_bytes = serializers.IntegerField(allow_null=True)
    forced_writes = serializers.BooleanField(allow_null=True)
    includes_missing = serializers.ListField(child=serializers.CharField())
    parameters = ParameterSerializer(many=True)  # type: ignore[assignment]
    files = FileSerializer(many=True)
    meanings = MeaningSerializer(many=True)
    revisions = serializers.ListField(child=serializers.CharField(), help_text="slugs of all revisions, in order")


class DiffCellSerializer(serializers.Serializer[Any]):
    names = serializers.ListField(child=serializers.CharField())
    given = serializers.ListField(child=serializers.CharField(allow_null=True))
    normalised = QuantitySerializer(allow_null=True)
    note = serializers.CharField()
    absent = serializers.BooleanField(help_text="the engine has no such setting")


class DiffRowSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of the answer, not of the form
    section = serializers.CharField()
    status = serializers.ChoiceField(choices=[one.value for one in configs.Difference])
    cells = DiffCellSerializer(many=True)


class DiffSerializer(serializers.Serializer[Any]):
    """`unknown`: what was asked for and is not there."""

    configs = serializers.ListField(child=serializers.CharField())
    unknown = serializers.ListField(child=serializers.CharField())
    by = serializers.ChoiceField(choices=["meaning", "name"])
    durability = DurabilitySerializer(many=True)
    rows = DiffRowSerializer(many=True)


class ConfigList(APIView):
    required_scope = "upload"

    @extend_schema(
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
        counts = configs.counts_by_config(request.user, page)
        found = [_summary(one, counts.get(one.pk, 0)) for one in page]
        return pages.get_paginated_response(ConfigSummarySerializer(found, many=True).data)

    @extend_schema(
        request=ConfigGiven,
        responses={200: ConfigSerializer, 201: ConfigSerializer, 400: FIELD_ERRORS, 403: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Add a configuration from files or parameters, or the next revision of one. 200: an equal one is there."""
        given = _valid(ConfigGiven, request.data)
        began = timezone.now()
        try:
            made = _made(request, given)
        except configs.ConfigError as error:
            raise ValidationError(error.errors) from error
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
        try:
            configs.correct(config, _valid(FactsGiven, request.data), by=cast(User, request.user))
        except configs.ConfigError as error:
            raise ValidationError(error.errors) from error
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
        rows = configs.for_pages(configs.readable_configs(request.user)).filter(slug__in=wanted)
        found = {config.slug: config for config in rows}
        table = diff_table([found[slug] for slug in wanted if slug in found], request.query_params)
        answer = {
            "configs": [config.slug for config in table.configs],
            "unknown": [slug for slug in wanted if slug not in found],
            "by": "meaning" if table.by_meaning else "name",
            "durability": [_promise(promise) for promise in table.promises],
            "rows": [_diff_row(row) for row in table.shown],
        }
        return Response(DiffSerializer(answer).data)


def _clean(text: str) -> str:
    return text.replace("\x00", "")


def _refuse_unknown(request: Request, known: set[str]) -> None:
    if unknown := [name for name in request.query_params if name not in known]:
        raise ValidationError({name: ["Unknown parameter."] for name in unknown})


def _valid(kind: type[StrictSerializer], data: Any) -> dict[str, Any]:
    message = kind(data=data)
    message.is_valid(raise_exception=True)
    return dict(message.validated_data)


def _editable(request: Request, slug: str) -> Config:
    config = get_object_or_404(configs.for_pages(configs.readable_configs(request.user)), slug=slug)
    if not configs.may_correct(request.user, config):
        raise PermissionDenied("Only operators may change what somebody else gave, nobody a published configuration.")
    return config


def _made(request: Request, given: dict[str, Any]) -> Config:
    content = configs.Content(
        files=[configs.FileText(one["name"], one["text"], one.get("format", "")) for one in given.get("files", [])],
        parameters=[Parameter(**one) for one in given.get("parameters", [])],
        dbms=given.get("dbms", ""), name=given.get("name", ""), note=given.get("note", ""),
        versions=given.get("versions", []),
        details={name: given[name] for name in configs.DETAIL_FIELDS if given.get(name) is not None},
    )  # fmt: skip
    by = cast(User, request.user)
    if "revises" not in given:
        return configs.create_config(content, by=by)
    rows = configs.readable_configs(by).filter(slug=given["revises"])
    if not rows.exists():
        raise configs.ConfigError({"revises": [f"No configuration {given['revises']}."]})
    return configs.revise(_editable(request, given["revises"]), content, by=by, note=given.get("reason", ""))


def _whole(request: Request, slug: str) -> dict[str, Any]:
    config = get_object_or_404(configs.for_pages(configs.readable_configs(request.user)), slug=slug)
    runs = configs.counts_by_config(request.user, [config]).get(config.pk, 0)
    return _summary(config, runs) | {
        "note": config.note,
        **{name: config.details.get(name) for name in configs.DETAIL_FIELDS},
        "includes_missing": config.details.get("includes_missing", []),
        "parameters": [_parameter(row) for row in configs.parameter_rows(config)],
        "files": configs.files_of(config),
        "meanings": [
            {"label": label, "parameters": one.names, "normalised": one.quantity, "note": one.note}
            for label, one in configs.meanings_of(config)
        ],
        "revisions": [one.slug for one in configs.family_of(config, request.user)],
    }


def _summary(config: Config, runs: int) -> dict[str, Any]:
    return {
        "slug": config.slug,
        "name": config.name,
        "dbms": configs.dbms_of(config),
        "versions": config.applies_to.all(),
        "revision": config.revision,
        "revision_of": config.revision_of.slug if config.revision_of else None,
        "publication": config.publication.slug if config.publication else None,
        "parameters": len(config.parameters.all()),
        "durability": _promise(configs.durability_of(config)),
        "runs": runs,
        "created_at": config.created_at,
    }


def _promise(promise: Any) -> dict[str, Any]:
    return {"durability": promise.durability.value if promise.durability else None, "reason": promise.reason}


def _parameter(row: configs.ParameterRow) -> dict[str, Any]:
    one = row.parameter
    return {
        "position": one.position, "file": one.file.name if one.file else None, "line": one.line,
        "section": one.section, "name": one.name, "value": one.value, "unit": one.unit, "comment": one.comment,
        "provenance": one.provenance, "normalised": row.quantity, "meaning": row.meaning, "duplicate": row.duplicate,
        "overridden": row.overridden, "read_by_server": row.read_by_server,
    }  # fmt: skip


def _diff_row(row: configs.DiffRow) -> dict[str, Any]:
    cells = [
        {
            "names": cell.names,
            "given": cell.given,
            "normalised": cell.quantity,
            "note": cell.note,
            "absent": cell.absent,
        }
        for cell in row.cells
    ]
    return {"key": row.key, "label": row.label, "section": row.section, "status": row.status.value, "cells": cells}
