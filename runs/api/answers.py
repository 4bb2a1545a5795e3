"""Questions over REST: one selection, one question, its answer in numbers and in words."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.answers.answer import Answer
from runs.answers.ask import answer_of, offered
from runs.answers.words import missing_sentences, sentence, with_words
from runs.answers.words.gaps import beyond_reason, differing_words, set_apart_words
from runs.answers.words.questions import question_words
from runs.answers.words.verdicts import by_level_words
from runs.answers.words.warnings import not_here_words, warnings_of
from runs.api.compare import drawn, selected
from runs.api.outgoing import Outgoing, answered
from runs.charts.drawing import Counted, Drawing
from runs.compare import asked
from runs.formatting import grouped


class Offered(Outgoing):
    """Another question that the same runs can answer; `query` asks it, beside what selects the runs."""

    kind: str
    words: str
    query: str


class LeftOut(Outgoing):
    """A run, or so many that are too many to be named, and why it is not drawn."""

    run: UUID | None
    reason: str
    count: int = 1


class AskedAnswer(Answer):
    """The answer, its words, what is drawn of the runs, and what else can be asked of them.

    `missing`: what it takes to be sure; `by_level`: how the first stands to the next at the levels, where that differs;
    `best_at`: which is surely better than all others that have a value there at which levels, where that depends on the
    level; `absent_at`: which of the others have none, at the levels of `best_at`; `apart`: what has no group that is
    ranked, by why; `warnings`: what to know before the numbers, as the page says it.
    """

    asked: str
    words: str
    missing: list[str]
    not_alike: str
    warnings: list[str]
    by_level: str
    best_at: dict[str, list[str]]
    absent_at: dict[str, list[str]]
    apart: dict[str, list[str]]
    counts: Counted
    left_out: list[LeftOut]
    questions: list[Offered]


class Answers(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("ask", str, enum=list(asked.KINDS), description="The question; else what fits best."),
            OpenApiParameter("metric", str, description="Name of the metric. The workload's primary one."),
            OpenApiParameter("fact", str, description="Fact that is ranked, as dbms, storage:data or factor:disk."),
            OpenApiParameter("x", str, description="Fact of the x axis of a loss, as factor:size_gb."),
            OpenApiParameter("from", float, description="Level from which a loss is asked."),
            OpenApiParameter("to", float, description="Level to which a loss is asked."),
            OpenApiParameter("a", str, description="Key of a group or value of `fact`."),
            OpenApiParameter("b", str, description="What `a` is set against: the baseline."),
            OpenApiParameter("than", str, description="Batches that the newest is set against: last:10, label:main."),
            OpenApiParameter("run", str, many=True, description="Ids of runs; filters of the list of runs select too."),
        ],
        responses={200: AskedAnswer},
    )
    def get(self, request: Request) -> Response:
        """The answer to a question about runs, which are chosen as for /compare/."""
        selection = selected(request)
        comparison, drawing = drawn(request, selection)
        return answered(_asked(answer_of(comparison), drawing, selection.left_out))


def _asked(answer: Answer, drawing: Drawing, beyond: int) -> AskedAnswer:
    comparison, told_best = drawing.comparisons[0], [each for each in answer.best_by_level if each.best]
    left_out = [LeftOut(run=run, reason=each.reason) for each in drawing.left_out for run in each.runs]
    if beyond:
        left_out.append(LeftOut(run=None, reason=beyond_reason(), count=beyond))
    if comparison.not_here:
        left_out.append(LeftOut(run=None, reason=not_here_words(comparison.not_here), count=comparison.not_here))
    return AskedAnswer(
        **dict(answer) | {"claims": [with_words(claim) for claim in answer.claims]},
        asked=question_words(answer),
        words=sentence(answer),
        missing=missing_sentences(answer),
        not_alike=differing_words(answer.differing),
        warnings=warnings_of(comparison, answer),
        by_level=by_level_words(answer.series),
        best_at=grouped((each.best, each.row.label) for each in told_best),
        absent_at={each.row.label: [*each.absent] for each in told_best if each.absent},
        apart=set_apart_words(answer),
        counts=drawing.counts(beyond),
        left_out=left_out,
        questions=[
            Offered(kind=other.question.kind, words=question_words(other), query=other.question.query)
            for other in offered(comparison, answer)
        ],
    )
