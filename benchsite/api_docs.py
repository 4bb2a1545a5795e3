from __future__ import annotations

from drf_spectacular.views import SpectacularSwaggerSplitView


class ApiDocs(SpectacularSwaggerSplitView):
    """Swagger UI from our own static files; our template leaves out the inline style that the policy forbids."""

    template_name = "api_docs.html"
