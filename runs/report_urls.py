"""Saved comparisons, and charts for frames of other sites."""

from __future__ import annotations

from django.urls import path

from runs.views import embeds, reports

urlpatterns = [
    path("reports/", reports.report_list, name="reports"),
    path("reports/new/", reports.new_report, name="report-new"),
    path("reports/<slug:slug>/", reports.report, name="report"),
    path("reports/<slug:slug>/edit/", reports.edit_report, name="report-edit"),
    path("reports/<slug:slug>/delete/", reports.delete_report, name="report-delete"),
    path("reports/<slug:slug>/restore/", reports.restore_report, name="report-restore"),
    path("embed/compare/", embeds.embed_compare, name="embed-compare"),
    path("embed/reports/<slug:slug>/", embeds.embed_report, name="embed-report"),
    path("embed/runs/<uuid:run_id>/", embeds.embed_run, name="embed-run"),
]
