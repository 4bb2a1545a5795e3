"""What a logger, a container, a mail, Markdown or a terminal puts around the lines of a tool's output, taken off.

One pass for all importers, none of which knows a margin. A margin is found in the beginning of a file: records of JSON
that hold one line each; marks of Markdown and HTML; what stands in front of most lines of a stretch in one regular
form, in which digits, stamps and levels of logs may change. Each is a proposal only: what is read without it decides
(`benchagent.importers.inspect`).
"""

from __future__ import annotations

import html
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple, Protocol

from benchagent.importers.source import SourceFile

# How many lines show the margin of a file.
SHOWN_LINES = 400
MOST_PARTS = 30
# The share of the lines of a stretch that have it in common, and how many there must be.
MOST, LEAST = 0.8, 2
MOST_PROPOSALS = 6

_ISO = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,:]\d+)?(?: ?Z| UTC| ?[+-]\d\d:?\d\d)?"
_STAMP = (
    rf"{_ISO}|\d\d:\d\d:\d\d(?:[.,]\d+)?|\d{{10}}\.\d{{3,9}}"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?: [A-Z]{3,4})? \d{4}"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?"
)
_LEVEL = r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|debug|info|notice|warn(?:ing)?|error)\b"
# The parts of which a line is made, and how they read in another line of the same form; the rest is constant.
_CHANGING = {"stamp": _STAMP, "level": _LEVEL, "stream": r"\b(?:stdout|stderr) [FP](?= |$)", "digits": r"\d+"}
_CONSTANT = {"tag": r"</?[a-z]{1,10} ?/?>", "word": r"[^\W\d_]+", "mark": r"\S"}
# Loggers name threads and classes, which differ; so do containers.
_NAMES = {
    "name": r"^[\w./@-]{1,60}(?= *[|│])",
    "place": r"\[[^\[\]\n]{1,60}\]|\(\w+\.java:\d+\)|\b(?:\w+\.)+\w+(?= |:)",
}
_FORMS = tuple(
    re.compile("|".join(f"(?P<{kind}>{text})" for kind, text in kinds.items()))
    for kinds in (_CHANGING | _CONSTANT, _NAMES | _CHANGING | _CONSTANT)
)
_READS = _NAMES | _CHANGING | {"name": r"[\w./@-]{1,60}"}
# What ends a margin behind which no blank stands.
_ENDS = "|│┃>:\"'#*`"
_CLOSING = "|│┃\"'*`,"
# By its parts, what no tool prints in front of its own lines: stamps, levels, names of containers and hosts, quotes.
_NO_TOOLS = re.compile(
    r"(?:\S+ )*(?:<stamp>(?: \])?|<level>(?: \])?|<stream>)(?: <place>){0,2}(?: [:-])?"
    r"|(?:\S+ )*(?:<stamp>|<level>) [A-Za-z]\S*[^,;=%]*[\]:]"
    r"|<name> [|│]|\[ [\w. -]+ /[^,;=%]*\]|[>#*•+-](?: [>#*])*|/ /"
)

# What any of them needs.
_MAY_BE = re.compile(rf"{_STAMP}|{_LEVEL}|(?:stdout|stderr) [FP]|^\s*[\w./@-]+ *[|│]|^\s*[\[>#*•+/-]")
_CLOSING_TAG = re.compile(r"</?[a-z]{1,10} ?/?>$")
_DATED = re.compile(
    r"(?P<day>\d{4}[-/]\d\d[-/]\d\d)[ T](?P<time>\d\d:\d\d:\d\d)(?P<part>(?:[.,]\d{1,6})?)(?:\d*|:\d+)"
    r" ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?"
)
_TEXTS = ("log", "MESSAGE", "message", "msg", "line")
_TIMES = ("time", "timestamp", "@timestamp", "ts", "__REALTIME_TIMESTAMP")
_ESCAPED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_IN_TEXT = re.compile(r"\\[nr\"]")
_QUOTED = re.compile(r'\s*(?:- )?"((?:[^"\\]|\\.)*)",?\s*')
_FENCE = re.compile(r"\s*(?:```|~~~)[\w+ -]*")
_TAG = re.compile(r"</?(?:pre|code|br|p|td|tr|div|span|tt|samp|blockquote)\b[^<>]{0,200}>", re.IGNORECASE)
_HTML = re.compile(rf"{_TAG.pattern}|&(?:lt|gt|quot|amp|#\d{{2,4}});", re.IGNORECASE)
_QUOTES = re.compile(r"(?:[ \t]{0,3}>)+ ?")
_BOLD = re.compile(r"\s*(\*\*|__|`)(.+)\1\s*")


