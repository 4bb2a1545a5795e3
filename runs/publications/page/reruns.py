"""Experiments that repeat an article: links that fill the schedule form, and what was measured in them so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from benchagent.catalog import WORKLOADS
from django.db.models import QuerySet
from django.urls import reverse

from runs.charts import compare as charts
from runs.charts.base import Figure
from runs.charts.over_time import THROUGHPUT, over_time_figures
from runs.compare.compare import compare
from runs.models import Experiment, Run
from runs.models.choices import Provenance
from runs.models.visible import Reader
from runs.publications.article import Answer, Article, ArticleFigure, Question, Rerun
from runs.publications.page.parts import NamedTable
from runs.publications.page.reproductions import latest_of_each


@dataclass(frozen=True)
class Slot:
    """What re-runs of a figure measured so far, or of the whole article. `reason`: why no agent can run it yet.

    Figures that no re-run fills have no `rerun`.
    """

    figure: ArticleFigure | None
    rerun: Rerun | None
    reason: str = ""
    experiments: list[Experiment] = field(default_factory=list)
    # What is not ranked stands apart, class by class.
    figures: list[Figure] = field(default_factory=list)
    # What was published beside what was measured.
    reproductions: list[NamedTable] = field(default_factory=list)


@dataclass(frozen=True)
class AnswerView:
    """`href` leads to a place of this page, to a field of a run's page, or to the schedule form."""

    words: str
    href: str
    where: str = ""


def schedule_query(slug: str, rerun: Rerun, figure: str = "") -> str:
    """For `/schedule/?…`: the workload, its factors, engines and repeats, and what is repeated."""
    pairs: list[tuple[str, str]] = [("workload", rerun.workload), ("publication", slug)]
    pairs += [("figure", figure)] if figure else []
    pairs += [(name, str(value)) for name, value in rerun.factors.items()]
    pairs += [("engines", engine) for engine in rerun.engines]
    return urlencode([*pairs, ("repeats", str(rerun.repeats))])


def repeating(slug: str, user: Reader) -> QuerySet[Experiment]:
    """Those that this person may see in lists and whose plan names the publication, the latest first.

    Of those that somebody brought with a bundle and no operator has accepted, nobody here measured any.
    """
    experiments = Experiment.objects.listed_for(user).filter(plan__publication=slug)
    return experiments.select_related("created_by").order_by("-created_at")


def slot(
    slug: str, rerun: Rerun | None, experiments: Sequence[Experiment], reproductions: Mapping[object, NamedTable],
    figure: ArticleFigure | None = None,
) -> Slot:  # fmt: skip
    """A figure's slot takes the experiments that name it, the one of the whole article all.

    Of a figure over time it draws the course of the latest one's first repeats, where its series are stored.
    """
    if rerun is None:
        return Slot(figure, None)
    reason = ""
    if rerun.workload not in WORKLOADS:
        known = ", ".join(WORKLOADS)
        reason = f"The workload {rerun.workload} is not in the catalogue yet (there: {known}); results can be uploaded."
    mine = [one for one in experiments if figure is None or one.plan.get("figure") == figure.id]
    over_time = bool(figure and figure.frame and figure.frame.x.label == "time")
    return Slot(
        figure, rerun, reason, mine, _measured(mine, f"rerun-{figure.id if figure else slug}", over_time=over_time),
        [table for experiment in mine if (table := reproductions.get(experiment.pk))],
    )  # fmt: skip


def _measured(experiments: Sequence[Experiment], id: str, *, over_time: bool) -> list[Figure]:
    """The repeats of the latest of each name; nothing before the first has finished."""
    if not experiments:
        return []
    if over_time:
        first = Run.objects.present().filter(experiment=experiments[0], repeat=1).for_lists()
        if courses := over_time_figures(compare(first), THROUGHPUT):
            return [replace(courses[0].figures[0], id=id, title="Re-run: first repeat of each system")]
    latest = latest_of_each(experiments)
    order: dict[object, int] = {experiment.pk: position for position, experiment in enumerate(latest)}
    runs = Run.objects.present().filter(experiment__in=latest).for_lists()
    # If two of them have a cell, only the runs of the later one count.
    owners: dict[str, object] = {}
    comparison = compare([
        run for run in sorted(runs, key=lambda run: order[run.experiment_id])
        if owners.setdefault(run.cell_key or str(run.pk), run.experiment_id) == run.experiment_id
    ])  # fmt: skip
    return charts.bars_figures(comparison, id=id, title="Re-run") if comparison.metric else []


def questions(article: Article, user: Reader) -> list[tuple[Question, list[AnswerView]]]:
    """With a measured run whose page shows the fields: of a re-run of the article if there is one, else the latest."""
    latest = Run.objects.with_values().listed_for(user).filter(provenance=Provenance.MEASURED).order_by("-created_at")
    run = latest.filter(experiment__plan__publication=article.slug).first() or latest.first()
    return [
        (question, [_answer(article, answer, run) for answer in question.answers]) for question in article.questions
    ]


def _answer(article: Article, answer: Answer, run: Run | None) -> AnswerView:
    query = schedule_query(article.slug, article.rerun, answer.figure) if article.rerun else ""
    form = f"{reverse('schedule')}?{query}" if query else ""
    if answer.rerun:
        return AnswerView(answer.words, form, "schedule form, filled in")
    if answer.figure:
        figure = article.figure(answer.figure)
        where = "chart of this page" if figure else ""
        return AnswerView(answer.words, f"#{figure.place if figure else 'figures'}", where)
    if answer.place:
        return AnswerView(answer.words, f"#{answer.place}", "this page")
    if run is None:
        return AnswerView(answer.words, form, f"after a re-run: “{answer.run_field}” of its page")
    href = f"{run.get_absolute_url()}#{answer.run_field}"
    return AnswerView(answer.words, href, f"“{answer.run_field}” of a measured run")
