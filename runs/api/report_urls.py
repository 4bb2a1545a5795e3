from __future__ import annotations

from django.urls import path

from runs.api import reports, visibility

urlpatterns = [
    path("reports/", reports.ReportList.as_view(), name="api-reports"),
    path("reports/<slug:slug>/", reports.ReportDetail.as_view(), name="api-report"),
    path("reports/<slug:slug>/visibility/", visibility.ReportVisibility.as_view(), name="api-report-visibility"),
    path("uploads/<uuid:id>/visibility/", visibility.UploadVisibility.as_view(), name="api-upload-visibility"),
    path(
        "experiments/<slug:slug>/visibility/",
        visibility.ExperimentVisibility.as_view(),
        name="api-experiment-visibility",
    ),
]
