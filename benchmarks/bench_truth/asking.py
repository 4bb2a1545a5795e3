"""Worlds sent to a site and asked about: by the API, on the page, as CSV, by the questions of home, in an article."""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode

from benchmarks.bench_truth.controls import controls
from benchmarks.bench_truth.judge import CONTRADICTION, OMISSION, Json, Judge, Mark, Page, offered_words, part_of
from benchmarks.bench_truth.worlds import World, article, documents

# Addresses of each world with controls that nobody chose together.
TURNED = 4
_TAGS = re.compile(r"<[^>]+>")
_SPACES = re.compile(r"\s+")
_HEADLINE = re.compile(r'<p class="headline"[^>]*>(.*?)</p>', re.DOTALL)
_ROW = re.compile(r'<tr data-group="([^"]+)".*?</tr>', re.DOTALL)
_VERDICT = re.compile(r'data-verdict="([^"]*)"')
_HOME_LINK = re.compile(r'<a href="/compare/\?([^"]*ask=[^"]*)">(.*?)</li>')
_N = re.compile(r'data-label="Repeats" data-value="(\d+)"')


class Site(Protocol):
    """A site that is asked: text of an answer and its status."""

    def get(self, path: str) -> tuple[int, str]: ...

    def post(self, path: str, body: str) -> tuple[int, str]: ...

    def publish(self, folder: Path) -> None:
        """The article of this folder."""


def send(site: Site, made: World) -> None:
    if made.slug:
        _publish(site, made)
    rows = list(documents(made))
    for at in range(0, len(rows), 200):
        status, text = site.post("/api/v1/results/", json.dumps({"results": rows[at : at + 200]}))
        outcomes = json.loads(text).get("results", [])
        refused = [each for each in outcomes if each["status"] != "created"]
        if status != 200 or refused:
            raise RuntimeError(f"{made.tag}: {status} {refused or text[:500]}")


def _publish(site: Site, made: World) -> None:
    with tempfile.TemporaryDirectory(prefix="benchsite-") as folder:
        for name, content in article(made).items():
            Path(folder, name).write_text(json.dumps(content))
        site.publish(Path(folder))


def ask(site: Site, made: World) -> Iterator[tuple[str, Mark]]:
    """What is asked, and each mark of what is answered."""
    judge = Judge(made)
    seen, tables = set(), set[str]()
    wanted = [(dict(params), True) for params in made.asks]
    while wanted:
        params, expected = wanted.pop(0)
        address = urlencode([*made.selects, *params.items()])
        if address in seen:
            continue
        seen.add(address)
        status, text = site.get(f"/api/v1/answers/?{address}")
        if status != 200:
            yield address, Mark(CONTRADICTION, params.get("ask", ""), False, f"{status} {text[:200]}")
            continue
        body = json.loads(text)
        for mark in judge.answer(body, expected=expected):
            yield address, mark
        for mark in same_everywhere(site, address, body, tables):
            yield address, mark
        wanted += [(dict(parse_qsl(each["query"])), False) for each in body["questions"]]
        wanted += [(pair, False) for pair in _pairs(body)]
    for mark in judge.contradictions():
        yield f"tag={made.tag}", mark
    yield from of_controls(site, made)
    yield from of_home(site, made, judge.pages)
    if made.slug:
        yield from of_article(site, made)


def of_controls(site: Site, made: World) -> Iterator[tuple[str, Mark]]:
    """Whatever is chosen of what can be chosen: an answer that counts every run, the same everywhere, or a refusal that
    names the control.
    """
    compared = json.loads(site.get(f"/api/v1/compare/?{urlencode(made.selects)}")[1])
    generator = random.Random(made.tag)
    for _ in range(TURNED):
        chosen = [*controls(generator, compared)]
        address = urlencode([*made.selects, *chosen])
        status, text = site.get(f"/api/v1/answers/?{address}")
        body = json.loads(text) if status in (200, 400) else {}
        is_refused = status == 400 and bool(dict(chosen).keys() & body.keys())
        yield address, Mark(CONTRADICTION, "controls", status == 200 or is_refused, f"{status} {text[:200]}")
        if status == 200:
            counts = body["counts"]
            added_up = counts["drawn"] + counts["unnumbered"] + counts["left_out"]
            yield address, Mark(OMISSION, "controls", counts["selected"] == added_up, f"{counts} do not add up")
            for mark in same_everywhere(site, address, body, set()):
                yield address, mark


def of_home(site: Site, made: World, pages: set[Page]) -> Iterator[tuple[str, Mark]]:
    """Each question that home offers about this world: the answer it leads to, and what the link itself says.

    `pages` are not counted again as pages without a difference.
    """
    _, page = site.get("/")
    batches = {cell.batch for cell in made.cells}
    for query, words in _HOME_LINK.findall(page):
        address = html.unescape(query)
        selects = dict(parse_qsl(address))
        if selects.get("batch") not in {None, *batches} or selects.get("publication") not in (None, made.slug):
            continue  # of a world that was asked before
        status, text = site.get(f"/api/v1/answers/?{address}")
        body: Any = json.loads(text) if status == 200 else {"question": {"kind": ""}, "claims": []}
        kind = str(body["question"]["kind"])
        yield address, Mark(CONTRADICTION, kind, status == 200, f"home: {words}: {status} {text[:200]}")
        selected = body["counts"]["selected"] if status == 200 else 0
        runs = [run for claim in body["claims"] for run in claim["runs"]]
        part = part_of(made, selects, runs, selected=selected)
        if status != 200 or part is None:
            continue
        yield address, Mark(CONTRADICTION, kind, selects["ask"] == kind, f"home: {words}: {kind}")
        for mark in (*Judge(part, pages).answer(body, expected=True), *same_everywhere(site, address, body, set())):
            yield address, mark
        for mark in offered_words(part, kind, _plain(words)):
            yield address, mark


