from __future__ import annotations

from django.urls import path

from agents.views import agent_list, jobs, schedule

urlpatterns = [
    path("agents/", agent_list.agents, name="agents"),
    path("agents/code/", agent_list.issue_code, name="agent-code"),
    path("agents/<slug:slug>/approve/", agent_list.approve, name="agent-approve"),
    path("agents/<slug:slug>/disable/", agent_list.disable, name="agent-disable"),
    path("schedule/", schedule.schedule, name="schedule"),
    path("schedule/article/<slug:slug>/", schedule.article, name="article-experiment"),
    path("schedule/estimate/", schedule.estimate, name="schedule-estimate"),
    path("runs/<uuid:run_id>/job/", jobs.job, name="run-job"),
    path("runs/<uuid:run_id>/cancel/", jobs.cancel_run, name="run-cancel"),
    path("runs/<uuid:run_id>/repeat/", jobs.repeat_run, name="run-repeat"),
    path("experiments/<slug:slug>/progress/", jobs.progress, name="experiment-progress"),
    path("experiments/<slug:slug>/cancel/", jobs.cancel_experiment, name="experiment-cancel"),
]