class Claimed(Enum):
    """What is known of a text as it stands there."""

    NOT = MOST
    BY_TOOL = 0.75
    BY_TABLE = 1.0


class Margin(Protocol):
    def lines(self, line: str) -> list[str]:
        """What a line is without it."""

    def stamp(self, line: str) -> str:
        """The time that it says of a line; empty where it says none."""


@dataclass(frozen=True)
class Record:
    """A line in one record of JSON each, as Docker, journald and shippers of logs keep them."""

    def lines(self, line: str) -> list[str]:
        record = _record(line)
        return [line] if record is None else _texts_of(record)[0].removesuffix("\n").split("\n")

    def stamp(self, line: str) -> str:
        record = _record(line) or {}
        return next((str(record[key]) for key in _TIMES if key in record), "")


@dataclass(frozen=True)
class Quoted:
    """A line in one text of JSON each, as a list has them."""

    def lines(self, line: str) -> list[str]:
        quoted = _QUOTED.fullmatch(line)
        return [_unescaped(quoted[1])] if quoted else [line]

    def stamp(self, line: str) -> str:
        return ""


@dataclass(frozen=True)
class Escaped:
    r"""A whole output in one text of JSON, with \n for its line ends."""

    def lines(self, line: str) -> list[str]:
        texts = [text for text in _ESCAPED.findall(line) if _IN_TEXT.search(text)] if "\\" in line else []
        return [part for text in texts for part in _unescaped(text).split("\n")] or [line]

    def stamp(self, line: str) -> str:
        return ""


@dataclass(frozen=True)
class Markup:
    """Fences, quotes and bold of Markdown, tags and entities of HTML."""

    def lines(self, line: str) -> list[str]:
        if _FENCE.fullmatch(line):
            return [""]
        text = _QUOTES.sub("", line, count=1) if line.lstrip().startswith(">") else line
        text = html.unescape(_TAG.sub("", text)) if "<" in text or "&" in text else text
        bold = _BOLD.fullmatch(text)
        return [bold[2] if bold else text]

    def stamp(self, line: str) -> str:
        return ""


@dataclass(frozen=True)
class Front:
    """What stands in front of lines, with the blanks behind it, and what closes them."""

    form: re.Pattern[str]
    blanks: int = 0
    closing: str = ""

    def lines(self, line: str) -> list[str]:
        front = self.form.match(line)
        if front is None:
            return [line]
        text = line[front.end() :]
        text = text[min(self.blanks, len(text) - len(text.lstrip(" \t"))) :]
        if self.closing:
            text = text.rstrip().removesuffix(self.closing).rstrip()
        return [text]

    def stamp(self, line: str) -> str:
        front = self.form.match(line)
        return (front.groupdict().get("stamp") or "") if front else ""


class _Part(NamedTuple):
    kind: str
    text: str
    end: int

    @property
    def form(self) -> str:
        return self.kind if self.kind in _READS else self.text

    @property
    def sign(self) -> str:
        return "0" if self.kind == "digits" else f"<{self.kind}>" if self.kind in _READS else self.text


def _record(line: str) -> dict[str, object] | None:
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and _texts_of(record) else None


def _texts_of(record: dict[str, object]) -> list[str]:
    return [text for key in _TEXTS if isinstance(text := record.get(key), str)]


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text.replace("\\n", "\n")


