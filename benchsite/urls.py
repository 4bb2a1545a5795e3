"""All routes: pages of runs and agents, health, and under /api/ the REST API, its description, the agents' protocol."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, URLResolver, include, path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.renderers import BaseRenderer, TemplateHTMLRenderer
from rest_framework.request import Request

from agents.api.urls import protocol
from benchsite import health, limits, metrics
from runs.api.schema import DescribedOnce


class Anything(StringConverter):
    """Also line breaks, which a path may hold."""

    regex = r"[\s\S]+"


register_converter(Anything, "anything")


@csrf_exempt
def nothing_here(request: HttpRequest, rest: str) -> JsonResponse:
    """A program is told so in JSON; the site's page for it is for people."""
    return JsonResponse({"detail": "There is nothing at this address."}, status=404)


class Docs(SpectacularSwaggerSplitView):
    """Swagger UI from our own static files; our template leaves out the inline style that the policy forbids."""

    template_name = "api_docs.html"
    url_name = "api-schema"

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[BaseRenderer, str]:
        """A page, whatever is accepted: one that refuses would ask for a user whose token may be wrong."""
        page = TemplateHTMLRenderer()
        return page, page.media_type


api: list[URLPattern | URLResolver] = [
    path("v1/", include("runs.api.urls")),
    path("v1/", include("agents.api.urls")),
    path("agent/v1/", include(protocol)),
    path("schema/", SpectacularAPIView.as_view(generator_class=DescribedOnce), name="api-schema"),
    path("docs/", Docs.as_view(), name="api-docs"),
    # With the slash at the end: an address without it is led to the one with it.
    path("<anything:rest>/", nothing_here, name="api-nothing"),
]

handler400 = "benchsite.errors.bad_request"
handler403 = "benchsite.errors.permission_denied"
handler404 = "benchsite.errors.page_not_found"
handler500 = "benchsite.errors.server_error"
urlpatterns = [
    path("", include("runs.urls")),
    path("", include("agents.urls")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("may-send/", limits.may_send, name="may-send"),
    path("api/", include(api)),
]
