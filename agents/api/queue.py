"""REST for the queue: what runs and what waits."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.operators import OperatorView, refusals
from agents.jobs import life, queue, reservations
from runs.answers.answer import Part
from runs.api.outgoing import FIELD_ERRORS, REFUSALS, Outgoing, SlugOf, answered
from runs.api.permissions import readable_runs
from runs.incoming.reading import read
from runs.incoming.values import PlannedMoment, Slug, Strict, Text
from runs.models.choices import RunState


class QueueEntry(Outgoing):
    """Runs of one experiment on one machine, one after the other. Times are expected; null: not as things stand.

    `experiment` and `run` (the first of them) are null where whoever asks may not see them.
    """

    experiment: SlugOf
    run: UUID | None
    runs: int
    agent: SlugOf
    state: Literal["running", "waiting"]
    begins_at: datetime | None
    ends_at: datetime | None
    reason: str = Field(description="Why it waits, or that nobody hears of it.")


class QueueList(Part):
    """`paused`: by whom, until when and why; `stalled`: that nothing begins although it could. Empty while not so."""

    paused: str
    stalled: str
    results: list[QueueEntry]


class QueueChange(Strict):
    """`paused` true hands out nothing more; what runs goes on."""

    paused: bool
    reason: Annotated[str, Text(200, least=0)] = ""
    until: PlannedMoment | None = None


class Waiting(Strict):
    experiments: list[Slug] = []
    runs: Annotated[list[Annotated[UUID, Field(strict=False)]], Field(description="by id")] = []


class CancelledOfQueue(Part):
    cancelled: int


def _queue_list(request: Request) -> Response:
    entries = [
        QueueEntry.of(
            entry, run=entry.run.pk if entry.run else None, state="running" if entry.is_running else "waiting"
        )
        for entry in queue.entries(request.user)
    ]
    paused = reservations.Calendar(timezone.now()).of_queue
    words = f"The queue is {paused}." if paused else ""
    return answered(QueueList(paused=words, stalled=queue.stalled(), results=entries))


class Queue(OperatorView):
    @extend_schema(operation_id="v1_queue_list", responses={200: QueueList})
    def get(self, request: Request) -> Response:
        """What runs, then what waits, in the order in which it begins."""
        return _queue_list(request)

    @extend_schema(request=QueueChange, responses={200: QueueList, 400: FIELD_ERRORS, **REFUSALS})
    def patch(self, request: Request) -> Response:
        """Pause the queue or resume it."""
        given = read(QueueChange, request.data)
        if given.paused:
            with refusals(begins_at="until", ends_at="until"):
                reservations.reserve(None, by=request.user, reason=given.reason, ends_at=given.until)
        else:
            reservations.resume(None, by=request.user)
        return _queue_list(request)


class QueueCancel(OperatorView):
    @extend_schema(request=Waiting, responses={202: CancelledOfQueue, 400: FIELD_ERRORS, **REFUSALS})
    def post(self, request: Request) -> Response:
        """Cancel what waits of these experiments and runs. What an agent has already goes on."""
        given = read(Waiting, request.data)
        rows = readable_runs(request).present().filter(job__isnull=False, state=RunState.QUEUED)
        asked = rows.filter(Q(experiment__slug__in=given.experiments) | Q(pk__in=given.runs))
        count = life.cancel_waiting(asked, by=request.user)
        return answered(CancelledOfQueue(cancelled=count), 202)
