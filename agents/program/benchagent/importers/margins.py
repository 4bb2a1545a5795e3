"""What a logger, a container, a mail, Markdown or a terminal puts around the lines of a tool's output, taken off.

One pass for all importers, none of which knows a margin. A margin is found in the beginning of a file: records of JSON
that hold one line each; marks of Markdown and HTML; what stands in front of most lines of a stretch in one regular
form, in which digits, stamps and levels of logs may change; a mail as it was sent; a text in which a document stands.
Each is a proposal only: what is read without it decides (`benchagent.importers.inspect`).
"""

from __future__ import annotations

import email
import html
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple

from benchagent.importers.source import BEGINS_JSON, NotUnderstood, SourceFile, decoded

# How many lines show the margin of a file, and how many of them whether there may be one.
SHOWN_LINES, FEW = 400, 8
MOST_PARTS = 30
# The share of the lines of a stretch that have it in common, and how many there must be.
MOST, LEAST = 0.8, 2
MOST_PROPOSALS = 9

_ISO = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,:]\d+)?(?: ?Z| UTC| ?[+-]\d\d:?\d\d)?"
_STAMP = (
    rf"{_ISO}|\d\d:\d\d:\d\d(?:[.,]\d+)?|\d{{10}}\.\d{{3,9}}"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?: [A-Z]{3,4})? \d{4}"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?"
)
_LEVEL = r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|debug|info|notice|warn(?:ing)?|error)\b"
# The parts of which a line is made, and how they read in another line of the same form; the rest is constant.
_CHANGING = {
    "stamp": _STAMP,
    "level": _LEVEL,
    "stream": r"\b(?:(?:stdout|stderr) [FP]|\d\d[OE]\+?)(?= |$)",
    "digits": r"\d+",
}
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
_ENDS = "|│┃>:\"'#*`+"
_CLOSING = "|│┃\"'*`,"
# What no tool prints in front of its own lines, by its parts: stamps, levels, names of containers and hosts, quotes.
_NO_TOOLS = re.compile(
    r"(?:\S+ )*(?:<stamp>(?: \])?|<level>(?: \])?|<stream>)(?: <place>){0,2}(?: [:-])?(?: #)?"
    r"|(?:\S+ )*(?:<stamp>|<level>) [A-Za-z]\S*[^,;=%]*[\]:]"
    r"|(?:\S+ )*(?:<stamp>|<level>) (?:\S+ )*[=,] \""
    r"|< 0 > 0 <stamp> (?:\S+ )*- -"
    r"|<name> [|│]|\[ [\w. -]+ /[^,;=%]*\]|[>#*•+-](?: [>#*])*|/ /"
)
# What any of them needs, within the beginning of a line; the letters with which stamps, levels and streams begin.
_MAY_BE = re.compile(
    rf"\s*(?:[\w./@-]+ *[|│]|[\[>#*•+/-])|.{{0,120}}?(?=[\dA-Zdeinsw])(?:{_STAMP}|{_LEVEL}|(?:stdout|stderr) [FP])"
)
_CLOSING_TAG = re.compile(r"</?[a-z]{1,10} ?/?>$")
_DATED = re.compile(
    r"(?P<day>\d{4}[-/]\d\d[-/]\d\d)[ T](?P<time>\d\d:\d\d:\d\d)(?P<part>(?:[.,]\d{1,6})?)(?:\d*|:\d+)"
    r" ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?"
)
_TEXTS = ("log", "MESSAGE", "message", "msg", "line")
_TIMES = ("time", "timestamp", "@timestamp", "ts", "__REALTIME_TIMESTAMP")
_ESCAPED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_IN_TEXT = re.compile(r"\\[nr\"]")
_DOCUMENT = re.compile(rf"{BEGINS_JSON}|<\?xml")
_QUOTED = re.compile(r'\s*(?:- )?"((?:[^"\\]|\\.)*)",?\s*')
_FENCE = re.compile(r"\s*(?:(?:```|~~~)[\w+ -]*|\{(?:code|noformat)(?::[^{}\n]{0,80})?\})")
_TAG = re.compile(r"</?(?:pre|code|br|p|td|tr|div|span|tt|samp|blockquote)\b[^<>]{0,200}>", re.IGNORECASE)
_HTML = re.compile(rf"{_TAG.pattern}|&(?:lt|gt|quot|amp|#\d{{2,4}});", re.IGNORECASE)
_QUOTES = re.compile(r"(?:[ \t]{0,3}>)+ ?")
_BOLD = re.compile(r"\s*(\*\*|__|`)(.+)\1\s*")
_ENCODED, _ENCODING = re.compile(r"=(?:3D|(?<=[^=\n]=)$)", re.MULTILINE), "content-transfer-encoding:"
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{60,76}\s)+[A-Za-z0-9+/]{0,76}={0,2}\s*")
_HEADERS = re.compile(r"From \S|(?i:From|To|Subject|Date|Received|Return-Path|MIME-Version|Content-[\w-]+): ")
_BOUNDARY = re.compile(r"--(\S{2,70})\n(?i:content-)")
_OPENS = re.compile(
    rf"^[ \t]*(?={BEGINS_JSON}|<\?xml[^>]*>\s*(?:<!--.*?-->\s*)*<(?P<root>[A-Za-z][\w:.-]*))", re.MULTILINE
)
_CELL = re.compile(r'"[^"\n]*"')
_GOES_ON = re.compile(r"\s*[\d\"}\],:]")


