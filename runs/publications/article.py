"""What an article's page says besides its numbers: our own prose (article.md), its figures and their state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from django.db.models import TextChoices
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import Field, ValidationError

from runs.incoming.reading import messages
from runs.models import Publication
from runs.models.stored import sound
from runs.publications.document import Spec

# No raw HTML, no pictures: what is left are paragraphs, lists, links, emphasis and code.
MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")
Address = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=500)]


class FigureState(TextChoices):
    """What is left of a table or picture of the article."""

    PRINTED = "printed", "printed as text: shown as a table"
    REDRAWN = "redrawn", "the picture is lost, its numbers are printed: redrawn"
    HALF = "half", "one series is printed and redrawn, the other is lost"
    RECOVERED = "recovered", "the picture is lost, its content is stated on another page"
    LOST = "lost", "it was a picture and is lost: only its axes are known"
    ADDED = "added", "not in the article: a re-run adds it"


class Source(Spec):
    """How the text at hand relates to the one that was written first: `of` names what was translated or reposted. The
    links lead to the publisher's site, or to that text.
    """

    kind: Literal["original", "translation", "repost"]
    publisher_url: Address
    of: str = ""
    of_url: Address | str = Field("", pattern=r"^(https?://\S+)?$")
    note: str = ""


class Axis(Spec):
    """`ticks` are the values that the text names, as it names them; without any, nothing is known of the scale."""

    label: str
    unit: str = ""
    ticks: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


class Frame(Spec):
    """The axes and series of a lost picture. With `rows` and `columns` it is a grid of such pictures."""

    x: Axis
    y: Axis
    series: tuple[str, ...]
    y_right: Axis | None = None
    bars: bool = False
    # Palette indices of the series where the article names colours; else in their order.
    colors: tuple[int, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def legend(self) -> list[tuple[str, int]]:
        """(series, palette index)."""
        return [(name, self.colors[at] if at < len(self.colors) else at) for at, name in enumerate(self.series)]


class Rerun(Spec):
    """What the schedule form is filled with. `engines` are DBMSs, or DBMS:version where the article's own one runs."""

    workload: str
    factors: dict[str, int] = {}
    engines: tuple[str, ...] = ()
    repeats: int = 5


class ArticleFigure(Spec):
    """A table or picture of the article. `id` is that of results.json; `place` the id on the page where it stands."""

    id: str
    title: str
    form: str
    state: FigureState
    place: str
    drawn: str
    known: str = ""
    frame: Frame | None = None
    rerun: Rerun | None = None


class FigureEntry(ArticleFigure):
    """As page.json has it: `rerun` says whether the publication's own re-run fills the figure."""

    rerun: bool = False  # type: ignore[assignment]


class Answer(Spec):
    """Where a re-run answers a question: a field of a run's page, a figure of this page, or the schedule form."""

    words: str
    run_field: str = ""
    figure: str = ""
    place: str = ""
    rerun: bool = False


class Question(Spec):
    asked: str
    by: str
    replied: str
    answers: tuple[Answer, ...]


class Order(Spec):
    """What the article puts in an order without numbers, the most first."""

    quantity: str
    items: tuple[str, ...]
    note: str


class Article(Spec):
    """Prose is Markdown."""

    slug: str
    source: Source
    goal: str
    machine: str
    method: tuple[str, ...]
    caveats: tuple[str, ...]
    conclusions: tuple[str, ...]
    disclaimer: str
    questions_are: str
    questions: tuple[Question, ...]
    figures: tuple[ArticleFigure, ...]
    rerun: Rerun | None = None
    orders: tuple[Order, ...] = ()

    def figure(self, figure_id: str) -> ArticleFigure | None:
        """None where what is stored of it is damaged."""
        return next((figure for figure in self.figures if figure.id == figure_id), None)

    @property
    def states(self) -> list[tuple[FigureState, int]]:
        """How many of its tables and pictures are in which state, in the order of the states."""
        counts = Counter(figure.state for figure in self.figures)
        return [(state, counts[state]) for state in FigureState if counts[state]]

    def as_json(self) -> dict[str, Any]:
        """Everything of it as plain text, so that the API says what the page says."""
        document: dict[str, Any] = _plain(self.model_dump(mode="json"))
        return document


def article_of(publication: Publication) -> Article | None:
    content = sound(publication.content.get("article"), Article.model_validate, dict)
    return Article.model_validate(content) if content else None


# article.md

