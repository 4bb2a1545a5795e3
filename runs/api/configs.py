"""Configurations over REST: what they say and are told."""

from __future__ import annotations

from typing import Annotated, Any, cast

from benchagent.configfiles import FORMATS
from benchagent.configfiles.settings import Promise
from benchagent.configfiles.units import Quantity
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BeforeValidator, Field, StrictBool
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import configs
from runs.access.rules import may_describe
from runs.api.errors import refuse_unknown
from runs.api.serializers import AnswerField, NamedRefSerializer
from runs.configs.pages import diff_table, matching
from runs.configs.reading import MOST_CHARACTERS
from runs.incoming.reading import read
from runs.incoming.values import Given, OneOf, Slug, Strict, Text, whole
from runs.models import Config, Run, User


class FileGiven(Strict):
    name: Annotated[str, Text(200)]
    text: Annotated[
        str,
        Field(
            max_length=MOST_CHARACTERS, description="The file as it is; it is kept byte for byte but for its secrets."
        ),
    ]
    format: Annotated[
        Given[Annotated[str, OneOf(tuple(FORMATS))]], Field(description="Without it the content tells the format.")
    ] = None


class ParameterGiven(Strict):
    name: Annotated[str, Text(200)]
    value: Annotated[Annotated[str, Text(100_000, least=0)] | None, Field(description="null is a flag")]
    section: Annotated[str, Text(120, least=0)] = ""
    comment: Annotated[str, Text(10_000, least=0)] = ""


class FactsGiven(Strict):
    """Name, note and what is known of the database."""

    name: Given[Annotated[str, Text(200)]] = None
    note: Annotated[str, Text(10_000, least=0)] = ""
    page_size_bytes: Annotated[int, Field(ge=1, le=2**31), BeforeValidator(whole)] | None = None
    forced_writes: Annotated[StrictBool | None, Field(description="Firebird: gstat -h")] = None
    versions: Annotated[list[Slug], Field(max_length=50, description="slugs of DBMS versions")] = []


class ConfigGiven(FactsGiven):
    """Files or parameters. `revises`: slug of the configuration whose next revision this is."""

    files: Given[Annotated[list[FileGiven], Field(min_length=1)]] = None
    parameters: Given[Annotated[list[ParameterGiven], Field(min_length=1)]] = None
    dbms: Annotated[Given[Slug], Field(description="needed where the files do not tell")] = None
    revises: Given[Slug] = None
    reason: Annotated[str, Text(2_000, least=0), Field(description="why it was revised")] = ""

    def content(self) -> configs.Content:
        return configs.Content(
            files=[configs.FileText(file.name, file.text, file.format or "") for file in self.files or ()],
            parameters=[configs.Parameter(**parameter.model_dump()) for parameter in self.parameters or ()],
            dbms=self.dbms or "", name=self.name or "", note=self.note, versions=self.versions,
            details=self.model_dump(include=set(configs.DETAIL_FIELDS), exclude_none=True),
        )  # fmt: skip


class ConfigSummarySerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    dbms = NamedRefSerializer(allow_null=True)
    versions = NamedRefSerializer(many=True)
    revision = serializers.IntegerField()
    revision_of = serializers.CharField(allow_null=True)
    publication = serializers.CharField(allow_null=True)
    parameters = serializers.IntegerField(help_text="how many")
    durability = AnswerField(Promise)
    runs = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class ConfigPageSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ConfigSummarySerializer(many=True)


class ParameterSerializer(serializers.Serializer[configs.ParameterRow]):
    position = serializers.IntegerField(source="parameter.position")
    file = serializers.CharField(source="parameter.file.name", allow_null=True)
    line = serializers.IntegerField(source="parameter.line", allow_null=True)
    section = serializers.CharField(source="parameter.section")
    name = serializers.CharField(source="parameter.name")
    value = serializers.CharField(source="parameter.value", allow_null=True, help_text="as given; null is a flag")
    unit = serializers.CharField(source="parameter.unit")
    comment = serializers.CharField(source="parameter.comment")
    provenance = serializers.CharField(source="parameter.provenance")
    normalised = AnswerField(Quantity | None, source="quantity")
    meaning = serializers.CharField(help_text="what other engines may call something else; empty where none is known")
    duplicate = serializers.BooleanField()
    overridden = serializers.BooleanField(help_text="a later one of the same name counts instead")
    read_by_server = serializers.BooleanField()


