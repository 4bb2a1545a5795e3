"""What a person says about files: on which machine, which DBMS and configuration, which disks; who may see it."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field
from rest_framework.exceptions import ValidationError

from runs.incoming.reading import read
from runs.incoming.values import Day, Given, NewSlug, Prose, Strict, Text
from runs.results.document import Config, Durability, Factors, HardwareOrSlug, UploadStorage, WhoMaySee


class DbmsSubject(Strict):
    """Fills in what the files do not say."""

    name: Annotated[str, Text(200, least=0)] = ""
    version: Annotated[str, Text(120, least=0)] = ""
    architecture: Annotated[str, Text(60, least=0)] = ""


class WorkloadSubject(Strict):
    slug: NewSlug
    name: Given[Annotated[str, Text(200)]] = None


class ImportSubject(Strict):
    """Everything optional: what is missing is told when the import is stored."""

    hardware: Given[HardwareOrSlug] = None
    dbms: Given[DbmsSubject] = None
    workload: Given[WorkloadSubject] = None
    config: Given[Config] = None
    storage: Annotated[list[UploadStorage], Field(max_length=20)] = []
    factors: Factors = {}
    durability: Given[Durability] = None
    measured_on: Given[Day] = None
    visibility: Given[WhoMaySee] = None
    note: Prose = ""
    context: dict[str, Any] = {}
    info: dict[str, Any] = {}
    mapping: Annotated[
        dict[str, dict[str, Any]], Field(description="for CSV: name of the file -> which column is what")
    ] = {}
    leave_out: Annotated[
        list[Annotated[int, Field(ge=0)]], Field(description="`index` of items that are not wanted")
    ] = []


def checked(given: Any, *, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """What was said before with what is said now, as JSON that can be kept. Raises ValidationError naming the field."""
    if not isinstance(given, dict):
        raise ValidationError({"subject": ["An object is required."]})
    said = (before or {}) | given
    read(ImportSubject, said)
    return said


def from_text(text: str) -> Any:
    """A subject that came as a field of a form. Raises ValidationError when it is not JSON."""
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValidationError({"subject": [f"Not JSON: {error}"]}) from error
