"""Experiments that repeat an article: links that fill the schedule form, and what was measured in them so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from benchagent.catalog import WORKLOADS
from django.db.models import QuerySet

from runs.charts import compare as charts
from runs.charts.base import Figure
from runs.charts.over_time import THROUGHPUT, over_time_figures
from runs.compare.compare import compare
from runs.models import Experiment, Run
from runs.models.choices import Provenance
from runs.models.visible import Reader
from runs.publications.article import Answer, Article, ArticleFigure, Question, Rerun
from runs.publications.material import Material
from runs.publications.page import reproductions
from runs.publications.page.parts import NamedTable

MOST_BROUGHT = 20


@dataclass(frozen=True)
class Slot:
    """Where a re-run fills a figure, or all figures (empty `id`). `reason` says why no agent can run it yet."""

    id: str
    reason: str = ""
    experiments: list[Experiment] = field(default_factory=list)
    # What is not ranked stands apart, class by class.
    figures: list[Figure] = field(default_factory=list)
    # What was published beside what was measured.
    reproductions: list[NamedTable] = field(default_factory=list)


@dataclass(frozen=True)
class Measured:
    """All experiments of a publication, and the tables that set their runs beside what was published."""

    experiments: list[Experiment]
    # Those that somebody brought with a bundle and no operator has accepted: nobody here measured them.
    brought: list[Experiment]
    reproductions: Mapping[object, NamedTable]

    @classmethod
    def of(cls, material: Material, user: Reader) -> Measured:
        every = list(_repeating(material.publication.slug, user))
        experiments = [experiment for experiment in every if not experiment.brought]
        brought = [experiment for experiment in every if experiment.brought][:MOST_BROUGHT]
        return cls(experiments, brought, reproductions.tables(experiments, material))


@dataclass(frozen=True)
class FigureView:
    """A figure of the article with its slot, where a re-run fills it."""

    figure: ArticleFigure
    slot: Slot | None


@dataclass(frozen=True)
class AnswerView:
    """`href` leads to a place of this page, to a field of a run's page, or to the schedule form."""

    words: str
    href: str = ""
    query: str = ""
    where: str = ""


@dataclass(frozen=True)
class QuestionView:
    question: Question
    answers: list[AnswerView]


def schedule_query(slug: str, rerun: Rerun, figure: str = "") -> str:
    """For `/schedule/?…`: the workload, its factors, engines and repeats, and what is repeated."""
    pairs: list[tuple[str, str]] = [("workload", rerun.workload), ("publication", slug)]
    pairs += [("figure", figure)] if figure else []
    pairs += [(name, str(value)) for name, value in rerun.factors.items()]
    pairs += [("engines", engine) for engine in rerun.engines]
    return urlencode([*pairs, ("repeats", str(rerun.repeats))])


def experiments_of(slug: str, user: Reader) -> list[Experiment]:
    """Those that this person may see in lists and whose plan names the publication, the latest first.

    Without those that somebody brought and no operator has accepted.
    """
    return list(_repeating(slug, user).filter(brought=False))


def _repeating(slug: str, user: Reader) -> QuerySet[Experiment]:
    return (
        Experiment.objects.listed_for(user)
        .filter(plan__publication=slug)
        .select_related("created_by")
        .order_by("-created_at")
    )


def slot(slug: str, rerun: Rerun, measured: Measured, figure: ArticleFigure | None = None) -> Slot:
    """A figure's slot takes the experiments that name it, the one of the whole article all.

    Of a figure over time it draws the course of the latest one's first repeats, where its series are stored.
    """
    name, reason = figure.id if figure else "", ""
    if rerun.workload not in WORKLOADS:
        known = ", ".join(WORKLOADS)
        reason = f"The workload {rerun.workload} is not in the catalogue yet (there: {known}); results can be uploaded."
    over_time = bool(figure and figure.frame and figure.frame.x.label == "time")
    mine = [experiment for experiment in measured.experiments if not figure or experiment.plan.get("figure") == name]
    return Slot(
        id=name, reason=reason, experiments=mine,
        figures=_measured(mine, f"rerun-{name or slug}", over_time=over_time),
        reproductions=[table for experiment in mine if (table := measured.reproductions.get(experiment.pk))],
    )  # fmt: skip


def _measured(experiments: Sequence[Experiment], id: str, *, over_time: bool) -> list[Figure]:
    """The repeats of the latest of each name; nothing before the first has finished."""
    if not experiments:
        return []
    if over_time:
        first = Run.objects.present().filter(experiment=experiments[0], repeat=1).for_lists()
        if courses := over_time_figures(compare(first), THROUGHPUT):
            return [replace(courses[0].figures[0], id=id, title="Re-run: first repeat of each system")]
    latest = reproductions.latest_of_each(experiments)
    order: dict[object, int] = {experiment.pk: position for position, experiment in enumerate(latest)}
    runs = Run.objects.present().filter(experiment__in=latest).for_lists()
    # If two of them have a cell, only the runs of the later one count.
    owners: dict[str, object] = {}
    comparison = compare([
        run for run in sorted(runs, key=lambda run: order[run.experiment_id])
        if owners.setdefault(run.cell_key or str(run.pk), run.experiment_id) == run.experiment_id
    ])  # fmt: skip
    return charts.bars_figures(comparison, id=id, title="Re-run") if comparison.metric else []


def figure_views(article: Article, measured: Measured) -> list[FigureView]:
    return [
        FigureView(figure, slot(article.slug, figure.rerun, measured, figure) if figure.rerun else None)
        for figure in article.figures
    ]


def question_views(article: Article, user: Reader) -> list[QuestionView]:
    """With a measured run whose page shows the fields: of a re-run of the article if there is one, else the latest."""
    latest = Run.objects.with_values().listed_for(user).filter(provenance=Provenance.MEASURED).order_by("-created_at")
    run = latest.filter(experiment__plan__publication=article.slug).first() or latest.first()
    return [
        QuestionView(question, [_answer(article, answer, run) for answer in question.answers])
        for question in article.questions
    ]


def _answer(article: Article, answer: Answer, run: Run | None) -> AnswerView:
    query = schedule_query(article.slug, article.rerun, answer.figure) if article.rerun else ""
    if answer.rerun:
        return AnswerView(answer.words, query=query, where="schedule form, filled in")
    if answer.figure:
        figure = article.figure(answer.figure)
        if figure is None:
            return AnswerView(answer.words, href="#figures")
        return AnswerView(answer.words, href=f"#{figure.place}", where="chart of this page")
    if answer.place:
        return AnswerView(answer.words, href=f"#{answer.place}", where="this page")
    if run is None:
        return AnswerView(answer.words, query=query, where=f"after a re-run: “{answer.run_field}” of its page")
    href = f"{run.get_absolute_url()}#{answer.run_field}"
    return AnswerView(answer.words, href=href, where=f"“{answer.run_field}” of a measured run")