def of_article(site: Site, made: World) -> Iterator[tuple[str, Mark]]:
    """What the page of an article says of the best system, beside the answer of a comparison."""
    status, page = site.get(f"/publications/{made.slug}/")
    address = urlencode({"publication": made.slug, "ask": "best"})
    body = json.loads(site.get(f"/api/v1/answers/?{address}")[1])
    said = f"{body['claims'][0]['label']} is better than every" if body["sure"] else "No system is better than every"
    right = status == 200 and said in _plain(page)
    yield f"/publications/{made.slug}/", Mark(CONTRADICTION, "published", right, f"the article does not say: {said}")


def _pairs(body: Json) -> Iterator[dict[str, str]]:
    """The first against the second, the other way round, and the last against the second, as a reader asks next."""
    standings = [claim for claim in body["claims"] if claim["kind"] == "standing"]
    fact = body["question"]["fact"]
    if body["question"]["kind"] in ("best", "rank") and fact and len(standings) > 1:
        first, second, *others = (claim["value"] for claim in standings)
        for a, b in ((first, second), (second, first), *((other, second) for other in others[-1:])):
            yield {"ask": "a_b", "fact": fact, "a": a, "b": b, "metric": body["metric"]}


def same_everywhere(site: Site, address: str, body: Json, tables: set[str]) -> Iterator[Mark]:
    """Page and API of comparisons against the answer, and the CSV of each table that is not among `tables` yet."""
    kind = body["question"]["kind"] or "best"
    status, page = site.get(f"/compare/?{address}")
    headline = _plain(found.group(1)) if (found := _HEADLINE.search(page)) else ""
    yield Mark(
        CONTRADICTION,
        kind,
        status == 200 and headline == _plain(body["words"]),
        f"page {status}: {headline!r}, API: {body['words']!r}",
    )
    status, text = site.get(f"/api/v1/compare/?{address}")
    if status != 200:
        yield Mark(CONTRADICTION, kind, False, f"/compare/ {status}: {text[:200]}")
        return
    compared = json.loads(text)
    yield from _page_and_comparison(kind, page, compared)
    table = json.dumps(
        [body["metric"], body["counts"], *([each["key"], each["values"]] for each in compared["groups"])]
    )
    if table not in tables:
        tables.add(table)
        yield from _csv_and_comparison(site, kind, address, compared, body)


def _page_and_comparison(kind: str, page: str, compared: Json) -> Iterator[Mark]:
    groups = {group["key"]: group for group in compared["groups"]}
    for row in _ROW.finditer(page):
        group = groups.get(row.group(1))
        if group is None:
            yield Mark(CONTRADICTION, kind, False, f"the page has a group {row.group(1)}, the API has none")
            continue
        n, verdict = _N.search(row.group(0)), _VERDICT.search(row.group(0))
        told = group["verdict"]["kind"] if group["verdict"] else None
        yield Mark(
            CONTRADICTION, kind, n is not None and int(n.group(1)) == group["n"], f"{group['label']}: n of page and API"
        )
        if verdict and told:
            yield Mark(
                CONTRADICTION,
                kind,
                verdict.group(1) == told,
                f"{group['label']}: {verdict.group(1)} on the page, {told} in the API",
            )


def _csv_and_comparison(site: Site, kind: str, address: str, compared: Json, body: Json) -> Iterator[Mark]:
    status, text = site.get(f"/compare.csv?{address}&view=bars")
    rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))
    by_key = {row["key"]: row for row in rows if row.get("metric") == body["metric"]}
    counted = 0
    for group in compared["groups"]:
        row = by_key.get(group["key"])
        if row is None:
            yield Mark(OMISSION, kind, False, f"CSV {status} lacks {group['label']}")
            continue
        counted += int(row["n"])
        yield Mark(
            CONTRADICTION,
            kind,
            int(row["n"]) == group["n"] and _numbers(row["values"]) == group["values"],
            f"{group['label']}: values of CSV and API",
        )
    numbered = body["counts"]["selected"] - body["counts"]["unnumbered"]
    yield Mark(
        OMISSION,
        kind,
        counted == numbered or body["counts"]["left_out"] > 0,
        f"{counted} runs in the CSV, {numbered} with a number",
    )


def _numbers(text: str) -> Sequence[float]:
    return [float(part) for part in text.split()]


def _plain(text: str) -> str:
    return _SPACES.sub(" ", html.unescape(_TAGS.sub("", text))).strip()