_PARAGRAPHS, _LISTS = ("goal", "machine", "disclaimer"), ("method", "caveats", "conclusions")
_HEADINGS = [name.capitalize() for name in (*_PARAGRAPHS, *_LISTS, "questions")]
_ANSWER = re.compile(r"\[(.+)\]\((run|figure|page|rerun):([\w-]*)\)")
_ANSWERS = {"run": "run_field", "figure": "figure", "page": "place"}


def read_article(
    text: str, slug: str, figures: Sequence[FigureEntry], rerun: Rerun | None, orders: Sequence[Order]
) -> Article:
    """Raises ValueError, which names the heading."""
    head, body = _front_matter(text)
    fields: dict[str, Any] = {"source": head, "questions_are": "", "questions": []}
    fields |= dict.fromkeys(_PARAGRAPHS, "") | {name: [] for name in _LISTS}
    section = ""
    for kind, content in _blocks(MARKDOWN.parse(body)):
        if kind == "h1":
            section = content.lower()
            if content not in _HEADINGS:
                raise ValueError(f"the heading {content!r} is none of {', '.join(_HEADINGS)}")
        elif section in _PARAGRAPHS and kind == "paragraph":
            fields[section] = f"{fields[section]} {content}".strip()
        elif section in _LISTS and kind in ("item", "paragraph"):
            fields[section].append(content)
        elif section == "questions":
            _question(fields, kind, content)
        else:
            raise ValueError(f"under {section.capitalize() or 'no heading'!r}: {content[:60]!r} is not expected here")
    shown = tuple(
        ArticleFigure(**{**figure.model_dump(), "rerun": rerun if figure.rerun else None}) for figure in figures
    )
    try:
        return Article(slug=slug, figures=shown, rerun=rerun, orders=tuple(orders), **fields)
    except ValidationError as error:
        path, words = next(iter(messages(error, Article).items()))
        raise ValueError(f"{path.removeprefix('source.')}: {words[0]}") from error


def _front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The lines `name: value` between two lines of three dashes, and the rest."""
    head = re.match(r"---\n(.*?\n)---\n", text, re.DOTALL)
    if not head:
        raise ValueError("does not begin with kind and publisher_url between two lines of ---")
    pairs = (line.partition(":") for line in head[1].splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}, text[head.end() :]


def _blocks(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """(h1, h2, paragraph or item; its Markdown on one line)."""
    blocks: list[tuple[str, str]] = []
    kind, items = "", 0
    for token in tokens:
        if token.type == "heading_open":
            kind = token.tag
        elif token.type == "paragraph_open":
            kind = "item" if items else "paragraph"
        elif token.type in ("list_item_open", "list_item_close"):
            items += 1 if token.type == "list_item_open" else -1
        elif token.type == "inline":
            blocks.append((kind, " ".join(token.content.split("\n"))))
        elif token.type in ("fence", "code_block", "html_block", "hr"):
            raise ValueError(f"{token.content[:60]!r}: only headings, paragraphs and lists are known here")
    return blocks


def _question(fields: dict[str, Any], kind: str, content: str) -> None:
    """A heading asks; then follow who asked after a dash, what was replied, and a list of links to answers."""
    if kind == "h2":
        fields["questions"].append({"asked": content, "by": "", "replied": "", "answers": []})
    elif not fields["questions"]:
        fields["questions_are"] = f"{fields['questions_are']} {content}".strip()
    elif kind == "item":
        link = _ANSWER.fullmatch(content)
        if not link:
            raise ValueError(f"the answer {content[:60]!r} is no link to run:, figure:, page: or rerun:")
        to = {"rerun": True} if link[2] == "rerun" else {_ANSWERS[link[2]]: link[3]}
        fields["questions"][-1]["answers"].append({"words": link[1], **to})
    elif content.startswith("— "):
        fields["questions"][-1]["by"] = content.removeprefix("— ")
    else:
        fields["questions"][-1]["replied"] = f"{fields['questions'][-1]['replied']} {content}".strip()


def plain_text(markdown: str) -> str:
    """Without its marks."""
    (inline,) = MARKDOWN.parseInline(markdown)
    return "".join(child.content if child.type != "softbreak" else " " for child in inline.children or ())


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, name) for inner in value]
    return plain_text(value) if isinstance(value, str) and name in _PROSE else value


_PROSE = {*_PARAGRAPHS, *_LISTS, "questions_are", "asked", "by", "replied", "drawn", "known", "words"}
