"""Requests as nobody means them, to every address by every method, as everybody: no error of the server, no secret.

Each case is made of its number and the seed alone and meets the same site, since the rows that it changes are rolled
back: `--case N` asks the same again and prints it. What is asked begins as what is right: the addresses and rows of
tests/access/rows.py, the forms and links of the site's own pages, the bodies of its OpenAPI description, the messages
of agents. Then something in it is changed. Run by `make bench-fuzz [ARGS="--seed 1 --cases 50000 --postgresql"]`; ends
with 1 when an answer was wrong.

`--http` asks a whole site on SQLite (broker, worker, beat, web as `make up` starts them) from several clients at once;
after each few hundred cases its database and files are again what they were, and each third time every JSON column has
nonsense in one of its places.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
import traceback
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPException
from itertools import product
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from benchagent.ctl.parts import MOST_BYTES
from benchagent.dbms.private_server import free_port

from benchsite import programs
from benchsite.state import State
from scripts.private import private_postgresql, running, set_up_here

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "QUERY")
DEEP = (480, 2_000, 100_000)
LONG = 200_000
# Over HTTP: so many ask at once, and so many cases meet what others of them have left.
CLIENTS = 4
BETWEEN_RESTORES = 200
# A part may be away, or another bundle be made at the moment.
MAY_BE_BUSY = re.compile(r"/readyz|/api/v1/(?:experiments/[^/]*/bundle|bundles)/")
# Of the worlds between two restores.
DAMAGED_EACH = 3
CSRF = "c" * 32
TOOL_FILES = Path(__file__).resolve().parent.parent / "tests" / "benchagent" / "importers" / "data"
# Numbers, times, ids and words that somebody's code takes for what they are not.
TEXTS = (
    "", " ", "0", "-1", "1", "²", "٣", "１２", "1_000", "+1", " 7 ", "1e5", "1e400", "-0", "0x10", "NaN", "Infinity",
    "-inf", "2147483648", "9223372036854775808", "99999999999999999999999999", "9" * 5000, "0." + "1" * 400, "1e-400",
    "true", "null", "2024-02-30", "0000-00-00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "10000-01-01", "9999-12-31", "2024-01-01T25:61:61Z", "00000000-0000-0000-0000-000000000000",
    "{7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a11}", "\x00", "a\x00b", "a\r\nSet-Cookie: a=b", "\ud800", "\udfff x",
    "\u202e", "\ufeff", "e\u0301" * 50, "🦊", "İ", "ß", "\u2028", "\x7f", "\x1b[0m", "../../etc/passwd", "/etc/passwd",
    "..", ".", "C:\\x", "a/b", "%00", "%ff", "%", "%s%n", "{0}", "{{ 7|add:7 }}", "${7*7}", "'", '"', "' OR 1=1 --",
    '"; DROP TABLE runs_run; --', "<script>alert(1)</script>", "]]>", "\\", "a" * 256, "x" * 5_000, "ä" * 300,
    "//example.org", "javascript:alert(1)", "http://[", "https://example.org/%zz", "a,b,,c", "a:b", ":", "=", "tps",
    "-tps", "*", ".*(", "[", "(", "factor.", "factor.x", "run", "__class__", "owner__password", "id__in", "pk",
    "constructor",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**30, 1e308, -1e308, 5e-324, 1.5,
    float("nan"), float("inf"), [], {}, [[]], [None], {"": ""}, {"a": {"b": {"c": []}}}, [1, "a", None], {"$ne": 1},
    "", [[1, 2, 3]], [{}],
)  # fmt: skip
# Without NUL and line breaks, at which the web server ends the request.
HEADERS = (
    ("Authorization", "Bearer"), ("Authorization", "Bearer  a b"), ("Authorization", "Basic YTpi"),
    ("Authorization", "Bearer ä\x7f"), ("Authorization", "Bearer " + "x" * 10_000),
    ("Accept", "text/csv;q=x, */*;q=9"), ("Accept", "application/xml"), ("Accept", ";;;,"),
    ("Accept", "application/json; indent=99999999999999"), ("Accept", "application/json; indent=-3"),
    ("Accept", "application/json; version=\x7f"), ("Cookie", "sessionid=../../x; csrftoken=" + "y" * 900),
    ("Cookie", 'sessionid="\x7f\xff"; messages=W10'), ("Cookie", "messages=[[\"__json_message\""),
    ("HX-Request", "true"), ("HX-Current-URL", "http://["), ("X-Forwarded-For", "'; --, ::1, 999.9.9.9"),
    ("X-Forwarded-Proto", "gopher"), ("If-None-Match", '"' + "x" * 999),
    ("If-Modified-Since", "Tue, 99 Foo 99999 99:99:99 GMT"), ("Range", "bytes=-5-,9999999999999999999-1"),
    ("Accept-Language", "xx-" * 300), ("Content-Encoding", "gzip"), ("Content-Encoding", "br, gzip, x"),
    ("X-HTTP-Method-Override", "DELETE"), ("Host", "evil.example"), ("Host", "a b"), ("Referer", "http://[::1"),
    ("Origin", "null"), ("Content-Disposition", "attachment; filename*=x''%ff"),
)  # fmt: skip
TYPES = (
    "application/json; charset=nonsense", "application/json; charset=utf-16", "text/plain", "multipart/form-data",
    "multipart/form-data; boundary=", "multipart/form-data; boundary=\u00e4",
    "application/x-www-form-urlencoded; charset=utf-7", "application/x-www-form-urlencoded; charset=idna",
    "application/xml", "", "/", "application/json; =; ;", "application/octet-stream",
)  # fmt: skip


@dataclass
class Target:
    """One address and method with what is right to ask it. Names of things of the world stand in braces."""

    route: str
    method: str
    path: str
    kind: str = "page"
    query: dict[str, list[str]] = field(default_factory=dict)
    bodies: list[Any] = field(default_factory=list)


@dataclass
class Case:
    """A request; `headers` come on top of those of `who`."""

    number: int
    who: str
    method: str
    path: str
    body: bytes
    content_type: str
    headers: dict[str, str]

    def __str__(self) -> str:
        words = f"case {self.number} as {self.who}: {self.method} {self.path[:500]} {self.headers} {self.content_type}"
        return f"{words} {len(self.body)} bytes {self.body[:2_000]!r}"


@dataclass
class Outcome:
    """Of one case. `wrong` in words, empty where the answer was as it should be."""

    case: Case
    status: int
    spent_s: float
    wrong: str = ""


class Fuzzer:
    """Makes the cases. `things` is visibility -> name -> id, as tests/access/world.py has them."""

    def __init__(
        self, *, seed: int, targets: list[Target], things: dict[str, dict[str, Any]], people: list[str]
    ) -> None:
        self.seed, self.targets, self.things, self.people = seed, targets, things, people
        self._files = sorted(path for path in TOOL_FILES.rglob("*") if path.is_file())

    def case(self, number: int) -> Case:
        rng = random.Random(f"{self.seed}:{number}")
        target = rng.choice(self.targets)
        things = self.things[rng.choice(list(self.things))]
        who = rng.choice(self._who_may_know(target))
        method = target.method if rng.random() < 0.85 else rng.choice(METHODS)
        path = self._path(rng, target, things)
        headers = dict([rng.choice(HEADERS)]) if rng.random() < 0.08 else {}
        body, content_type = b"", "application/json" if target.kind != "page" else "application/x-www-form-urlencoded"
        if method not in ("GET", "HEAD", "TRACE") or rng.random() < 0.03:
            body, content_type = self._body(rng, target, things)
        return Case(number, who, method, path, body, content_type, headers)

    def _who_may_know(self, target: Target) -> list[str]:
        """Agents' tokens mostly on the agents' addresses, people mostly on theirs."""
        of_agents = [name for name in self.people if name.startswith("agent's")]
        return self.people + of_agents * (8 if target.kind == "agent" else 0)

    def _path(self, rng: random.Random, target: Target, things: dict[str, Any]) -> str:
        path, _, fixed = target.path.partition("?")
        names = re.findall(r"\{(\w+)\}", path)
        odd = rng.choice(names) if names and rng.random() < 0.2 else None
        for name in names:
            # Somebody else's thing, a thing of another kind, or nothing that ever was an id.
            value = things[name] if name != odd else rng.choice([text(rng), str(rng.choice(list(things.values())))])
            path = path.replace(f"{{{name}}}", quote(str(value), safe="", errors="surrogatepass"), 1)
        query = [(name, filled(value, things)) for name, value in parse_qsl(fixed, keep_blank_values=True)]
        if target.query and rng.random() < (0.9 if target.method == "GET" else 0.1):
            for name in rng.sample(sorted(target.query), k=min(len(target.query), rng.randint(1, 4))):
                samples = target.query[name]
                good = samples and rng.random() < 0.5
                query += [(name, filled(rng.choice(samples), things) if good else text(rng))] * rng.choice((1, 1, 1, 2))
        if rng.random() < 0.05:
            query.append((text(rng), text(rng)))
        if not query:
            return path
        return f"{path}?{urlencode(query, errors='surrogatepass')}" + rng.choice(("", "", "", "&", "&%ff=%", "&a=%00"))

    def _body(self, rng: random.Random, target: Target, things: dict[str, Any]) -> tuple[bytes, str]:
        sample = filled(deepcopy(rng.choice(target.bodies)) if target.bodies else {}, things)
        if rng.random() < 0.9:
            for _ in range(rng.randint(1, 3)):
                sample = changed(rng, sample)
        if target.kind != "page" and (target.route != "api-imports" or rng.random() < 0.2):
            body, content_type = as_json(rng, sample), "application/json"
        elif target.route in ("imports", "api-imports", "publication-import") or rng.random() < 0.15:
            body, content_type = self._multipart(rng, sample)
        else:
            body, content_type = as_form(rng, sample), "application/x-www-form-urlencoded"
        if rng.random() < 0.05:
            content_type = rng.choice(TYPES)
        if rng.random() < 0.06:
            body = damaged(rng, body)
        return body, content_type

    def _multipart(self, rng: random.Random, sample: Any) -> tuple[bytes, str]:
        boundary = "fuzz" + str(rng.randrange(10**6))
        parts: list[tuple[str, str | None, bytes]] = [
            (str(name), None, str(value).encode(errors="surrogatepass")) for name, value in pairs(sample)
        ]
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
            content = self._file(rng)
            name = rng.choice(("a.log", "a.csv", "pgbench.txt", "a.zip", "a.gz", "a.json", text(rng), "x" * 300))
            parts.append((rng.choice(("file", "file", "file", "files", text(rng))), name, content))
        rng.shuffle(parts)
        lines = []
        for name, file_name, content in parts:
            words = f'Content-Disposition: form-data; name="{name}"'
            words += (
                ""
                if file_name is None
                else f'; filename="{file_name}"\r\nContent-Type: {rng.choice(("text/plain", "a/b", "application/zip"))}'
            )
            lines.append(f"--{boundary}\r\n{words}\r\n\r\n".encode(errors="surrogatepass") + content + b"\r\n")
        end = rng.choice((f"--{boundary}--\r\n",) * 6 + ("", f"--{boundary}\r\n", "--"))
        return b"".join(lines) + end.encode(), f"multipart/form-data; boundary={boundary}"

    def _file(self, rng: random.Random) -> bytes:
        content = (
            rng.choice(self._files).read_bytes()[:20_000] if rng.random() < 0.8 else rng.randbytes(rng.randrange(300))
        )
        return damaged(rng, content) if rng.random() < 0.7 else content


def text(rng: random.Random) -> str:
    drawn = rng.random()
    if drawn < 0.01:
        return rng.choice("a0[{ä,.") * LONG
    if drawn < 0.1:
        return "".join(
            chr(rng.choice((rng.randrange(256), rng.randrange(0x3000), rng.randrange(0x110000))))
            for _ in range(rng.randrange(1, 30))
        )
    if drawn < 0.15:
        return str(uuid.UUID(int=rng.getrandbits(128)))
    return rng.choice(TEXTS)


def odd(rng: random.Random) -> Any:
    drawn = rng.random()
    if drawn < 0.02:
        deep: Any = []
        for _ in range(rng.choice((40, 120))):
            deep = [deep] if rng.random() < 0.5 else {"a": deep}
        return deep
    if drawn < 0.03:
        return [rng.choice(VALUES)] * 20_000
    return text(rng) if drawn < 0.5 else deepcopy(rng.choice(VALUES))


def changed(rng: random.Random, value: Any) -> Any:  # noqa: PLR0911  # a table of what may be changed
    """A copy of the sample in which one thing, at any depth, is another, is gone, is twice there or is new."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        drawn = rng.random()
        if drawn < 0.55:
            return {**value, name: changed(rng, value[name])}
        if drawn < 0.75:
            return {**value, name: odd(rng)}
        if drawn < 0.85:
            return {key: inner for key, inner in value.items() if key != name}
        return {**value, text(rng): odd(rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        drawn = rng.random()
        if drawn < 0.7:
            return [*value[:at], changed(rng, value[at]), *value[at + 1 :]]
        return [*value, deepcopy(value[at])] if drawn < 0.85 else value[:at] + value[at + 1 :]
    return odd(rng)


def damaged(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    drawn = rng.randrange(6)
    if drawn == 0:
        return content[:at]
    if drawn == 1:
        return content[:at] + rng.randbytes(rng.randrange(1, 9)) + content[at + 1 :]
    if drawn == 2:
        return content[:at] + text(rng).encode(errors="surrogatepass") + content[at:]
    if drawn == 3:
        lines = content.splitlines(keepends=True)
        rng.shuffle(lines)
        return b"".join(lines)
    if drawn == 4:
        return re.sub(
            rb"\d+",
            lambda number: rng.choice((number[0], number[0], b"-1", b"9" * 400, b"1e999", b"nan", b"")),
            content,
        )
    return rng.choice(
        (b"", b"\x00" * 50, b"\xff\xfe" + content, b"null", b"[]", b'"a"', b"[" * 100_000, b"{" * 50, content * 3)
    )


def pairs(value: Any) -> list[tuple[str, Any]]:
    """As form fields; a list is a field that is there several times."""
    if not isinstance(value, dict):
        return [("value", value)]
    return [(name, one) for name, each in value.items() for one in (each if isinstance(each, list) else [each])][:2_000]


def as_form(rng: random.Random, value: Any) -> bytes:
    return urlencode(
        [(name, each if isinstance(each, str) else json.dumps(each)) for name, each in pairs(value)],
        errors="surrogatepass",
    ).encode()


def as_json(rng: random.Random, value: Any) -> bytes:
    body = json.dumps(value)
    if rng.random() < 0.02:
        depth = rng.choice(DEEP)
        new = rng.choice(
            ("1" * 5_000, "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "1e999999999999999")
        )
        body = re.sub(r"\d+|null|true", new, body, count=1)
    return body.encode()


def filled(value: Any, things: dict[str, Any]) -> Any:
    """The sample with the things that it names in braces."""
    if isinstance(value, dict):
        return {name: filled(inner, things) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, things) for inner in value]
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda name: str(things.get(name[1], name[0])), value)
    return value


# What is right to ask


class Asked(HTMLParser):
    """Forms and links of a page: (method, address, {field: [values]})."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, str, dict[str, list[str]]]] = []
        self._form: dict[str, list[str]] | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        for link in ("href", "hx-get", "src"):
            if given.get(link, "").startswith(("/", "?")):
                self.asked.append(("GET", given[link], {}))
        if tag == "form":
            self._form = {}
            self.asked.append((given.get("method", "get").upper(), given.get("action", ""), self._form))
        elif tag == "option" and self._select and self._form is not None:
            self._form[self._select].append(given.get("value", ""))
        elif (
            self._form is not None
            and name not in ("", "csrfmiddlewaretoken")
            and tag in ("input", "select", "textarea", "button")
        ):
            self._form.setdefault(name, []).append(given.get("value", ""))
            self._select = name if tag == "select" else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None


def targets_of(world: Any) -> list[Target]:
    """Every row of the access table, with the fields of the site's forms and links and of its OpenAPI description."""
    from django.urls import resolve

    from tests.access.rows import TABLE

    targets: dict[tuple[str, str, str], Target] = {}
    for row in TABLE:
        target = Target(row.route, row.method, row.path, row.kind)
        target = targets.setdefault((row.route, row.method, row.path), target)
        target.bodies += [row.data] if row.data else []
    queries: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    forms: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for route, method, fields in asked_on_pages(world, list(targets.values())):
        if method == "POST":
            forms[route, method].append({name: each[0] if len(each) == 1 else each for name, each in fields.items()})
        for name, values in fields.items() if method == "GET" else ():
            queries[route][name] += values
    described, more = operations(), whole_bodies()
    for target in targets.values():
        target.query = {name: sorted(set(values))[:50] for name, values in queries[target.route].items()}
        target.bodies += forms[target.route, target.method][:6]
        if target.kind == "api":
            route = resolve(filled(target.path, world.things["public"]).partition("?")[0]).route
            names, bodies = described.get((re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route), target.method), ([], []))
            target.query = {**{name: [] for name in names}, **target.query}
            target.bodies += bodies
        target.bodies += more.get(target.route, []) if target.method != "GET" else []
    return list(targets.values())


def asked_on_pages(world: Any, targets: list[Target]) -> Iterator[tuple[str, str, dict[str, list[str]]]]:
    """(route, method, fields with their values) of the links and forms that an owner and an administrator are shown."""
    from django.urls import Resolver404, resolve

    from tests.access.rules import PEOPLE

    clients = [world.client(who) for who in PEOPLE if who.name in ("owner", "administrator")]
    pages = [target for target in targets if target.method == "GET" and target.kind == "page"]
    for client, target in product(clients, pages):
        address = filled(target.path, world.things["public"])
        response = client.get(address)
        if response.streaming or "html" not in response["Content-Type"]:
            continue
        reader = Asked()
        reader.feed(response.content.decode())
        for method, path, fields in reader.asked:
            parts = urlsplit(path)
            with suppress(Resolver404):
                route = resolve(parts.path or address.partition("?")[0]).url_name or ""
                yield route, "GET", {name: [value] for name, value in parse_qsl(parts.query, keep_blank_values=True)}
                yield route, method, fields


def operations() -> dict[tuple[str, str], tuple[list[str], list[Any]]]:
    """(path without its first slash, method) -> names of query parameters and samples of bodies."""
    from drf_spectacular.generators import SchemaGenerator

    generator: Any = SchemaGenerator
    described = generator().get_schema(request=None, public=True)
    told = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
            content = operation.get("requestBody", {}).get("content", {})
            schemas = [each["schema"] for each in content.values()]
            rng = random.Random(path)
            bodies = [
                of_schema(rng, schema, described["components"]["schemas"]) for schema in schemas for _ in range(5)
            ]
            told[path.lstrip("/"), method.upper()] = names, bodies
    return told


def of_schema(rng: random.Random, schema: dict[str, Any], known: dict[str, Any], depth: int = 0) -> Any:
    """A sample of this type; half of what may be left out is left out."""
    if "$ref" in schema:
        return of_schema(rng, known[schema["$ref"].rpartition("/")[2]], known, depth)
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            return of_schema(rng, rng.choice(schema[several]), known, depth)
    if "enum" in schema or "const" in schema:
        return rng.choice(schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    if kind == "object":
        required = schema.get("required", [])
        given = {
            name: of_schema(rng, inner, known, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if name in required or (depth < 6 and rng.random() < 0.5)
        }
        inner = schema.get("additionalProperties")
        return given | ({"tps": of_schema(rng, inner, known, depth + 1)} if isinstance(inner, dict) and inner else {})
    if kind == "array":
        return [
            of_schema(rng, schema.get("items", {}), known, depth + 1) for _ in range(max(1, schema.get("minItems", 1)))
        ]
    samples = {"integer": schema.get("minimum", 1), "number": 1.5, "boolean": True, "null": None}
    words = {"uuid": "{run}", "date-time": "2026-01-01T00:00:00Z", "date": "2026-01-01", "uri": "https://example.org/"}
    return samples.get(str(kind), words.get(schema.get("format", ""), "tps"))


def whole_bodies() -> dict[str, list[Any]]:
    """Whole bodies that are taken as they stand, by route."""
    from tests.access.rows import plan
    from tests.agents.conftest import finish_item, log_item, registration, samples_item, state_item
    from tests.runs.builders import document

    observed = {"kind": "observed", "problem": "", "clock": {"offset_s": 0.0, "uncertainty_s": 0.1}}
    cpu = {**samples_item(1.0, None), "metric": "server_cpu_cores"}
    return {
        "api-results": [document(id=str(uuid.UUID(int=7)))],
        "api-experiments": [plan(), plan(factors={"scale_factor": [1, 2], "terminals": 2}, repeats=2)],
        "agent-register": [registration("fuzz")],
        "agent-poll": [registration("bench1")],
        "agent-batch": [
            {"seq": 1, "items": [state_item("preparing")]},
            {"seq": 1, "items": [state_item("measuring"), samples_item(1.0, None, 2.0), log_item("a\n")]},
            {"seq": 1, "items": [finish_item()]},
        ],
        "observation-batch": [{"seq": 1, "items": [cpu, observed]}],
    }


# Asking, and looking at the answer

# Who may be told what is private in the world of tests/access: it is theirs.
OWNERS = frozenset({"owner", "administrator", "owner's token, read", "owner's token, upload"})


@dataclass
class Secrets:
    """What only some may be told: other people's keys nobody, `private` words their owner and administrators."""

    keys: re.Pattern[bytes]
    private: bytes
    knowing: frozenset[str]

    def told(self, case: Case, answer: bytes, own: bytes) -> str:
        asked = case.path.encode(errors="replace") + case.body
        for key in set(self.keys.findall(answer)):
            if key != own and key not in asked:
                return f"the answer holds the secret {key.decode()[:20]}…"
        if case.who not in self.knowing and self.private in answer and self.private not in asked:
            return "the answer names what is private to somebody else"
        return ""


class InProcess:
    """Asks through Django's test client; whatever a request has changed is rolled back."""

    def __init__(self, world: Any, agents: dict[str, str]) -> None:
        from tests.access.rules import PEOPLE

        self._world, self._whos = world, {who.name: who for who in PEOPLE}
        self._agents = {name: f"Bearer {secret}" for name, secret in agents.items()}
        self._raised = ""
        self.secrets = secrets_of(world, agents)
        self.people = [*self._whos, *agents]

    def _note(self, **_: Any) -> None:
        self._raised = traceback.format_exc()

    def ask(self, case: Case) -> Outcome:
        from django.core.signals import got_request_exception
        from django.db import connection, transaction
        from django.test import Client

        from benchsite.wsgi import Request

        self._raised = ""
        who = self._whos.get(case.who)
        client = self._world.client(who) if who else Client(headers={"Authorization": self._agents[case.who]})
        client.raise_request_exception = False
        client.handler = self._world.handler
        begun = time.perf_counter()
        # Requests are made as the web server makes them.
        got_request_exception.connect(self._note)
        with transaction.atomic(), mock.patch("django.test.client.WSGIRequest", Request):
            path, _, query = case.path.partition("?")
            try:
                response = client.generic(
                    case.method, path, case.body, content_type=case.content_type, query_params=None,
                    QUERY_STRING=query, headers=case.headers,
                )  # fmt: skip
                answer = b"".join(response) if response.streaming else response.content
            except Exception:  # the very thing that is looked for
                return Outcome(case, 599, time.perf_counter() - begun, f"raised\n{traceback.format_exc()}")
            finally:
                transaction.set_rollback(True)
                got_request_exception.disconnect(self._note)
        outcome = self.judged(case, response.status_code, answer, time.perf_counter() - begun)
        if not connection.is_usable():
            outcome.wrong = outcome.wrong or "the connection to the database is broken afterwards"
        return outcome

    def ask_all(self, fuzzer: Fuzzer, numbers: Sequence[int]) -> Iterator[Outcome]:
        for number in numbers:
            yield self.ask(fuzzer.case(number))

    def judged(self, case: Case, status: int, answer: bytes, spent_s: float) -> Outcome:
        allowed = status < 500 or (status == 503 and MAY_BE_BUSY.match(case.path) is not None)
        wrong = "" if allowed else f"answered {status}: {answer[:300]!r}\n{self._raised}"
        own = (self._world.headers.get(case.who, {}).get("Authorization") or self._agents.get(case.who, "")).encode()
        return Outcome(case, status, spent_s, wrong or self.secrets.told(case, answer, own.removeprefix(b"Bearer ")))


class OverHttp(InProcess):
    """Asks a running site, one connection for each thread; what a request has changed stays until `restore`."""

    def __init__(self, world: Any, agents: dict[str, str]) -> None:
        super().__init__(world, agents)
        from django.conf import settings

        # What is private may have been shown to all by the owner's own request.
        self.secrets.knowing = frozenset(self.people)
        self._mine, self._state, self._session = threading.local(), settings.STATE, settings.SESSION_COOKIE_NAME
        self._kept = self._state.path.parent / "kept"
        self._kept.mkdir()
        self.address = programs.Address("127.0.0.1", free_port())
        with closing(sqlite3.connect(self._state.database)) as now:
            now.execute("VACUUM INTO ?", [str(self._kept / "db.sqlite3")])
        shutil.copytree(self._state.artefacts, self._kept / "artefacts", dirs_exist_ok=True)

    def ask_all(self, fuzzer: Fuzzer, numbers: Sequence[int]) -> Iterator[Outcome]:
        with ThreadPoolExecutor(CLIENTS) as clients:
            for start in range(0, len(numbers), BETWEEN_RESTORES):
                if start // BETWEEN_RESTORES % DAMAGED_EACH == 1:
                    damage(random.Random(numbers[start]))
                some = numbers[start : start + BETWEEN_RESTORES]
                yield from clients.map(lambda number: self.ask(fuzzer.case(number)), some)
                self.restore()

    def restore(self) -> None:
        shutil.copytree(self._kept / "artefacts", self._state.artefacts, dirs_exist_ok=True)
        with (
            closing(sqlite3.connect(self._kept / "db.sqlite3")) as kept,
            closing(sqlite3.connect(self._state.database, timeout=30)) as now,
        ):
            kept.backup(now)

    def ask(self, case: Case) -> Outcome:
        begun = time.perf_counter()
        for attempt in range(2):
            if attempt or not hasattr(self._mine, "connection"):
                self._mine.connection = HTTPConnection(self.address.host, self.address.port, timeout=120)
            try:
                status, answer = self._answer(self._mine.connection, case)
                break
            except (HTTPException, OSError) as error:
                # A kept connection may have been closed meanwhile; what is too large is refused unread, and closes it.
                too_large = 431 if len(case.path) > 60_000 else 413 if len(case.body) > MOST_BYTES else 599
                status, answer = too_large, repr(error).encode()
        if status >= 500:  # what others have raised is there too
            self._raised = (self._state.path / "web.log").read_text(errors="replace")[-4_000:]
        return self.judged(case, status, answer, time.perf_counter() - begun)

    def _answer(self, connection: HTTPConnection, case: Case) -> tuple[int, bytes]:
        session = self._world.sessions.get(case.who)
        own = {"Authorization": self._agents[case.who]} if case.who in self._agents else {}
        headers = {
            "Host": f"{self.address.host}:{self.address.port}", "Content-Type": case.content_type,
            "Cookie": f"csrftoken={CSRF}" + (f"; {self._session}={session}" if session else ""), "X-CSRFToken": CSRF,
            **self._world.headers.get(case.who, {}), **own, **case.headers,
        }  # fmt: skip
        connection.putrequest(case.method, case.path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if case.body or case.method in ("POST", "PUT", "PATCH"):
            connection.putheader("Content-Length", str(len(case.body)))
        connection.endheaders(case.body)
        response = connection.getresponse()
        return response.status, response.read()


def damage(chance: random.Random) -> None:
    from tests.test_damaged_documents import store, with_nonsense

    store(lambda document: with_nonsense(document, chance))


def secrets_of(world: Any, agents: dict[str, str]) -> Secrets:
    from django.conf import settings

    from agents.models import Agent, EnrolmentCode, Job
    from runs.models import ApiToken, User
    from tests.access.world import MARKS

    keys = [header["Authorization"].removeprefix("Bearer ") for header in world.headers.values()]
    keys += [*agents.values(), settings.SECRET_KEY, *world.sessions.values()]
    keys += [*User.objects.values_list("password", flat=True), *ApiToken.objects.values_list("digest", flat=True)]
    keys += [*Agent.objects.values_list("token_digest", flat=True), *Job.objects.values_list("token_digest", flat=True)]
    keys += EnrolmentCode.objects.values_list("digest", flat=True)
    pattern = b"|".join(re.escape(key.encode()) for key in sorted(set(keys)) if key)
    return Secrets(re.compile(pattern), MARKS["private"].encode(), OWNERS)


def agents_of(world: Any) -> dict[str, str]:
    """Tokens of an agent, of its job and of the observation of that job; the world's runs are what they are for."""
    from agents import machines
    from agents.jobs import life, observers
    from agents.models import EnrolmentCode, Job, ObserverOrder
    from agents.plans import schedule
    from runs.models import User
    from tests.agents.conftest import plan_of, registration

    observations = [{"name": "pg", "what": "postgres", "device": "", "problem": ""}]
    message: Any = registration("runner", code=EnrolmentCode.issue(), observations=observations)
    machine, token = machines.register(message=message)
    run = schedule.start(plan_of(name="Being run"), user=User.objects.get(username="the-operator")).runs.get()
    job = Job.objects.get(pk=run.pk)
    run.state = "assigned"
    run.save()
    job.agent = machine
    job.save()
    job_token = life.claim(agent=machine, run_id=run.pk)["job_token"]
    ObserverOrder.objects.create(job=job, agent=machine, agent_name="runner", name="pg")
    observed = observers.claim(agent=machine, run_id=run.pk)["job_token"]
    for things in world.things.values():
        things["claimed"] = run.pk
    return {"agent's token": token, "agent's job token": job_token, "agent's observer token": observed}


Asker = TypeVar("Asker", bound=InProcess)


def fuzzer_of(world: Any, *, seed: int, asker: type[Asker] = InProcess) -> tuple[Fuzzer, Asker]:  # type: ignore[assignment]
    agents = agents_of(world)
    targets = targets_of(world)
    for target in list(targets):
        if target.kind == "agent" and "{job_run}" in target.path:
            path = target.path.replace("{job_run}", "{claimed}")
            targets += [Target(target.route, "POST", path, "agent", {}, target.bodies)] * 2
    asked = asker(world, agents)
    return Fuzzer(seed=seed, targets=targets, things=world.things, people=asked.people), asked


def table(outcomes: list[Outcome]) -> Iterator[str]:
    """By who asked: cases, answers by class, wrong ones, seconds."""
    yield f"{'as':<42}{'cases':>7}{'2xx':>7}{'3xx':>7}{'4xx':>7}{'5xx':>5}{'wrong':>7}{'s':>8}"
    by_who: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_who[outcome.case.who].append(outcome)
        by_who["all"].append(outcome)
    for who in [*sorted(by_who.keys() - {"all"}), "all"]:
        of = by_who[who]
        classes = Counter(each.status // 100 for each in of)
        counts = "".join(f"{classes[number]:>7}" for number in (2, 3, 4))
        wrong = sum(bool(each.wrong) for each in of)
        yield f"{who:<42}{len(of):>7}{counts}{classes[5]:>5}{wrong:>7}{sum(each.spent_s for each in of):>8.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="only this one, with its answer")
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--http", action="store_true", help="a whole site on SQLite, over HTTP")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        state = State(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchsite-fuzz-"))) / "state")
        state.tmp.mkdir(parents=True)
        set_up_here(str(state.path), stack.enter_context(private_postgresql()) if arguments.postgresql else "")
        from django.conf import settings

        logging.disable()
        settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
        from runs.publications.importer import import_own
        from tests.access.world import built, stored

        import_own()
        asked: InProcess
        if arguments.http:
            fuzzer, over_http = fuzzer_of(stored(), seed=arguments.seed, asker=OverHttp)
            environment = programs.environment(state, over_http.address)
            stack.enter_context(running(environment, state, over_http.address))
            asked = over_http
        else:
            fuzzer, asked = fuzzer_of(stack.enter_context(built()), seed=arguments.seed)
        numbers = (
            range(arguments.first, arguments.first + arguments.cases) if arguments.case is None else [arguments.case]
        )
        outcomes = []
        seen: Counter[str] = Counter()
        for outcome in asked.ask_all(fuzzer, numbers):
            outcomes.append(outcome)
            if outcome.wrong:
                last = outcome.wrong.strip().splitlines()[-1][:150]
                seen[last] += 1
                if seen[last] <= 2:
                    print(f"{outcome.case}\n  {outcome.wrong}\n", flush=True)
            if arguments.case is not None:
                print(outcome)
            elif len(outcomes) % 1_000 == 0:
                print(f"{len(outcomes)} cases, {sum(bool(each.wrong) for each in outcomes)} wrong", flush=True)
        print(*table(outcomes), sep="\n")
        for last, count in seen.most_common():
            print(f"{count:>6}  {last}")
        slowest = sorted(outcomes, key=lambda each: -each.spent_s)[:5]
        print(*(f"{each.spent_s:7.2f} s  {each.status}  {str(each.case)[:150]}" for each in slowest), sep="\n")
        return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
