"""Configurations over REST: what they say and are told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self, cast

from benchagent.configfiles import FORMATS
from benchagent.configfiles.settings import Promise
from benchagent.configfiles.units import Quantity
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BeforeValidator, Field, StrictBool
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import configs, models
from runs.access.rules import describable
from runs.api.errors import refuse_unknown
from runs.api.outgoing import PAGING, NamedRef, Outgoing, Page, SlugOf, answered, paged, source
from runs.configs.pages import MOST_COMPARED, diff_table, matching
from runs.configs.reading import MOST_CHARACTERS
from runs.incoming.reading import read
from runs.incoming.values import Given, OneOf, Slug, Strict, Text, int_if_whole
from runs.models import Run, User
from runs.models.base import clean
from runs.models.choices import Provenance


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
    page_size_bytes: Annotated[int, Field(ge=1, le=2**31), BeforeValidator(int_if_whole)] | None = None
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


class ConfigHead(Outgoing):
    """`runs`: those that the reader may see."""

    slug: str
    name: str
    dbms: NamedRef | None
    versions: list[NamedRef]
    revision: int
    revision_of: SlugOf
    publication: SlugOf
    durability: Promise
    runs: int
    created_at: datetime

    @classmethod
    def of(cls, row: models.Config, **values: Any) -> Self:
        """`runs` is in `values`."""
        return super().of(
            row, dbms=configs.dbms_of(row), versions=list(row.applies_to.all()), durability=configs.durability_of(row),
            **values,
        )  # fmt: skip


class ConfigSummary(ConfigHead):
    parameters: Annotated[int, Field(description="how many")]


class ConfigPage(Page):
    results: list[ConfigSummary]


FileName = Annotated[str | None, BeforeValidator(lambda file: getattr(file, "name", None))]


class Parameter(Outgoing):
    """`value` as given; null is a flag. `meaning`: what other engines may call something else; empty where none is
    known. `overridden`: a later one of the same name counts instead."""

    position: int = source("parameter.position")
    file: FileName = source("parameter.file")
    line: int | None = source("parameter.line")
    section: str = source("parameter.section")
    name: str = source("parameter.name")
    value: str | None = source("parameter.value")
    unit: str = source("parameter.unit")
    comment: str = source("parameter.comment")
    provenance: Provenance = source("parameter.provenance")
    normalised: Quantity | None = source("quantity")
    meaning: str
    duplicate: bool
    overridden: bool
    read_by_server: bool


class Meaning(Outgoing):
    label: str
    parameters: list[str]
    normalised: Quantity | None
    note: str


class Config(ConfigHead):
    """`revisions`: slugs of all revisions, in order."""

    note: str
    page_size_bytes: int | None
    forced_writes: bool | None
    includes_missing: list[str]
    parameters: list[Parameter]
    files: list[configs.FileFacts]
    meanings: list[Meaning]
    revisions: list[str]


class DiffCell(Outgoing):
    """`absent`: the engine has no such setting."""

    names: list[str]
    given: list[str | None]
    normalised: Quantity | None = source("quantity")
    note: str
    absent: bool


class DiffRow(Outgoing):
    key: str
    label: str
    section: str
    status: configs.Difference
    cells: list[DiffCell]


class Diff(Outgoing):
    """`unknown`: what was asked for and is not there."""

    configs: list[str]
    unknown: list[str]
    by: Literal["meaning", "name"]
    durability: list[Promise]
    rows: list[DiffRow]


class ConfigList(APIView):
    required_scope = "upload"

    @extend_schema(
        operation_id="v1_configs_list",
        parameters=[
            OpenApiParameter("q", str, description="Words in the name, the note, or a parameter."),
            OpenApiParameter("dbms", str, description="Slug of a DBMS."),
            *PAGING,
        ],
        responses={200: ConfigPage},
    )
    def get(self, request: Request) -> Response:
        """All configurations, by name."""
        words, dbms = (clean(request.query_params.get(name, "").strip(), 120) for name in ("q", "dbms"))
        rows = matching(configs.for_pages(configs.listed_configs(request.user)), words, dbms)

        def summaries(page: Sequence[models.Config]) -> Iterator[ConfigSummary]:
            counts = _runs_of(request, page)
            for row in page:
                yield ConfigSummary.of(row, runs=counts.get(row.pk, 0), parameters=len(row.parameters.all()))

        return paged(request, rows.order_by("name", "revision", "pk"), summaries, "q", "dbms")

    @extend_schema(request=ConfigGiven, responses={200: Config, 201: Config})
    def post(self, request: Request) -> Response:
        """Add a configuration from files or parameters, or the next revision of one. 200: an equal one is there."""
        given = read(ConfigGiven, request.data)
        began = timezone.now()
        made = _made(request, given)
        return answered(_with_parameters(request, made.slug), 201 if made.created_at >= began else 200)


class ConfigDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: Config})
    def get(self, request: Request, slug: str) -> Response:
        """One configuration with parameters, files and what they mean."""
        return answered(_with_parameters(request, slug))

    @extend_schema(request=FactsGiven, responses={200: Config})
    def patch(self, request: Request, slug: str) -> Response:
        """Correct name, note, page size or forced writes; who, when and the old value are kept."""
        config = _editable(request, slug)
        facts = read(FactsGiven, request.data).model_dump(exclude_unset=True)
        configs.correct(config, facts, by=cast(User, request.user))
        return answered(_with_parameters(request, slug))


class ConfigDiff(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("config", str, many=True, description="Slug; two to eight of them."),
            OpenApiParameter("by", str, enum=["meaning", "name"], description="By itself: meaning across engines."),
            OpenApiParameter("show", str, enum=["all", "differences"]),
        ],
        responses={200: Diff},
    )
    def get(self, request: Request) -> Response:
        """Configurations side by side, with units made alike."""
        refuse_unknown(request.query_params, {"config", "by", "show"})
        wanted = list(dict.fromkeys(clean(slug, 200) for slug in request.query_params.getlist("config") if slug))
        if not 0 < len(wanted) <= MOST_COMPARED:
            raise ValidationError({"config": [f"One to {MOST_COMPARED} slugs are required."]})
        table, unknown = diff_table(wanted, request.user, request.query_params)
        return answered(
            Diff(
                configs=[config.slug for config in table.configs], unknown=unknown,
                by="meaning" if table.by_meaning else "name", durability=list(table.promises),
                rows=[DiffRow.model_validate(row) for row in table.shown],
            )
        )  # fmt: skip


def _editable(request: Request, slug: str) -> models.Config:
    return describable(request.user, configs.for_pages(configs.readable_configs(request.user)), slug)


def _runs_of(request: Request, rows: Sequence[models.Config]) -> dict[Any, int]:
    return Run.objects.present().listed_for(request.user).filter(config__in=rows).counts_by("config")


def _made(request: Request, given: ConfigGiven) -> models.Config:
    by = cast(User, request.user)
    if given.revises is None:
        return configs.create_config(given.content(), by=by)
    rows = configs.readable_configs(by).filter(slug=given.revises)
    if not rows.exists():
        raise configs.ConfigError({"revises": [f"No configuration {given.revises}."]})
    return configs.revise(_editable(request, given.revises), given.content(), by=by, note=given.reason)


def _with_parameters(request: Request, slug: str) -> Config:
    row = get_object_or_404(configs.for_pages(configs.readable_configs(request.user)), slug=slug)
    return Config.of(
        row, runs=_runs_of(request, [row]).get(row.pk, 0),
        **{name: row.details.get(name) for name in configs.DETAIL_FIELDS},
        includes_missing=row.details.get("includes_missing", []), parameters=configs.parameter_rows(row),
        files=configs.files_of(row),
        meanings=[
            {"label": label, "parameters": item.names, "normalised": item.quantity, "note": item.note}
            for label, item in configs.meanings_of(row)
        ],
        revisions=[item.slug for item in configs.family_of(row, request.user)],
    )  # fmt: skip
