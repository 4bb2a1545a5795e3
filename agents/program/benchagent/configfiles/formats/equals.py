"""Files of lines `name = value`: my.cnf (MySQL, MariaDB), cubrid.conf, firebird.conf, and plain lists.

A name without an equals sign is a flag. What ends a value, what quotes mean and how sections begin is the format's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from benchagent.configfiles.formats import (
    Entry,
    Format,
    Line,
    LineKind,
    body,
    by_line,
    comment_text,
    inline_comment,
    numbered,
    one_line,
    unquoted,
)

NO_VALUE = "a name without a value"
OPEN_BRACKET = "the bracket of a group is not closed"
_SECTION = re.compile(r"\s*\[(?P<name>[^\]]*)\]")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "\\": "\\", "s": " ", '"': '"', "'": "'"}


def end_of_value(text: str, marks: str = "#", quotes: str = "'\"", escapes: bool = False) -> int:
    """Where a comment begins that is not inside quotes; the length of the text where there is none."""
    quote, escaped = "", False
    for position, character in enumerate(text):
        if character in quotes and not escaped:
            quote = "" if quote == character else quote or character
        elif character in marks and not quote:
            return position
        escaped = escapes and bool(quote) and character == "\\" and not escaped
    return len(text)


def setting(
    number: int, text: str, before: str, comment: str = "", *, section: str = "", problem: str = "",
    value: Callable[[str], str] = unquoted,
) -> Line:  # fmt: skip
    """The line of one parameter: `before` is the part of its text that is no comment."""
    name, equals, rest = before.partition("=")
    if not name.strip():
        return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="a value without a name")
    given, span = None, None
    if equals:
        given = rest.strip()
        begin = len(name) + 1 + (len(rest) - len(rest.lstrip()) if given else 0)
        span = (begin, begin + len(given))
    entry = Entry(
        name=name.strip(), given=given, value=None if given is None else value(given), section=section,
        comment=comment_text(comment), line=number, span=span, problem=problem,
    )  # fmt: skip
    return Line(number, text, LineKind.SETTINGS, (entry,))


def _plain(number: int, text: str, section: str) -> Line:
    """A value is the rest of its line."""
    return setting(number, text, body(text), value=str)


def _render_plain(entry: Entry) -> str:
    above = f"# {one_line(entry.comment)}\n" if entry.comment else ""
    return f"{above}{entry.name}" if entry.given is None else f"{above}{entry.name} = {one_line(entry.given)}"


def _my_cnf(number: int, text: str, section: str) -> Line:
    """After MySQL's own option file reader: within a line only `#` begins a comment."""
    bare = text.strip()
    if bare[0] == "[":
        if match := _SECTION.match(text):
            return Line(number, text, LineKind.SECTION, target=match["name"].strip())
        return Line(number, text, LineKind.NOT_UNDERSTOOD, problem=OPEN_BRACKET)
    if bare[0] == "!":
        directive, _, target = bare.partition(" ")
        if directive in ("!include", "!includedir") and target.strip():
            return Line(number, text, LineKind.INCLUDE, target=target.strip())
        return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="neither !include nor !includedir")
    content = body(text)
    end = end_of_value(content, escapes=True)
    problem = "" if section else "MySQL refuses an option before the first [group]"
    return setting(number, text, content[:end], content[end:], section=section, problem=problem, value=_my_cnf_value)


def _my_cnf_value(given: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match.group()), unquoted(given))


def _quoted_my_cnf(given: str) -> str:
    if end_of_value(given, escapes=True) == len(given):
        return given
    return '"' + given.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _cubrid(number: int, text: str, section: str) -> Line:
    content = body(text)
    end = end_of_value(content, marks="#;")
    before = content[:end]
    if not before.strip().startswith("["):
        problem = "" if "=" in before else NO_VALUE
        return setting(number, text, before, content[end:], section=section, problem=problem)
    if before.strip().endswith("]"):
        return Line(number, text, LineKind.SECTION, target=before.strip()[1:-1].strip())
    return Line(number, text, LineKind.NOT_UNDERSTOOD, problem=OPEN_BRACKET)


def _quoted_cubrid(given: str) -> str:
    if unquoted(given) != given or not re.search(r"[#;\"']", given):
        return given
    return f"'{given}'" if '"' in given else f'"{given}"'


def _firebird(text: str) -> Iterator[Line]:
    """Also databases.conf: a block (`alias = path`, then `{ … }`) is a section with the name of its owner."""
    owner, blocks = "", [""]
    for number, line in numbered(text):
        content = body(line)
        end = end_of_value(content, quotes='"')
        before, comment = content[:end], content[end:]
        bare = before.strip()
        word, _, target = bare.partition(" ")
        if not bare:
            yield Line(number, line, LineKind.COMMENT if comment else LineKind.BLANK)
        elif bare == "{":
            blocks.append(owner)
            yield Line(number, line, LineKind.SECTION, target=owner)
        elif bare == "}" and len(blocks) > 1:
            blocks.pop()
            yield Line(number, line, LineKind.SECTION, target=blocks[-1])
        elif bare == "}":
            yield Line(number, line, LineKind.NOT_UNDERSTOOD, problem="a brace closes that was not opened")
        elif word.lower() == "include" and target and "=" not in bare:
            yield Line(number, line, LineKind.INCLUDE, target=unquoted(target.strip(), '"'))
        else:
            section, opens = blocks[-1], "=" in bare and bare.endswith("{")
            if not bare.startswith("="):
                owner = bare.partition("=")[0].strip()
                blocks += [owner] if opens else []
            yield setting(
                number, line, before.rstrip()[:-1] if opens else before, comment, section=section,
                problem="" if "=" in bare else NO_VALUE, value=lambda given: unquoted(given, '"'),
            )  # fmt: skip


def _quoted_firebird(given: str) -> str:
    return f'"{given}"' if end_of_value(given, quotes='"') < len(given) and '"' not in given else given


def _render(entry: Entry, quoted: Callable[[str], str], equals: str = " = ") -> str:
    value = "" if entry.given is None else f"{equals}{quoted(one_line(entry.given))}"
    return f"{entry.name}{value}{inline_comment(entry)}"


_render_my_cnf = partial(_render, quoted=_quoted_my_cnf)
_render_cubrid = partial(_render, quoted=_quoted_cubrid, equals="=")
_render_firebird = partial(_render, quoted=_quoted_firebird)
PLAIN = Format("plain", "name = value, one a line", "", by_line("#", _plain), _render_plain, "settings.txt")
MY_CNF = Format(
    "my_cnf", "my.cnf (MySQL, MariaDB)", "mysql", by_line("#;", _my_cnf), _render_my_cnf, "my.cnf", sections=True
)
CUBRID = Format("cubrid", "cubrid.conf", "cubrid", by_line("#;", _cubrid), _render_cubrid, "cubrid.conf", sections=True)
FIREBIRD = Format("firebird", "firebird.conf", "firebird", _firebird, _render_firebird, "firebird.conf")
