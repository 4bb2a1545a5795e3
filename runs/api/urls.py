from __future__ import annotations

from django.urls import path

from runs.api import schema, views  # noqa: F401  # schema registers what the OpenAPI generator needs

urlpatterns = [
    path("runs/", views.RunList.as_view(), name="api-runs"),
    path("runs/<uuid:run_id>/", views.RunDetail.as_view(), name="api-run"),
    path("runs/<uuid:run_id>/series/", views.RunSeries.as_view(), name="api-run-series"),
    path("runs/<uuid:run_id>/restore/", views.RunRestore.as_view(), name="api-run-restore"),
    path("runs/<uuid:run_id>/invalidate/", views.RunInvalidate.as_view(), name="api-run-invalidate"),
    path("runs/<uuid:run_id>/validate/", views.RunValidate.as_view(), name="api-run-validate"),
    path("results/", results.Results.as_view(), name="api-results"),
]
