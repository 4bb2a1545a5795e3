"""What configurations say and are told over REST."""

from __future__ import annotations

from typing import Any

from benchagent.configfiles import FORMATS
from rest_framework import serializers

from runs import configs
from runs.api.serializers import NamedRefSerializer
from runs.configs.reading import MOST_CHARACTERS
from runs.results.fields import StrictSerializer

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