class Claimed(Enum):
    """What is known of a text as it stands there: the share of its lines that must have a margin."""

    NOT = MOST
    BY_TOOL = 0.75
    BY_TABLE = 1.0


@dataclass(frozen=True)
class Margin:
    """What a line is without it, and the time that it says of a line; empty where it says none."""

    lines: Callable[[str], list[str]] = lambda line: [line]
    stamp: Callable[[str], str] = lambda _: ""
    # Whether a last line without its end is whole all the same.
    is_record: bool = False
    # What is left of a text where it is no matter of single lines.
    whole: Callable[[str], str] | None = None


def _record(line: str) -> tuple[str, str] | None:
    """Text and time of a line that is one record of JSON, as Docker, journald and shippers of logs keep them."""
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    texts = [record[key] for key in _TEXTS if isinstance(record.get(key), str)] if isinstance(record, dict) else []
    times = (str(record[key]) for key in _TIMES if key in record)
    return (texts[0].removesuffix("\n"), next(times, "")) if texts else None


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text.replace("\\n", "\n")


def _of_escaped(line: str) -> list[str]:
    texts = [text for text in _ESCAPED.findall(line) if _IN_TEXT.search(text)] if "\\" in line else []
    return [part for text in texts for part in _unescaped(text).split("\n")] or [line]


def _of_markup(line: str) -> list[str]:
    text = _QUOTES.sub("", line, count=1) if line.lstrip().startswith(">") else line
    if _FENCE.fullmatch(text):
        return [""]
    text = html.unescape(_TAG.sub("", text)) if "<" in text or "&" in text else text
    bold = _BOLD.fullmatch(text)
    return [bold[2] if bold else text]


def _of_mail(text: str) -> str:
    """The texts of a mail, of its parts or of a body alone as they were written."""
    if boundary := _BOUNDARY.match(text):
        text = f'Content-Type: multipart/mixed; boundary="{boundary[1]}"\n\n{text}'
    elif _ENCODING not in text.lower():
        encoding = "base64" if _BASE64.fullmatch(text) else "quoted-printable"
        gap = "" if _HEADERS.match(text) else "\n"
        text = f"Content-Transfer-Encoding: {encoding}\n{gap}{text}"
    parts = [part for part in email.message_from_string(text).walk() if not part.is_multipart()]
    # The same once more.
    left_out = "text/html" if any(part.get_content_type() == "text/plain" for part in parts) else ""
    contents = [part.get_payload(decode=True) for part in parts if part.get_content_type() != left_out]
    return "\n\n".join(
        str(each, errors="replace") for each in contents if isinstance(each, bytes) and b"\0" not in each
    )