class MeaningSerializer(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]  # a field of the answer, not of the form
    parameters = serializers.ListField(child=serializers.CharField())
    normalised = AnswerField(Quantity | None)
    note = serializers.CharField()


class ConfigSerializer(ConfigSummarySerializer):
    note = serializers.CharField()
    page_size_bytes = serializers.IntegerField(allow_null=True)
    forced_writes = serializers.BooleanField(allow_null=True)
    includes_missing = serializers.ListField(child=serializers.CharField())
    parameters = ParameterSerializer(many=True)  # type: ignore[assignment]
    files = AnswerField(list[configs.FileFacts])
    meanings = MeaningSerializer(many=True)
    revisions = serializers.ListField(child=serializers.CharField(), help_text="slugs of all revisions, in order")


class DiffCellSerializer(serializers.Serializer[Any]):
    names = serializers.ListField(child=serializers.CharField())
    given = serializers.ListField(child=serializers.CharField(allow_null=True))
    normalised = AnswerField(Quantity | None, source="quantity")
    note = serializers.CharField()
    absent = serializers.BooleanField(help_text="the engine has no such setting")


class DiffRowSerializer(serializers.Serializer[configs.DiffRow]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of the answer, not of the form
    section = serializers.CharField()
    status = serializers.ChoiceField(choices=[difference.value for difference in configs.Difference])
    cells = DiffCellSerializer(many=True)


class DiffSerializer(serializers.Serializer[Any]):
    """`unknown`: what was asked for and is not there."""

    configs = serializers.ListField(child=serializers.CharField())
    unknown = serializers.ListField(child=serializers.CharField())
    by = serializers.ChoiceField(choices=["meaning", "name"])
    durability = AnswerField(list[Promise])
    rows = DiffRowSerializer(many=True)


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
        responses={200: ConfigPageSerializer},
    )
    def get(self, request: Request) -> Response:
        """All configurations, by name."""
        refuse_unknown(request.query_params, {"q", "dbms", "page", "page_size"})
        words, dbms = (request.query_params.get(name, "").strip()[:120] for name in ("q", "dbms"))
        rows = matching(configs.for_pages(configs.listed_configs(request.user)), _clean(words), _clean(dbms))
        pages = ConfigPages()
        page = pages.paginate_queryset(rows.order_by("name", "revision", "pk"), request, view=self) or []
        counts = _runs_of(request, page)
        answers = [_summary(config, counts.get(config.pk, 0)) for config in page]
        return pages.get_paginated_response(ConfigSummarySerializer(answers, many=True).data)

    @extend_schema(request=ConfigGiven, responses={200: ConfigSerializer, 201: ConfigSerializer})
    def post(self, request: Request) -> Response:
        """Add a configuration from files or parameters, or the next revision of one. 200: an equal one is there."""
        given = read(ConfigGiven, request.data)
        began = timezone.now()
        made = _made(request, given)
        status = 201 if made.created_at >= began else 200
        return Response(ConfigSerializer(_whole(request, made.slug)).data, status=status)


class ConfigDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: ConfigSerializer})
    def get(self, request: Request, slug: str) -> Response:
        """One configuration with parameters, files and what they mean."""
        return Response(ConfigSerializer(_whole(request, slug)).data)

    @extend_schema(request=FactsGiven, responses={200: ConfigSerializer})
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
        responses={200: DiffSerializer},
    )
    def get(self, request: Request) -> Response:
        """Configurations side by side, with units made alike."""
        refuse_unknown(request.query_params, {"config", "by", "show"})
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
