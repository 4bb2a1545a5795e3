from __future__ import annotations

from django.urls import path

from agents.api import agents, bisections, errands, experiments, queue, reservations, schedules, templates, views

# Below benchagent.protocol.API_ROOT: the agents' own protocol.
protocol = [
    path("register/", views.register, name="agent-register"),
    path("poll/", views.poll, name="agent-poll"),
    path("jobs/<uuid:run_id>/claim/", views.claim, name="agent-claim"),
    path("jobs/<uuid:run_id>/heartbeat/", views.heartbeat, name="agent-heartbeat"),
    path("jobs/<uuid:run_id>/batch/", views.batch, name="agent-batch"),
    path("observations/<uuid:run_id>/claim/", views.observer_claim, name="observation-claim"),
    path("observations/<uuid:run_id>/heartbeat/", views.observer_heartbeat, name="observation-heartbeat"),
    path("observations/<uuid:run_id>/batch/", views.observer_batch, name="observation-batch"),
]
# Below /api/v1/: for people and their programs.
urlpatterns = [
    path("agents/enrolment-codes/", agents.EnrolmentCodes.as_view(), name="api-enrolment-codes"),
    path("agents/<slug:slug>/errands/", errands.Errands.as_view(), name="api-errands"),
    path("agents/<slug:slug>/errands/<uuid:pk>/", errands.ErrandDetail.as_view(), name="api-errand"),
    path("agents/<slug:slug>/", agents.AgentDetail.as_view(), name="api-agent"),
    path("agents/", agents.Agents.as_view(), name="api-agents"),
    path("reservations/", reservations.Reservations.as_view(), name="api-reservations"),
    path("reservations/<uuid:pk>/", reservations.ReservationDetail.as_view(), name="api-reservation"),
    path("schedules/", schedules.Schedules.as_view(), name="api-schedules"),
    path("schedules/<slug:slug>/", schedules.ScheduleDetail.as_view(), name="api-schedule"),
    path("bisections/", bisections.Bisections.as_view(), name="api-bisections"),
    path("bisections/<uuid:pk>/", bisections.BisectionDetail.as_view(), name="api-bisection"),
    path("templates/", templates.Templates.as_view(), name="api-templates"),
    path("templates/<slug:slug>/", templates.TemplateDetail.as_view(), name="api-template"),
    path("queue/", queue.Queue.as_view(), name="api-queue"),
    path("queue/cancel/", queue.QueueCancel.as_view(), name="api-queue-cancel"),
    path("experiments/<slug:slug>/", experiments.ExperimentDetail.as_view(), name="api-experiment"),
    path("experiments/<slug:slug>/cancel/", experiments.ExperimentCancel.as_view(), name="api-experiment-cancel"),
    path("experiments/<slug:slug>/repeat/", experiments.ExperimentRepeat.as_view(), name="api-experiment-repeat"),
    path(
        "experiments/<slug:slug>/repeat-runs/",
        experiments.ExperimentRepeatRuns.as_view(),
        name="api-experiment-repeat-runs",
    ),
    path("experiments/", experiments.Experiments.as_view(), name="api-experiments"),
    path("runs/<uuid:run_id>/cancel/", experiments.RunCancel.as_view(), name="api-run-cancel"),
]