def _of_documents(text: str) -> str:
    """JSON and XML that stand in a text, on their lines; the text where one of them is not whole."""
    left, at = "", 0
    while opens := _OPENS.search(text, at):
        begin = opens.end()
        try:
            closing = f"</{opens['root']}>"
            end = text.index(closing, begin) + len(closing) if opens["root"] else decoded(text, begin)[1]
        except (NotUnderstood, ValueError):
            return text
        # What goes on so was one with it: it lost what opened it.
        if _GOES_ON.match(text, end):
            return text
        left += "\n" * text.count("\n", at, begin) + text[begin:end]
        at = end
    return f"{left}\n" if left else text


def _of_table(text: str) -> str:
    """The longest of the tables that stand in a text between empty lines or fences."""
    lines = ["", *text.split("\n"), ""]
    edges = [at for at, line in enumerate(lines) if not line.strip() or _FENCE.fullmatch(line)]
    blocks = [(end - begin, begin, end) for begin, end in itertools.pairwise(edges) if end - begin > 2]
    tables: list[tuple[int, int, int]] = []
    for block in blocks:
        # All rows have as many separators, but for those in quotes.
        rows = [_CELL.sub("", line) for line in lines[block[1] + 1 : block[2]]]
        if any(mark in rows[0] and len({row.count(mark) for row in rows}) == 1 for mark in ",;\t "):
            tables.append(block)
    _, begin, end = max(tables, default=(0, 0, 0))
    # A last line without its end stays one: it may be cut.
    return "\n".join([*[""] * begin, *lines[begin + 1 : end], *[""] * (end < len(lines) - 1)]) if end else text


RECORD = Margin(
    lambda line: record[0].split("\n") if (record := _record(line)) else [line],
    lambda line: (_record(line) or ("", ""))[1],
    is_record=True,
)
# A line in one text of JSON each, as a list has them.
QUOTED = Margin(lambda line: [_unescaped(quoted[1])] if (quoted := _QUOTED.fullmatch(line)) else [line])
# A whole output in one text of JSON, with \n for its line ends.
ESCAPED = Margin(_of_escaped)
# Fences, quotes and bold of Markdown, tags and entities of HTML.
MARKUP = Margin(_of_markup)
MAIL = Margin(whole=_of_mail)
DOCUMENTS = Margin(whole=_of_documents)
TABLE = Margin(whole=_of_table)


def _front(form: re.Pattern[str], blanks: int, closing: str = "") -> Margin:
    """What stands in front of lines, with the blanks behind it, and what closes them."""

    def lines(line: str) -> list[str]:
        front = form.match(line)
        if front is None:
            return [line]
        text = line[front.end() :]
        text = text[min(blanks, len(text) - len(text.lstrip(" \t"))) :]
        text = text.rstrip().removesuffix(closing).rstrip() if closing else text
        # What a logger or a table quotes.
        return [_unescaped(text) if "\\" in text else text.replace('""', '"')] if closing == '"' else [text]

    def stamp(line: str) -> str:
        front = form.match(line)
        return (front.groupdict().get("stamp") or "") if front else ""

    return Margin(lines, stamp)


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


def _part(form: re.Pattern[str], line: str, at: int = 0) -> _Part | None:
    part = form.search(line, at)
    return _Part(part.lastgroup or "", part[0], part.end()) if part else None


