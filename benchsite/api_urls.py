"""Everything under /api/: the REST API, its description, the agents' protocol."""

from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from benchsite.api_docs import ApiDocs

urlpatterns = [
    path("v1/", include("runs.api.urls")),
    path("v1/", include("runs.api.report_urls")),
    path("v1/", include("agents.api.rest_urls")),
    path("agent/v1/", include("agents.api.urls")),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", ApiDocs.as_view(url_name="api-schema"), name="api-docs"),
]
