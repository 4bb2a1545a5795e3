"""The form of a configuration: one or several files, pasted or chosen, kept over the preview."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from benchagent.configfiles import FORMATS, parse, redacted
from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from runs.access.rules import nameable
from runs.configs.creating import DETAIL_FIELDS, EDITABLE, NAMES, Content
from runs.configs.facts import FORCED_WRITES, PAGE_SIZE
from runs.configs.reading import MOST_CHARACTERS, MOST_FILES, FileText, Understood, understand
from runs.machines.forms import SizeField
from runs.models import Config, Dbms, DbmsVersion
from runs.models.visible import Reader

FORMAT_CHOICES = [("", "by its content"), *((kind.name, kind.label) for kind in FORMATS.values())]
ON_OFF = [("", "not known"), ("on", "on"), ("off", "off")]
PASTED = "pasted"
MOST_VERSIONS = 500


class FactsForm(forms.Form):
    """-> `facts()`: name, note and what is known of the database, which are no part of the files."""

    name = forms.CharField(label="Name", max_length=200)
    page_size_bytes = SizeField(
        label="Page size of the database", required=False,
        help_text="16 KiB; where buffers are counted in pages and the file does not say it",
    )  # fmt: skip
    forced_writes = forms.TypedChoiceField(
        label="Forced writes of the database", required=False, choices=ON_OFF, help_text="Firebird: gstat -h",
        coerce=lambda text: text == "on", empty_value=None,
    )  # fmt: skip
    versions = forms.MultipleChoiceField(label="Written for", required=False, help_text="decides about defaults")
    note = forms.CharField(label="Note", required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, *args: Any, versions: Iterable[DbmsVersion], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["versions"].choices = [  # type: ignore[attr-defined]
            (version.slug, version.name) for version in versions
        ]

    def facts(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in EDITABLE}


class ConfigForm(FactsForm):
    """-> `content(files)`."""

    pasted = forms.CharField(
        label="Paste a file", required=False, max_length=MOST_CHARACTERS, strip=False,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "autocapitalize": "off"}),
        help_text="postgresql.conf, my.cnf, firebird.conf, cubrid.conf, derby.properties, init.ora",
    )  # fmt: skip
    pasted_name = forms.CharField(label="Its name", required=False, max_length=200, help_text="as my.cnf")
    dbms = forms.ChoiceField(label="DBMS", required=False, help_text="needed only where the files do not tell")
    name = forms.CharField(label="Name", required=False, max_length=200, help_text="made from the files when empty")
    field_order = ("pasted", "pasted_name", "dbms", "versions", "name", "page_size_bytes", "forced_writes", "note")

    def __init__(self, *args: Any, user: Reader, **kwargs: Any) -> None:
        versions = nameable(DbmsVersion.objects.all(), user).order_by("name")[:MOST_VERSIONS]
        super().__init__(*args, versions=versions, **kwargs)
        rows = nameable(Dbms.objects.all(), user).values_list("slug", "name")
        names = NAMES | dict(rows)
        self.fields["dbms"].choices = [  # type: ignore[attr-defined]
            ("", "as the files say"), *sorted(names.items(), key=lambda pair: pair[1].lower())
        ]  # fmt: skip

    def content(self, files: list[FileText]) -> Content:
        facts = self.facts()
        details = {name: value for name in DETAIL_FIELDS if (value := facts.pop(name)) is not None}
        return Content(files=files, dbms=self.cleaned_data["dbms"], details=details, **facts)


class ReasonForm(ConfigForm):
    """The form of a revision."""

    reason = forms.CharField(label="What changed", required=False, max_length=2_000, help_text="kept with the revision")


def initial_of(config: Config) -> dict[str, Any]:
    forced = config.details.get(FORCED_WRITES)
    return {
        "name": config.name,
        "note": config.note,
        "versions": [version.slug for version in config.applies_to.all()],
        "page_size_bytes": config.details.get(PAGE_SIZE),
        "forced_writes": "" if forced is None else "on" if forced else "off",
    }


def given_files(request: HttpRequest) -> tuple[list[FileText], list[str]]:
    """The files of a request, kept ones first, and what could not be read.

    Browsers send a pasted text with CRLF line ends: it is taken with LF.
    """
    files, problems = _kept(request)
    for upload in request.FILES.getlist("files")[:MOST_FILES]:
        text, problem = _text(upload)
        if problem:
            problems.append(problem)
        else:
            files.append(FileText(upload.name or "file", text))
    pasted = request.POST.get("pasted", "")
    if pasted.strip():
        name = request.POST.get("pasted_name", "").strip()[:200] or PASTED
        files.append(FileText(name, _plain(pasted).removesuffix("\n") + "\n"))
    return files, problems


def _kept(request: HttpRequest) -> tuple[list[FileText], list[str]]:
    """Files of the step before as they are now: edited, with the formats chosen since, without those left out."""
    left_out = set(request.POST.getlist("left_out"))
    formats, names, edits = (request.POST.getlist(name) for name in ("format", "file_name", "text"))
    files = []
    kept = request.POST.getlist("kept")[:MOST_FILES]
    for index, (sent, format, new_name, edit) in enumerate(zip_longest(kept, formats, names, edits)):
        if sent is None:
            break
        try:
            name, text = json.loads(base64.b64decode(sent, validate=True))
        except (ValueError, binascii.Error):
            return [], ["A file got lost on the way: choose it again."]
        if str(index) not in left_out and isinstance(name, str) and isinstance(text, str):
            name = (new_name or name).strip() or name
            files.append(FileText(name[:200], text if edit is None else _edited(text, edit), format or ""))
    return files, []


def _edited(text: str, edit: str) -> str:
    """What was typed, with the file's own line ends; byte for byte the file where nothing was typed."""
    typed = _plain(edit)
    if typed == _plain(text):
        return text
    return typed.replace("\n", "\r\n") if text.count("\r\n") * 2 > text.count("\n") else typed


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _text(upload: UploadedFile) -> tuple[str, str]:  # type: ignore[type-arg]  # cannot be subscripted when it runs
    data = upload.read(MOST_CHARACTERS * 4 + 1)
    name = upload.name or "file"
    if len(data) > MOST_CHARACTERS * 4:
        return "", f"{name}: larger than {MOST_CHARACTERS:,} characters."
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return "", f"{name}: not text in UTF-8. Save it as UTF-8, so that it can be kept as it is."


def labelled(errors: dict[str, list[str]], files: list[FileText]) -> list[tuple[str, str]]:
    """(label, message): a file by its name instead of its number."""
    lines = []
    for field, messages in errors.items():
        match = re.match(r"files\[(\d+)\]", field)
        index = int(match[1]) if match else len(files)
        label = files[index].name if index < len(files) else "" if field == "files" else field
        lines += [(label, message) for message in messages]
    return lines


def preview(files: list[FileText], dbms: str) -> tuple[Understood, list[dict[str, Any]]]:
    """What was understood, and each file with what the form needs to keep it, byte for byte but for its secrets."""
    understood = understand(files, dbms)
    rows = []
    for index, (read, given) in enumerate(zip(understood.files, files, strict=False)):
        text = read.text if read.parsed else redacted(parse(given.text, "plain")).render()
        own = [messages for field, messages in understood.errors.items() if field.startswith(f"files[{index}].")]
        packed = base64.b64encode(json.dumps([given.name, text]).encode()).decode()
        rows.append(
            {
                "file": read, "packed": packed, "text": text, "format": given.format,
                "errors": [message for messages in own for message in messages],
            }
        )  # fmt: skip
    return understood, rows
