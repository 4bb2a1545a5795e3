from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs.history.grids import machine_matrix
from runs.history.overview import listed_benchmarks
from runs.models import User
from tests.runs.history.nights import DISK, file, night, nights

pytestmark = pytest.mark.django_db
RELEASES = ("17.6", "18.0", "18.1")


@pytest.fixture(scope="module")
def fleet(kept) -> Iterator[None]:
    """Three releases of four nights each on two machines, the last 20 % slower on alpha; beta is half as fast.

    A second question of which beta has not the first release, and a third that alpha alone has.
    """
    documents = []
    for number in range(1, 13):
        release = RELEASES[(number - 1) // 4]
        for machine, level in (("alpha", 0.8 if release == "18.1" else 1), ("beta", 0.5)):
            told = {"dbms": {"name": "PostgreSQL", "version": release}, "hardware": {"name": machine}, "storage": []}
            documents.append(night(number, level=level, **told))
            if machine == "alpha" or release != "17.6":
                documents.append(night(number, level=2 * level, **told, workload={"slug": "scan", "name": "Scan"}))
            if machine == "alpha":
                documents.append(night(number, **told, workload={"slug": "alone", "name": "Alone"}))
    with kept():
        file(documents, User.objects.create_user(username="fleet", role="contributor"), at_once=100)
        yield


def test_releases_are_set_against_the_one_before_or_a_chosen_one(client, fleet):
    (map_,) = client.get("/benchmarks/?view=releases&workload=oltp").context["maps"]
    assert map_.releases == list(RELEASES)
    shades = {row.hardware.name: [cell.shade for cell in cells] for row, cells in map_.rows}
    assert shades == {"alpha": [0, 0, -2], "beta": [0, 0, 0]}
    (map_,) = client.get("/benchmarks/?view=releases&hardware=alpha&than=version:18.1").context["maps"]
    (cells,) = [cells for row, cells in map_.rows if row.workload.slug == "oltp"]
    assert [cell.shade for cell in cells] == [2, 2, 0]
    assert cells[0].change.value == pytest.approx(1.25, abs=0.02)


def test_a_release_is_of_its_last_level_and_of_the_branch_that_was_it(client, contributor):
    """Was: 0 deadlocks of a release that had some since a fortnight, as the median; no release of another branch."""
    told = {"storage": [], "workload": {"slug": "locks", "name": "Locks"}}
    documents = []
    for number in range(1, 23):
        release = "18.0" if number <= 4 else "18.1"
        main = night(number, **told, dbms={"name": "PostgreSQL", "version": release})
        branch = {"branch": "release-17", "commit": f"{100 + number:040x}"}
        other = night(number, **told, dbms={"name": "PostgreSQL", "version": "17.6"}, tested=branch)
        for document, count in ((main, 5 if number > 17 else 0), (other, 2)):
            for at, repeat in enumerate(document["repeats"]):
                repeat["metrics"] = [{"name": "deadlocks", "value": count and count + at, "better": "lower"}]
        documents += [main, other]
    file(documents, contributor, at_once=48)
    (shown,) = client.get("/benchmarks/?view=releases&workload=locks").context["maps"]
    ((_, cells),) = shown.rows
    assert shown.releases == ["17.6", "18.0", "18.1"]
    assert [(round(cell.mean), cell.batches, cell.shade) for cell in cells] == [(3, 22, 0), (0, 4, 3), (6, 5, -3)]


def test_what_of_the_machine_changed_with_a_release_stands_beside_its_change(client, contributor):
    """Was: +1.6 % of a release, without a word of the kernel that came in between and cost 4 %."""
    told = {"storage": [], "workload": {"slug": "kernel", "name": "Kernel"}}
    releases = [("18.0", "6.1.0"), ("18.1", "6.1.0"), ("18.2", "6.6.0")]
    file(
        [
            night(4 * at + n, hardware={"name": "k", "kernel": kernel}, **told,
                  dbms={"name": "PostgreSQL", "version": version})
            for at, (version, kernel) in enumerate(releases) for n in range(1, 5)
        ],
        contributor, at_once=12,
    )  # fmt: skip
    answer = client.get("/benchmarks/?view=releases&workload=kernel")
    ((_, cells),) = answer.context["maps"][0].rows
    assert [cell.besides for cell in cells] == [(), (), ("kernel",)]
    assert answer.content.decode().count(", other kernel") == (cells[2].change_words != "")
    (map_,) = client.get("/api/v1/benchmarks/releases/?workload=kernel").json()["results"]
    assert [cell["besides"] for cell in map_["benchmarks"][0]["cells"]] == [[], [], ["kernel"]]


def test_a_release_that_a_benchmark_has_not_is_a_gap(client, fleet):
    (map_,) = client.get("/benchmarks/?view=releases&workload=scan&hardware=beta").context["maps"]
    assert map_.releases == list(RELEASES[1:])
    (map_,) = client.get("/benchmarks/?view=releases&workload=scan").context["maps"]
    gaps = {row.hardware.name: [cell is None for cell in cells] for row, cells in map_.rows}
    assert gaps == {"alpha": [False] * 3, "beta": [True, False, False]}


def test_machines_are_set_against_the_best_and_averaged_over_what_all_have(client, fleet):
    matrix = client.get("/benchmarks/?view=machines").context["matrix"]
    assert (matrix.machines, len(matrix.rows), matrix.common, matrix.alone) == (["alpha", "beta"], 2, 2, 1)
    assert [[cell.is_best for cell in cells] for *_, cells in matrix.rows] == [[True, False]] * 2
    # Was a mean over the change of alpha.
    assert matrix.means == pytest.approx([1, 0.5 / 0.8], abs=0.01)


def test_machines_are_set_against_each_other_in_one_release(client, contributor):
    """Was: one machine at 47 % of the other, as the newest batches of one were of a release that loses half."""
    told = {"storage": [], "workload": {"slug": "newer", "name": "Newer"}}
    measured = [("a", "18.0", n) for n in range(1, 5)] + [("a", "18.1", n) for n in range(5, 9)]
    measured += [(name, "18.0", n) for name in ("b", "c") for n in range(1, 9)]
    file(
        [
            night(n, level=0.5 if version == "18.1" else 1, hardware={"name": name}, **told,
                  dbms={"name": "PostgreSQL", "version": version})
            for name, version, n in measured
        ],
        contributor, at_once=24,
    )  # fmt: skip
    matrix = client.get("/benchmarks/?view=machines&workload=newer").context["matrix"]
    ((_, release, cells),) = matrix.rows
    assert (release, matrix.machines) == ("18.0", ["a", "b", "c"])
    assert [(round(cell.share, 1), cell.is_best) for cell in cells] == [(1.0, True)] * 3


def test_two_machines_of_one_name_are_two_columns(client, contributor):
    """Was: one column, of the newer one; the batches of the other were counted nowhere."""
    told = {"storage": [], "workload": {"slug": "board", "name": "Board"}}
    machines = [("a", "X1", 1.0, 1), ("a", "X2", 0.5, 10), ("b", "X1", 1.0, 1)]
    for name, board, level, first in machines:
        hardware = {"name": name, "motherboard": board}
        documents = [night(n, level=level, hardware=hardware, **told) for n in range(first, first + 4)]
        file(documents, contributor, at_once=4)
    matrix = client.get("/benchmarks/?view=machines&workload=board").context["matrix"]
    ((*_, cells),) = matrix.rows
    assert matrix.machines == ["a (X1)", "a (X2)", "b"]
    assert [(round(cell.share, 1), cell.is_best) for cell in cells] == [(1.0, True), (0.5, False), (1.0, True)]


def test_machines_that_nothing_tells_apart_are_both_the_best(client, contributor):
    told = {"storage": [], "workload": {"slug": "alike", "name": "Alike"}}
    file([night(n, hardware={"name": name}, **told) for n in range(1, 6) for name in ("a", "b")], contributor)
    ((*_, cells),) = client.get("/benchmarks/?view=machines&workload=alike").context["matrix"].rows
    assert [cell.is_best for cell in cells] == [True, True]


def test_one_bad_night_of_a_machine_is_not_in_its_mean(client, contributor):
    """Was: 91.7 % of the best and both the best, of a machine at 88 %, after one night at −35 %."""
    told = {"storage": [], "workload": {"slug": "night", "name": "Night"}}
    levels = [("a", 0.65 if n == 8 else 1.0, n) for n in range(1, 13)] + [("b", 0.9, n) for n in range(1, 13)]
    file([night(n, level=at, hardware={"name": name}, **told) for name, at, n in levels], contributor, at_once=24)
    ((*_, cells),) = client.get("/benchmarks/?view=machines&workload=night").context["matrix"].rows
    assert [(round(cell.share, 2), cell.is_best) for cell in cells] == [(1.0, True), (0.9, False)]


def test_of_one_batch_each_no_machine_is_called_the_best(client, contributor):
    told = {"storage": [], "workload": {"slug": "once", "name": "Once"}}
    file(
        [night(1, level=level, hardware={"name": name}, **told) for name, level in (("a", 1.0), ("b", 0.4))],
        contributor,
    )
    ((*_, cells),) = client.get("/benchmarks/?view=machines&workload=once").context["matrix"].rows
    assert [(round(cell.share, 1), cell.is_best) for cell in cells] == [(1.0, False), (0.4, False)]


def test_there_is_no_other_view(client, db):
    assert client.get("/benchmarks/?view=cube").status_code == 400


def test_both_grids_are_answered_by_the_api(client, fleet):
    (map_,) = client.get("/api/v1/benchmarks/releases/?workload=oltp&hardware=alpha").json()["results"]
    assert (map_["system"], map_["releases"]) == ("PostgreSQL", list(RELEASES))
    ((first, *_, last),) = [row["cells"] for row in map_["benchmarks"]]
    assert (first["batches"], first["change"], last["change"]["verdict"]) == (4, None, "worse")
    assert last["change"]["value"] == pytest.approx(0.8, abs=0.02)
    matrix = client.get("/api/v1/benchmarks/machines/").json()
    assert (matrix["machines"], matrix["common"], matrix["alone"]) == (["alpha", "beta"], 2, 1)
    assert [[cell["is_best"] for cell in row["cells"]] for row in matrix["results"]] == [[True, False]] * 2
    for wrong in ("releases/?than=last:3", "releases/?colour=red", "machines/?offset=1"):
        assert client.get(f"/api/v1/benchmarks/{wrong}").status_code == 400


def test_machines_whose_windows_may_not_be_compared_are_no_row(operator):
    """Was: one row of windows of 10 s and of 600 s."""
    for name, seconds in (("alpha", 10), ("beta", 600), ("gamma", 900)):
        hardware = {"name": name, "storage": [DISK]}
        factors = {"scale_factor": 100, "terminals": 16, "duration_s": seconds}
        workload = {"slug": "windows", "name": "Windows", "version": "1", "kind": ""}
        file(nights(range(1, 4), hardware=hardware, factors=factors, workload=workload), operator, at_once=3)
    matrix = machine_matrix(listed_benchmarks(operator).filter(workload__slug="windows"))
    assert (matrix.machines, matrix.alone) == (["beta", "gamma"], 1)
