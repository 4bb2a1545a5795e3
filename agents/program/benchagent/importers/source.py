"""What an importer takes: a file, its text, the numbers and the JSON in it, and its lines as the tool printed them."""

from __future__ import annotations

import codecs
import itertools
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar
from xml.etree import ElementTree

Made = TypeVar("Made")
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
GZIP_MAGIC = b"\x1f\x8b"
# How archives begin.
_ARCHIVES = {
    b"PK\x03\x04": "ZIP", b"7z\xbc\xaf": "7z", b"Rar!": "RAR", b"\xfd7zXZ": "xz", b"BZh": "bzip2",
    b"(\xb5/\xfd": "zstd",
}  # fmt: skip
_TAR_AT = 257
PIECE_BYTES = 64 * 1024
# Larger files are read piece by piece by the importers that can (`Streaming`).
STREAMED_BYTES = 2 * 1024 * 1024
# bgzip makes one of every 64 kB.
MAX_MEMBERS = 2000
# No file with lines has a longer one.
MAX_UNBROKEN_BYTES = 1024 * 1024
_CONTROL_BYTES = bytes(code for code in range(0x20) if code not in b"\b\t\n\f\r\x1b")
_GOES_ON = re.compile(r"^[^\n]*\\\n(?:[^\n]*\\\n){0,78}[^\n]*", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class NotUnderstood(ValueError):
    """Raised by an importer that claimed a file and then cannot trust it; the text says what and where."""


@dataclass(frozen=True)
class SourceFile:
    """A file as it came. `name` is never used to recognise a tool, only to say what belongs together."""

    name: str
    held: bytes = b""
    # Instead of what is held, of a large file that is not held: its pieces, read anew for each who asks, and its size.
    unheld: Callable[[], Iterator[bytes]] | None = None
    unheld_bytes: int = 0
    # Warnings of each of its reports.
    remarks: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @staticmethod
    def of(name: str, path: Path) -> SourceFile:
        """A file on a disk; a large one is not held in memory before somebody asks for all of its content."""
        size = path.stat().st_size
        if size <= STREAMED_BYTES:
            return SourceFile(name, path.read_bytes())
        return SourceFile(name, unheld=lambda: _pieces_of(path), unheld_bytes=size)

    @property
    def size_bytes(self) -> int:
        """As it came, packed or not."""
        return self.unheld_bytes or len(self.held)

    @property
    def data(self) -> bytes:
        """All of the content as it came."""
        return b"".join(self.packed_pieces())

    def packed_pieces(self) -> Iterator[bytes]:
        begins = range(0, len(self.held), PIECE_BYTES)
        return self.unheld() if self.unheld else (self.held[at : at + PIECE_BYTES] for at in begins)

    @cached_property
    def is_packed(self) -> bool:
        return next(self.packed_pieces(), b"").startswith(GZIP_MAGIC)

    def pieces(self) -> Iterator[bytes]:
        """The content, unzipped where it is gzip, piece by piece."""
        yield from unpacked_pieces(self.packed_pieces()) if self.is_packed else self.packed_pieces()

    def utf_8_pieces(self) -> Iterator[bytes]:
        """The same, as UTF-8 where it is UTF-16."""
        pieces = self.pieces()
        first = next(pieces, b"")
        pieces, encoding = itertools.chain([first], pieces), _utf_16(first)
        try:
            yield from map(str.encode, codecs.iterdecode(pieces, encoding)) if encoding else pieces
        except UnicodeDecodeError as error:
            raise NotUnderstood("not text: broken UTF-16") from error

    @cached_property
    def is_large(self) -> bool:
        """Once it is unpacked. Raises NotUnderstood for what is broken before that shows."""
        if self.size_bytes > STREAMED_BYTES:
            return True
        return any(size > STREAMED_BYTES for size in itertools.accumulate(map(len, self.pieces())))

    @cached_property
    def head(self) -> SourceFile:
        """Whole lines of its beginning (of one line, its beginning); a small one whole. By it a file is recognised."""
        if self.size_bytes < PIECE_BYTES and not self.is_packed:
            return self
        start = bytearray()
        for piece in self.utf_8_pieces():
            start += piece[: PIECE_BYTES - len(start)]
            if len(start) >= PIECE_BYTES:
                return SourceFile(self.name, bytes(start[: start.rfind(b"\n") + 1] or start))
        return SourceFile(self.name, bytes(start))

    def texts(self) -> Iterator[str]:
        """The text in pieces of whole lines, as `text` has it; of a large file no more than two of them are held."""
        read = 0
        for text in self._pieces_of_text():
            self._made["read bytes"] = read
            yield text
            read += len(text)
        self._made["read bytes"] = read

    @property
    def read_bytes(self) -> int:
        """How much of the content, unpacked, whoever reads its lines has behind them, in whole pieces."""
        return int(self._made.get("read bytes", 0))

    def _pieces_of_text(self) -> Iterator[str]:
        if "text" in self.__dict__ or not self.is_large:
            begin = 0
            while begin < len(self.text):
                end = self.text.find("\n", begin + PIECE_BYTES) + 1 or len(self.text)
                yield self.text[begin:end]
                begin = end
            return
        before: str | None = None
        rest = b""
        for piece in self.utf_8_pieces():
            rest += piece
            if end := max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, -1) if b"\n" not in rest else -1) + 1:
                block, rest = _plain_text(rest[:end]), rest[end:]
                if before is None:
                    block = self._without_front(block.lstrip("\ufeff"))
                else:
                    yield before
                before = block
            elif len(rest) > MAX_UNBROKEN_BYTES:
                raise NotUnderstood("a line longer than any that a tool prints")
        yield _without_prompts((before or "") + _plain_text(rest))

    def streamed(self) -> Iterator[tuple[int, str, bool]]:
        """Number, text and whether it is whole (`Line`) of every line."""
        number = 0
        for piece in self.texts():
            text = _GOES_ON.sub(_joined, piece) if "\\\n" in piece else piece
            number = number or self.lines_in_front
            *lines, rest = text.split("\n")
            for line in lines:
                number += 1
                yield number, line, True
            if rest:
                yield number + 1, rest, False

    def once(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """What is worked out of the content, once for all who ask for it."""
        if what not in self._made:
            self._made[what] = make()
        made: Made = self._made[what]
        return made

    def shows(self, marks: re.Pattern[str], words: Collection[str] = ()) -> bool:
        """Whether they stand in the text, which is searched once for all who ask.

        `words`: one of them stands wherever the marks do, which is found much faster than the marks.
        """
        # It is known by its text: the hash of an expression is worked out anew each time.
        if marks.pattern not in self._made:
            there = not words or any(map(self.text.__contains__, words))
            self._made[marks.pattern] = there and marks.search(self.text) is not None
        return bool(self._made[marks.pattern])

    @cached_property
    def text(self) -> str:
        r"""The content as text with `\n` line ends, without what copying brings along: colours, prompts round it.

        Raises NotUnderstood for what is not text.
        """
        content = bytearray()
        for piece in self.utf_8_pieces():
            content += piece
            if self.is_packed and len(content) > MAX_UNPACKED_BYTES:
                raise NotUnderstood("the gzip file is larger than 256 MB unpacked")
        # A file that was saved once more may have its mark twice.
        return self._without_front(_without_prompts(_plain_text(content).lstrip("\ufeff")))

    def _without_front(self, text: str) -> str:
        """Without a prompt that was copied in front of a document or a table; reports keep it: it says the command."""
        begin = blank = 0
        while (end := text.find("\n", begin)) >= 0 and _COMMAND.fullmatch(text, begin, end):
            blank = end + 1 if blank == begin and not text[begin:end].strip() else blank
            begin = end + 1
        front = begin if _DATA.match(text, begin) else blank
        self._made["lines in front"] = text.count("\n", 0, front)
        return text[front:]

    @property
    def lines_in_front(self) -> int:
        """How many lines were left out before the first; known once one is read."""
        return int(self._made.get("lines in front", 0))

    @property
    def lines(self) -> Iterator[str]:
        """Lines without their ends; no more of them than a piece are there at a time."""
        for text in self.texts():
            yield from text.removesuffix("\n").split("\n")

    @cached_property
    def heading(self) -> str:
        """The first line."""
        return next(self.lines, "")


def _pieces_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


def _plain_text(data: bytes | bytearray) -> str:
    r"""A piece of a file as text with `\n` line ends. Raises NotUnderstood for what is not text."""
    if len(data.translate(None, _CONTROL_BYTES)) < len(data) and b"\x1b" not in data:
        raise _not_text(data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    # What a terminal shows: without colours, titles of windows and what was typed and taken back.
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
        if _CONTROLS.search(text):
            raise _not_text(data)
    if "\b" in text:
        text = "\n".join(reduce(lambda shown, typed: shown[:-1] + typed, line.split("\b")) for line in text.split("\n"))
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _not_text(data: bytes | bytearray) -> NotUnderstood:
    """Of an archive what to do with it: only gzip is unpacked here."""
    tar = data[_TAR_AT : _TAR_AT + 5] == b"ustar"
    kind = "tar" if tar else next((name for magic, name in _ARCHIVES.items() if data.startswith(magic)), "")
    if kind == "ZIP" and any(part in data for part in (b"xl/", b"[Content_Types].xml")):
        return NotUnderstood("a spreadsheet; send the table of each of its sheets, saved as CSV")
    if kind:
        return NotUnderstood(f"a {kind} archive; send the files in it: unpack it, and choose all of them together")
    return NotUnderstood("not text: it contains control characters")


def _utf_16(data: bytes) -> str:
    """How a file of UTF-16 is to be decoded, with the mark of its bytes' order or without; empty where it is none."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    # One byte of two is 0 in an ASCII character.
    start = data[:1000]
    first, second = (start[at::2].count(0) for at in (0, 1))
    if max(first, second) < 0.15 * len(start) or max(first, second) < 2 * min(first, second):
        return ""
    return "utf-16-le" if second > first else "utf-16-be"


def _without_prompts(text: str) -> str:
    """Without prompts and empty lines behind the last line, which is whole where one follows."""
    if "\nScript done" in text[-400:]:
        text = _RECORDED.sub("\n", text)
    end = len(text)
    while (begin := text.rfind("\n", 0, end)) >= 0 and _PROMPT.fullmatch(text, begin + 1, end):
        end = begin
    return text if end == len(text) else text[: end + 1]


def _joined(lines: re.Match[str]) -> str:
    """A command line that goes on after a backslash as one line, and as many empty ones behind it."""
    first, *others = lines[0].split("\\\n")
    parts = [first.rstrip(), *(other.strip().removeprefix("> ").lstrip() for other in others)]
    return " ".join(parts) + "\n" * len(others)


def once(work: Callable[[SourceFile], Made]) -> Callable[[SourceFile], Made]:
    """What a function works out of a file is worked out once for all who ask for it."""

    def kept(file: SourceFile) -> Made:
        return file.once(work, lambda: work(file))

    return kept


def shown_by(marks: re.Pattern[str], words: Collection[str]) -> Callable[[SourceFile], bool]:
    """How a tool is recognised that needs no more than its marks (`shows`)."""
    return lambda file: file.shows(marks, words)


def unpacked_pieces(packed: Iterable[bytes]) -> Iterator[bytes]:
    """The content of a gzip file, of all its members, in pieces of at most 64 kB: a bomb is noticed, not unpacked.

    Raises NotUnderstood for what is broken or cut, or is followed by something else.
    """
    stream, members = zlib.decompressobj(wbits=31), 1
    for piece in packed:
        rest = piece
        while rest:
            if stream.eof:
                rest = rest.lstrip(b"\x00")  # tapes fill their last block
                if not rest:
                    break
                stream, members = zlib.decompressobj(wbits=31), members + 1
                if members > MAX_MEMBERS:
                    raise NotUnderstood(f"more than {MAX_MEMBERS:,} gzip files in one")
            try:
                yield stream.decompress(rest, PIECE_BYTES)
            except zlib.error as error:
                words = "broken gzip" if members == 1 else "something follows the gzip data"
                raise NotUnderstood(f"{words}: {error}") from error
            rest = stream.unconsumed_tail or stream.unused_data
    if not stream.eof:
        raise NotUnderstood("the gzip file is cut")


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def number(text: str) -> float:
    """A plain decimal number with a point. Raises NotUnderstood for anything else: a comma may mean two things."""
    text = text.strip()
    if not is_number(text):
        raise NotUnderstood(f"not a plain number: {text[:40]!r}")
    value = float(text)
    if not math.isfinite(value):
        raise NotUnderstood(f"not a finite number: {text[:40]!r}")
    return value


def whole(text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise NotUnderstood(f"not a whole number: {text[:40]!r}")
    return int(text)


def size_bytes_of(text: str) -> int | None:
    """`8k`, `4KiB`, `1m`, as storage tools mean it: 1024, also for kb."""
    match = re.fullmatch(r"(\d{1,15})(?:\.0)?\s*([kmgt]?)(i?b?)", text.strip().lower())
    return int(match[1]) * int(1024 ** " kmgt".index(match[2] or " ")) if match else None


_IN_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "": 1.0}
_SPAN = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*(ms|us|µs|ns|[dhms]|(?![\d.\w]))\s*")


def seconds_of(text: str) -> float | None:
    """`90`, `1.5 h`, `424.77ms`, `1m24.17s`; None for what is no time."""
    text = text.strip().lower()
    if not text or _SPAN.sub("", text):
        return None
    return sum(float(count) * _IN_SECONDS[unit] for count, unit in _SPAN.findall(text))


def slug(text: str, joint: str = "_", longest: int = 100) -> str:
    """In small letters and digits: "Stock-Level (new)" -> "stock_level_new"."""
    return re.sub(r"[^a-z0-9]+", joint, text.lower()).strip(joint)[:longest]


BEGINS_JSON = r"[{\[]\s*[{\[\"}]"


def named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object. Raises NotUnderstood for a name that is there twice: a line is doubled."""
    content = dict(pairs)
    if len(content) != len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise NotUnderstood(f"the JSON says {key[:40]!r} twice")
    return content


# What C prints of 0 / 0 and of 1 / 0, and what JSON calls it in as many characters.
_C_NAN = re.compile(r"(?<=[:,\[\s])[+-]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])", re.IGNORECASE)
_DECODER = json.JSONDecoder(object_pairs_hook=named_once)
_NO_GAP = re.compile(r"[^\s,]")


def decoded(text: str, start: int = 0, by: json.JSONDecoder = _DECODER) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends. Raises NotUnderstood."""
    try:
        return by.raw_decode(text, start)
    except NotUnderstood:
        raise
    except ValueError as error:
        if (plain := _C_NAN.sub(lambda nan: "NaN".ljust(len(nan[0])), text)) != text:
            return decoded(plain, start, by)
        raise NotUnderstood(f"broken JSON: {error}") from error
    except RecursionError as error:
        raise NotUnderstood("JSON nested too deep") from error


def documents(text: str, by: json.JSONDecoder = _DECODER) -> Iterator[Any]:
    """The values that stand in a text one behind the other. Raises NotUnderstood."""
    at = 0
    while begins := _NO_GAP.search(text, at):
        value, at = decoded(text, begins.start(), by)
        yield value


def json_of(text: str) -> Any:
    """The one value that a text is. Raises NotUnderstood where something follows it."""
    stripped = text.strip()
    value, end = decoded(stripped)
    if end < len(stripped):
        line = text[: text.index(stripped) + end].count("\n") + 1
        raise NotUnderstood(f"line {line}: something follows the JSON")
    return value


def json_with(file: SourceFile, mark: re.Pattern[str]) -> Any:
    """The JSON object that a file is, where the mark stands in it; None of another file. Raises NotUnderstood."""
    if not file.text.lstrip().startswith("{") or not file.shows(mark):
        return None
    return file.once(json_of, lambda: json_of(file.text))


def object_in(content: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Empty where there is none."""
    value = content.get(key)
    return value if isinstance(value, dict) else {}


def xml_text(text: str) -> str:
    """Raises NotUnderstood for a document type, which no result has: it could make much of little."""
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise NotUnderstood("XML with a document type or entities")
    return text.strip()


def xml_of(text: str) -> ElementTree.Element:
    """The root of an XML document. Raises NotUnderstood."""
    try:
        return ElementTree.fromstring(xml_text(text))  # noqa: S314  # without document type and entities
    except NotUnderstood:
        raise
    except (ElementTree.ParseError, ValueError) as error:
        raise NotUnderstood(f"broken XML: {error}") from error


def number_in(content: Mapping[str, Any], key: str) -> float | None:
    """None where it is missing, null, or had nothing to be divided by. Raises NotUnderstood for what is no number."""
    value = content.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotUnderstood(f"{key!r} is no number: {value!r:.40}")
    return float(value) if math.isfinite(value) else None


# Lines as the tool printed them.

# No tool prints a longer line; what is longer is data of something else.
MAX_LINE = 16_000
_CONTROLS = re.compile(r"[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f]")
_ESCAPES = re.compile(
    r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b[\]_][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b[=>78]|\x07"
)
# What is copied with the end of an output: `root@db1:~# `, `[bench@db1 ~]$`, `mysql> `, `PS C:\\Users>`.
_PROMPT = re.compile(
    r"\s*|\[?[\w.-]{1,64}@[\w.-]{1,64}[^\n]{0,80}[#$%>] ?|(?:[\w.-]{1,20}|PS [^\n]{1,80})?[#$%>]{1,3} ?|❯ ?"
)
_COMMAND = re.compile(
    r"\s*|Script started[ ,][^\n]*|\[?[\w.-]{1,64}@[\w.-]{1,64}[^\n]{0,80}[#$%>] [^\n]*|(?:PS [^\n>]{1,80})?[$>] [^\n]*"
)
_RECORDED = re.compile(r"(?:\n[^\n]{0,160}[#$%>] ?(?:exit|logout)\s*)?\nScript done[ ,][^\n]*\s*\Z")
_DATA = re.compile(
    r"\{|\[\s*[{\[\"]|<[?a-zA-Z]|\"?[\w ()%/#.-]{1,80}\"?[,;\t](?! )[^\n]*\n"
    r"|(?:[\w()%/ .-]{1,40}, ){5}[^\n]*\n\d|\d+,? \d+,? "
)
_COMMENT = re.compile(r"(?<=.)(?:[ \t]#|\t--| (?:--|//|<--?|←) )")


class Line(NamedTuple):
    number: int
    text: str
    # False for a last line without line end: it may be cut.
    whole: bool = True


class Lines:
    """The lines of a file as they stand there, without a last one that may be cut unless it is asked for.

    What is raised within `with` while a line is read gets the line's number in front.
    """

    def __init__(self, file: SourceFile, *, with_cut: bool = False) -> None:
        self._file, self._with_cut, self._number = file, with_cut, 0

    def __iter__(self) -> Iterator[Line]:
        for number, text, is_whole in self._file.streamed():
            self._number = number
            if is_whole or self._with_cut:
                yield Line(number, text, is_whole)

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, _: type | None, error: BaseException | None, __: TracebackType | None) -> None:
        if isinstance(error, NotUnderstood):
            raise NotUnderstood(f"line {self._number}: {error}") from error


def printed_lines(file: SourceFile) -> Iterable[Line]:
    """The lines without their indentation, tabs as blanks; those of a large file are made anew for each who asks."""
    lines = (
        Line(number, text.strip().replace("\t", " ") if len(text) <= MAX_LINE else "", is_whole)
        for number, text, is_whole in file.streamed()
    )
    return lines if file.is_large else file.once("printed lines", lambda: [*lines])


def without_comment(text: str) -> str:
    """A line without the comment that somebody wrote behind it, its blanks made one."""
    return " ".join(_COMMENT.split(text, maxsplit=1)[0].split())


# Longer lines are no command lines, and would cost the square of their length.
MAX_COMMAND = 4000
# A shell's echo of an exit status other than 0.
FAILED_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: code| status| with)?|rc|exit_code)\s*[:= ]\s*(?!0+$)\d{1,3}", re.IGNORECASE
)


def whole_or_text(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else text