def proposals(
    text: str, *, claimed: Claimed, ended: bool, understood: bool = False, words: tuple[str, ...] = ()
) -> list[Margin]:
    """What may be taken off the lines of a text; the likeliest first.

    `claimed`: of a table only what is in front of all lines; of the output of a tool only what is in front of nearly
    all, and nothing that the tool itself may have printed, so that no check of its importer is evaded. `ended`: it is
    read to its end; `understood`: or some of it, so that what stands around a document is of use. `words`: what stands
    in the lines of the tool that read it.
    """
    lines = [line for line in text.split("\n", SHOWN_LINES)[:SHOWN_LINES] if line.strip()]
    for test, margin in ((_record, RECORD), (_QUOTED.fullmatch, QUOTED)):
        if any(map(test, lines[:FEW])) and sum(test(line) is not None for line in lines) >= max(1, MOST * len(lines)):
            return [margin]
    is_mail = _ENCODED.search(text) or _ENCODING in text.lower() or _BASE64.match(text) or _BOUNDARY.match(text)
    found = [MAIL] if is_mail else []
    # A document of a tool has no lines, but perhaps a text that holds some.
    document = text[:1] + text.rstrip()[-1:] if claimed is Claimed.BY_TOOL and _DOCUMENT.match(text) else ""
    if (document == "{}" and not _IN_TEXT.search(text)) or (ended and document in ("{}", "[]")):
        return found
    if document and text.startswith("<?xml"):
        return found
    shown = [line.rstrip() for line in lines]
    if len(shown) < LEAST and claimed is Claimed.NOT:
        claimed = Claimed.BY_TOOL
    found += [ESCAPED] if _IN_TEXT.search(text) else []
    if not (ended or understood):
        found += [DOCUMENTS] if _OPENS.search(text) else []
        found += [TABLE] if claimed is not Claimed.BY_TOOL else []
    found += [QUOTED] if sum(map(bool, map(_QUOTED.fullmatch, lines))) >= FEW else []
    if _HTML.search(text) if ended else any(_of_markup(line) != [line] for line in shown):
        found.append(MARKUP)
    some = shown[:: -(-len(shown) // FEW) or 1]
    # What is the same in front of all lines, the tool may have printed: what is read without it decides.
    begins = {line.lstrip()[:1] for line in shown}
    of_all = len(shown) > LEAST and (len(begins) == 1 or all(map(str.isdecimal, begins)))
    of_all = of_all and (not ended or not (any(map(str.isdecimal, begins)) or shown[0].lstrip().startswith(words)))
    if claimed is Claimed.NOT or of_all or sum(map(bool, map(_MAY_BE.match, some))) > len(some) // 2:
        fronts = {front for form in _FORMS for front in _fronts(shown, form, claimed=claimed, of_all=of_all)}
        # The longest first, by which those come last that leave a part of the margin.
        longest = sorted(fronts, key=lambda front: (len(front[0]), len(front[2]), front), reverse=True)
        found += [_front(re.compile(form), blanks, closing) for form, blanks, closing in longest]
    indent = min((len(line) - len(line.lstrip(" \t")) for line in shown), default=0)
    return [*found, _front(re.compile(""), indent)] if indent else found


# How a front reads, how many blanks stand behind it, and what closes its lines.
_Form = tuple[str, int, str]


def _fronts(shown: Sequence[str], form: re.Pattern[str], *, claimed: Claimed, of_all: bool) -> Iterator[_Form]:
    firsts = [part.form if (part := _part(form, line)) else "" for line in shown]
    for first, count in Counter(firsts).most_common(2):
        places = [at for at, other in enumerate(firsts) if other == first]
        may_be_any = claimed is Claimed.NOT or (of_all and count == len(shown))
        if not may_be_any and not _MAY_BE.match(shown[places[0]]):
            continue
        stretch = places[-1] - places[0] + 1 if claimed is Claimed.NOT else len(shown)
        if count >= max(min(LEAST, len(shown)), claimed.value * stretch):
            yield from _longer(form, [shown[at] for at in places], claimed=claimed, may_be_any=may_be_any)


def _longer(form: re.Pattern[str], lines: Sequence[str], *, claimed: Claimed, may_be_any: bool) -> Iterator[_Form]:
    """The fronts that lines have in common, the longest first."""
    fronts, common = list[_Form](), list[_Part]()
    # Every line with where its next part is looked for; a line that has come to its end stays.
    group = [(line, 0) for line in lines]
    few, is_of_all = min(LEAST, len(lines)), may_be_any
    while len(common) < MOST_PARTS:
        parts = [(line, _part(form, line, at)) for line, at in group]
        if not (nexts := Counter(part.form for _, part in parts if part)):
            break
        ((top, _),) = nexts.most_common(1)
        parts = [(line, part) for line, part in parts if part is None or part.form == top]
        if len(parts) < max(few, claimed.value * len(lines)):
            break
        there = [part for _, part in parts if part]
        common.append(there[0])
        is_of_all = is_of_all and (claimed is Claimed.NOT or (len(there) == len(lines) and _is_steady(there)))
        group = [(line, part.end if part else len(line)) for line, part in parts]
        rests = [rest for line, at in group if (rest := line[at:]).strip()]
        # Where every line ends here, nothing stands behind it.
        ends = common[-1].kind == "tag" or common[-1].text in _ENDS
        if len(rests) < few or not (ends or sum(rest[0] in " \t" for rest in rests) >= MOST * len(rests)):
            continue
        # The name of a host or a pod has a number; words of a tool or a table may have none.
        is_named = is_of_all and (claimed is Claimed.NOT or any(part.kind == "digits" for part in common))
        if is_named or _NO_TOOLS.fullmatch(" ".join(part.sign for part in common)):
            fronts += _forms(common, rests)
    yield from [*fronts[:-3][:MOST_PROPOSALS], *fronts[-3:]][::-1]


def _is_steady(parts: Sequence[_Part]) -> bool:
    """Whether it is the same on every line, but for clocks, levels and a number that rises."""
    kind, texts = parts[0].kind, [part.text for part in parts]
    if kind in ("stamp", "level", "stream") or len({*texts}) == 1:
        return True
    return kind == "digits" and all(int(one) < int(next_) for one, next_ in itertools.pairwise(texts))


def _forms(common: Sequence[_Part], rests: Sequence[str]) -> list[_Form]:
    reads = [_READS.get(part.kind, re.escape(part.text)) for part in common]
    first = next((at for at, part in enumerate(common) if part.kind == "stamp"), -1)
    form = "".join(rf"[ \t]*{'(?P<stamp>' if at == first else '(?:'}{text})" for at, text in enumerate(reads))
    blanks = min(len(rest) - len(rest.lstrip(" \t")) for rest in rests)
    closing = _closing(rests) if all(part.kind in ("mark", "tag") for part in common) else ""
    if not closing and any(part.text == '"' for part in common):
        closing = '"' if sum(rest.endswith('"') for rest in rests) >= MOST * len(rests) else ""
    return [(form, blanks, each) for each in dict.fromkeys((closing, ""))]


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

    if margin.whole:
        return SourceFile(file.name, ("\n" * file.lines_in_front + margin.whole(file.text)).encode())

    def pieces() -> Iterator[bytes]:
        for at, text in enumerate(file.texts()):
            *lines, rest = text.split("\n")
            front = "" if at else "\n" * file.lines_in_front
            whole = "".join(f"{part}\n" for line in lines for part in margin.lines(line))
            end = "\n".join(margin.lines(rest)) + ("\n" if rest and margin.is_record else "")
            yield f"{front}{whole}{end}".encode()

    if file.is_large:
        return SourceFile(file.name, unheld=pieces, unheld_bytes=file.size_bytes)
    return SourceFile(file.name, b"".join(pieces()))


def began(file: SourceFile, margins: Sequence[Margin]) -> str:
    """When the first line was printed that has a stamp with its date; empty where none has."""
    for line in itertools.islice(file.lines, SHOWN_LINES):
        lines = [line]
        for margin in margins:
            if stamp := next((iso for text in lines if (iso := _iso(margin.stamp(text)))), ""):
                return stamp
            lines = [part for text in lines for part in margin.lines(text)]
    return ""


def logged(file: SourceFile) -> str:
    """When a logger wrote the first line that has a stamp with its date."""
    lines = (line for line in itertools.islice(file.lines, SHOWN_LINES) if not line.startswith("Script started"))
    stamps = (RECORD.stamp(line) or (found[0] if (found := re.search(_ISO, line)) else "") for line in lines)
    return next(filter(None, map(_iso, stamps)), "")


def _iso(stamp: str) -> str:
    """A stamp with its date; empty where it has none."""
    if re.fullmatch(r"\d{16}|\d{10}\.\d+", stamp):
        return datetime.fromtimestamp(float(stamp) / (1 if "." in stamp else 1e6), UTC).isoformat()
    dated = _DATED.fullmatch(stamp)
    if dated is None:
        return ""
    zone = "+00:00" if dated["zone"] in ("Z", "UTC") else dated["zone"] or ""
    text = f"{dated['day'].replace('/', '-')}T{dated['time']}{dated['part']}{zone}"
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return ""
