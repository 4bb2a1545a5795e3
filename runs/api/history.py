"""Benchmarks over time and alerts over REST."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, cast

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import Field
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from runs.access.rules import candidates, may_operate
from runs.answers.answer import Amount
from runs.answers.words.gaps import differing_words
from runs.answers.words.verdicts import explained
from runs.api.errors import refuse_unknown
from runs.api.outgoing import FIELD_ERRORS, Outgoing, answered, page_of, source
from runs.compare.baseline import DEFAULT_BASELINE, Baseline, WrongBaseline
from runs.history import alerts, joining, watching
from runs.history.causes import why
from runs.history.gate import Gated, InTurn, also_measured, gated, in_turn, why_not_judged
from runs.history.overview import Row, listed_benchmarks, read_baseline, rows_of
from runs.history.page import answer_words, events_of
from runs.history.watching import BenchmarkSeries
from runs.history.words import apart_of, change_in_turn, change_words, claim_of
from runs.incoming.reading import read
from runs.incoming.values import Prose, Strict, Text
from runs.listing.filters import RunFilter, without
from runs.models import Alert, Benchmark, ChangePoint, Metric, User
from runs.models.choices import AlertState
from runs.results.document import Ident

T = TypeVar("T", Alert, Benchmark)
MOST = 100
MOST_BATCHES = 1_000
# What a gate answers instead of a baseline's name.
IN_TURN = "runs measured in turn"


class BenchmarkHead(Outgoing):
    """What a benchmark is."""

    id: uuid.UUID
    url: str
    name: str
    machine: str
    metric: str
    unit: str
    better: str


class Changed(Outgoing):
    """`words` says it. Of the kind zero it has no value: `zero` is from or to. `days_near`: the first and the last day
    that a step may have begun on, as they fit nearly as well.
    """

    kind: str
    state: str
    since: datetime
    commit: str
    change: Annotated[Amount, Field(description="A share of 1: −0.12 is 12 % less than before.")]
    days_near: tuple[str, str] | None
    zero: Literal["", "from", "to"]
    benchmark: uuid.UUID
    machine: str
    words: str
    alert: uuid.UUID | None


class BenchmarkRow(BenchmarkHead):
    """`last_change`: the last that was confirmed and that nobody has rejected; `change`: of the newest batch against
    the baseline, as a ratio. `branch`: empty of the main one; of an older release that is measured on beside a newer
    one the line that it is of, as 16. `told_apart`: of what goes by one name on machines of one name the mainboard and
    the disk, where they differ, and from when until when it was measured.
    """

    branch: str
    told_apart: str
    batches: int
    newest: float | None
    newest_at: datetime | None
    last_change: Changed | None
    change: Annotated[Amount | None, Field(description="A ratio: 0.88 is 12 % less than the baseline.")]


class BatchOfSeries(Outgoing):
    """`mean`: geometric. `events`: what was recorded differently of the batch before it."""

    batch: uuid.UUID
    runs: list[uuid.UUID]
    measured_at: datetime
    version: str
    commit: str
    build: str
    label: str
    mean: float | None
    values: list[float]
    events: list[str]


class Expected(Outgoing):
    """Where the next batch lies in 98 of 100."""

    low: float
    high: float


class BenchmarkAnswer(BenchmarkRow):
    """`series` in its order; `least_seen`: the least step that three further batches show, as a share of 1."""

    words: str
    expected: Expected | None
    least_seen: float | None
    changes: list[Changed]
    series: list[BatchOfSeries]


class BenchmarkPage(Outgoing):
    count: int
    next: str | None
    results: list[BenchmarkRow]


class AlertRow(Outgoing):
    id: uuid.UUID
    url: str
    title: str
    state: str
    after: datetime
    since: datetime
    assignee: str
    note: str
    fixed_by: str
    links: list[str]
    changes: list[Changed]


class AlertPage(Outgoing):
    count: int
    next: str | None
    results: list[AlertRow]


class CauseRow(Outgoing):
    """`benchmarks`: of how many that moved it was recorded."""

    kind: str
    words: str
    benchmarks: int


class CounterRow(Outgoing):
    label: str = source("quantity.label")
    unit: str = source("quantity.unit")
    change: Amount
    words: str


class AlertLink(Outgoing):
    """Another alert."""

    id: uuid.UUID
    url: str
    title: str
    state: str


class AlertAnswer(AlertRow):
    """`caused_by`: what was recorded differently there; `counters`: of its largest change, the largest first; `kind`:
    of the likeliest cause. `told_before`: closed alerts whose changes come back in this one, `came_again`: those in
    which its own came back after it was closed; the nearest first.
    """

    told_before: list[AlertLink]
    came_again: list[AlertLink]
    is_machine: bool
    kind: str
    caused_by: list[CauseRow]
    counters: list[CounterRow]


Link = Annotated[str, Text(500), Field(pattern="^https?://", examples=["https://bench.example/why"])]


class AlertEdit(Strict):
    """What a person says of an alert. What is left out stays."""

    state: Literal["", "confirmed", "acknowledged", "expected", "fixed", "noise", "machine"] = ""
    reason: Annotated[str, Text(2000, least=0)] = ""
    fixed_by: Annotated[str, Text(200, least=0)] = ""
    note: Prose = ""
    links: Annotated[list[Link], Field(max_length=20)] = []
    assignee: Annotated[str, Text(150, least=0), Field(description="A user name; empty for nobody.")] = ""


class Benchmarks(APIView):
    @extend_schema(
        operation_id="v1_benchmarks_list",
        parameters=[
            OpenApiParameter("than", str, description="The baseline: last:10, days:30, label:main, version:18.1."),
            OpenApiParameter("offset", int, description="Benchmarks to pass over."),
        ],
        responses={200: BenchmarkPage},
    )
    def get(self, request: Request) -> Response:
        """Benchmarks over time, what moved first; every filter of the list of runs chooses those with such runs."""
        params = request.query_params
        baseline = baseline_of(params.get("than", ""))
        rows = chosen_benchmarks(request, "than", "offset")
        benchmarks = list(part_of(rows, params.get("offset", "0")))
        joining.tell_apart(benchmarks)
        shown = rows_of(benchmarks, baseline)
        count, results = rows.count(), [BenchmarkRow(**_row(row, request)) for row in shown]
        return answered(BenchmarkPage(count=count, next=next_of(request, count), results=results))


class BenchmarkDetail(APIView):
    @extend_schema(
        parameters=[OpenApiParameter("than", str, description="The baseline, as of the list.")],
        responses={200: BenchmarkAnswer},
    )
    def get(self, request: Request, benchmark_id: uuid.UUID) -> Response:
        """One with its series, its changes and where the next batch is expected."""
        refuse_unknown(request.query_params, {"than"})
        rows = Benchmark.objects.readable_by(request.user).select_related("metric", "hardware")
        shown = get_object_or_404(rows, pk=benchmark_id)
        joining.tell_apart([shown])
        (row,) = rows_of([shown], baseline_of(request.query_params.get("than", "")))
        series = BenchmarkSeries.of(shown, MOST_BATCHES)
        band, events, ends = series.band(), events_of(series.rows), alerts.ends_of(series.points)
        answer = BenchmarkAnswer(
            **_row(row, request), words=answer_words(series),
            expected=Expected(low=band.interval.low, high=band.interval.high) if band else None,
            least_seen=series.least_told() if band else None,
            changes=[_changed(point, ends) for point in series.points],
            series=[
                BatchOfSeries.of(
                    each, batch=each.batch_id, version=each.version.version, mean=each.centre, events=events.get(at, [])
                )
                for at, each in enumerate(series.rows)
            ],
        )  # fmt: skip
        return answered(answer)


class GateRequest(Strict):
    """`than`: last:10, days:30, label:main, version:18.1, commit:abc. `base`: runs that were measured in turn with
    `runs`, instead. `metrics`: names of those that each cell is judged by; else the main one of its workload.
    `allow_pct`: a smaller change matters not; else that of each metric counts.
    """

    runs: Annotated[list[Ident], Field(min_length=1, max_length=5_000)]
    than: Annotated[str, Text(130)] = DEFAULT_BASELINE
    base: Annotated[list[Ident], Field(max_length=5_000)] = []
    metrics: Annotated[list[Annotated[str, Text(120)]], Field(max_length=20)] = []
    allow_pct: Annotated[float, Field(gt=0, le=100)] | None = None


class GateCell(Outgoing):
    """A cell of the runs against the baseline. `value`: the geometric mean of its repeats, where one is 0 or negative
    the median. `batches`: of the baseline. `change`: as a ratio, with its verdict, which has no ratio where a side is
    zero in every repeat. `not_worse`: its interval holds no loss that matters, though it may be undecided whether
    anything was won. `not_alike`: what else differs of the baseline, which a comparison of both names, too. `left_out`:
    the batches of the baseline that stand apart from the others and do not count, as "2026-11-24 −35 %".
    """

    benchmark: str
    url: str
    machine: str
    metric: str
    unit: str
    value: float | None
    runs: list[uuid.UUID]
    batches: int
    change: Amount
    not_worse: bool
    not_alike: str
    left_out: str = ""


class GateAnswer(Outgoing):
    """`without`: runs that were not judged, and `why_without`: what keeps each of them from it, in their order.
    `also_measured`: metrics of the runs that were not judged.
    """

    than: str
    cells: list[GateCell]
    without: list[uuid.UUID]
    why_without: list[str]
    also_measured: list[str]


class Gate(APIView):
    required_scope = "upload"

    @extend_schema(request=GateRequest, responses={200: GateAnswer, 400: FIELD_ERRORS})
    def post(self, request: Request) -> Response:
        """Whether what was just sent is worse than a baseline: each cell, judged together."""
        given = read(GateRequest, request.data)
        allowed = given.allow_pct / 100 if given.allow_pct else None
        labels, refused = _labels_of(given.metrics), dict[uuid.UUID, str]()
        if given.base:
            turns = in_turn(given.runs, given.base, request.user, metrics=labels, allowed=allowed)
            cells = [_cell_in_turn(cell, request) for cell in turns if not cell.is_refused]
            judged = Counter(run.pk for cell in turns if not cell.is_refused for run, _ in (*cell.runs, *cell.base))
            for cell in turns:
                why = explained(cell.change).why
                refused |= {run.pk: why for run, _ in (*cell.runs, *cell.base) if cell.is_refused}
        else:
            baseline = baseline_of(given.than)
            found = gated(given.runs, baseline, request.user, metrics=labels, allowed=allowed)
            cells = [_cell(cell, request) for cell in found if not cell.is_refused]
            refused = {
                uuid.UUID(run): explained(cell.change).why for cell in found if cell.is_refused for run in cell.runs
            }
            judged = Counter(run for cell in cells for run in cell.runs)
        given_ids = dict.fromkeys(uuid.UUID(str(run)) for run in (*given.runs, *given.base))
        lacking = [run for run in given_ids if judged[run] < max(1, len(labels))]
        others = why_not_judged(lacking, request.user, labels) | refused
        answer = GateAnswer(
            than=IN_TURN if given.base else given.than, cells=cells, without=[*others],
            why_without=[*others.values()],
            also_measured=also_measured(given.runs, request.user, {cell.metric for cell in cells}) if cells else [],
        )  # fmt: skip
        return answered(answer)


def _labels_of(metrics: Sequence[str]) -> dict[str, str]:
    """These metrics with their labels. Raises ValidationError."""
    known = dict(Metric.objects.filter(name__in=metrics).values_list("name", "label"))
    if unknown := [name for name in metrics if name not in known]:
        raise ValidationError({"metrics": [f"“{name}” is no metric of this server." for name in unknown]})
    return {name: known[name] for name in metrics}


def _cell(cell: Gated, request: Request) -> GateCell:
    benchmark = cell.row.benchmark
    apart = [name for missing in apart_of(cell.left_out) for name in missing.names]
    return GateCell(
        benchmark=str(benchmark), url=page_of(benchmark, request),
        machine=benchmark.hardware.name if benchmark.hardware else "", metric=cell.metric.label,
        unit=cell.metric.unit, value=cell.value, runs=[uuid.UUID(run) for run in cell.runs],
        batches=cell.batches, change=explained(cell.change), not_worse=cell.is_not_worse,
        not_alike=differing_words({"": cell.differing}), left_out=", ".join(apart),
    )  # fmt: skip


def _cell_in_turn(cell: InTurn, request: Request) -> GateCell:
    run = cell.first
    return GateCell(
        benchmark=cell.name, url=page_of(run.experiment or run, request),
        machine=run.hardware.name if run.hardware else "", metric=cell.metric.label, unit=cell.metric.unit,
        value=cell.value, runs=[each.pk for each, _ in cell.runs],
        batches=1, change=change_in_turn(cell.change, cell.base[0][0].durability, run.durability),
        not_worse=cell.is_not_worse, not_alike=differing_words({"": cell.differing}),
    )  # fmt: skip


class Alerts(APIView):
    @extend_schema(
        operation_id="v1_alerts_list",
        parameters=[
            OpenApiParameter("state", str, many=True, enum=AlertState.values, description="Else those that are open."),
            OpenApiParameter("offset", int, description="Alerts to pass over."),
        ],
        responses={200: AlertPage},
    )
    def get(self, request: Request) -> Response:
        """Alerts, the newest first."""
        refuse_unknown(request.query_params, {"state", "offset"})
        rows = Alert.objects.listed_for(request.user)
        if states := request.query_params.getlist("state"):
            if wrong := [state for state in states if state not in AlertState.values]:
                raise ValidationError({"state": [f"“{wrong[0]}” is none of {', '.join(AlertState.values)}."]})
            rows = rows.filter(state__in=states)
        else:
            rows = rows.open()
        shown = alerts.with_changes(part_of(rows.order_by("-since", "pk"), request.query_params.get("offset", "0")))
        ends = alerts.ends_of(point for row in shown for point in row.changes.all())
        count, results = rows.count(), [AlertRow.of(row, **_alert(row, ends, request)) for row in shown]
        return answered(AlertPage(count=count, next=next_of(request, count), results=results))


class AlertDetail(APIView):
    required_scope = "schedule"

    @extend_schema(responses={200: AlertAnswer})
    def get(self, request: Request, alert_id: uuid.UUID) -> Response:
        """One with its changes and what else changed there."""
        return self._answer(request, alert_id)

    @extend_schema(request=AlertEdit, responses={200: AlertAnswer})
    def patch(self, request: Request, alert_id: uuid.UUID) -> Response:
        """Say what it is, who takes care, a note and links."""
        if not may_operate(request.user):
            raise PermissionDenied("Only operators and administrators may do this.")
        shown = get_object_or_404(Alert.objects.readable_by(request.user), pk=alert_id)
        said, user = read(AlertEdit, request.data), cast(User, request.user)
        edits: dict[str, Any] = {
            name: getattr(said, name) for name in ("note", "links") if name in said.model_fields_set
        }
        if "assignee" in said.model_fields_set:
            assignee = User.objects.filter(username=said.assignee).first()
            if said.assignee and assignee is None:
                raise ValidationError({"assignee": [f"Nobody is called {said.assignee}."]})
            edits["assignee"] = assignee
        alerts.edit(shown, by=user, **edits)
        if said.state:
            watching.set_alert_state(shown, said.state, by=user, reason=said.reason, fixed_by=said.fixed_by)
        return self._answer(request, alert_id)

    def _answer(self, request: Request, alert_id: uuid.UUID) -> Response:
        shown = get_object_or_404(alerts.with_changes(Alert.objects.readable_by(request.user)), pk=alert_id)
        cause = why(list(shown.changes.all()), alerts.watched_beside(shown))
        ends = alerts.ends_of(shown.changes.all())
        before, after = (
            [AlertLink.of(each, url=page_of(each, request), title=alerts.title(each)) for each in told]
            for told in alerts.told_again(shown)
        )
        answer = AlertAnswer.of(
            shown, **_alert(shown, ends, request), told_before=before, came_again=after,
            is_machine=cause.is_machine, kind=cause.kind,
            caused_by=[CauseRow(kind=kind, words=words, benchmarks=count) for kind, words, count in cause.changed],
            counters=cause.where,
        )  # fmt: skip
        return answered(answer)


def chosen_benchmarks(request: Request, *controls: str) -> QuerySet[Benchmark]:
    """Those that the filters choose; `controls` are no filters. Raises ValidationError."""
    given = without(request.query_params, *controls)
    chosen = RunFilter(given, queryset=candidates(request.user), user=request.user)
    if problems := chosen.problems():
        raise ValidationError(problems)
    return listed_benchmarks(request.user, chosen.qs if given else None)


def baseline_of(text: str) -> Baseline:
    try:
        return read_baseline(text)
    except WrongBaseline as error:
        raise ValidationError({"than": [str(error)]}) from error


def part_of(rows: QuerySet[T], offset: str) -> QuerySet[T]:
    if not offset.isdecimal() or len(offset) > 9:
        raise ValidationError({"offset": ["A whole number, 0 or more, is required."]})
    return rows[int(offset) : int(offset) + MOST]


def next_of(request: Request, count: int) -> str | None:
    """The address of the part that follows."""
    offset = int(request.query_params.get("offset", "0")) + MOST
    return replace_query_param(request.build_absolute_uri(), "offset", offset) if offset < count else None


def head_of(benchmark: Benchmark, request: Request) -> dict[str, Any]:
    """The fields of `BenchmarkHead`."""
    metric = benchmark.metric
    return {
        "id": benchmark.pk, "url": page_of(benchmark, request), "name": benchmark.name,
        "machine": benchmark.hardware.name if benchmark.hardware else "", "metric": metric.name, "unit": metric.unit,
        "better": metric.better,
    }  # fmt: skip


def _row(row: Row, request: Request) -> dict[str, Any]:
    benchmark = row.benchmark
    return head_of(benchmark, request) | {
        "branch": benchmark.branch, "told_apart": benchmark.told_apart, "batches": benchmark.batches,
        "newest": row.newest, "newest_at": benchmark.newest_at, "last_change": row.step and _changed(row.step, {}),
        "change": row.change and explained(row.change),
    }  # fmt: skip


def _changed(point: ChangePoint, ends: Mapping[int, datetime]) -> Changed:
    claim = claim_of(point)
    return Changed(
        kind=point.kind, state=point.state, since=point.at.measured_at, commit=point.at.commit,
        change=claim.change, days_near=claim.days_near, zero=claim.zero,
        benchmark=point.benchmark_id, alert=point.alert_id,
        machine=point.benchmark.hardware.name if point.benchmark.hardware else "",
        words=change_words(point, is_last=point.pk not in ends),
    )  # fmt: skip


def _alert(alert: Alert, ends: Mapping[int, datetime], request: Request) -> dict[str, Any]:
    """What a row of alerts has beside its columns. `ends`: of what its changes began."""
    return {
        "url": page_of(alert, request), "title": alerts.title(alert, ends),
        "assignee": alert.assignee.username if alert.assignee else "",
        "changes": [_changed(point, ends) for point in alert.changes.all()],
    }  # fmt: skip
