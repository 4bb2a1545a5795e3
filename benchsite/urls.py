"""All routes: pages of runs and agents, the API, health."""

from __future__ import annotations

from django.urls import include, path

from benchsite import health

urlpatterns = [
    path("", include("runs.urls")),
    path("", include("agents.urls")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("api/", include("benchsite.api_urls")),
]
