from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import product
from uuid import UUID

import pytest
from benchagent.catalog import DURABILITY_WORDS
from benchagent.catalog.durability import HOST
from django.http import QueryDict

from runs.answers.words import headline
from runs.answers.words.gaps import gap_notes, unranked_by_class
from runs.answers.words.verdicts import against_words
from runs.answers.words.warnings import warnings_of
from runs.compare.compare import Comparison, compare
from runs.compare.facts import with_heading
from runs.configs.creating import Parameter, config_of
from runs.listing.rows import RunRow
from runs.models import Config, Experiment, HardwareProfile, Run, delete_softly
from runs.run.diff import sections
from runs.run.number import primary_number
from tests.runs.cells import add_number, all_runs, batch, machine, make_run, workload

pytestmark = pytest.mark.django_db


def by_label(comparison: Comparison):
    return {group.label: group for group in comparison.groups}


def test_it_leaves_a_deleted_run_out_even_when_it_is_handed_one(article):
    delete_softly(Run.objects.get(source_id="postgresql-8-3-r3"))

    assert by_label(compare(Run.objects.for_lists()))["PostgreSQL 8.3"].n == 4


def test_it_says_once_what_is_common_and_finds_what_varies(article):
    comparison = compare(all_runs())

    common = {fact.label: fact.value for fact in comparison.common}
    assert common["Scale factor"] == "10"
    assert common["Terminals"] == "4"
    assert common["Publication"] == "100 MB TPC-B test of databases"
    assert [fact.label for fact in comparison.varying] == ["DBMS"]


def test_it_says_of_a_commit_on_a_virtual_disk_that_it_is_safe_as_far_as_the_host_obeys():
    """Was: the run's page said it, and the comparison of the same runs promised more."""
    on_its_own = make_run("H2 2.3", 90.0, durability="power_loss", durability_reason="the log is synced")
    of_a_host = make_run("Derby 10.16", 100.0, durability="power_loss", durability_reason=f"the log is synced{HOST}")

    for runs, words in [([on_its_own], 1), ([of_a_host], 1), ([on_its_own, of_a_host], 2)]:
        comparison = compare(Run.objects.for_lists().filter(pk__in=[run.pk for run in runs]))
        (durability,) = [fact for fact in comparison.common if fact.field == "durability"]
        assert durability.value == DURABILITY_WORDS["power_loss"]
        assert durability.words.endswith(HOST) == (of_a_host in runs)
        assert len(durability.words.split("; ")) == words


def test_it_names_a_cell_by_all_that_is_needed_and_no_more():
    config = [Config.objects.create(slug=name, name=name) for name in ("plain", "tuned")]
    make_run("DB2 9.7", 100, config=config[0])
    make_run("DB2 9.7", 110, config=config[1], factors={"scale_factor": 10, "terminals": 4, "commit_group": 2})
    make_run("MySQL 5.0", 50, config=config[0])

    labels = [group.label for group in compare(all_runs()).groups]

    # The configurations differ too, but the commit group already tells the two apart.
    assert sorted(labels) == ["DB2 9.7", "DB2 9.7 · commit group 2", "MySQL 5.0"]


def test_it_orders_sizes_by_size_and_labels_them_with_their_unit():
    for size in (30.3, 9.04, 1813.969025):
        make_run("Firebird 2.5.2", 1000 / size, factors={"size_gb": size})

    labels = [group.label for group in compare(all_runs()).groups]

    assert labels == ["9.04 GB", "30.3 GB", "1,814 GB"]


def test_it_gives_readable_keys_that_are_unique(article):
    keys = [group.key for group in compare(all_runs()).groups]

    assert keys[0] == "postgresql-8-3"
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("address", ["", "baseline=", "baseline=no-such-group"])
def test_it_takes_the_first_group_with_values_when_no_baseline_is_named(address, article):
    comparison = compare(all_runs(), QueryDict(address))

    assert comparison.baseline is not None and comparison.baseline.key == "postgresql-8-3"


