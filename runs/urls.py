from __future__ import annotations

from django.urls import path

from runs.views import compare, experiments, home, publications, run_detail, run_list

urlpatterns = [
    path("", home.home, name="home"),
    path("runs/", run_list.run_list, name="runs"),
    path("runs/<uuid:run_id>/", run_detail.run_detail, name="run"),
    path("runs/<uuid:run_id>/delete/", run_detail.delete_run, name="run-delete"),
    path("runs/<uuid:run_id>/restore/", run_detail.restore_run, name="run-restore"),
    path("runs/<uuid:run_id>/series.csv", run_detail.series_csv, name="run-series-csv"),
    path("experiments/<slug:slug>/", experiments.experiment, name="experiment"),
    path("compare/", compare.compare, name="compare"),
    path("compare.csv", compare.compare_csv, name="compare-csv"),
    path("publications/", publications.publication_list, name="publications"),
    path("publications/<slug:slug>/", publications.publication, name="publication"),
]
