"""Command lines that stand in a file: where one begins, its words as a shell takes them, and what its options say.

Each tool has one table (`Commands`) of its options and the factors that they are.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from benchagent.importers.report import Scalar, as_factors
from benchagent.importers.source import MAX_COMMAND, is_number, seconds_of, size_bytes_of, whole_or_text

_OPERATORS = "|&;<>"
# What makes a shell do more than to part words at blanks.
_SPECIAL = re.compile(r"[|&;<>'\"\\#]")
# A prompt, a path, a wrapper (`sudo`, `time`, `docker exec`), a quote of `sh -c`; not the name of a container.
_IN_FRONT = r"(?:^|(?<=[\s/\\+$#>:'\"`(=]))(?<!--name[ =])"
_EXTENSION = r"(?:\.exe|\.py|\.sh|\.bat)?"
_OFF = ("false", "off", "0", "no")


def words_of(command: str) -> list[str]:
    """The words of one call as a shell takes them: what follows `|`, `;`, `&` or `>` is another call, or a file."""
    if not _SPECIAL.search(command):
        return command.split()
    lexer = shlex.shlex(command, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if word.startswith("#") or (word and not word.strip(_OPERATORS)):
                break
            words.append(word)
    except ValueError:  # a quote that is never closed
        return re.split(rf"[{_OPERATORS}]", command, maxsplit=1)[0].split()
    return words


def value_of(parameter: str, text: str) -> Scalar | None:
    """A number in the unit that ends its parameter's name (`10m`, `8k`); None for what is none, as a placeholder."""
    if parameter.endswith("_s") and not parameter.endswith("_per_s"):
        value = seconds_of(text)
    elif parameter.endswith("_bytes"):
        return size_bytes_of(text)
    else:
        value = float(text) if is_number(text) else None
    return int(value) if value is not None and value.is_integer() and "." not in text else value


@dataclass(frozen=True)
class Commands:
    """Command lines of one tool. An entry names an option in all its spellings: `"-c --client": "terminals"`.

    An option that is no factor has no name there; one that is not there is a factor under its own.
    """

    programs: tuple[str, ...]
    # What follows the program in a call of it, and not where it is only named.
    follows: str = r"-{1,2}\w"
    # The whole beginning, of a tool that is called otherwise.
    form: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    # `"-S": "script=select-only"`; the factor is true where no value is named.
    switches: Mapping[str, str] = field(default_factory=dict)
    # Options of which nobody says whether a value follows.
    either: Mapping[str, str] = field(default_factory=dict)
    # What the first word is that is no option.
    operand: str = ""
    # Whether one that is in no table is a factor.
    keeps_others: bool = True
    # Whether options of one letter stand together, and with their values: `-Snc4`.
    has_letters: bool = True
    # Whether a value stands behind `=` only.
    needs_equals: bool = False

    @cached_property
    def begin(self) -> re.Pattern[str]:
        programs = "|".join(map(re.escape, self.programs))
        return re.compile(self.form or rf"{_IN_FRONT}(?:{programs}){_EXTENSION}\s+(?={self.follows})")

    @cached_property
    def _kinds(self) -> dict[str, tuple[str, str]]:
        """Option -> `number`, `text`, `switch` or `either`, and its parameter."""
        tables = (("number", self.numbers), ("text", self.texts), ("switch", self.switches), ("either", self.either))
        return {
            option: (kind, name)
            for kind, table in tables
            for options, name in table.items()
            for option in options.split()
        }

    def find(self, text: str) -> str:
        """The call that stands in a line, without what is in front of it; empty where there is none."""
        if len(text) > MAX_COMMAND or not any(program in text for program in self.programs):
            return ""
        match = self.begin.search(text)
        call = text[match.start() :].strip() if match else ""
        # Without the closing quote of one that was opened before it.
        return call[:-1].rstrip() if call[-1:] in tuple("'\"`") and call.count(call[-1]) % 2 else call

    def options(self, command: str) -> Iterator[tuple[str, str]]:
        """Every option with its value, of whatever form; a word that is none, with an empty name."""
        words = words_of(command)
        del words[: next((len(program.split()) for program in self.programs if command.startswith(program)), 1)]
        while words:
            word = words.pop(0)
            option, equals, value = word.partition("=")
            if not word.startswith("-") or is_number(word) or not word.strip("-"):
                name, bracket, inner = word.removesuffix(")").partition("(")
                yield (name, inner) if bracket and name in self._kinds else (option, value) if equals else ("", word)
            elif self.has_letters and not word.startswith("--"):
                yield from self._letters(word, words)
            elif equals or self.needs_equals or not self._takes_next(option, words):
                yield option, value
            else:
                yield option, words.pop(0)

    def _letters(self, word: str, words: list[str]) -> Iterator[tuple[str, str]]:
        for at, letter in enumerate(word[1:], start=2):
            if self._kinds.get(f"-{letter}", ("switch", ""))[0] != "switch":
                takes_next = not word[at:] and self._takes_next(f"-{letter}", words)
                yield f"-{letter}", words.pop(0) if takes_next else word[at:].removeprefix("=")
                return
            yield f"-{letter}", ""

    def _takes_next(self, option: str, words: list[str]) -> bool:
        kind = self._kinds.get(option, ("either" if self.keeps_others else "", ""))[0]
        if kind == "either":
            return bool(words) and (not words[0].startswith("-") or is_number(words[0]))
        return bool(words) and kind in ("number", "text")

    def factors(self, option: str, text: str) -> dict[str, Scalar]:
        """What one option says."""
        kind, name = self._kinds.get(option, ("", ""))
        text = text.strip()
        if text.startswith(("$", "%", "{{", "<")) or (kind and not name):
            return {}
        if kind == "switch":
            name, equals, value = name.partition("=")
            return {name: value if equals and value not in _OFF else not equals and text.lower() not in _OFF}
        if kind == "text":
            return {name: whole_or_text(text)} if text else {}
        if kind == "number":
            number = value_of(name, text)
            return {} if number is None else {name: number}
        is_named = option.startswith("--") or not self.has_letters or not option.startswith("-")
        if kind == "either" and name.endswith(("_s", "_bytes")) and (number := value_of(name, text)) is not None:
            return {name: number}
        is_factor = kind == "either" or (self.keeps_others and option and is_named)
        return as_factors({name or option.lstrip("-"): text}) if is_factor else {}

    def parameters(self, commands: Iterable[str]) -> dict[str, Scalar]:
        """What all options say; one that is given twice counts as tools take it, the last one."""
        parameters: dict[str, Scalar] = {}
        for command in commands:
            options = [*self.options(command)]
            operand = next((word for option, word in options if not option), "")
            parameters |= {self.operand: operand} if self.operand and operand else {}
            for option, text in options:
                parameters |= self.factors(option, text)
        return parameters
