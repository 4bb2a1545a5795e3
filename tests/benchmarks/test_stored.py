"""Sites that benchmarks are filled with."""

from __future__ import annotations

import random

import pytest

from benchmarks.stored import batches
from runs import results
from runs.models import Run

pytestmark = pytest.mark.django_db


def test_runs_of_a_filled_site_contradict_neither_themselves_nor_each_other():
    for documents in batches(random.Random(1), 2):
        results.store_uploads(documents=documents)
    assert set(Run.objects.values_list("state", "invalid_reason")) == {("finished", "")}