def test_it_sorts_the_fastest_first_where_lower_is_better():
    for system, seconds in (("SQLite 3", 9.0), ("HSQLDB 2", 3.0)):
        make_run(system, seconds, number="load_s")

    comparison = compare(all_runs(), QueryDict("metric=load_s&order=best"))

    assert [group.label for group in comparison.groups] == ["HSQLDB 2", "SQLite 3"]


def test_it_counts_only_finished_runs_as_dots_and_says_what_the_others_are():
    make_run("SQLite 3", 100)
    make_run("SQLite 3", 50, state="failed", message="the balances do not add up")
    make_run("SQLite 3", None, state="measuring")
    make_run("SQLite 3", 70, state="cancelled")

    (group,) = compare(all_runs()).groups

    assert group.values == [100]
    assert sorted(gap.reason for gap in group.gaps) == [
        "cancelled",
        "failed: the balances do not add up",
        "not finished yet (measuring)",
    ]


def test_it_shows_a_cell_without_any_value_as_a_gap():
    make_run("CUBRID 8.3", None, state="value_missing", missing_reason="the value was in a picture that is lost")

    comparison = compare(all_runs())

    (group,) = comparison.groups
    assert (group.median, group.n) == (None, 0)
    assert group.gap == "the value was in a picture that is lost"
    assert comparison.baseline is None and comparison.metric is None


@pytest.mark.parametrize("doubt", ["", "cannot have waited"])
def test_it_counts_many_groups_that_stand_apart_instead_of_naming_them(doubt):
    make_run("SQLite 3", 100, durability="power_loss")
    for minor in range(7):
        make_run(f"H2 2.{minor}", 100, durability="power_loss" if doubt else "bounded_loss", durability_doubt=doubt)

    (warning, *_) = warnings_of(compare(all_runs()))

    said = r"\(survives power loss, contradicted\)\." if doubt else r"\(.*\)\. A commit there promises less .*"
    assert re.fullmatch(rf"Shown apart, not ranked: 7 of 8 groups {said}", warning)


def test_it_never_ranks_what_is_in_memory_with_anything_else():
    classes = {"SQLite 3": "power_loss", "PostgreSQL 8.3": "none", "HSQLDB 2.7": "memory", "H2 2": "memory"}
    for place, (system, durability) in enumerate(classes.items()):
        for value in (100, 101, 102):
            make_run(system, value + 10 * place, durability=durability)

    def places(comparison: Comparison) -> dict[str, bool]:
        return {group.label: group.ranked for group in comparison.groups}

    both = compare(all_runs(), QueryDict("order=best"))
    assert places(both) == {
        "SQLite 3": True, "PostgreSQL 8.3": False, "H2 2, in memory": False, "HSQLDB 2.7, in memory": False,
    }  # fmt: skip
    assert {words: len(groups) for words, groups in unranked_by_class(both).items()} == {
        "not durable": 1,
        "in memory": 2,
    }
    assert all(group.against is None or group.against.ratio is None for group in both.groups)

    without_disk = compare([run for run in all_runs() if run.durability != "power_loss"])
    assert places(without_disk)["PostgreSQL 8.3"]
    assert not places(without_disk)["H2 2, in memory"]
    against = by_label(without_disk)["H2 2, in memory"].against
    assert against is not None and against_words(against) == "no ratio: Durability: in memory against not durable"

    alike = compare([run for run in all_runs() if run.durability == "memory"])
    assert all(places(alike).values())
    assert any(group.against and group.against.ratio for group in alike.groups)


def test_it_ranks_nothing_of_unknown_durability_with_what_is_in_memory():
    for system, durability in (("MySQL 5.0", ""), ("H2 2", "memory")):
        make_run(system, 100, durability=durability)

    groups = by_label(compare(all_runs(), QueryDict("baseline=mysql-5-0")))

    assert not groups["H2 2, in memory"].ranked
    against = groups["H2 2, in memory"].against
    assert against is not None and against_words(against) == "no ratio: Durability: in memory against not known"


def test_it_ranks_unknown_durability_with_the_others():
    make_run("SQLite 3", 100, durability="power_loss")
    make_run("MySQL 5.0", 100)

    assert all(group.ranked for group in compare(all_runs()).groups)