def proposals(text: str, *, claimed: Claimed, ended: bool) -> list[Margin]:
    """What may be taken off the lines of a text; the likeliest first.

    `claimed`: of a table only what is in front of all lines; of the output of a tool only what is in front of nearly
    all, and nothing that the tool itself may have printed, so that no check of its importer is evaded. `ended`: it is
    read to its end.
    """
    lines = [line for line in text.split("\n", SHOWN_LINES)[:SHOWN_LINES] if line.strip()]
    if sum(_record(line) is not None for line in lines) >= max(1, MOST * len(lines)):
        return [Record()]
    if sum(_QUOTED.fullmatch(line) is not None for line in lines) >= max(1, MOST * len(lines)):
        return [Quoted()]
    shown = [line.rstrip() for line in lines]
    if len(shown) < LEAST and claimed is Claimed.NOT:
        claimed = Claimed.BY_TOOL
    found: list[Margin] = []
    if any(map(_IN_TEXT.search, lines)):
        found.append(Escaped())
    marked = _HTML.search if ended else lambda line: Markup().lines(line) != [line]
    if any(map(marked, shown)):
        found.append(Markup())
    fronts = {front for form in _FORMS for front in _fronts(shown, form, claimed=claimed)}
    # The longest first, by which those come last that leave a part of the margin.
    longest: list[Front] = sorted(fronts, key=lambda front: (front.form.pattern, front.closing))
    longest.sort(key=lambda front: (len(front.form.pattern), len(front.closing)), reverse=True)
    found += longest
    indent = min((len(line) - len(line.lstrip(" \t")) for line in shown), default=0)
    if indent:
        found.append(Front(re.compile(""), indent))
    return found


def _fronts(shown: Sequence[str], form: re.Pattern[str], *, claimed: Claimed) -> Iterator[Front]:
    begun = [form.search(line) for line in shown]
    firsts = [_Part(part.lastgroup or "", part[0], part.end()).form if part else "" for part in begun]
    for first, count in Counter(firsts).most_common(2):
        places = [at for at, other in enumerate(firsts) if other == first]
        if claimed is not Claimed.NOT and not _MAY_BE.search(shown[places[0]]):
            continue
        stretch = places[-1] - places[0] + 1 if claimed is Claimed.NOT else len(shown)
        if count >= max(min(LEAST, len(shown)), claimed.value * stretch):
            yield from _longer(shown, [_parts(line, form) for line in shown], places, claimed=claimed)


def _parts(line: str, form: re.Pattern[str]) -> list[_Part]:
    found = itertools.islice(form.finditer(line), MOST_PARTS)
    return [_Part(part.lastgroup or "", part[0], part.end()) for part in found]


def _longer(
    shown: Sequence[str], parts: Sequence[Sequence[_Part]], places: Sequence[int], *, claimed: Claimed
) -> Iterator[Front]:
    """The fronts that lines have in common, the longest first."""
    group, fronts, common = list(places), list[Front](), list[_Part]()
    least = max(min(LEAST, len(shown)), claimed.value * len(places))
    while True:
        depth = len(common)
        nexts = Counter(parts[at][depth].form for at in group if len(parts[at]) > depth)
        if not nexts:
            break
        ((top, _),) = nexts.most_common(1)
        group = [at for at in group if len(parts[at]) <= depth or parts[at][depth].form == top]
        if len(group) < least:
            break
        common.append(next(parts[at][depth] for at in group if len(parts[at]) > depth))
        rests = [shown[at][parts[at][depth].end :] for at in group if len(parts[at]) > depth + 1]
        # Where every line ends here, nothing stands behind it.
        if len(rests) < min(LEAST, len(shown)) or not _ends(common[-1], rests):
            continue
        if claimed is Claimed.NOT or _NO_TOOLS.fullmatch(" ".join(part.sign for part in common)):
            fronts += _front(common, rests)
    yield from [*fronts[:-2][:MOST_PROPOSALS], *fronts[-2:]][::-1]


def _ends(last: _Part, rests: Sequence[str]) -> bool:
    blank = sum(rest[0] in " \t" for rest in rests)
    return blank >= MOST * len(rests) or last.kind == "tag" or last.text in _ENDS


