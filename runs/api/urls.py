from __future__ import annotations

from django.urls import path

from runs.api import (
    answers,
    bundles,
    compare,
    configs,
    hardware,
    parts,
    publications,
    runs,
    schema,  # noqa: F401  # registers what the OpenAPI generator needs
    tools,
    uploads,
    visibility,
)

urlpatterns = [
    path("runs/", runs.RunList.as_view(), name="api-runs"),
    path("runs/<uuid:run_id>/", runs.RunDetail.as_view(), name="api-run"),
    path("runs/<uuid:run_id>/series/", runs.RunSeries.as_view(), name="api-run-series"),
    path("runs/<uuid:run_id>/latency/", runs.RunLatency.as_view(), name="api-run-latency"),
    path("runs/<uuid:run_id>/annotations/", runs.RunAnnotations.as_view(), name="api-run-annotations"),
    path(
        "runs/<uuid:run_id>/annotations/<uuid:annotation_id>/", runs.RunAnnotation.as_view(), name="api-run-annotation"
    ),
    path("runs/<uuid:run_id>/changes/", runs.RunChanges.as_view(), name="api-run-changes"),
    path("runs/<uuid:run_id>/restore/", runs.RunRestore.as_view(), name="api-run-restore"),
    path("runs/<uuid:run_id>/invalidate/", runs.RunInvalidate.as_view(), name="api-run-invalidate"),
    path("runs/<uuid:run_id>/validate/", runs.RunValidate.as_view(), name="api-run-validate"),
    path("batches/<uuid:batch_id>/", runs.BatchDetail.as_view(), name="api-batch"),
    path("configs/", configs.ConfigList.as_view(), name="api-configs"),
    path("configs/diff/", configs.ConfigDiff.as_view(), name="api-config-diff"),
    path("configs/<slug:slug>/", configs.ConfigDetail.as_view(), name="api-config"),
    path("hardware/", hardware.HardwareList.as_view(), name="api-hardware"),
    path("hardware/<slug:slug>/", hardware.HardwareDetail.as_view(), name="api-hardware-detail"),
    path("hardware/<slug:slug>/storage/", hardware.HardwareStorage.as_view(), name="api-hardware-storage"),
    path("hardware/<slug:slug>/storage/<slug:device>/", hardware.HardwareDevice.as_view(), name="api-hardware-device"),
    path("hardware/<slug:slug>/merge/", hardware.HardwareMerge.as_view(), name="api-hardware-merge"),
    path("imports/", uploads.Imports.as_view(), name="api-imports"),
    path("imports/<uuid:import_id>/", uploads.ImportDetail.as_view(), name="api-import"),
    path("imports/<uuid:import_id>/store/", uploads.ImportStore.as_view(), name="api-import-store"),
    path("imports/<uuid:import_id>/read-again/", uploads.ImportReadAgain.as_view(), name="api-import-read-again"),
    path("parts/", parts.Parts.as_view(), name="api-parts"),
    path("parts/<uuid:file_id>/", parts.Part.as_view(), name="api-part"),
    path("artefacts/<uuid:artefact_id>/", uploads.ArtefactContent.as_view(), name="api-artefact"),
    path("publications/", publications.PublicationList.as_view(), name="api-publications"),
    path("publications/<slug:slug>/", publications.PublicationDetail.as_view(), name="api-publication"),
    path("answers/", answers.Answers.as_view(), name="api-answers"),
    path("compare/", compare.Compare.as_view(), name="api-compare"),
    path("tools/", tools.Tools.as_view(), name="api-tools"),
    path("results/", uploads.Results.as_view(), name="api-results"),
    path("bundles/", bundles.Bundles.as_view(), name="api-bundles"),
    path("experiments/<slug:slug>/bundle/", bundles.ExperimentBundle.as_view(), name="api-experiment-bundle"),
    path("reports/", compare.ReportList.as_view(), name="api-reports"),
    path("reports/<slug:slug>/", compare.ReportDetail.as_view(), name="api-report"),
    path("reports/<slug:slug>/visibility/", visibility.ReportVisibility.as_view(), name="api-report-visibility"),
    path("uploads/<uuid:id>/visibility/", visibility.UploadVisibility.as_view(), name="api-upload-visibility"),
    path(
        "experiments/<slug:slug>/visibility/",
        visibility.ExperimentVisibility.as_view(),
        name="api-experiment-visibility",
    ),
]
