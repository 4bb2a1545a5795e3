"""What configurations say and are told over REST."""

from __future__ import annotations

from typing import Annotated, Any

from benchagent.configfiles import FORMATS
from pydantic import BeforeValidator, Field, StrictBool
from rest_framework import serializers

from runs import configs
from runs.api.serializers import NamedRefSerializer
from runs.configs.reading import MOST_CHARACTERS
from runs.incoming.values import Given, OneOf, Slug, Strict, Text, whole


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
    normalised = QuantitySerializer(source="quantity", allow_null=True)
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
    normalised = QuantitySerializer(source="quantity", allow_null=True)
    note = serializers.CharField()
    absent = serializers.BooleanField(help_text="the engine has no such setting")


class DiffRowSerializer(serializers.Serializer[configs.DiffRow]):
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
