"""What is told of numbers without a winner: of TPM, which each engine counts in its own way, and of sizes."""

from __future__ import annotations

import re

import pytest

from runs.models import Run
from tests.runs.answers.test_answers import World, ask, page

pytestmark = pytest.mark.django_db

TRUTH = {"MariaDB": (116_000, 269_000), "Oracle": (140_000, 252_000), "PostgreSQL": (120_000, 250_000)}


def measured(tool: str = "HammerDB", versions: tuple[str, ...] = ("1",)) -> str:
    """Three repeats of each system and version, with NOPM and TPM."""
    world = World(noise=0.005)
    for name, (nopm, tpm) in TRUTH.items():
        for number, version in enumerate(versions):
            world.add(
                nopm * (1 + 0.1 * number), metric="nopm", dbms={"name": name, "version": version},
                driver={"name": tool, "version": "4.9"}, factors={"terminals": 8},
            )  # fmt: skip
            world.documents[-1]["workload"] = {"slug": "tproc-c", "name": "TPROC-C (HammerDB)", "kind": "tproc-c"}
            for repeat in world.documents[-1]["repeats"]:
                value = repeat["metrics"]["nopm"]
                repeat["metrics"] = [
                    {"name": "nopm", "value": value, "unit": "NOPM", "better": "higher"},
                    {"name": "tpm", "value": value * tpm / nopm, "unit": "TPM", "better": "higher"},
                ]
    return world.store()


def test_tpm_ranks_no_systems_and_says_why_where_nopm_does():
    """Seen: "MariaDB 11.4 has the highest TPM: 1.07 × that of Oracle 19c", where Oracle had 1.21 × the NOPM."""
    selects = measured()
    told = ask(selects, "metric=tpm")
    assert not told["claims"] and not told["sure"]
    (missing,) = told["missing"]
    assert "What TPM counts, unlike NOPM: transactions as MariaDB counts them against" in missing
    assert "1.0" not in told["words"] and told["words"] in page(selects, "metric=tpm").replace("&#x27;", "'")
    assert not told["questions"]
    nopm = ask(selects, "metric=nopm")
    assert nopm["sure"] and nopm["claims"][0]["label"] == "Oracle Database 1"


def test_versions_of_one_system_are_ranked_by_its_own_count():
    selects = measured(versions=("1", "2"))
    told = ask(f"{selects}&dbms=oracle", "metric=tpm")
    assert told["sure"] and told["claims"][0]["label"] == "Oracle Database 2"


def test_what_another_tool_counts_is_ranked():
    assert ask(measured("our own driver"), "metric=tpm")["sure"]


def test_what_has_no_better_side_is_told_and_not_asked_for_the_highest():
    """Seen: "Which system has the highest database size …? Database size … has no better side." and no number."""
    world = World(noise=0.005)
    for version, size in (("16.4", 12e9), ("17.2", 9e9)):
        world.add(size, metric="db_size_bytes", dbms={"name": "PostgreSQL", "version": version})
    told = ask(world.store(), "metric=db_size_bytes")
    assert told["asked"] == "How do they differ in database size on disk, without log?" and not told["claims"]
    assert re.search(r"is 11\.\d+ GiB of PostgreSQL 16\.4 and 8\.\d+ GiB of PostgreSQL 17\.2\.$", told["words"])


def test_beside_a_group_with_zeros_the_medians_of_all_are_told():
    """Was: the median of what came to 0 in some repeats beside the geometric mean of another."""
    world = World()
    for name, counts in (("PostgreSQL", (0, 0, 0)), ("MySQL", (3, 5, 4)), ("MariaDB", (0, 2, 1))):
        world.add(1, dbms={"name": name, "version": "1"})
        for count, repeat in zip(counts, world.documents[-1]["repeats"], strict=True):
            repeat["metrics"] = [{"name": "stalls", "value": count, "unit": "stalls", "better": "lower"}]
    words = ask(world.store())["words"]
    assert "PostgreSQL 1 (0 stalls), MariaDB 1 (1 stall) and MySQL 1 (4 stalls) as medians; " in words


def test_beside_the_backup_its_restore_is_asked():
    """Seen: the system that is best in backup and worst in restore, and no question of the restore."""
    world = World(noise=0.005)
    for name, backup_s, restore_s in (("PostgreSQL", 30.0, 60.0), ("Firebird", 20.0, 90.0)):
        world.add(backup_s, metric="backup_s", dbms={"name": name, "version": "1"})
        for at, repeat in enumerate(world.documents[-1]["repeats"]):
            repeat["metrics"]["restore_s"] = restore_s * (1 + at / 1000)
        world.documents[-1]["workload"] = {"slug": "nightly-backup", "name": "Nightly backup", "kind": "backup"}
    selects = world.store()
    told = ask(selects)
    assert told["claims"][0]["label"] == "Firebird 1"
    assert told["asked"].startswith("Which system has the lowest backup time")
    assert "ask=best&metric=restore_s&fact=dbms" in [question["query"] for question in told["questions"]]
    assert ask(selects, "metric=restore_s")["claims"][0]["label"] == "PostgreSQL 1"


