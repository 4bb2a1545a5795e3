"""The files of a publication (results.json, article.md, checks.json, page.json), or what is wrong with them."""

from __future__ import annotations

import json
import math
import uuid
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from runs.publications.article import Article, read_article
from runs.publications.check import ChecksFile
from runs.publications.document import Results
from runs.publications.page.page import PageFile

DATA = Path(__file__).parent / "data"
REQUIRED, OPTIONAL = ("results.json",), ("article.md", "checks.json", "page.json")
MAX_FILE_BYTES = 8 * 1024**2
MAX_UNPACKED_BYTES = 2 * MAX_FILE_BYTES
MAX_ZIP_BYTES = 4 * 1024**2
_NAMESPACE = uuid.UUID("c1f0b7a4-7d0e-5e0c-9d3f-6a2b8e4f1c57")
_MOST_FAULTS = 20
_MOST_DIGITS = 18
_MOST_ENTRIES = 20
_ENCRYPTED, _SYMLINK = 0x1, 0o120000
M = TypeVar("M", bound=BaseModel)


class FolderError(ValueError):
    """`faults` name file, field and what is wrong."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True)
class Folder:
    results: Results
    article: Article | None
    page: PageFile
    checks: ChecksFile

    @property
    def slug(self) -> str:
        return self.results.publication.slug

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Folder:
        """Raises FolderError."""
        faults = [f"{name}: missing" for name in REQUIRED if name not in files]
        faults += [f"{name}: not a file of a publication" for name in files if name not in (*REQUIRED, *OPTIONAL)]
        faults += [f"{name}: larger than {MAX_FILE_BYTES} bytes" for name in files if len(files[name]) > MAX_FILE_BYTES]
        if faults:
            raise FolderError(faults)
        results = _validated(Results, "results.json", files)
        page = _validated(PageFile, "page.json", files) if "page.json" in files else PageFile()
        checks = _validated(ChecksFile, "checks.json", files) if "checks.json" in files else ChecksFile()
        article = None
        if "article.md" in files:
            text = _text("article.md", files)
            try:
                article = read_article(text, results.publication.slug, page.figures, page.rerun, page.orders)
            except ValueError as error:
                raise FolderError([f"article.md: {error}"]) from error
        faults = [f"results.json: {fault}" for fault in results.faults()]
        if results.publication.slug == "import":
            faults += ["results.json: publication.slug: import is the address of another page"]
        faults += [f"page.json: {fault}" for fault in page.faults()]
        faults += _loose_ends(results, article, page, checks)
        if faults := faults + [f"checks.json: {fault}" for fault in checks.faults()]:
            raise FolderError(faults[:_MOST_FAULTS])
        return cls(results, article, page, checks)

    @classmethod
    def at(cls, path: Path) -> Folder:
        """Raises FolderError."""
        if not path.is_dir():
            raise FolderError([f"{path}: not a folder"])
        files = [file for file in sorted(path.iterdir()) if not file.name.startswith(".")]
        return cls.of({file.name: file.read_bytes() for file in files})


@lru_cache(maxsize=1)
def own() -> Mapping[str, Folder]:
    """The publications that come with the program, by slug."""
    return {path.name: Folder.at(path) for path in sorted(DATA.iterdir()) if path.is_dir()}


def comes_with_program(slug: str) -> bool:
    return (DATA / slug).is_dir()


def stable_id(kind: str, publication: str, source_id: str) -> uuid.UUID:
    """The same for the same item of the same publication, wherever and whenever it is imported: links survive."""
    return uuid.uuid5(_NAMESPACE, f"{publication}/{kind}/{source_id}")


def _loose_ends(results: Results, article: Article | None, page: PageFile, checks: ChecksFile) -> list[str]:
    """Headlines and answers that name what is not there."""
    numbers = {check.number for check in checks.checks}
    claims, figures = {claim.id for claim in results.claims}, {figure.id for figure in page.figures}
    loose = [
        f"page.json: answer.headlines.{at}: neither a check nor a claim is called {headline.check or headline.claim!r}"
        for at, headline in enumerate(page.answer.headlines)
        if headline.check not in numbers and headline.claim not in claims
    ]
    return loose + [
        f"article.md: the answer {answer.words!r}: {answer.figure} is not one of the figures of page.json"
        for question in (article.questions if article else ())
        for answer in question.answers
        if answer.figure and answer.figure not in figures
    ]


def _text(name: str, files: Mapping[str, bytes]) -> str:
    try:
        text = files[name].decode("utf-8")
    except UnicodeDecodeError as error:
        raise FolderError([f"{name}: not UTF-8 at byte {error.start}"]) from error
    if "\0" in text or "\\u0000" in text:
        raise FolderError([f"{name}: holds a NUL character"])
    return text


def _validated(model: type[M], name: str, files: Mapping[str, bytes]) -> M:
    try:
        data = json.loads(_text(name, files), parse_constant=_refuse, parse_int=_integer, parse_float=_number)
        return model.model_validate(data)
    except ValidationError as error:
        wrong = error.errors()[:_MOST_FAULTS]
        faults = [f"{name}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in wrong]
        raise FolderError(faults) from error
    except FolderError:
        raise
    except RecursionError as error:
        raise FolderError([f"{name}: nested too deep"]) from error
    except ValueError as error:
        raise FolderError([f"{name}: no JSON: {error}"]) from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= _MOST_DIGITS else _refuse(digits[:_MOST_DIGITS] + "…")


def _number(digits: str) -> Any:
    value = float(digits)
    return value if math.isfinite(value) else _refuse(digits)


# A ZIP file from a stranger: its files out of it, or why not. Nothing is written to a disk.


def read_zip(file: IO[bytes], size_bytes: int) -> Folder:
    """The files may lie in one folder of the archive. Raises FolderError."""
    if size_bytes > MAX_ZIP_BYTES:
        raise FolderError([f"the archive is larger than {MAX_ZIP_BYTES} bytes"])
    try:
        with zipfile.ZipFile(file) as archive:
            folder = Folder.of(_files(archive))
    # zipfile raises NotImplementedError for a compression that it does not know.
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, OSError) as error:
        if isinstance(error, FolderError):
            raise
        raise FolderError([f"no ZIP file that can be read: {error}"]) from error
    if comes_with_program(folder.slug):
        raise FolderError([f"results.json: publication.slug: {folder.slug} comes with the program"])
    return folder


def _files(archive: zipfile.ZipFile) -> dict[str, bytes]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > _MOST_ENTRIES:
        raise FolderError([f"the archive holds more than {_MOST_ENTRIES} files"])
    tops = {PurePosixPath(entry.filename).parts[:-1] for entry in entries}
    faults = [fault for entry in entries if (fault := _fault(entry))]
    names = [PurePosixPath(entry.filename).name for entry in entries]
    faults += [f"{name}: stands twice" for name in sorted(set(names)) if names.count(name) > 1]
    if not faults and len(tops) > 1:
        faults = ["the files lie in several folders: results.json and the others belong beside each other"]
    if faults:
        raise FolderError(faults)
    left, files = MAX_UNPACKED_BYTES, {}
    for name, entry in zip(names, entries, strict=True):
        files[name] = _unpacked(archive, entry, min(left, MAX_FILE_BYTES))
        left -= len(files[name])
    return files


def _fault(entry: zipfile.ZipInfo) -> str:
    path = PurePosixPath(entry.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or len(path.parts) > 2:
        return f"{entry.filename}: not a place for a file of a publication"
    if entry.flag_bits & _ENCRYPTED:
        return f"{entry.filename}: encrypted"
    if (entry.external_attr >> 16) & 0o170000 == _SYMLINK:
        return f"{entry.filename}: a link"
    return "" if path.name in (*REQUIRED, *OPTIONAL) else f"{entry.filename}: not a file of a publication"


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most_bytes: int) -> bytes:
    """What an entry says of its own size is not believed."""
    with archive.open(entry) as stream:
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise FolderError([f"{entry.filename}: more than {most_bytes} bytes when unpacked"])
    return content
