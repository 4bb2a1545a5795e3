from __future__ import annotations

from django.urls import path

from runs.api import reports

urlpatterns = [
    path("reports/", reports.ReportList.as_view(), name="api-reports"),
    path("reports/<slug:slug>/", reports.ReportDetail.as_view(), name="api-report"),
]
