"""What files of a configuration say: recognised, parsed, without secrets. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchagent import configfiles
from benchagent.configfiles import FORMATS, LineKind, ParsedFile
from benchagent.configfiles.engines import ENGINES
from benchagent.configfiles.meaning import unread_values
from benchagent.configfiles.settings import Given
from rest_framework.exceptions import ValidationError

MOST_FILES = 50
MOST_CHARACTERS = 1_000_000
MOST_LINES = 20_000
MOST_PARAMETERS = 5_000
# Engines that read the file of another one.
READERS = {
    "postgresql": ("postgresql",), "my_cnf": ("mysql", "mariadb"), "firebird": ("firebird", "interbase", "yaffil"),
    "cubrid": ("cubrid",), "derby": ("derby",), "init_ora": ("oracle",),
}  # fmt: skip


class ConfigError(ValidationError):
    """What is wrong, by field: `files[0].format`, `dbms`, `name`."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__(errors)
        self.errors = errors


@dataclass(frozen=True)
class FileText:
    """A file as given. `format` empty: recognise it by its content."""

    name: str
    text: str
    format: str = ""


@dataclass(frozen=True)
class UnderstoodFile:
    """`parsed` has lost its secrets; None where the format is not known."""

    name: str
    format: str
    recognised: bool
    parsed: ParsedFile | None

    @property
    def label(self) -> str:
        return FORMATS[self.format].label if self.format else ""

    @property
    def text(self) -> str:
        """Without its secrets; empty where the format is not known."""
        return self.parsed.render() if self.parsed else ""

    def count(self, kind: str) -> int:
        return sum(line.kind == kind for line in self.parsed.lines) if self.parsed else 0

    @property
    def parameters(self) -> int:
        return len(self.parsed.entries) if self.parsed else 0

    @property
    def not_understood(self) -> list[tuple[int, str, str]]:
        """Line number, its text, and why."""
        lines = self.parsed.lines if self.parsed else ()
        return [
            (line.number, line.text.strip(), line.problem) for line in lines if line.kind == LineKind.NOT_UNDERSTOOD
        ]

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line numbers, and what is odd there."""
        if self.parsed is None:
            return []
        odd = {number for number, _, _ in self.not_understood}
        problems = [(number, why) for number, why in self.parsed.problems if number not in odd]
        for entry in self.parsed.entries:
            given = [Given(entry.name, entry.given, entry.section)]
            problems += [(entry.line, why) for why in unread_values(FORMATS[self.format].dbms, given)]
        return sorted(problems)


@dataclass(frozen=True)
class Understood:
    """`errors` by field; a configuration can be stored when there are none."""

    files: tuple[UnderstoodFile, ...]
    dbms: str
    errors: dict[str, list[str]]

    @property
    def includes(self) -> list[str]:
        """Files that are included and are not here: what is missing may be set there."""
        here = {file.name.rsplit("/", 1)[-1] for file in self.files}
        wanted = [target for file in self.files if file.parsed for target in file.parsed.includes]
        return [target for target in wanted if target.rstrip("/").rsplit("/", 1)[-1] not in here]


def understand(files: Sequence[FileText], dbms: str = "") -> Understood:
    """Read files. `dbms`: slug of the DBMS, or empty where the format tells it."""
    errors = _refusals(files)
    read: list[UnderstoodFile] = []
    for index, file in enumerate(() if errors else files):
        # Where its content tells nothing, the DBMS that was chosen says what it must be.
        format = file.format or configfiles.recognise(file.text) or (configfiles.format_of(dbms) if dbms else "")
        parsed = configfiles.redacted(configfiles.parse(file.text, format)) if format else None
        read.append(UnderstoodFile(file.name.strip(), format, not file.format and bool(format), parsed))
        readers = READERS.get(format, ())
        if parsed is None:
            errors[f"files[{index}].format"] = ["What format it has cannot be told from its content. Choose one."]
        elif dbms in ENGINES and readers and dbms not in readers:
            errors[f"files[{index}].format"] = [f"{FORMATS[format].label} is no file of {dbms}."]
    of_formats = {FORMATS[file.format].dbms for file in read if file.format and FORMATS[file.format].dbms}
    wanted = dbms or (of_formats.pop() if len(of_formats) == 1 else "")
    if not dbms and len({READERS[file.format] for file in read if file.format in READERS}) > 1:
        errors["dbms"] = ["The files are of different DBMSs: make one configuration of each."]
    elif not wanted and not errors:
        errors["dbms"] = ["Which DBMS this is for cannot be told from the files. Choose one."]
    if sum(file.parameters for file in read) > MOST_PARAMETERS:
        errors["files"] = [f"More than {MOST_PARAMETERS:,} parameters."]
    return Understood(tuple(read), wanted, errors)


def _refusals(files: Sequence[FileText]) -> dict[str, list[str]]:
    if not files:
        return {"files": ["Give a file, or paste one."]}
    if len(files) > MOST_FILES:
        return {"files": [f"At most {MOST_FILES} files."]}
    errors: dict[str, list[str]] = {}
    for index, file in enumerate(files):
        field = f"files[{index}]"
        if not file.name.strip() or len(file.name) > 200 or not _storable(file.name):
            errors[f"{field}.name"] = ["A name of 1 to 200 characters is required."]
        if len(file.text) > MOST_CHARACTERS:
            errors[f"{field}.text"] = [f"At most {MOST_CHARACTERS:,} characters are allowed."]
        elif file.text.count("\n") > MOST_LINES:
            errors[f"{field}.text"] = [f"At most {MOST_LINES:,} lines are allowed."]
        elif not _storable(file.text):
            errors[f"{field}.text"] = ["Not text: it contains NUL characters, or halves of characters."]
        if file.format and file.format not in FORMATS:
            errors[f"{field}.format"] = [f"No such format. Known: {', '.join(FORMATS)}."]
    return errors


def _storable(text: str) -> bool:
    """A database refuses NUL and lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text
