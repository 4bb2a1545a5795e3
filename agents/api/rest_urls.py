"""REST for people and their programs, below /api/v1/. The agents' own protocol is in urls.py."""

from __future__ import annotations

from django.urls import path

from agents.api.enrolment import EnrolmentCodes
from agents.api.experiments import Experiments, RunCancel

urlpatterns = [
    path("agents/enrolment-codes/", EnrolmentCodes.as_view(), name="api-enrolment-codes"),
    path("experiments/", Experiments.as_view(), name="api-experiments"),
    path("runs/<uuid:run_id>/cancel/", RunCancel.as_view(), name="api-run-cancel"),
]
