"""From a list of runs into a comparison: of lists that mix tests a page asks which is meant."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.compare.entering import LOOKED_THROUGH, entry
from runs.compare.select import set_queries


@require_safe
def which_test(request: HttpRequest) -> HttpResponse:
    """Which workload at which size, with counts; where there is one only, straight on to its comparison."""
    query = next(iter(set_queries(request.GET)), QueryDict())
    found = entry(query, request.user)
    if only := found.only:
        return redirect(f"{reverse('compare')}?{only.query}")
    context = {"entry": found, "query": query.urlencode(), "looked_through": LOOKED_THROUGH}
    return render(request, "which_test.html", context, status=400 if found.problems else 200)
