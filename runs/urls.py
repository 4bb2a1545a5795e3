from __future__ import annotations

from django.urls import path

from runs.views import compare, experiments, home, publications, run_detail, run_list, uploads, visibility

urlpatterns = [
    path("", home.home, name="home"),
    path("runs/", run_list.run_list, name="runs"),
    path("runs/<uuid:run_id>/", run_detail.run_detail, name="run"),
    path("runs/<uuid:run_id>/delete/", run_detail.delete_run, name="run-delete"),
    path("runs/<uuid:run_id>/restore/", run_detail.restore_run, name="run-restore"),
    path("runs/<uuid:run_id>/invalidate/", run_detail.invalidate_run, name="run-invalidate"),
    path("runs/<uuid:run_id>/validate/", run_detail.validate_run, name="run-validate"),
    path("runs/<uuid:run_id>/series.csv", run_detail.series_csv, name="run-series-csv"),
    path("experiments/<slug:slug>/", experiments.experiment, name="experiment"),
    path("visibility/<slug:kind>/<slug:key>/", visibility.set_visibility, name="visibility"),
    path("uploads/", uploads.upload_list, name="uploads"),
    path("uploads/<uuid:upload_id>/", uploads.upload, name="upload"),
    path("uploads/<uuid:upload_id>/delete/", uploads.delete_upload, name="upload-delete"),
    path("uploads/<uuid:upload_id>/restore/", uploads.restore_upload, name="upload-restore"),
    path("compare/", compare.compare, name="compare"),
    path("compare.csv", compare.compare_csv, name="compare-csv"),
    path("publications/", publications.publication_list, name="publications"),
    path("publications/<slug:slug>/", publications.publication, name="publication"),
]