def _front(common: Sequence[_Part], rests: Sequence[str]) -> list[Front]:
    stamps, reads = 0, list[str]()
    for part in common:
        text = _READS.get(part.kind, re.escape(part.text))
        stamps += part.kind == "stamp"
        reads.append(f"(?P<stamp>{text})" if part.kind == "stamp" and stamps == 1 else f"(?:{text})")
    form = re.compile(r"[ \t]*" + r"[ \t]*".join(reads))
    blanks = min(len(rest) - len(rest.lstrip(" \t")) for rest in rests)
    closing = _closing(rests) if all(part.kind in ("mark", "tag") for part in common) else ""
    return [Front(form, blanks, each) for each in dict.fromkeys((closing, ""))]


def _closing(rests: Sequence[str]) -> str:
    """What stands behind most lines: bold, a box, a tag."""
    closing = ""
    while True:
        texts = [rest.rstrip().removesuffix(closing).rstrip() for rest in rests]
        ends = Counter(found[0] if (found := _CLOSING_TAG.search(text)) else text[-1:] for text in texts)
        ((end, count),) = ends.most_common(1)
        if count < MOST * len(rests) or not (end.startswith("<") or (end and end in _CLOSING)):
            return closing
        closing = end + closing


def bare(file: SourceFile, margin: Margin) -> SourceFile:
    """The file without a margin; its lines keep their numbers, but for those that one line holds."""
    if file.is_large:
        return _Bare(file, margin)
    data = "".join(bare_texts(file, margin)).encode()
    return SourceFile(file.name, b"\n" * file.lines_in_front + data)


def bare_texts(file: SourceFile, margin: Margin) -> Iterator[str]:
    for text in file.texts():
        *lines, rest = text.split("\n")
        whole = "".join(f"{part}\n" for line in lines for part in margin.lines(line))
        # A record is whole.
        yield whole + "\n".join(margin.lines(rest)) + ("\n" if rest and isinstance(margin, Record) else "")


class _Bare(SourceFile):
    """A large file without its margin, which is taken off while it is read."""

    file: SourceFile
    margin: Margin

    def __init__(self, file: SourceFile, margin: Margin) -> None:
        for attribute, value in (
            ("name", file.name),
            ("file", file),
            ("margin", margin),
            ("remarks", []),
            ("_made", {}),
        ):
            object.__setattr__(self, attribute, value)

    @property
    def data(self) -> bytes:
        return b"".join(self.packed_pieces())

    @property
    def size_bytes(self) -> int:
        return self.file.size_bytes

    def packed_pieces(self) -> Iterator[bytes]:
        begun = False
        for text in bare_texts(self.file, self.margin):
            yield ("" if begun else "\n" * self.file.lines_in_front).encode() + text.encode()
            begun = True


def began(file: SourceFile, margins: Sequence[Margin]) -> str:
    """When the first line was printed that has a stamp with its date; empty where none has."""
    for number, line in enumerate(file.lines):
        if number == SHOWN_LINES:
            return ""
        lines = [line]
        for margin in margins:
            if stamp := next((iso for text in lines if (iso := _iso(margin.stamp(text)))), ""):
                return stamp
            lines = [part for text in lines for part in margin.lines(text)]
    return ""


def _iso(stamp: str) -> str:
    """A stamp with its date; empty where it has none."""
    if re.fullmatch(r"\d{16}", stamp):
        return datetime.fromtimestamp(int(stamp) / 1e6, UTC).isoformat()
    if re.fullmatch(r"\d{10}\.\d+", stamp):
        return datetime.fromtimestamp(float(stamp), UTC).isoformat()
    dated = _DATED.fullmatch(stamp)
    if dated is None:
        return ""
    zone = "+00:00" if dated["zone"] in ("Z", "UTC") else dated["zone"] or ""
    try:
        return datetime.fromisoformat(
            f"{dated['day'].replace('/', '-')}T{dated['time']}{dated['part']}{zone}"
        ).isoformat()
    except ValueError:
        return ""
