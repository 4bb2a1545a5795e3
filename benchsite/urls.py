"""All routes: pages of runs and agents, health, and under /api/ the REST API, its description, the agents' protocol."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, URLResolver, include, path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from agents.api.urls import protocol
from benchsite import health
from runs.api.schema import DescribedOnce


class Anything(StringConverter):
    """Also line breaks, which a path may hold."""

    regex = r"[\s\S]+"


register_converter(Anything, "anything")


@csrf_exempt
def nothing_here(request: HttpRequest, rest: str) -> JsonResponse:
    """A program is told so in JSON; the site's page for it is for people."""
    return JsonResponse({"detail": "There is nothing at this address."}, status=404)


# Swagger UI from our own static files; our template leaves out the inline style that the policy forbids.
docs = SpectacularSwaggerSplitView.as_view(template_name="api_docs.html", url_name="api-schema")
api: list[URLPattern | URLResolver] = [
    path("v1/", include("runs.api.urls")),
    path("v1/", include("agents.api.urls")),
    path("agent/v1/", include(protocol)),
    path("schema/", SpectacularAPIView.as_view(generator_class=DescribedOnce), name="api-schema"),
    path("docs/", docs, name="api-docs"),
    # With the slash at the end: an address without it is led to the one with it.
    path("<anything:rest>/", nothing_here, name="api-nothing"),
]

handler500 = "benchsite.errors.server_error"
urlpatterns = [
    path("", include("runs.urls")),
    path("", include("agents.urls")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("api/", include(api)),
]
