"""DBMSs: all, and one with its versions, configurations and results."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from runs import configs
from runs.access.visibility import nameable
from runs.configs.pages import ConfigRow, matching
from runs.dbms import systems
from runs.listing.rows import RunRow
from runs.models import Dbms, Run
from runs.models.text import clean

RECENT = 10
MOST_CONFIGS = 100


@require_safe
def dbms_list(request: HttpRequest) -> HttpResponse:
    words = clean(request.GET.get("q", "").strip(), 100)
    rows = systems.words_filter(nameable(Dbms.objects.all(), request.user), words)
    return render(request, "dbms/list.html", {"rows": systems.system_rows(rows, request.user), "q": words})


@require_safe
def dbms_detail(request: HttpRequest, slug: str) -> HttpResponse:
    dbms = get_object_or_404(nameable(Dbms.objects.all(), request.user, by_address=True), slug=slug)
    runs = Run.objects.present().listed_for(request.user).filter(dbms_version__dbms=dbms)
    kept = matching(configs.for_pages(configs.listed_configs(request.user)), "", dbms.slug)
    shown = list(kept.order_by("name", "revision", "pk")[:MOST_CONFIGS])
    counts = Run.objects.present().listed_for(request.user).filter(config__in=shown).counts_by("config")
    context = {
        "dbms": dbms,
        "versions": systems.version_rows(dbms, request.user),
        "unverified": systems.unverified(dbms.slug),
        "rankings": systems.rankings(dbms, request.user),
        "configs": [ConfigRow(config, counts.get(config.pk, 0)) for config in shown],
        "run_count": runs.count(),
        "rows": [RunRow(run) for run in runs.for_lists()[:RECENT]],
    }
    return render(request, "dbms/detail.html", context)