def test_it_offers_every_metric_and_starts_with_the_workloads_primary_one():
    run = make_run("SQLite 3", 100)
    add_number(run, 4.5, name="latency_p50_ms")
    add_number(run, 4.9, name="latency_p99_ms")

    comparison = compare(all_runs())
    latency = compare(all_runs(), QueryDict("metric=latency_p99_ms"))

    assert comparison.metric is not None and comparison.metric.name == "tps"
    assert {metric.name for metric in comparison.metrics} == {"tps", "latency_p50_ms", "latency_p99_ms"}
    assert latency.groups[0].values == [4.9]


def test_it_takes_the_most_common_metric_where_a_workload_names_none():
    plain = workload("Load")
    plain.primary_metric = ""
    plain.save()
    make_run("SQLite 3", 3.5, number="load_s", of=plain)
    make_run("H2 2", 3.6, number="load_s", of=plain)

    metric = compare(all_runs()).metric

    assert metric is not None and metric.name == "load_s"


def test_of_latencies_alone_the_mean_is_taken_and_not_the_maximum():
    """Seen: "No winner: less than 25 % lie between …", of the maximum, beside means of which one is twice another."""
    run = make_run("SQLite 3", 40, number="latency_max_ms")
    add_number(run, 4.5, name="latency_mean_ms")
    add_number(run, 4.9, name="latency_p99_ms")

    metric, listed = compare(all_runs()).metric, primary_number(Run.objects.get())

    assert metric is not None and listed is not None
    assert metric.name == listed.metric.name == "latency_mean_ms"


def test_it_prefers_the_number_of_the_run_phase():
    run = make_run("SQLite 3", 100)
    add_number(run, 7, phase="load")

    assert compare(all_runs()).groups[0].values == [100]


def test_it_does_not_mix_units():
    make_run("SQLite 3", 100)
    make_run("SQLite 3", 105)
    add_number(make_run("H2 2", None), 6000, unit="per minute")

    comparison = compare(all_runs())

    assert by_label(comparison)["H2 2"].gap == "not in TPS, but in per minute"
    assert any("another unit (per minute)" in warning for warning in warnings_of(comparison))


@pytest.mark.parametrize(
    ("name", "unit", "reason"),
    [
        ("requests_per_s", "requests/s", "not in TPS, but in requests/s"),
        ("nopm", "NOPM", "not in TPS, but in NOPM"),
        ("load_mb_per_s", "MB/s", "no throughput in this run"),
    ],
)
def test_it_says_in_which_unit_a_run_has_its_throughput(name: str, unit: str, reason: str):
    """Seen: "no throughput in this run" of 81,235 requests/s."""
    make_run("SQLite 3", 100)
    add_number(make_run("H2 2", None), 81_235, name=name, unit=unit)

    assert by_label(compare(all_runs()))["H2 2"].gap == reason


def test_it_says_that_demonstration_windows_rank_nothing():
    make_run("SQLite 3", 100, demonstration=True)

    assert any("Demonstration" in warning for warning in warnings_of(compare(all_runs())))


def test_it_pools_repeats_of_one_cell_whatever_experiment_they_belong_to():
    here = machine()
    for value in (100, 101):
        make_run("SQLite 3", value, on=here)
    make_run("SQLite 3", 90, on=machine("Bench Two"))

    counts = {group.label: group.n for group in compare(all_runs()).groups}

    assert counts == {"Bench One": 2, "Bench Two": 1}


def test_it_compares_nothing_with_nothing():
    comparison = compare([])

    assert (comparison.groups, comparison.metric, comparison.baseline) == ([], None, None)


