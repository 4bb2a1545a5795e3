from __future__ import annotations

from django.urls import path

from agents import views

urlpatterns = [
    path("agents/", views.agents, name="agents"),
    path("agents/code/", views.issue_code, name="agent-code"),
    path("agents/install.sh", views.install, name="agent-install"),
    path("agents/install/<str:name>", views.agent_wheel, name="agent-wheel"),
    path("agents/<slug:slug>/", views.agent, name="agent"),
    path("agents/<slug:slug>/approve/", views.approve, name="agent-approve"),
    path("agents/<slug:slug>/disable/", views.disable, name="agent-disable"),
    path("first-experiment/", views.first_experiment, name="first-experiment"),
    path("first-experiment/again/", views.first_experiment_again, name="first-experiment-again"),
    path("agents/<slug:slug>/delete/", views.delete, name="agent-delete"),
    path("queue/", views.queue, name="queue"),
    path("schedule/", views.schedule, name="schedule"),
    path("schedule/article/<slug:slug>/", views.article, name="article-experiment"),
    path("schedule/estimate/", views.estimate, name="schedule-estimate"),
    path("schedule/between/", views.bisect, name="schedule-between"),
    path("templates/", views.templates, name="templates"),
    path("schedules/", views.schedules, name="schedules"),
    path("schedules/new/", views.new_schedule, name="schedule-new"),
    path("schedules/<slug:slug>/purge/", views.purge_schedule, name="schedule-purge"),
    path("schedules/<slug:slug>/", views.one_schedule, name="schedule-one"),
    path("runs/<uuid:run_id>/job/", views.job, name="run-job"),
    path("runs/<uuid:run_id>/cancel/", views.cancel_run, name="run-cancel"),
    path("runs/<uuid:run_id>/repeat/", views.repeat_run, name="run-repeat"),
    path("experiments/<slug:slug>/progress/", views.progress, name="experiment-progress"),
    path("experiments/<slug:slug>/repeat/", views.repeat_failed, name="experiment-repeat"),
    path("experiments/<slug:slug>/cancel/", views.cancel_experiment, name="experiment-cancel"),
]
