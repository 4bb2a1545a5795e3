"""The files of a publication (results.json, article.md, checks.json, page.json), or what is wrong with them."""

from __future__ import annotations

import io
import uuid
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, TypeVar

from pydantic import BaseModel, ValidationError

from runs.incoming.reading import messages, parse_json, unstorable
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
_MOST_ENTRIES = 20
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
    files: Mapping[str, bytes]

    @property
    def slug(self) -> str:
        return self.results.publication.slug

    def zipped(self) -> bytes:
        """A ZIP file that `read_zip` takes."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in self.files.items():
                file.writestr(name, content)
        return archive.getvalue()

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Folder:
        """Raises FolderError."""
        faults = [f"{name}: missing" for name in REQUIRED if name not in files]
        faults += [f"{name}: not a file of a publication" for name in files if name not in (*REQUIRED, *OPTIONAL)]
        faults += [f"{name}: larger than {MAX_FILE_BYTES} bytes" for name in files if len(files[name]) > MAX_FILE_BYTES]
        if faults:
            raise FolderError(faults)
        results = _validated(Results, "results.json", files)
        page, checks = _validated(PageFile, "page.json", files), _validated(ChecksFile, "checks.json", files)
        article = None
        if "article.md" in files:
            try:
                text = _text(files["article.md"])
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
        return cls(results, article, page, checks, files)

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
        f"page.json: answer.headlines[{at}]: neither a check nor a claim is called {headline.check or headline.claim!r}"
        for at, headline in enumerate(page.answer.headlines)
        if headline.check not in numbers and headline.claim not in claims
    ]
    return loose + [
        f"article.md: the answer {answer.words!r}: {answer.figure} is not one of the figures of page.json"
        for question in (article.questions if article else ())
        for answer in question.answers
        if answer.figure and answer.figure not in figures
    ]


def _text(content: bytes) -> str:
    """Raises ValueError."""
    text = content.decode()
    if wrong := unstorable(text):
        raise ValueError(*wrong["detail"])
    return text


def _validated(model: type[M], name: str, files: Mapping[str, bytes]) -> M:
    try:
        data = parse_json(files.get(name, b"{}"))
    except ValueError as error:
        raise FolderError([f"{name}: no JSON: {error}"]) from error
    if wrong := unstorable(data):
        raise FolderError([f"{name}: {path} {words[0]}" for path, words in wrong.items()])
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults = [f"{name}: {path}: {words[0]}" for path, words in messages(error, model).items()]
        raise FolderError(faults[:_MOST_FAULTS]) from error


def read_zip(file: IO[bytes], size_bytes: int) -> Folder:
    """Nothing is written to a disk, so folders of the archive mean nothing. Raises FolderError."""
    if size_bytes > MAX_ZIP_BYTES:
        raise FolderError([f"the archive is larger than {MAX_ZIP_BYTES} bytes"])
    try:
        with zipfile.ZipFile(file) as archive:
            folder = Folder.of(_files(archive))
    except FolderError:
        raise
    # Among these: a compression that zipfile does not know, an encrypted file.
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, OSError) as error:
        raise FolderError([f"no ZIP file that can be read: {error}"]) from error
    if comes_with_program(folder.slug):
        raise FolderError([f"results.json: publication.slug: {folder.slug} comes with the program"])
    return folder


def _files(archive: zipfile.ZipFile) -> dict[str, bytes]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > _MOST_ENTRIES:
        raise FolderError([f"the archive holds more than {_MOST_ENTRIES} files"])
    left, files = MAX_UNPACKED_BYTES, dict[str, bytes]()
    for entry in entries:
        name, most_bytes = PurePosixPath(entry.filename).name, min(left, MAX_FILE_BYTES)
        if name in files:
            raise FolderError([f"{name}: stands twice"])
        with archive.open(entry) as stream:  # what an entry says of its own size is not believed
            files[name] = stream.read(most_bytes + 1)
        if len(files[name]) > most_bytes:
            raise FolderError([f"{name}: more than {most_bytes} bytes when unpacked"])
        left -= len(files[name])
    return files
