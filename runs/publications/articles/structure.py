"""What an article's page says besides its numbers: our own prose, readers' questions, figures and their state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """How the text at hand relates to the one that was written first."""

    ORIGINAL = "original"
    TRANSLATION = "translation"
    REPOST = "repost"


class FigureState(StrEnum):
    """What is left of a table or picture of the article."""

    PRINTED = "printed"
    REDRAWN = "redrawn"
    HALF = "half"
    RECOVERED = "recovered"
    LOST = "lost"
    ADDED = "added"


STATE_WORDS: Mapping[FigureState, str] = {
    FigureState.PRINTED: "printed as text: shown as a table",
    FigureState.REDRAWN: "the picture is lost, its numbers are printed: redrawn",
    FigureState.HALF: "one series is printed and redrawn, the other is lost",
    FigureState.RECOVERED: "the picture is lost, its content is stated on another page",
    FigureState.LOST: "lost in a picture: only its frame can be drawn",
    FigureState.ADDED: "not in the article: a re-run adds it",
}


@dataclass(frozen=True)
class Source:
    """`of` names what was translated or reposted; the links lead to the publisher's site, or to that text."""

    kind: Kind
    publisher_url: str
    of: str = ""
    of_url: str = ""
    note: str = ""


@dataclass(frozen=True)
class Axis:
    """`ticks` are the places that the text names, as it names them; without any, nothing is known of the scale."""

    label: str
    unit: str = ""
    ticks: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Frame:
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
        return [
            (name, self.colors[place] if place < len(self.colors) else place) for place, name in enumerate(self.series)
        ]


@dataclass(frozen=True)
class Rerun:
    """What the schedule form is filled with. `engines` are DBMSs, or DBMS:version where the article's own one runs."""

    workload: str
    factors: Mapping[str, int] = field(default_factory=dict)
    engines: tuple[str, ...] = ()
    repeats: int = 5


@dataclass(frozen=True)
class ArticleFigure:
    """A table or picture of the article. `id` is that of the data file; `place` the id on the page where it stands."""

    id: str
    title: str
    form: str
    state: FigureState
    place: str
    drawn: str
    known: str = ""
    frame: Frame | None = None
    rerun: Rerun | None = None


@dataclass(frozen=True)
class Answer:
    """Where a re-run answers a question: a field of a run's page, a figure of this page, or the schedule form."""

    words: str
    run_field: str = ""
    figure: str = ""
    place: str = ""
    rerun: bool = False


@dataclass(frozen=True)
class Question:
    asked: str
    by: str
    replied: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Order:
    """What the article puts in an order without numbers, the most first."""

    quantity: str
    items: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Article:
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
    rerun: Rerun
    orders: tuple[Order, ...] = ()

    def figure(self, figure_id: str) -> ArticleFigure:
        """Raises KeyError."""
        for figure in self.figures:
            if figure.id == figure_id:
                return figure
        raise KeyError(figure_id)

    @property
    def states(self) -> list[tuple[FigureState, int]]:
        """How many of its tables and pictures are in which state, in the order of the states."""
        found = [figure.state for figure in self.figures]
        return [(state, found.count(state)) for state in FigureState if state in found]

    def as_json(self) -> dict[str, Any]:
        """Everything of it, so that the API says what the page says."""
        return asdict(self)
