"""REST for the queue: what runs and what waits."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.jobs import queue
from runs.answers.answer import Part


class QueueEntry(Part):
    """Runs of one experiment on one machine, one after the other. Times are expected; null: not as things stand.

    `experiment` and `run` (the first of them) are null where whoever asks may not see them.
    """

    experiment: str | None
    run: UUID | None
    runs: int
    agent: str | None
    state: Literal["running", "waiting"]
    begins_at: datetime | None
    ends_at: datetime | None
    reason: str = Field(description="Why it waits, or that nobody hears of it.")


class QueueList(Part):
    results: list[QueueEntry]


class Queue(APIView):
    @extend_schema(operation_id="v1_queue_list", responses={200: QueueList})
    def get(self, request: Request) -> Response:
        """What runs, then what waits, in the order in which it begins."""
        entries = [
            QueueEntry(
                experiment=entry.experiment.slug if entry.experiment else None,
                run=entry.run.pk if entry.run else None,
                runs=entry.runs,
                agent=entry.agent.slug if entry.agent else None,
                state="running" if entry.is_running else "waiting",
                begins_at=entry.begins_at,
                ends_at=entry.ends_at,
                reason=entry.reason,
            )
            for entry in queue.entries(request.user)
        ]
        return Response(QueueList(results=entries).model_dump(mode="json"))
