"""What was deleted and can be brought back: runs, uploads, experiments, reports, articles. Schedules come by a tag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs.access.rules import may_operate
from runs.listing.rows import in_words
from runs.models import Experiment, PublicationFiles, Report, Run, Upload, User
from runs.models.runs import STAGED_AT
from runs.views.guards import PersonRequest, contributor_required

PER_PAGE = 50
# The newest of each kind.
MOST = 1000


class Deleted(NamedTuple):
    at: datetime
    kind: str
    words: str
    url: str
    undo_url: str


@require_safe
@contributor_required
@never_cache
def deleted_list(request: PersonRequest) -> HttpResponse:
    """The newest first, as far as this person may bring it back."""
    user = request.user
    rows = [*_of_runs(user), *_reports(user), *_articles(user)]
    page = Paginator(sorted(rows, reverse=True), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "deleted.html", {"page": page})


def _of_runs(user: User) -> Iterator[Deleted]:
    """An experiment or an upload of which nothing is left as one; of others each run."""
    gone = Run.objects.filter(deleted_at__isnull=False).exclude(deleted_at=STAGED_AT)
    gone = gone.readable_by(user) if may_operate(user) else gone.filter(owner=user)
    rows = gone.for_lists().select_related("upload").order_by("-deleted_at")[:MOST]
    held: dict[Experiment | Upload | Run, list[Run]] = defaultdict(list)
    for run in rows:
        held[run.experiment or run.upload or run].append(run)
    left = Run.objects.present().filter(experiment__in=[one for one in held if isinstance(one, Experiment)])
    left |= Run.objects.present().filter(upload__in=[one for one in held if isinstance(one, Upload)])
    alive = {pk for pair in left.order_by().values_list("experiment", "upload").distinct() for pk in pair}
    for holder, runs in held.items():
        if isinstance(holder, Run) or holder.pk in alive:
            for run in runs:
                yield _row(run, "run", in_words(run), run.deleted_at, reverse("run-restore", args=[run.pk]))
            continue
        count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
        if isinstance(holder, Experiment):
            undo = reverse("experiment-restore", args=[holder.slug])
            yield _row(holder, "experiment", f"{holder}, {count}", runs[0].deleted_at, undo)
        else:
            words = f"{runs[0].dbms_version}, {runs[0].workload}, {count}"
            yield _row(holder, "upload", words, runs[0].deleted_at, reverse("upload-restore", args=[holder.pk]))


def _reports(user: User) -> Iterator[Deleted]:
    rows = Report.objects.exclude(deleted_at=None)
    rows = rows.readable_by(user) if may_operate(user) else rows.filter(owner=user)
    for row in rows.order_by("-deleted_at")[:MOST]:
        yield _row(row, "report", str(row), row.deleted_at, reverse("report-restore", args=[row.slug]))


def _articles(user: User) -> Iterator[Deleted]:
    rows = PublicationFiles.objects.exclude(deleted_at=None).defer("archive") if may_operate(user) else ()
    for row in rows:
        undo = reverse("publication-restore", args=[row.slug])
        yield Deleted(row.deleted_at or STAGED_AT, "article", row.title_en, reverse("publications"), undo)


def _row(row: Run | Experiment | Upload | Report, kind: str, words: str, at: datetime | None, undo: str) -> Deleted:
    return Deleted(at or STAGED_AT, kind, words, row.get_absolute_url(), undo)
