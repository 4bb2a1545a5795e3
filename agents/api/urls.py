"""Paths below benchagent.protocol.API_ROOT."""

from __future__ import annotations

from django.urls import path

from agents.api import views

urlpatterns = [
    path("register/", views.register, name="agent-register"),
    path("poll/", views.poll, name="agent-poll"),
    path("jobs/<str:run_id>/claim/", views.claim, name="agent-claim"),
    path("jobs/<str:run_id>/heartbeat/", views.heartbeat, name="agent-heartbeat"),
    path("jobs/<str:run_id>/batch/", views.batch, name="agent-batch"),
    path("observations/<str:run_id>/claim/", views.observer_claim, name="observation-claim"),
    path("observations/<str:run_id>/heartbeat/", views.observer_heartbeat, name="observation-heartbeat"),
    path("observations/<str:run_id>/batch/", views.observer_batch, name="observation-batch"),
]
