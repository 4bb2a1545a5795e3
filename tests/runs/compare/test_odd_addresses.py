"""Addresses of comparisons as nobody means them: answered, or refused with the name of the parameter."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from django.db import connection
from django.test import Client

from runs.compare.select import BASE_SET, CONTROLS, SET
from tests.runs.cells import make_run, make_runs, workload

pytestmark = pytest.mark.django_db

# What PostgreSQL cannot hold, and what Python reads before any database is asked.
ODD_TO_POSTGRESQL = ("9" * 400, "\x00")
ODD = ("nan", "1e400", "-1", "½", "١", "=", *ODD_TO_POSTGRESQL)
SIZES = "ask=loss&x=factor:size_gb"


@pytest.fixture
def two_disks() -> None:
    make_runs(
        {
            "system": "PostgreSQL 18.0",
            "value": 1000.0 / size * repeat,
            "durability": "power_loss",
            "factors": {"size_gb": size, "disk": disk},
        }
        for size in (10, 20, 40)
        for disk in ("SATA", "NVMe")
        for repeat in (1.0, 1.01, 1.02)
    )


@pytest.mark.parametrize("name", sorted({*CONTROLS, SET, BASE_SET} - {"format"}))
@pytest.mark.usefixtures("two_disks")
def test_an_odd_value_is_answered_or_refused_by_its_name(name: str):
    """Seen: an error 500 of `from=nan` and of `set=½`."""
    for text in ODD if connection.vendor == "sqlite" else ODD_TO_POSTGRESQL:
        response = Client().get(f"/api/v1/answers/?dbms=postgresql&{SIZES}&{urlencode([(name, text)])}")
        assert response.status_code == 200 or (response.status_code == 400 and name in response.json()), (name, text)


@pytest.mark.usefixtures("two_disks")
def test_a_class_without_a_number_is_no_chart():
    """Was an error 500: what is on an axis was read of groups that no chart draws."""
    load = {"of": workload("A load"), "durability": "none", "factors": {"size_gb": 10, "disk": "Tape"}}
    make_run("PostgreSQL 18.0", None, **load)
    assert Client().get(f"/compare/?dbms=postgresql&{SIZES}").status_code == 200


@pytest.mark.usefixtures("two_disks")
def test_what_is_pooled_is_no_axis():
    """Was an error 500."""
    told = Client().get("/api/v1/compare/?dbms=postgresql&view=curve&x=factor:disk&pool=factor:disk")
    assert told.status_code == 400 and "is pooled" in told.json()["x"][0]


def test_only_a_size_stands_on_x_by_its_bytes():
    """Was an error 500: seven numbers of terminals at the place of their one database."""
    make_runs(
        {
            "system": "PostgreSQL 18.0",
            "value": 100.0 * clients * repeat,
            "factors": {"size_gb": 10, "terminals": clients},
        }
        for clients in (1, 2, 4, 8, 16, 32, 64)
        for repeat in (1.0, 1.01, 1.02)
    )
    assert Client().get("/compare/?dbms=postgresql&view=curve&x_as=size").status_code == 200
    told = Client().get("/api/v1/compare/?dbms=postgresql&view=curve&x_as=size")
    assert told.status_code == 400 and "no size" in told.json()["x_as"][0]


@pytest.mark.parametrize("text", ["½", "view=bars", "&"])
def test_a_set_without_a_filter_is_refused(text: str):
    """Seen: it was everything that is stored."""
    response = Client().get(f"/api/v1/compare/?dbms=postgresql&set={quote(text)}")
    assert response.status_code == 400 and "set 2 has no filter" in response.json()["set"][0]