def test_a_cell_stays_one_while_its_runs_wait_go_on_and_are_cancelled():
    made_by = machine()
    disks = {role: made_by.storage.create(slug=f"disk-{role}", name=role) for role in ("data", "log")}
    states = ["finished", "measuring", "queued", "cancelled", "cancelled", "failed"]
    for repeat, state in enumerate(states, 1):
        value = 100 if state == "finished" else None
        # The first cancelled one waited in the queue, the other had told of one disk of two.
        known = None if state == "queued" or repeat == 4 else made_by
        run = make_run("SQLite 3", value, on=known, repeat=repeat, state=state)
        roles = {"finished": ("data", "log"), "cancelled": ("data",) if known else ()}.get(state, ())
        for role in roles:
            run.storage.create(role=role, device=disks[role])
        run.set_cell_key()
        run.save()
    assert len({run.cell_key for run in all_runs()}) > 1
    (group,) = compare(all_runs()).groups
    assert (group.n, len(group.all_runs)) == (1, 6)
    assert any(note.startswith("not finished yet") for note in gap_notes(group.gaps))


def planned(made_by: HardwareProfile) -> None:
    """Two systems on 1 and 4 terminals, of which two cells were cancelled before they started, and one failed."""
    disk, of_plan = made_by.storage.create(slug="vda", name="vda"), Experiment.objects.create(slug="plan", name="Plan")
    states = ["finished", "cancelled", "finished", "cancelled", "failed", "failed"]
    cells = product(("MariaDB 11.4", "PostgreSQL 18.0", "SQLite 3"), (1, 4))
    for at, (state, (system, terminals)) in enumerate(zip(states, cells, strict=True)):
        factors = {"scale_factor": 10, "terminals": terminals}
        run = make_run(
            system, 100 if state == "finished" else None, factors=factors, experiment=of_plan, order_index=at,
            state=state, on=made_by if state == "finished" else None,
            durability="power_loss" if state == "finished" else "",
        )  # fmt: skip
        if state == "finished":
            run.storage.create(role="data", device=disk)


def test_what_never_began_is_on_the_machine_and_disk_of_its_like():
    """Seen: "What varies: Machine vm · –, Data storage vda · –", and series of a "machine not set"."""
    planned(machine())
    comparison = compare(all_runs())
    assert {fact.field for fact in comparison.varying} == {"dbms", "factor:terminals", "durability"}
    assert {group.label: group.facts["durability"] for group in comparison.groups if "SQLite" not in group.label} == {
        f"{system} · {terminals}": DURABILITY_WORDS["power_loss"]
        for system, terminals in product(("MariaDB 11.4", "PostgreSQL 18.0"), ("1 terminal", "4 terminals"))
    }


def test_what_never_began_takes_nothing_of_another_batch_or_disk():
    planned(machine())
    make_run("MariaDB 11.4", None, state="cancelled", experiment=Experiment.objects.create(slug="two", name="Two"))
    factors = {"scale_factor": 10, "terminals": 1, "data_storage": "nvme"}
    more = {"factors": factors, "experiment": Experiment.objects.get(slug="plan")}
    make_run("MariaDB 11.4", None, state="cancelled", **more)
    strangers = [group for group in compare(all_runs()).groups if group.facts["storage:data"] == "–"]
    assert [len(group.all_runs) for group in strangers] == [1, 1]
    assert {group.facts["hardware"] for group in strangers} == {"–"}


def test_runs_that_wait_and_one_that_goes_on_are_one_cell_before_any_has_ended():
    make_run("SQLite 3", None, on=machine(), repeat=1, state="loading")
    make_run("SQLite 3", None, repeat=2, state="queued")
    make_run("SQLite 3", None, repeat=3, state="queued", factors={"scale_factor": 99})
    assert [len(group.all_runs) for group in compare(all_runs()).groups] == [2, 1]


def test_groups_that_differ_in_their_context_alone_are_named_by_it():
    """Two servers of one version, each a connection: "PostgreSQL 17.10 #2" said of neither which it was."""
    for server in ("old", "new"):
        make_run("PostgreSQL 17.10", 7, context={"connection": server})
    comparison = compare(all_runs())
    assert [group.label for group in comparison.groups] == ["connection old", "connection new"]
    assert [(fact.label, fact.values) for fact in comparison.varying] == [("Connection", ["old", "new"])]
    assert {RunRow(run).factors for run in all_runs()} == {
        f"scale factor 10 · 4 terminals · connection {server}" for server in ("old", "new")
    }
    (section,) = [section for section in sections(list(all_runs())) if section.title == "Factors"]
    assert [(row.label, sorted(row.values)) for row in section.rows] == [("Connection", ["new", "old"])]


