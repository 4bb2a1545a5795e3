"""The compare page, its CSV and its JSON: one selection, read from the URL; ways into it; bare charts."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from benchagent.exporters import csv_file
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_GET, require_POST, require_safe

from runs.answers.answer import Answer
from runs.answers.ask import answer_of, offered
from runs.answers.words import headline, sentence
from runs.answers.words.drawn import as_markdown, centre_label, common_words, empty_words, source_words
from runs.answers.words.gaps import gap_words, not_known_words
from runs.answers.words.matrix import matrix
from runs.answers.words.questions import question_words
from runs.answers.words.verdicts import group_against_words, ratio_words, times_words
from runs.answers.words.warnings import not_here_words, since_frozen_words, warnings_of
from runs.api.compare import answer
from runs.charts import compare as charts
from runs.charts.drawing import draw, point_rows, table_rows
from runs.charts.pivots import heat_maps
from runs.charts.run import figures
from runs.compare import choosing, reports
from runs.compare.asked_pair import of_named
from runs.compare.axes import CURVE, HEAT_MAP, LATENCY, TABLE, TIME, TRADE_OFF
from runs.compare.compare import by_each_metric, compare_selection, unread
from runs.compare.comparison import Comparison
from runs.compare.entering import LOOKED_THROUGH, entry
from runs.compare.facts import NEVER_TAKEN, fact_value
from runs.compare.grouping import GROUPINGS
from runs.compare.groups import Group
from runs.compare.select import CONTROLS, Selection, read_query, select, set_queries, shortened
from runs.formatting import quantity
from runs.listing.filters import without, without_blanks
from runs.models import Publication, Report, Run
from runs.models.choices import Visibility
from runs.models.visible import Reader
from runs.run import series
from runs.run.facets import ordered_measurements
from runs.views.controls import controls_of
from runs.views.guards import token_may_read

# Controls that have a form of their own, beside the levels.
OF_LEVELS = ("compared", "held")
# A table of more groups is folded: chart, levels and headline have said it. Of many the first are shown, unless all
# are asked for (`rows=all`).
MOST_ROWS, FIRST_ROWS = 12, 50
# Where there are more levels, the first of each series are shown: a thousand runs that vary in all have thousands.
MOST_LEVELS = 200


@require_GET
@token_may_read
def compare(request: HttpRequest) -> HttpResponse:
    if query := _leads_to(request):
        return redirect(f"{request.path}?{query}")
    selection = select(request.GET, request.user)
    comparison = compare_selection(selection)
    if request.GET.get("format") == "json":
        if selection.problems:
            return JsonResponse(selection.problems, status=400)
        return JsonResponse(answer(comparison, draw(comparison)))
    if request.GET.get("format") == "md" and selection.runs:
        short = shortened(without(request.GET, "format"), request.user)
        source = request.build_absolute_uri(f"{request.path}?{short.urlencode()}")
        return HttpResponse(_markdown(comparison, source), content_type="text/markdown; charset=utf-8")
    if not selection.runs:
        status = 400 if selection.problems else 200
        return render(request, "compare.html", {"selection": selection}, status=status)
    query, selects = request.GET.urlencode(), set_queries(request.GET)
    context = comparison_context(selection, comparison) | {
        "chooser": choosing.chooser(request.GET, selection, comparison.metric, request.user),
        "query": query,
        # Several sets were put beside each other by somebody who knows their tests.
        "selects": selects[0].urlencode() if len(selects) == 1 else "",
        "of_any_test": without(selects[0], "workload").urlencode() if len(selects) == 1 else "",
        "tests": Counter(run.workload for run in selection.runs).most_common() if len(selects) == 1 else [],
        "embed_url": request.build_absolute_uri(f"{reverse('embed-compare')}?{query}"),
        "hidden_runs": any(run.visibility == Visibility.PRIVATE for run in selection.runs),
    }
    response = render(request, "compare.html", context)
    response["HX-Push-Url"] = f"{request.path}?{without_blanks(request.GET).urlencode()}"
    return response


def _markdown(comparison: Comparison, source: str) -> str:
    """Question, answer and groups, or effects where these are asked for, to be pasted where one talks about them."""
    answer, unit = answer_of(comparison), comparison.metric.unit if comparison.metric else ""
    rows = [
        [
            group.label, str(group.n), quantity(group.centre, unit) if group.dots else gap_words(group),
            *(("1", "") if group.is_baseline else
              (ratio_words(group.against.ratio if group.against else None),
               group_against_words(group, comparison.levels))),
        ]
        for group in comparison.groups[:FIRST_ROWS]
    ]  # fmt: skip
    levels, base = comparison.levels, comparison.baseline
    ratio = f"Ratio to {levels.base_label} at its level" if levels else f"Ratio to {base.label}" if base else "Ratio"
    head = ["Group", "n", comparison.metric.label if comparison.metric else "", ratio, "Verdict"]
    of = len(comparison.groups)
    if comparison.effects:
        table = charts.effects_figure(comparison).table
        head, of = ["Setting", "Pairs", "Ratio", "Verdict"], len(table.rows)
        rows = [
            [name.text, pairs.gap or str(pairs.value),
             ratio.gap or times_words(ratio.value or 0.0, low.value, high.value), verdict.text]
            for name, ratio, low, high, pairs, verdict in table.rows[:FIRST_ROWS]
        ]  # fmt: skip
    return as_markdown(
        answer, common_words(comparison.common), [head, *rows], source, of=of, warnings=warnings_of(comparison, answer),
    )  # fmt: skip


def _leads_to(request: HttpRequest) -> str:
    """The query of the page in its place: with a filter that was typed, in short, or of the newest comparison."""
    params = request.GET
    if "add" in params:
        return choosing.added(params)
    if "format" in params:
        return ""
    short = shortened(params, request.user)
    if short is not params:
        return short.urlencode()
    return "" if set_queries(params) else choosing.newest(request.user)


def _tables_beside(comparison: Comparison) -> dict[str, Any]:
    """What _levels.html and _matrix_of_verdicts.html show."""
    maps = heat_maps(comparison.levels) if comparison.levels else []
    return {"comparison": comparison, "matrix": matrix(comparison), "heat_maps": maps, "most_rows": MOST_ROWS}


def comparison_context(selection: Selection, comparison: Comparison) -> dict[str, Any]:
    """What _comparison.html shows."""
    drawing, told, params = draw(comparison), answer_of(comparison), comparison.controls
    _, lost = charts.drawn_and_lost(comparison.groups)
    listed = [group for group in comparison.groups if not lost or group.dots]
    shown = listed if params.get("rows") == "all" else listed[:FIRST_ROWS]
    offered = {group.key for group in [*shown, *filter(None, [comparison.baseline])]}
    levels = comparison.levels
    has_many = levels is not None and len(levels.level_rows) > MOST_LEVELS and params.get("rows") != "all"
    asked_about = [run for group in of_named(told.question, comparison.groups) for run in group.all_runs]
    about = asked_about or comparison.all_runs
    messages = [*chain.from_iterable(unread(selection.address, comparison, drawing.axes).values())]
    return (
        {"unread": messages}
        | controls_of(drawing, params)
        | _tables_beside(comparison)
        | {
            "selection": selection,
            "drawing": drawing,
            "missing": empty_words(comparison),
            **_answered(comparison, told),
            "warnings": warnings_of(comparison, told),
            # The controls.
            "metrics_shown": len(drawing.comparisons),
            "groupings": GROUPINGS.items(),
            "bases": _bases(comparison, [group for group in listed if group.n and group.key in offered]),
            "kept": without(params, *{*CONTROLS} - {*OF_LEVELS}),
            "parameters": params,
            # The groups in numbers.
            "centre_label": centre_label(comparison.groups),
            "rows": shown,
            "row_count": len(listed),
            # How many levels of each series are enough for the table; 0 where all of them are few.
            "few_levels": max(1, MOST_LEVELS // len(levels.series)) if levels and has_many else 0,
            "lost": lost,
            "common": common_words(comparison.common),
            "lost_words": not_known_words(comparison, lost),
            "durability_varies": len({group.durability_words for group in comparison.groups}) > 1
            or any(group.doubt for group in comparison.groups),
            "provenance_varies": len({provenance for group in comparison.groups for provenance in group.provenances})
            > 1,
            # What else tells how they differ.
            "run_pair": _two_runs(comparison, told),
            "configs": list(dict.fromkeys(run.config.slug for run in about if run.config)),
            "machines": list(dict.fromkeys(run.hardware.slug for run in about if run.hardware)),
        }
    )


def _answered(comparison: Comparison, answer: Answer) -> dict[str, Any]:
    """The question with its answer, and the addresses of the others that the same runs can answer."""
    selects = without(comparison.controls, *CONTROLS).urlencode()
    return {
        "question": question_words(answer),
        "headline": sentence(answer),
        "told_tables": charts.tables_of_claims(answer),
        "questions": [
            (question_words(other), f"{selects}&{other.question.query}") for other in offered(comparison, answer)
        ],
    }


def _bases(comparison: Comparison, groups: Sequence[Group]) -> list[tuple[str, str, bool]]:
    """Key, words and whether it is chosen of each baseline: of a sweep one of each series, not one of each level.

    Of many groups that several facts name, or all their settings, one of each value of a fact that has few; each row
    has a button that makes it the baseline.
    """
    levels, base = comparison.levels, comparison.baseline
    if levels:
        return [(key, label, label == levels.base_label) for key, label in levels.bases]
    is_one_fact = len(comparison.named) == 1 and "config" not in comparison.named
    if base is None or is_one_fact or len(groups) <= MOST_ROWS:
        return [(group.key, group.label, base is not None and group.key == base.key) for group in groups]
    few = [
        fact
        for fact in comparison.axes.facts.values()
        if 1 < len(fact.values) <= MOST_ROWS and fact.field not in NEVER_TAKEN
    ]
    if not few:
        return []
    fact = max(few, key=lambda fact: len(fact.values))
    first_of = {fact_value(group, fact.field): group for group in [*reversed(groups), base]}
    values = [value for value in fact.values if value in first_of]
    return [(first_of[value].key, fact.in_legend(value), first_of[value] is base) for value in values]


def frozen_context(report: Report, user: Reader) -> dict[str, Any]:
    """What _frozen.html shows: nothing of the numbers to whoever may not open one of their runs."""
    frozen = report.frozen or {}
    origin = {"frozen_at": parse_datetime(frozen["at"]), "version": frozen["version"]}
    if not reports.may_read_frozen(report, user):
        return origin
    kept, since = frozen["comparison"], reports.since_frozen(report, user)
    common = kept.get("common")
    articles = Run.objects.filter(pk__in=frozen["runs"]).order_by().values_list("publication", flat=True).distinct()
    return origin | {
        "frozen": kept,
        "question": frozen.get("question", ""),
        "since": since_frozen_words(since) if since else "",
        "count": len(frozen["runs"]),
        "source_words": source_words(
            [Publication.objects.filter(pk=pk).first() for pk in articles], common if isinstance(common, dict) else {}
        ),
        "drawn": frozen["drawn"],
    }


def _two_runs(comparison: Comparison, told: Answer) -> str:
    """The query of what differs between two runs: of those that the answer sets against each other, else of the
    baseline and the next group, or its first and last.
    """
    by_label = {group.label: group for group in comparison.groups}
    of_levels = [pair for row in told.series.rows for pair in row.pairs] if told.series else []
    of_groups = [(by_label[told.first], by_label[told.second])] if {told.first, told.second} <= by_label.keys() else []
    if pair := next(iter((*of_levels, *of_groups)), None):
        return "&".join(f"run={group.all_runs[0].id}" for group in pair)
    runs = [group.all_runs[0] for group in comparison.groups if group.all_runs]
    first = comparison.baseline.all_runs[0] if comparison.baseline else next(iter(runs), None)
    others = [run for run in runs if run != first] or [run for run in comparison.all_runs if run != first][-1:]
    return f"run={first.id}&run={others[0].id}" if first and others else ""


@require_GET
@token_may_read
def compare_csv(request: HttpRequest) -> HttpResponse:
    selection = select(request.GET, request.user)
    if selection.problems:
        return HttpResponse("\n".join(selection.problem_lines), status=400, content_type="text/plain; charset=utf-8")
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="compare.csv"'
    comparison = compare_selection(selection)
    answer, (head, *rows) = answer_of(comparison), _numbers(comparison)
    # What holds of all rows stands beside the numbers: a file that begins with other lines is no table to programs.
    of_all = {
        "asked": question_words(answer), "answer": sentence(answer), "common": common_words(comparison.common),
        "not_here": not_here_words(comparison.not_here), "warnings": " ".join(warnings_of(comparison, answer)),
    }  # fmt: skip
    response.writelines(csv_file.export([[*head, *of_all], *([*row, *of_all.values()] for row in rows)]))
    return response


def _numbers(comparison: Comparison) -> Iterator[list[str]]:
    """What the view that is asked for draws; of bars and without one the groups, by each metric that is shown."""
    view = comparison.controls.get("view")
    if view in (CURVE, HEAT_MAP, TABLE, TRADE_OFF):
        return point_rows(draw(comparison))
    if view in (TIME, LATENCY):
        return table_rows(draw(comparison))
    first, *others = map(charts.csv_rows, by_each_metric(comparison))
    return chain(first, *(islice(rows, 1, None) for rows in others))


@require_safe
def which_test(request: HttpRequest) -> HttpResponse:
    """Which workload at which size, with counts; where there is one only, straight on to its comparison."""
    query = next(iter(set_queries(request.GET)), QueryDict())
    found = entry(query, request.user)
    if only := found.only:
        return redirect(f"{reverse('compare')}?{only.query}")
    context = {"entry": found, "query": query.urlencode(), "looked_through": LOOKED_THROUGH}
    return render(request, "which_test.html", context, status=400 if found.problems else 200)


@require_POST
def compare_ticked(request: HttpRequest) -> HttpResponse:
    """What was ticked, as an address; a long one gets a short id."""
    params = read_query(request.POST.urlencode())
    params.pop("csrfmiddlewaretoken", None)
    return redirect(f"{reverse('compare')}?{shortened(params, request.user).urlencode()}")


# Bare charts for frames of other sites show what a stranger may see, whoever is logged in. Only these answers may be
# framed: `xframe_options_exempt` also tells the content policy (benchsite.middleware).
STRANGER = AnonymousUser()
ANY_CHART = "throughput"


@require_safe
@xframe_options_exempt
def embed_compare(request: HttpRequest) -> HttpResponse:
    selection = select(request.GET, STRANGER)
    comparison = compare_selection(selection)
    source = f"{reverse('compare')}?{comparison.controls.urlencode()}"
    status = 400 if selection.problems else 200 if selection.runs else 404
    missing, title = "; ".join(selection.problem_lines), headline(comparison)
    if not title and sum(bool(group.dots) for group in comparison.groups) > 1:
        title = sentence(answer_of(comparison))  # why they may not be compared
    return _embedded(request, comparison, source=source, title=title, missing=missing, status=status)


@require_safe
@xframe_options_exempt
def embed_report(request: HttpRequest, slug: str) -> HttpResponse:
    report = get_object_or_404(Report.objects.present().readable_by(STRANGER), slug=slug)
    if report.frozen:
        context = {"title": report.name, "source": report.get_absolute_url(), "count": 0}
        return render(request, "embed.html", context | frozen_context(report, STRANGER))
    _, comparison = reports.live(report, STRANGER, request.GET)
    said = headline(comparison)
    return _embedded(request, comparison, source=report.get_absolute_url(), title=report.name, said=said)


@require_safe
@xframe_options_exempt
def embed_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """One chart of the run, `?chart=latency` or another one; the first without it."""
    rows = Run.objects.present().readable_by(STRANGER).for_lists()
    run = get_object_or_404(rows, id=run_id)
    charts_of_run = figures(run, series.read_all(run))
    wanted = [chart for chart in charts_of_run if chart.id == request.GET.get("chart", ANY_CHART)] or charts_of_run[:1]
    context = {
        "title": f"{run.dbms_version} · {run.workload}, repeat {run.repeat}",
        "parts": wanted,
        "run": run,
        "measurements": [] if wanted else ordered_measurements(run),
        "source": run.get_absolute_url(),
        "source_words": source_words([run.publication], {"Machine": run.hardware.name} if run.hardware else {}),
        "count": 1,
    }
    return render(request, "embed.html", context)


def _embedded(
    request: HttpRequest, comparison: Comparison, *, source: str, title: str, said: str = "", missing: str = "",
    status: int = 200,
) -> HttpResponse:  # fmt: skip
    drawing, runs = draw(comparison) if comparison.groups else None, comparison.all_runs
    common = {fact.label: fact.words for fact in comparison.common}
    context: dict[str, Any] = {
        "title": title, "headline": said, "warnings": warnings_of(comparison), "source": source,
        "count": len(runs),
        "source_words": source_words({run.publication for run in runs}, common),
        "parts": drawing.parts if drawing else [], "missing": empty_words(comparison) if drawing else missing,
    }  # fmt: skip
    return render(request, "embed.html", context | _tables_beside(comparison), status=status)
