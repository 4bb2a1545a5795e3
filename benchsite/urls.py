"""All routes: pages of runs and agents, the API, health."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("runs.urls")),
    path("", include("runs.account_urls")),
    path("", include("runs.report_urls")),
    path("", include("agents.urls")),
    path("", include("benchsite.health_urls")),
    path("api/", include("benchsite.api_urls")),
]
