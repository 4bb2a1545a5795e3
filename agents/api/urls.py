from __future__ import annotations

from django.urls import path

from agents.api import rest, views

# Below benchagent.protocol.API_ROOT: the agents' own protocol.
protocol = [
    path("register/", views.register, name="agent-register"),
    path("poll/", views.poll, name="agent-poll"),
    path("jobs/<str:run_id>/claim/", views.claim, name="agent-claim"),
    path("jobs/<str:run_id>/heartbeat/", views.heartbeat, name="agent-heartbeat"),
    path("jobs/<str:run_id>/batch/", views.batch, name="agent-batch"),
    path("observations/<str:run_id>/claim/", views.observer_claim, name="observation-claim"),
    path("observations/<str:run_id>/heartbeat/", views.observer_heartbeat, name="observation-heartbeat"),
    path("observations/<str:run_id>/batch/", views.observer_batch, name="observation-batch"),
]
# Below /api/v1/: for people and their programs.
urlpatterns = [
    path("agents/enrolment-codes/", rest.EnrolmentCodes.as_view(), name="api-enrolment-codes"),
    path("experiments/", rest.Experiments.as_view(), name="api-experiments"),
    path("runs/<uuid:run_id>/cancel/", rest.RunCancel.as_view(), name="api-run-cancel"),
]