def test_repeats_are_no_advice_for_what_is_measured_once_a_cell():
    """Seen: "It takes at least 3 repeats" of restore time, of which each cell measures the first verified one alone."""
    world = World()
    for name, restore_s in (("PostgreSQL", 60.0), ("Firebird", 90.0)):
        world.add(20, metric="backup_s", dbms={"name": name, "version": "1"})
        world.documents[-1]["repeats"][0]["metrics"]["restore_s"] = restore_s
    selects = world.store()
    assert "t takes at least 3 repeats" in " ".join(ask(selects, "ask=best&metric=restore_s")["missing"])

    Run.objects.update(upload=None)

    (missing,) = ask(selects, "ask=best&metric=restore_s")["missing"]
    assert "ore repeats of" in missing and "start the experiment 3 times" in missing


def test_what_its_sender_named_is_asked_beside_throughput():
    """Was: cost and energy were in the list of metrics alone."""
    world = World(noise=0.005)
    costs = {"cost_per_million": ("USD", "lower"), "work_per_joule": ("1/J", "higher"), "plans": ("plans", "none")}
    for name, factor in (("PostgreSQL", 0.8), ("MySQL", 1.0)):
        world.add(1000, dbms={"name": name, "version": "1"})
        for at, repeat in enumerate(world.documents[-1]["repeats"]):
            own = [
                {"name": cost, "value": factor * (1 + at / 500), "unit": unit, "better": better}
                for cost, (unit, better) in costs.items()
            ]
            repeat["metrics"] = [{"name": "tps", "value": repeat["metrics"]["tps"]}, *own]
    selects = world.store()
    asked = {each["query"]: each["words"] for each in ask(selects)["questions"] if each["kind"] == "best"}
    assert [*asked.values()] == [
        "Which system has the lowest cost per million, and is it sure?",
        "Which system has the highest work per joule, and is it sure?", "How do they differ in plans?",
    ]  # fmt: skip
    assert [ask(selects, query)["asked"] for query in asked] == [*asked.values()]
    back = ask(selects, next(iter(asked)))["questions"]
    assert "ask=best&metric=tps&fact=dbms" in [each["query"] for each in back]


def test_the_p99_of_a_tool_is_asked_beside_its_rate_of_disks_too():
    """Seen: of fio on two disks nobody was asked which has the lower p99, and of one system no latency at all."""
    world = World(noise=0.005)
    for disk, iops, p99 in (("nvme", 20_000, 2.0), ("sata", 30_000, 9.0)):
        world.add(iops, metric="read_iops", factors={"disk": disk, "io_depth": 4})
        world.documents[-1]["workload"] = {"slug": "fio-randread", "name": "fio", "kind": "fio"}
        for at, repeat in enumerate(world.documents[-1]["repeats"]):
            latencies = {"read_latency_p99_ms": p99 + at / 100, "write_latency_p99_ms": p99, "read_latency_avg_ms": 1.0}
            repeat["metrics"] = [
                {"name": "read_iops", "value": repeat["metrics"]["read_iops"], "unit": "1/s", "better": "higher"},
                *({"name": name, "value": of, "unit": "ms", "better": "lower"} for name, of in latencies.items()),
            ]
    selects = world.store()

    asked = "ask=rank&metric=read_latency_p99_ms&fact=factor%3Adisk"
    assert asked in [question["query"] for question in ask(selects)["questions"]]
    told = ask(selects, asked)
    assert (told["claims"][0]["label"], told["sure"]) == ("nvme", True)
    assert "ask=rank&fact=factor%3Adisk" not in {each["query"] for each in told["questions"]}
    assert "ask=rank&metric=read_iops&fact=factor%3Adisk" in {each["query"] for each in told["questions"]}


def test_values_that_are_questions_of_their_own_are_asked_how_they_differ():
    """Seen: "Which value size kb has the highest throughput? Groups that differ in this have no order"."""
    world = World(noise=0.005)
    for section, tps in (("randread", 2_000), ("randwrite", 1_000)):
        world.add(tps, factors={"section": section})
    told = ask(world.store())
    assert (told["asked"], told["claims"]) == ("How do they differ in throughput?", [])
    assert "of randread and " in told["words"]