def test_a_failed_run_joins_no_cell_of_another_server():
    for server, state in (("old", "finished"), ("new", "failed")):
        make_run("PostgreSQL 17.10", 7, context={"connection": server}, state=state)
    assert {group.label: group.n for group in compare(all_runs()).groups} == {"connection old": 1, "connection new": 0}


def test_a_failed_run_joins_no_cell_of_another_disk():
    """Seen: the numbers of a HDD, under the name of the NVMe whose runs had all failed."""
    made_by = machine()
    for name, state in (("NVMe", "failed"), ("HDD", "finished")):
        device = made_by.storage.create(slug=name, name=name)
        run = make_run("SQLite 3", 7, on=made_by, state=state)
        run.storage.create(role="data", device=device)
        run.set_cell_key()
        run.save()
    assert {group.label: group.n for group in compare(all_runs()).groups} == {"NVMe": 0, "HDD": 1}


def test_uploads_of_one_request_are_in_the_order_of_systems_machines_and_factors():
    """Seen: the levels of two machines in an order of chance."""
    stored = datetime(2026, 4, 12, 9, tzinfo=UTC)
    for on in (machine("Bench 2"), machine("Bench 10"), machine("Bench 1")):
        for scale in (100, 5, 10):
            make_run("MySQL 8.4", 7, factors={"scale_factor": scale}, on=on, created_at=stored)

    labels = [group.label for group in compare(all_runs()).groups]

    assert labels == [f"scale factor {scale} · Bench {bench}" for bench in (1, 2, 10) for scale in (5, 10, 100)]


def test_uploads_of_one_request_are_in_the_order_of_their_configurations():
    """Seen: 36 bars in an order of chance, and a baseline that another upload of the same would not have."""
    stored = datetime(2026, 4, 12, 9, tzinfo=UTC)
    for size, level in (("16GB", "3"), ("2GB", "1"), ("2GB", "10"), ("16GB", "1")):
        parameters = [Parameter("max_wal_size", size), Parameter("compression_level", level)]
        config, _ = config_of("postgresql", "PostgreSQL", parameters, provenance="uploaded")
        make_run("PostgreSQL 18.0", 7, config=config, created_at=stored)
    names = [group.all_runs[0].config.name for group in compare(all_runs()).groups]
    assert [name.split("max_wal_size=")[1] for name in names] == [
        f"{size}, compression_level={level}" for size, level in (("2GB", 1), ("2GB", 10), ("16GB", 1), ("16GB", 3))
    ]


def test_what_an_article_prints_of_its_configuration_is_known(article):
    """Was: "Not alike: Buffer pool (128 MiB against not known)" beside own runs of the same configuration."""
    config, _ = config_of("postgresql", "PostgreSQL", [Parameter("shared_buffers", "128MB")], provenance="printed")
    Run.objects.filter(dbms_version__dbms__slug="postgresql").update(config=config)
    group = by_label(compare(all_runs()))["PostgreSQL 8.3"]
    assert group.conditions.words["buffer_pool"] == "128 MiB"


@pytest.mark.parametrize(("grouping", "repeats"), [("", [3, 3]), ("all", [6])])
def test_configurations_that_were_stored_as_two_for_the_order_of_their_lines_are_one(grouping, repeats):
    """Seen: "fsync=on, jit=off" and "fsync=on, jit=off alone" as two that are ranked."""
    lines = [("fsync", "on"), ("jit", "off")]
    for at, given in enumerate((lines, lines[::-1])):
        parameters = [Parameter(name, value, comment=str(at)) for name, value in given]
        config, _ = config_of("postgresql", "PostgreSQL", parameters, provenance="uploaded")
        config.parameters.update(comment="")
        for repeat in range(3):
            make_run("PostgreSQL 18.0", 100 + at + repeat, config=config, batch=batch(UUID(int=at)))
    assert Run.objects.values("config").distinct().count() == 2

    comparison = compare(all_runs(), QueryDict(f"group={grouping}"))

    assert [group.n for group in comparison.groups] == repeats
    assert "config" not in {fact.field for fact in comparison.varying}


def configured(*settings: dict[str, str], baseline: int | None = None) -> list[str]:
    """The labels of groups that differ in their configurations, in the order of these."""
    for at, given in enumerate(settings):
        parameters = [Parameter(name, value) for name, value in given.items()]
        config, _ = config_of("postgresql", "PostgreSQL", parameters, provenance="uploaded")
        for repeat in range(3):
            make_run("PostgreSQL 18.0", 100 + 10 * at + repeat, config=config)
    groups = compare(all_runs()).groups
    key = "" if baseline is None else sorted(groups, key=lambda group: group.median or 0)[baseline].key
    groups = compare(all_runs(), QueryDict(f"baseline={key}")).groups
    return [group.label for group in sorted(groups, key=lambda group: group.median or 0)]


def test_configurations_are_named_by_what_differs_from_the_baseline_and_that_one_in_full():
    """Was: "max_wal_size=1GB" beside "shared_buffers=16GB": a setting at its default stood nowhere."""
    settings = [
        {"shared_buffers": "128MB", "max_wal_size": "1GB", "fsync": "on"},
        {"shared_buffers": "16GB", "max_wal_size": "1GB", "fsync": "on"},
        {"shared_buffers": "16GB", "max_wal_size": "64GB", "fsync": "on"},
    ]
    assert configured(*settings) == [
        "shared_buffers=128MB, max_wal_size=1GB", "shared_buffers=16GB", "shared_buffers=16GB, max_wal_size=64GB",
    ]  # fmt: skip
    comparison = compare(all_runs())
    first = comparison.groups
    assert comparison.unsaid == "shared_buffers=128MB, max_wal_size=1GB"
    assert headline(comparison).endswith(f" Where a name does not say it: {comparison.unsaid}.")
    best_first = compare(all_runs(), QueryDict("order=best")).groups
    # A question that puts the best first names them as the others do.
    assert {group.key: group.label for group in best_first} == {group.key: group.label for group in first}
    Run.objects.all().delete()
    assert configured(*settings, baseline=2) == [
        "shared_buffers=128MB, max_wal_size=1GB", "max_wal_size=1GB", "shared_buffers=16GB, max_wal_size=64GB",
    ]  # fmt: skip


def test_a_setting_that_one_does_not_give_is_told():
    assert configured({"work_mem": "4MB"}, {"work_mem": "4MB", "jit": "off"}) == ["jit not given", "jit=off"]
    assert compare(all_runs()).unsaid == ""


def test_a_configuration_that_has_a_part_of_the_baseline_s_settings_is_named_by_these():
    """Seen: "wal_compression not given, max_wal_size not given", of what sets shared_buffers."""
    whole = {"shared_buffers": "16GB", "wal_compression": "on", "max_wal_size": "64GB"}
    other = {"shared_buffers": "1GB", "wal_compression": "on", "max_wal_size": "64GB"}
    assert configured({"shared_buffers": "16GB"}, other, whole, baseline=2) == [
        "shared_buffers=16GB alone", "shared_buffers=1GB",
        "shared_buffers=16GB, wal_compression=on, max_wal_size=64GB",
    ]  # fmt: skip


def test_a_configuration_that_somebody_named_keeps_its_name():
    for name, tps in (("tuned", 100), ("plain", 200)):
        make_run("MySQL 8.4", tps, config=Config.objects.create(name=name, slug=name))
    assert [group.label for group in compare(all_runs()).groups] == ["tuned", "plain"]


@pytest.mark.parametrize(
    ("label", "values", "words"),
    [("Warm-up", ["1 s"], "Warm-up 1 s"), ("Database size", ["4 GB", "8 GB"], "4 GB and 8 GB"),
     ("Terminals", ["1"], "1 terminal"), ("Scale factor", ["10"], "Scale factor 10")],
)  # fmt: skip
def test_a_name_says_what_its_seconds_are_of(label: str, values: list[str], words: str):
    """Seen: "1 s · 1 terminal", where the warm-up is meant."""
    assert with_heading(label, values) == words
