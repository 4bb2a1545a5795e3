"""Questions whose answers are known: runs are uploaded whose truth is built, then each question is asked over REST."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
from datetime import date, timedelta
from itertools import product
from typing import Any, get_args
from urllib.parse import quote
from uuid import uuid4

import pytest
from benchagent.catalog import QUESTIONS
from django.test import Client
from django.utils import timezone

from runs import results
from runs.answers.answer import Amount, Newer, Step
from runs.answers.curves import curves_along
from runs.answers.places import NO_PLACE
from runs.answers.words.gaps import lacking_words
from runs.answers.words.history import newest_words, step
from runs.compare import reports
from runs.compare.asked import Lacking, Missing
from runs.compare.compare import compare
from runs.history import filing
from runs.models import HardwareProfile, Run, StoredSelection, User
from tests.runs.builders import document

pytestmark = pytest.mark.django_db

GIB = 1 << 30
SIZES_GB = (10, 20, 40, 80, 160, 320, 500)
TERMINALS = (1, 2, 4, 8, 16, 32, 64)


class World:
    """Uploads of one batch with 2 % of noise; `seed` makes it the same each time."""

    def __init__(self, seed: int = 1, noise: float = 0.02) -> None:
        self.random, self.noise, self.documents = random.Random(seed), noise, []

    def add(self, mean: float, repeats: int = 3, metric: str = "tps", unit: str = "", **more: Any) -> None:
        values = [mean * math.exp(self.random.gauss(0, self.noise)) for _ in range(repeats)]
        hardware = {"name": "alpha", "cpu_model": "Example", "ram_bytes": 64 * GIB}
        made = document(
            repeats=[{"metrics": {metric: {"value": value, "unit": unit} if unit else value}} for value in values],
            **({"workload": "tpcb", "config": [], "hardware": hardware} | more),
        )  # fmt: skip
        made.pop("measured_on", None) if "measured_on" not in more else None
        self.documents.append(made | {"id": str(uuid4())})

    def store(self) -> str:
        batch = str(uuid4())
        outcomes = results.store_uploads(documents=[each | {"batch": batch} for each in self.documents])
        assert [outcome.errors for outcome in outcomes] == [{}] * len(self.documents)
        self.documents = []
        return f"batch={batch}"


def ask(selects: str, question: str = "") -> dict[str, Any]:
    response = Client().get(f"/api/v1/answers/?{selects}&{question}")
    assert response.status_code == 200, response.content
    told: dict[str, Any] = response.json()
    return told


def page(selects: str, question: str = "") -> str:
    return Client().get(f"/compare/?{selects}&{question}").content.decode()


def two_disks() -> str:
    world = World()
    for size in SIZES_GB:
        for disk, factor, loss in (("SATA", 1.0, 0.9), ("NVMe", 1.46, 0.3)):
            tps = 10_000 * factor * (1 if size <= 64 else (size / 64) ** -loss)
            world.add(tps, factors={"size_gb": size, "terminals": 8, "disk": disk})
    return world.store()


def two_systems_over_terminals() -> str:
    world = World()
    for terminals in TERMINALS:
        for name, version, tps in (
            ("PostgreSQL", "18.0", 1000 * terminals / (1 + 0.02 * (terminals - 1))),
            ("MariaDB", "11.4", 1200 * terminals / (1 + 0.03 * (terminals - 1) + 0.0008 * terminals * (terminals - 1))),
        ):
            world.add(tps, dbms={"name": name, "version": version}, factors={"size_gb": 10, "terminals": terminals})
    return world.store()


def eight_configurations(repeats: int = 3) -> str:
    world = World(noise=0.005)
    for size in ("1GB", "64GB"):
        for compression in ("off", "on"):
            for cost in ("1.1", "4"):
                tps = 5000 * (1.17 if size == "64GB" else 1)
                settings = {"max_wal_size": size, "wal_compression": compression, "random_page_cost": cost}
                world.add(
                    tps, repeats, factors={"size_gb": 10, "terminals": 8},
                    config=[{"name": name, "value": value} for name, value in settings.items()],
                )  # fmt: skip
    return world.store()


def many_batches() -> str:
    world = World(noise=0.005)
    for batch in range(40):
        day = date(2026, 3, 1) + timedelta(days=6 * batch)
        tested = {"commit": f"{batch:02d}" * 20}
        world.add(1000 * (0.94 if batch >= 25 else 1), measured_on=str(day), tested=tested)
        world.store()
    return "dbms=postgresql&workload=tpcb"


def test_a_configuration_is_named_with_what_of_it_was_not_in_force():
    """Was: named as it was given, which only the pages of its runs and its experiment corrected."""
    eight = eight_configurations(repeats=1)
    compressed = Run.objects.filter(config__parameters__name="wal_compression", config__parameters__value="on")
    compressed.update(ignored_settings=["wal_compression: on given, off in force (by client)"])
    labels = " ".join(row["label"] for row in Client().get(f"/api/v1/compare/?{eight}").json()["groups"])
    assert labels.count("wal_compression=on (not in force)") == labels.count("wal_compression=on") > 0
    assert labels.count("(not in force)") == labels.count("wal_compression=on")


def test_a_loss_is_told_from_one_size_to_the_other_and_where_it_begins():
    told = ask(two_disks(), "ask=loss&x=factor:size_gb&from=10&to=500")

    sata, nvme = told["claims"]
    assert (sata["label"], nvme["label"]) == ("SATA", "NVMe")
    for claim, factor in ((sata, (500 / 64) ** -0.9), (nvme, (500 / 64) ** -0.3)):
        assert claim["change"]["low"] < factor - 1 < claim["change"]["high"]
        assert claim["change"]["verdict"] == "worse"
        low, high = claim["falls_off"]["interval"]
        assert claim["falls_off"]["shape"] == "knee" and low < 1.1 * 64 and high > 0.9 * 64
        assert len(claim["runs"]) == 6
    assert told["words"].startswith("SATA −84.")
    assert told["words"].endswith(" from 10 to 500 GB; both fall off at RAM 64 GiB.")


def test_two_levels_are_enough_for_a_loss():
    world = World()
    for size, tps in ((10, 1000), (500, 400)):
        world.add(tps, factors={"size_gb": size, "terminals": 8})

    told = ask(world.store(), "ask=loss&x=factor:size_gb")

    (claim,) = told["claims"]
    assert claim["change"]["low"] < -0.6 < claim["change"]["high"]
    assert claim["falls_off"]["shape"] == "too_few"


@pytest.mark.parametrize(
    ("spread", "words"), [(1.01, " to +"), (1.5, " (undecided: neither comes to "), (5.0, " (undecided) from ")]
)
def test_a_loss_of_which_nothing_is_known_has_no_ends_of_thousands_of_percent(spread: float, words: str):
    """Seen: "SQLite 3.54.1 +82.4 % (−99.8 to +182,140.0)", where the page says that it is undecided."""
    world = World()
    for size in (1, 2):
        repeats = [{"metrics": {"tps": 1000 * size / 10 * factor}} for factor in (1 / spread, 1, spread)]
        world.add(1, factors={"scale_factor": size, "terminals": 4})
        world.documents[-1]["repeats"] = repeats

    told = ask(world.store(), "ask=loss&x=factor:scale_factor")

    (claim,) = told["claims"]
    assert words in told["words"]
    assert claim["change"]["low"] < 1 < claim["change"]["high"], "numbers are told as they are"
    if spread == 1.5:
        assert told["words"].partition(": ")[2].partition(")")[0] in claim["change"]["why"]


@pytest.mark.parametrize("asked", [("database_size_gb",), ("scale_factor", "database_size_gb")])
def test_a_size_by_a_name_of_the_senders_own_or_stated_twice_has_a_loss(asked: tuple[str, ...]):
    """Was: "No ratio: Database size: 500 GB against 10 GB", and of the one name no question at all."""
    world = World()
    for size in (10, 50, 500):
        for disk, loss in (("SATA", 0.9), ("NVMe", 0.3)):
            world.add(1000 * (size / 10) ** -loss, factors={"disk": disk} | dict.fromkeys(asked, size))
    selects = world.store()

    (query,) = [each["query"] for each in ask(selects)["questions"] if each["query"].startswith("ask=loss")]
    sata, nvme = ask(selects, query)["claims"]
    assert sata["change"]["low"] < 50**-0.9 - 1 < sata["change"]["high"]
    assert nvme["change"]["low"] < 50**-0.3 - 1 < nvme["change"]["high"]


def test_a_question_of_curves_finds_its_own_axis():
    """Was: how far it scales was told of the size, "peak of the scaling law at 6 GB"."""
    world = World()
    for size in (10, 100, 500):
        for terminals in (1, 8):
            world.add(1000 * terminals**0.8, factors={"size_gb": size, "terminals": terminals})
    selects = world.store()

    assert ask(selects, "ask=scales")["question"]["x"] == "factor:terminals"
    assert ask(selects, "ask=loss")["question"]["x"] == "factor:size_gb"
    told = ask(f"{selects}&factor.terminals=8", "ask=scales")
    assert told["claims"] == []
    assert told["missing"] == [f"{_as_sentence(Missing('clients_axis'))}"]


def test_nothing_that_is_selected_is_not_told_as_something_that_lacks_numbers():
    told = ask("label=nobody", "ask=loss")
    assert (told["claims"], told["missing"]) == ([], [_as_sentence(Missing("run"))])


def _as_sentence(missing: Missing) -> str:
    words = lacking_words(missing)
    return f"{words[:1].upper()}{words[1:]}."


def test_a_loss_between_levels_that_promise_unlike_is_no_ratio():
    """Was: −97.4 % from commits that survive power loss to such that do not, which no table may set side by side."""
    world = World()
    for size, tps, durability in ((10, 1000, "power_loss"), (500, 400, "bounded_loss")):
        world.add(tps, factors={"size_gb": size, "terminals": 8}, durability=durability)

    told = ask(world.store(), "ask=loss&x=factor:size_gb")

    (claim,) = told["claims"]
    assert (claim["change"]["verdict"], claim["change"]["value"], told["sure"]) == ("refused", None, False)
    assert claim["change"]["why"].startswith("Durability") and claim["change"]["why"] in told["words"]


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("ask=rank&fact=hardware", "machine"),
        ("ask=load", "loading"),
        ("ask=since", "in two batches"),
        ("ask=newer", "in two batches"),
        ("ask=effects", "one setting"),
        ("ask=scales", "terminals"),
        ("ask=a_b&a=nobody", "nobody"),
        ("ask=a_b&fact=factor:disk&a=Tape", "Tape”; there are: NVMe, SATA"),
    ],
)
def test_a_question_that_the_data_cannot_answer_says_what_is_missing(question, missing):
    """Was: another question's answer, or none at all."""
    told = ask(two_disks(), question)
    assert told["claims"] == [] and not told["sure"]
    assert missing in told["words"] and told["missing"] == [told["words"]]
    # Was: "How far does it scale over size?", of a selection without terminals.
    assert "size" not in told["asked"]


def test_of_a_curve_without_a_number_it_is_not_said_that_it_has_too_few_batches():
    """Seen: "too few batches to tell a change, 0 of 6" of 42 batches whose numbers contradict themselves."""
    world = World()
    for day in range(1, 8):
        for terminals, outcome in ((1, "failed"), (16, "finished")):
            world.add(1000, started_at=f"2026-01-0{day}T10:00:00Z", outcome=outcome, factors={"terminals": terminals})
        world.store()
    assert "1 terminal: none of its values is known" in ask("dbms=postgresql&workload=tpcb", "ask=since")["words"]


def test_there_are_words_for_everything_that_may_be_missing():
    said = {kind: lacking_words(Missing(kind, names=["NVMe"])) for kind in get_args(Lacking)}
    assert all(said.values()) and len({*said.values()}) == len(said)


def test_a_level_that_was_not_measured_is_missing_and_not_guessed():
    told = ask(two_disks(), "ask=loss&x=factor:size_gb&from=10&to=900")
    assert told["claims"] == []
    assert told["missing"] == ["NVMe: not measured at 900 GB.", "SATA: not measured at 900 GB."]


def test_the_faster_disk_is_faster_and_never_a_part_of_the_slower():
    told = ask(two_disks(), "ask=rank&fact=factor:disk")

    first, second, *levels = told["claims"]
    assert (first["label"], second["label"], told["sure"]) == ("NVMe", "SATA", True)
    assert second["ratio"]["value"] > 1
    truth = {f"{size} GB": 1.46 * (1 if size <= 64 else (size / 64) ** 0.6) for size in SIZES_GB}
    for level in levels:
        assert level["ratio"]["low"] < truth[level["label"]] < level["ratio"]["high"]


def test_how_far_each_scales():
    told = ask(two_systems_over_terminals(), "ask=scales&x=factor:terminals")

    by_label = {claim["label"]: claim for claim in told["claims"]}
    mariadb, postgresql = by_label["MariaDB 11.4"], by_label["PostgreSQL 18.0"]
    low, high = mariadb["peak_interval"]
    assert mariadb["peak_measured"] and low < math.sqrt(0.97 / 0.0008) < high
    assert postgresql["still_grows"] and not postgresql["peak_measured"]
    assert postgresql["most_at"] == 64


def test_beside_how_far_it_scales_is_asked_where_it_falls_off():
    """Was: offered of sizes alone, of terminals that have a knee not."""
    world = World()
    for terminals in (1, 2, 4, 8, 16, 32, 64):
        world.add(1000 * min(terminals, 16) * (16 / max(terminals, 16)) ** 0.5, factors={"terminals": terminals})
    selects = world.store()
    offered = [offer["query"] for offer in ask(selects)["questions"]]
    assert offered == ["ask=falls_off&x=factor%3Aterminals"]
    assert ask(selects, offered[0])["claims"][0]["turns_at"] == 16


def test_the_share_of_the_ideal_line_is_told_of_the_best_level_as_the_page_does():
    """Was: `efficiency` alone, of the last level, beside a page that tells that of the best."""
    world = World(noise=0)
    for terminals, tps in {1: 1000, 16: 16_000, 32: 16_200, 128: 16_000}.items():
        world.add(tps, factors={"terminals": terminals})
    selects = world.store()
    (claim,) = ask(selects, "ask=scales&x=factor:terminals")["claims"]
    assert (claim["efficiency"], claim["efficiency_at_most"]) == pytest.approx((0.125, 0.50625))
    assert "50.6\u202f% of ideal" in page(selects, "ask=scales&x=factor:terminals")


def test_a_peak_between_levels_that_were_measured_far_from_it_is_not_told():
    """Was: "peak of the scaling law at 33 terminals, 32.2 to 33.7", and `peak_measured`, of 1, 4, 16 and 64 threads."""
    world = World(noise=0.004)
    for terminals, tps in {1: 300, 4: 1_150, 16: 3_900, 64: 4_000}.items():
        world.add(tps, factors={"terminals": terminals})
    selects = world.store()
    told = ask(selects, "ask=scales&x=factor:terminals")

    (claim,) = told["claims"]
    assert 30 < claim["peak_at"] < 36 and not claim["peak_measured"]
    assert "peak" not in told["words"]
    told_below = page(selects, "ask=scales&x=factor:terminals")
    assert re.search(r"The law would have its peak at 3\d terminals .*, near which no level was measured\.", told_below)


@pytest.mark.parametrize(
    ("rates", "most_at"),
    [
        # Was: "The levels show no peak", of a most at 32 than which all further levels have surely less.
        ((500, 990, 1_950, 3_800, 6_800, 8_000, 7_800, 7_000, 6_000), 32),
        # Was: "Peak at 139 terminals: 11,669 TPS", of a rate that is highest at the last level.
        ((430, 850, 1_700, 3_300, 6_000, 8_000, 9_800, 11_000, 11_200), 256),
        # Was: "peak of the scaling law at 45 terminals", with 21,366 TPS, beside 24,332 TPS measured at 32.
        ((1_000, 1_960, 3_770, 7_020, 12_310, 19_750, 13_970, 9_880, 6_980), 32),
    ],
)
def test_a_peak_that_the_levels_contradict_is_not_told(rates: tuple[int, ...], most_at: int):
    world = World(noise=0.008)
    for doubling, tps in enumerate(rates):
        world.add(tps, repeats=5, factors={"terminals": 2**doubling})
    selects = world.store()
    told = ask(selects, "ask=scales&x=factor:terminals")

    (claim,) = told["claims"]
    assert claim["most_at"] == most_at and 40 < claim["peak_at"] < 200 and not claim["peak_measured"]
    assert "peak" not in told["words"]
    assert ", which the levels do not show." in page(selects, "ask=scales&x=factor:terminals")


def test_one_against_another_that_wins_here_and_loses_there_has_no_single_number():
    selects = two_systems_over_terminals()
    told = ask(selects, "ask=a_b&fact=dbms&a=PostgreSQL 18.0")

    overall, *levels = told["claims"]
    assert overall["label"] == "" and overall["ratio"]["verdict"] == "mixed"
    assert {levels[0]["ratio"]["verdict"], levels[-1]["ratio"]["verdict"]} == {"better", "worse"}
    assert told["words"].startswith("No single number over 7 levels of terminals: ")
    # Was: nothing is called so. Of one version its name is enough.
    assert ask(selects, "ask=a_b&fact=dbms&a=postgresql&b=MariaDB")["words"] == told["words"]


def test_the_most_of_each_and_each_at_equal_terminals_are_two_questions():
    """Seen: both as "Which system has the highest throughput, and is it sure?", with two answers."""
    selects = two_systems_over_terminals()
    at_best, at_equal = ask(selects), ask(selects, "ask=rank&fact=dbms")

    assert (at_best["ranked_at"], at_equal["ranked_at"], at_equal["held"]) == ("best", "equal_levels", "terminals")
    assert at_best["asked"] == "Which system has the highest throughput at its best, and is it sure?"
    assert at_equal["asked"] == "Which system has the highest throughput at equal terminals, and is it sure?"
    assert at_best["words"].startswith("PostgreSQL 18.0 (64 terminals) has the highest throughput at its best, ")
    assert " that of MariaDB 11.4 (32 terminals)." in at_best["words"]
    for told, other in ((at_best, at_equal), (at_equal, at_best)):
        offered = {each["words"].replace("equal levels", "equal terminals") for each in told["questions"]}
        assert other["asked"] in offered and told["asked"] not in offered


@pytest.mark.parametrize("sizes", [(10,), (10, 20)])
def test_of_more_than_twenty_the_two_that_are_named_are_set_against_each_other(sizes):
    """Seen: of 24 versions those with the best and the baseline alone were judged: 7 against 15 had no ratio, and over
    two sizes the ratio of 7 to the baseline stood there.
    """
    world = World()
    for size in sizes:
        for number in range(1, 25):
            tps = 10_000 / size * 1.1**number
            world.add(tps, dbms={"name": "PostgreSQL", "version": f"{number}.0"}, factors={"size_gb": size})
    selects = world.store()

    told = ask(selects, "ask=a_b&fact=dbms&a=PostgreSQL 7.0&b=PostgreSQL 15.0")

    assert (told["first"], told["second"]) == ("PostgreSQL 7.0", "PostgreSQL 15.0")
    ratio = told["claims"][0]["ratio"]
    assert ratio["verdict"] == "worse"
    assert ratio["value"] == pytest.approx(1.1**-8, rel=0.05)


def test_each_setting_is_told_by_what_it_did():
    eight = eight_configurations()
    told = ask(eight, "ask=effects")

    size, *others = told["claims"]
    assert (size["label"], size["start"], size["end"], size["pairs"]) == ("max_wal_size", "1GB", "64GB", 4)
    assert size["ratio"]["low"] < 1.17 < size["ratio"]["high"] and size["ratio"]["verdict"] == "better"
    assert {claim["ratio"]["verdict"] for claim in others} == {"equivalent"}
    assert told["words"].endswith(" below 3\u202f%.")
    # Three settings and seven configurations against the baseline.
    assert told["family"] == 10
    found = re.search(r'<script id="effects-data"[^>]*>(.*?)<', page(eight, "ask=effects"))
    assert found
    drawn = json.loads(found[1])
    assert [bar["value"] for bar in drawn["groups"]] == [claim["ratio"]["value"] for claim in told["claims"]]
    assert drawn["most"] > size["ratio"]["value"] > drawn["marks"][0]["value"] == 1


def test_a_setting_that_did_little_at_several_values_is_named_once():
    """Seen: "shared_buffers, work_mem, work_mem, shared_buffers and huge_pages: below 3 %"."""
    world = World(noise=0.002)
    for size in ("1GB", "4GB", "8GB"):
        for level, factor in (("0", 1.0), ("1", 1.0), ("9", 0.8)):
            config = [{"name": "size", "value": size}, {"name": "level", "value": level}]
            world.add(5000 * factor, config=config)
    words = ask(world.store(), "ask=effects")["words"]
    assert words.startswith("level 0 → 9: −") and words.count("size") == 1
    assert "level 0 → 1" in words, "its other value did much: which one did little is said"


def test_the_cell_that_lacks_repeats_for_what_a_setting_did_is_named():
    """Was: "too few repeats (3 a level needed)", of settings whose levels have 6 and 5."""
    world = World()
    for jit, work_mem, repeats in (("off", "4MB", 3), ("off", "64MB", 3), ("on", "4MB", 2), ("on", "64MB", 3)):
        world.add(1000, repeats, config=[{"name": "jit", "value": jit}, {"name": "work_mem", "value": work_mem}])
    told = ask(world.store(), "ask=effects")
    assert told["missing"] == ["It takes at least 3 repeats of jit=on."]
    assert told["words"].endswith(told["missing"][0])


def test_a_warning_of_few_repeats_denies_no_verdict_that_is_told():
    """Was: "Fewer than 3 repeats, so no verdict" beside one over pairs of levels."""
    selects = eight_configurations(repeats=1)
    assert ask(selects, "ask=effects")["claims"][0]["ratio"]["verdict"] == "better"
    assert "so no verdict of two groups alone: all groups" in page(selects, "ask=effects")
    assert "so no verdict: all groups" in page(selects, "ask=a_b")


@pytest.mark.parametrize(("tps", "verdict"), [(1500, "worse"), (1000, "equivalent")])
def test_what_a_setting_of_commits_costs_is_told_with_what_it_keeps(tps: float, verdict: str):
    """Was: "no ratio" of the setting that is asked about most."""
    world = World(noise=0.003)
    for value, mean, kept in (("on", 1000, "power_loss"), ("off", tps, "bounded_loss")):
        world.add(mean, config=[{"name": "synchronous_commit", "value": value}], durability=kept)
    selects = world.store()

    told = ask(selects, "ask=effects")
    (claim,) = told["claims"]
    assert (claim["start"], claim["end"], claim["ratio"]["verdict"]) == ("off", "on", verdict)
    assert claim["besides"] == ["Durability: a crash may lose the last commits → survives power loss"]
    assert claim["besides"][0].removeprefix("Durability: ") in told["words"]
    # They are ranked by no other question.
    assert ask(selects, "ask=a_b")["claims"][0]["ratio"]["verdict"] == "refused"


def test_what_a_commit_is_worth_is_told_of_each_pair_also_where_one_side_is_not_known():
    """Was: "→ survives power loss" over pairs of which one did not tell it, and nothing where none did."""
    world = World(noise=0.003)
    for terminals in (1, 8):
        for value, mean, kept in (("off", 1500, "bounded_loss"), ("on", 1000, "power_loss")):
            config = [{"name": "jit", "value": value}]
            world.add(mean, factors={"terminals": terminals}, config=config, durability=kept)
    del world.documents[-1]["durability"]
    selects = world.store()

    def besides(query: str = "") -> list[str]:
        (claim,) = ask(f"{selects}{query}", "ask=effects")["claims"]
        return claim["besides"]  # type: ignore[no-any-return]

    known, unknown = (
        f"Durability: a crash may lose the last commits → {to}" for to in ("survives power loss", "not known")
    )
    assert (besides(), besides("&factor.terminals=8")) == ([known, unknown], [unknown])


def test_a_setting_goes_from_its_smaller_value_to_the_larger():
    """Was: shared_buffers 4GB → 128MB, for 4 is less than 128."""
    world = World()
    for size, tps in (("128MB", 1000), ("4GB", 1080), ("16GB", 1170)):
        world.add(tps, config=[{"name": "shared_buffers", "value": size}])

    claims = ask(world.store(), "ask=effects")["claims"]
    assert {(claim["start"], claim["end"]) for claim in claims} == {("128MB", "4GB"), ("128MB", "16GB")}


def test_a_change_is_found_at_its_commit_and_counted_in_batches():
    told = ask(many_batches())

    assert told["question"]["kind"] == "since"
    (claim,) = told["claims"]
    assert (claim["day"], claim["tested"], claim["batches_before"], claim["batches"]) == (
        "2026-07-29",
        "2525252525",
        25,
        15,
    )
    assert claim["change"]["low"] < -0.06 < claim["change"]["high"]
    assert claim["days"] == 6 * 39 + 1
    assert claim["days_near"][0] <= claim["day"] <= claim["days_near"][1]


def test_a_change_names_the_days_on_which_it_may_have_begun():
    told = {"label": "", "change": Amount(value=-0.06), "batches": 5, "days": 30, "day": "2026-03-05"}
    near = ("2026-03-04", "2026-03-07")
    assert step(Step(**told, days_near=near)).endswith(" It may have begun on any day from 2026-03-04 to 2026-03-07.")
    assert "begun" not in step(Step(**told, days_near=("2026-03-05", "2026-03-05")))


def test_the_newest_is_judged_by_how_the_batches_before_it_scatter():
    selects = many_batches()
    assert ask(selects, "ask=newer&than=last:10")["claims"][0]["ratio"]["verdict"] in ("undecided", "equivalent")

    world = World(noise=0.005)
    world.add(800, measured_on="2026-11-20", tested={"commit": "ff" * 20})
    world.store()

    (claim,) = ask(selects, "ask=newer&than=last:10")["claims"]
    assert claim["ratio"]["verdict"] == "worse" and claim["batches"] == 10
    assert claim["ratio"]["low"] < 800 / 940 < claim["ratio"]["high"]


def test_against_one_or_two_batches_the_newest_is_judged_by_the_repeats():
    """Was: "too few batches to tell a change, 1 of 3", where the gate and a comparison of the two decide."""
    selects = many_batches()
    for than, verdict in (("commit:0101", "worse"), ("commit:3838", "equivalent"), ("last:1", "equivalent")):
        told = ask(selects, f"ask=newer&than={than}")
        (claim,) = told["claims"]
        assert (claim["batches"], claim["by_repeats"], claim["ratio"]["verdict"]) == (1, True, verdict)
        assert ", by the repeats of each" in told["words"]


def test_two_batches_are_told_alike_however_the_second_is_asked_about():
    """Seen: "worse" since when, "too few batches to tell a change, 1 of 3" of the last one, "worse" of its label; and
    that intervals are wider where none was told.
    """
    world = World(noise=0.005)
    for name, level in (("PostgreSQL", 1000), ("MySQL", 850)):
        for day, share, label in ((1, 1, "paper"), (5, level / 1000, "again")):
            dbms = {"name": name, "version": "1"}
            world.add(1000 * share, measured_on=f"2026-03-0{day}", dbms=dbms, label=label)
    world.store()
    questions = ("ask=since", "ask=newer&than=last:1", "ask=newer&than=label:paper")
    told = [ask("workload=tpcb", question) for question in questions]
    ratios = [[claim["ratio"] for claim in each["claims"]] for each in told]
    assert ratios[0] == ratios[1] == ratios[2] and ratios[0][0]["low"]
    assert {ratio["verdict"] for ratio in ratios[0]} > {"worse"}
    assert ["Of 2 series that are judged together" in each["words"] for each in told] == [True] * 3
    few = ask("workload=tpcb", "ask=newer&than=last:10")
    assert {claim["ratio"]["verdict"] for claim in few["claims"]} == {"too_few"}
    assert "judged together" not in few["words"]


def test_newest_batches_of_two_machines_are_said_to_be_judged_together():
    """Seen: "better, but undecided whether by 3 %" alone and "undecided" beside another, without a word."""
    world = World(noise=0.005)
    for day in range(1, 7):
        for name in ("alpha", "beta"):
            world.add(1000, measured_on=f"2026-03-0{day}", hardware={"name": name, "cpu_model": "Example"})
        world.store()
    both, one = (ask(f"workload=tpcb{of}", "ask=newer") for of in ("", "&hardware=alpha"))
    assert ([claim["family"] for claim in both["claims"]], one["claims"][0]["family"]) == ([2, 2], 1)
    assert ("Of 2 series that are judged together" in both["words"], "together" in one["words"]) == (True, False)


def test_of_single_runs_no_pattern_over_levels_is_told():
    """Seen: "1.02 × to 1.06 × at 1 and 8 terminals; 0.917 × to 0.939 × at 2, 4 and 16", of two that are alike."""
    world = World(seed=3, noise=0.05)
    for terminals in (1, 2, 4, 8, 16):
        for name in ("A", "B", "C"):
            world.add(1000 * terminals**0.7, 1, dbms={"name": name, "version": "1"}, factors={"terminals": terminals})
    selects = world.store()

    for question in ("ask=rank&fact=dbms", "ask=a_b&fact=dbms&a=A 1&b=B 1"):
        words = ask(selects, question)["words"]
        assert "single number" not in words and "1 and 8 terminals" not in words
        assert words.endswith(", a range that so few repeats do not tell from noise.")


def test_results_that_were_sent_one_by_one_over_two_days_are_ranked_day_by_day():
    """Was: "No two series have two levels in common" of disks that were measured alike on both days."""
    world = World()
    for day in (1, 2):
        for disk, factor in (("SATA", 1.0), ("NVMe", 1.4)):
            for buffers in ("1GB", "4GB"):
                config = [{"name": "shared_buffers", "value": buffers}]
                world.add(1000 * factor, factors={"disk": disk}, config=config, measured_on=f"2026-05-0{day}")
                world.store()

    told = ask("dbms=postgresql&workload=tpcb", "ask=rank&fact=factor:disk")

    assert (told["claims"][0]["label"], told["sure"]) == ("NVMe", True)
    assert told["claims"][1]["ratio"]["low"] < 1.4 < told["claims"][1]["ratio"]["high"]


@pytest.mark.parametrize("days", [1, 2])
def test_a_ranking_that_has_no_answer_is_not_offered(days: int):
    """Seen: "Which configuration has the highest throughput?", and then "groups that differ in this have no order"."""
    world = World()
    for day in range(1, days + 1):
        for size, buffers in ((100, "1GB"), (500, "4GB")):
            config = [{"name": "shared_buffers", "value": buffers}]
            world.add(1000, factors={"size_gb": size}, config=config, measured_on=f"2026-05-0{day}")
            world.store()
    selects = "dbms=postgresql&workload=tpcb"
    assert ask(selects, "ask=rank&fact=config")["claims"] == []
    assert "rank" not in {each["kind"] for each in ask(selects)["questions"]}


def test_what_was_run_on_and_what_differs_is_told_of_two():
    world = World()
    world.add(1000, factors={"size_gb": 10, "terminals": 8})
    world.add(1000, factors={"size_gb": 10, "terminals": 16})

    told = ask(world.store(), "ask=changed")

    assert [(claim["label"], claim["a"], claim["b"]) for claim in told["claims"]] == [("Terminals", "8", "16")]


@pytest.mark.parametrize("world", [two_disks, two_systems_over_terminals, eight_configurations, many_batches])
def test_page_and_api_say_the_same_of_every_question_that_is_offered(world: Any):
    selects = world()
    told = ask(selects)
    assert told["words"] in page(selects).replace("&#x27;", "'")
    assert told["questions"]
    for offered in told["questions"]:
        answer = ask(selects, offered["query"])
        assert answer["claims"], offered
        assert re.sub(" at equal .*, and", " at equal levels, and", answer["asked"]) == offered["words"]
        assert answer["words"] in page(selects, offered["query"]).replace("&#x27;", "'")
        file = Client().get(f"/compare.csv?{selects}&{offered['query']}").content.decode()
        assert {row["answer"] for row in csv.DictReader(io.StringIO(file))} == {answer["words"]}
        counts = answer["counts"]
        assert counts["drawn"] + counts["unnumbered"] + counts["left_out"] == counts["selected"]


@pytest.mark.parametrize("kind", QUESTIONS)
def test_each_kind_of_question_is_answered_as_itself(kind: str):
    told = ask(two_disks(), f"ask={kind}")
    assert told["question"]["kind"] == kind
    assert told["claims"] or told["missing"] or told["words"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("ask=nonsense", "ask"),
        ("ask=loss&from=ten", "from"),
        ("ask=newer&than=yesterday", "than"),
        ("ask=newer&than=last:0", "than"),
        ("ask=newer&than=label:", "than"),
        ("ask=newer&than=days:100000", "than"),
    ],
)
def test_a_question_that_is_not_understood_is_refused_by_its_parameter(query: str, field: str):
    response = Client().get(f"/api/v1/answers/?{two_disks()}&{query}")
    assert response.status_code == 400
    assert list(response.json()) == [field]


def test_two_settings_of_one_system_do_not_take_its_first_place():
    """Seen: DB2 better than every other on the article's page, and no winner on home, as DB2 tied with itself."""
    world = World(noise=0.005)
    for name, tps, commit_group in (
        ("Oracle", 2400, 1),
        ("Oracle", 2405, 2),
        ("Derby", 1170, None),
        ("MySQL", 112, None),
    ):
        factors = {"scale_factor": 10, "terminals": 4} | ({"commit_group": commit_group} if commit_group else {})
        world.add(tps, dbms={"name": name, "version": "9.7"}, factors=factors)

    told = ask(world.store(), "ask=best")

    first, second, third = told["claims"]
    assert told["sure"] and [claim["rank"] for claim in told["claims"]] == [1, 2, 3]
    assert (first["label"], first["variants"], first["variants_differ"]) == ("Oracle Database 9.7", 2, False)
    assert second["label"] == "Apache Derby 9.7" and third["label"] == "MySQL 9.7"


def test_the_next_is_the_next():
    """Seen: the fifth of five bars named as the next, 2.48 x instead of 1.22 x."""
    world = World(noise=0.002)
    for name, tps in (("A", 1220), ("B", 1000), ("C", 800), ("D", 600), ("E", 490)):
        world.add(tps, dbms={"name": name, "version": "1"})
    told = ask(world.store(), "ask=best")
    assert told["words"].startswith("A 1 has the highest throughput, 1,2")
    assert told["words"].endswith(" that of B 1, the next.")
    assert told["claims"][1]["ratio"]["value"] == pytest.approx(1.22, rel=0.01)


def test_whoever_has_too_few_repeats_is_named_and_nobody_else():
    """Seen: "fewer than 3 repeats a group" of 36 groups, 35 of which had three."""
    world = World()
    for name, tps, repeats in (("PostgreSQL", 5000, 2), ("MySQL", 4000, 3), ("MariaDB", 3000, 3)):
        world.add(tps, repeats=repeats, dbms={"name": name, "version": "1"})
    told = ask(world.store())
    assert not told["sure"]
    assert told["missing"] == ["It takes at least 3 repeats of PostgreSQL 1."]
    assert "3 repeats of PostgreSQL 1:" in told["words"]


def test_with_too_few_repeats_and_levels_the_answer_says_so():
    """Seen: "with fewer than 3 repeats a group" of versions of which all but one group had three."""
    world = World(noise=0.004)
    for size, of_newer in ((10, 0.99), (40, 1.3)):
        for version, factor in (("15", 1.0), ("16", of_newer)):
            few = {"repeats": 2} if size == 10 else {}
            world.add(1000 * factor / size, factors={"size_gb": size}, dbms={"name": "A", "version": version}, **few)
    told = ask(world.store(), "ask=best")
    assert not told["sure"] and "repeats a group" not in told["words"]
    assert told["words"].endswith("against A 15: too few repeats (3 a level needed).")


def test_a_batch_is_named_with_its_commit_in_brackets():
    """Seen: "2025-05-11 · 2b966bf630 · main has 1.13 ×"."""
    claim = Newer(label="A 1", newest="2025-05-11 · 2b966bf630 · main", of="last:3", batches=3, ratio=Amount(value=2.0))
    assert newest_words(claim, "Throughput").startswith("A 1: the batch of 2025-05-11 (2b966bf630 · main) has ")
    for of, words in (("last:3", "before it"), ("label:main", "labelled main"), ("version:18", "of version 18")):
        assert f"of the 3 batches {words}." in newest_words(claim.model_copy(update={"of": of}), "Throughput")


def test_of_one_system_over_sizes_the_rule_asks_what_is_lost():
    """Seen: "Groups that differ in this have no order: Size: 8 GB against 16 GB"."""
    world = World()
    for size, tps in ((10, 1000), (20, 900), (40, 800)):
        world.add(tps, factors={"size_gb": size, "terminals": 8})

    told = ask(world.store())

    assert told["question"]["kind"] == "loss"
    (claim,) = told["claims"]
    assert claim["change"]["verdict"] == "worse" and claim["change"]["low"] < -0.2 < claim["change"]["high"]


def test_a_sweep_whose_sizes_came_one_a_day_is_one_curve():
    """Was: "One level only, measure a second" of each of its batches, over bars."""
    world = World()
    for day, (size, tps) in enumerate(((10, 1000), (20, 900), (40, 800)), 1):
        world.add(tps, factors={"size_gb": size}, measured_on=f"2026-03-0{day}", label="sweep")
        world.store()

    told = ask("label=sweep")

    (claim,) = told["claims"]
    assert (told["question"]["kind"], claim["label"]) == ("loss", "")
    assert not {"since", "newer"} & {each["kind"] for each in told["questions"]}, "no size was measured twice"
    axes = compare(Run.objects.present().for_lists()).axes
    assert (axes.view, axes.x, axes.series) == ("curve", "factor:size_gb", ())
    assert claim["change"]["low"] < -0.2 < claim["change"]["high"]


def test_where_it_falls_off_is_asked_of_as_many_values_as_a_knee_takes():
    """Was: offered, and then "too few values to tell where it falls off, 6 of 7"."""
    for repeats, is_offered in ((1, False), (2, True)):
        world = World()
        for size in (1, 2, 4, 8, 16, 32):
            world.add(1000, repeats=repeats, factors={"size_gb": size})
        offered = {each["kind"] for each in ask(world.store())["questions"]}
        assert ("falls_off" in offered) is is_offered


def test_sizes_that_are_texts_stand_by_their_bytes():
    """Was: 16kB, 1MB, 4kB, 512B."""
    world = World()
    sizes = ["512B", "4kB", "16kB", "1MB"]
    for size in sorted(sizes):
        world.add(1000, factors={"page": size})
    world.store()
    assert [group.facts["factor:page"] for group in compare(Run.objects.present().for_lists()).groups] == sizes


def test_of_repeats_that_each_came_alone_it_is_told_to_pool_their_batches():
    world = World()
    for size, tps in ((10, 1000), (20, 900), (40, 800)):
        for _ in range(3):
            world.add(tps, repeats=1, factors={"size_gb": size}, label="sweep")
            world.store()

    apart, pooled = ask("label=sweep", "ask=loss"), ask("label=sweep&group=label", "ask=loss")

    assert (apart["claims"], apart["missing"]) == ([], [_as_sentence(Missing("batches_apart"))])
    assert pooled["claims"][0]["change"]["low"] < -0.2 < pooled["claims"][0]["change"]["high"]


def test_runs_that_have_nothing_in_common_are_not_asked_what_they_lose():
    """Was: "What is lost over size? A, B and C: one level only", of each of 200 runs."""
    world = World()
    for size, protocol in ((10, "simple"), (10, "prepared"), (20, "extended"), (40, "extended query")):
        world.add(1000, factors={"size_gb": size, "protocol": protocol})

    told = ask(world.store())

    kinds = {told["question"]["kind"], *(each["kind"] for each in told["questions"])}
    assert not kinds & {"loss", "falls_off", "scales"}


def test_of_one_system_over_clients_the_rule_asks_how_far_it_scales():
    """Seen: "No winner yet: 32 (3,954 TPS) and 64 (3,610 TPS)" of one system's curve over terminals."""
    world = World(noise=0.05)
    for clients in TERMINALS:
        waits, pairs = 0.01 * (clients - 1), 0.001 * clients * (clients - 1)
        world.add(1000 * clients / (1 + waits + pairs), factors={"terminals": clients})
    selects = world.store()

    told = ask(selects)

    assert told["question"]["kind"] == "scales"
    assert told["claims"][0]["most_at"] == 32
    best = ask(selects, "ask=best")
    assert best["question"]["fact"] == "factor:terminals" and best["claims"][0]["label"] == "32 terminals"

    for name, factor in (("A", 1.0), ("B", 1.5)):
        for clients in TERMINALS[:3]:
            world.add(factor * 1000 * clients, factors={"terminals": clients}, dbms={"name": name, "version": "1"})
    assert ask(world.store())["question"]["kind"] == "best", "of several the first question is which of them"


def test_a_latency_does_not_scale():
    """Seen: "It has its most at 64 terminals, 12 ms", and the question was offered."""
    world = World()
    for clients in TERMINALS[:3]:
        world.add(10 * clients, metric="latency_p99_ms", factors={"terminals": clients})
    selects = world.store()
    assert "scales" not in {each["kind"] for each in ask(selects)["questions"]}
    told = ask(selects, "ask=scales")
    assert told["claims"] == [] and "is no rate" in told["words"]


@pytest.mark.parametrize("number", ["nan", "inf", "1e400", "ten"])
def test_an_end_that_is_no_number_is_refused(number: str):
    """Was an error 500 of the API, and "from nan MB" on the page."""
    response = Client().get(f"/api/v1/answers/?{two_disks()}&ask=loss&x=factor:size_gb&from={number}&to=500")
    assert response.status_code == 400
    assert response.json()["from"][0].startswith(f"“{number}” is no number and no level of Size. There are: 10 GB, ")


def test_of_one_system_over_two_sizes_the_rule_asks_what_is_lost():
    """Two sizes make no axis by themselves: of each disk what it loses, never of both together."""
    world = World()
    world.add(1000, factors={"size_gb": 10, "disk": "SATA"})
    world.add(500, factors={"size_gb": 20, "disk": "SATA"})
    selects = world.store()
    told = ask(selects)
    assert told["question"]["kind"] == "loss"
    assert told["claims"][0]["change"]["low"] < -0.5 < told["claims"][0]["change"]["high"]

    world.add(1500, factors={"size_gb": 10, "disk": "NVMe"})
    assert "NVMe" in ask(f"set={quote(selects)}&set={quote(world.store())}", "ask=loss&x=factor:size_gb")["words"]


def test_what_has_no_level_in_common_is_named_beside_the_order():
    """Was left out of the words."""
    world = World()
    for size in (10, 20, 40):
        for disk, factor in (("SATA", 1.0), ("NVMe", 1.5)):
            world.add(1000 * factor / size, factors={"size_gb": size, "disk": disk})
    world.add(10, factors={"size_gb": 80, "disk": "Tape"})

    told = ask(world.store(), "ask=rank&fact=factor:disk")
    assert told["sure"] and told["unranked"] == ["Tape"]
    assert "Tape" in told["words"]


def test_none_is_surely_better_than_the_first():
    """Each shares other levels with the baseline than the two share with each other."""
    rates = {
        "Near": {5: 1100, 10: 1000, 20: 900, 40: 800, 80: 700},
        "Far": {10: 2000, 20: 1800, 160: 500, 320: 400},
        "Best": {40: 1200, 80: 1050, 160: 750, 320: 600},
    }
    world = World()
    for disk, by_size in rates.items():
        for size, rate in by_size.items():
            world.add(rate, factors={"size_gb": size, "disk": disk})

    selects = world.store()
    groups = Client().get(f"/api/v1/compare/?{selects}").json()["groups"]
    base = next(group["key"] for group in groups if "Near" in group["label"])
    claims = ask(selects, f"ask=rank&fact=factor:disk&baseline={base}")["claims"]
    first, *others = [claim for claim in claims if claim["kind"] == "standing"]
    assert first["label"] == "Best"
    assert {claim["ratio"]["verdict"] for claim in others} == {"better"}


def test_the_asked_fact_has_the_colours():
    world = World()
    for size in (10, 20, 40):
        for terminals in (1, 4, 16):
            for disk, factor in (("SATA", 1.0), ("NVMe", 1.5)):
                world.add(1000 * factor / size, factors={"size_gb": size, "terminals": terminals, "disk": disk})
    query = f"{world.store()}&ask=rank&fact=factor:disk"
    drawing = Client().get(f"/api/v1/compare/?{query}").json()["drawing"]
    assert (drawing["x"], drawing["series"], drawing["panels"]) == (
        "factor:size_gb",
        ["factor:disk"],
        "factor:terminals",
    )


def test_two_disks_are_set_against_each_other_where_systems_vary_too():
    world = World()
    for size in SIZES_GB[:3]:
        for name, speed in (("PostgreSQL", 1.0), ("MariaDB", 0.7)):
            for disk, factor in (("SATA", 1.0), ("NVMe", 1.5)):
                factors = {"size_gb": size, "terminals": 8, "disk": disk}
                world.add(10_000 * speed * factor, dbms={"name": name, "version": "1"}, factors=factors)
    selects = world.store()

    told = ask(selects, "ask=a_b&fact=factor:disk&a=NVMe&b=SATA")

    assert (told["first"], told["second"]) == ("NVMe", "SATA")
    assert told["claims"][0]["ratio"]["low"] < 1.5 < told["claims"][0]["ratio"]["high"]


def test_a_system_that_came_to_nothing_is_not_ranked_and_the_others_are():
    """Seen: "No winner: PostgreSQL (1,019 TPS) and Firebird (0 TPS)", and not a word of MariaDB."""
    world = World()
    for name, tps in (("PostgreSQL", 1000), ("MariaDB", 700), ("Firebird", 0)):
        world.add(tps, dbms={"name": name, "version": "1"})
    selects = world.store()

    told = ask(selects)

    assert told["sure"]
    assert [(claim["label"], claim["rank"]) for claim in told["claims"]] == [("PostgreSQL 1", 1), ("MariaDB 1", 2)]
    assert "that of MariaDB 1." in told["words"]
    assert told["words"].endswith("Not ranked: Firebird 1 (no value is above zero).")
    assert told["apart"] == {"no value is above zero": ["Firebird 1"]}


def test_a_setting_whose_effect_depends_on_another_says_so():
    """Seen: "+14.3 % (+12.8 to +15.8)", where it did nothing without the other setting and 30 % with it."""
    world = World(noise=0.01)
    for compression in ("off", "on"):
        for size in ("1GB", "64GB"):
            settings = {"wal_compression": compression, "max_wal_size": size, "work_mem": "4MB"}
            world.add(
                1300 if (compression, size) == ("on", "64GB") else 1000, 5, factors={"size_gb": 10, "terminals": 8},
                config=[{"name": name, "value": value} for name, value in settings.items()],
            )  # fmt: skip

    selects = world.store()
    told = ask(selects, "ask=effects")

    shown = page(selects, "ask=effects")
    drawn = json.loads(re.search(r'<script id="effects-data"[^>]*>(.*?)<', shown)[1])["groups"]
    assert [bar["label"] for bar in drawn][:3] == [
        "wal_compression off → on", "wal_compression off → on, with max_wal_size=1GB",
        "wal_compression off → on, with max_wal_size=64GB",
    ]  # fmt: skip
    least, most = next(claim["ends"] for claim in told["claims"] if claim["label"] == "wal_compression")
    assert (least["beside"], most["beside"]) == ("max_wal_size=1GB", "max_wal_size=64GB")
    assert least["ratio"]["low"] < 1.0 < least["ratio"]["high"]
    assert most["ratio"]["low"] < 1.3 < most["ratio"]["high"]
    assert re.search(
        r"\) with max_wal_size=1GB to \+[0-9.]+\u202f% \([^)]*\) with max_wal_size=64GB, on average", told["words"]
    )


def test_a_winner_that_is_worse_by_the_latency_beside_it_says_so():
    """Was: "1.09 × that of PostgreSQL 16.4", and not a word of a p99 latency of 1.71 ×."""
    world = World(noise=0.01)
    for version, tps, p99 in (("16.4", 5_000, 20), ("17.2", 5_400, 34)):
        world.add(tps, 6, dbms={"name": "PostgreSQL", "version": version}, factors={"terminals": 16})
        for repeat in world.documents[-1]["repeats"]:
            repeat["metrics"]["latency_p99_ms"] = p99 * repeat["metrics"]["tps"] / tps
    selects = world.store()

    told, by_latency = ask(selects), ask(selects, "ask=best&metric=latency_p99_ms")
    assert told["sure"] and told["claims"][0]["label"] == "PostgreSQL 17.2"
    assert re.search(r" By p99 latency PostgreSQL 17\.2 is worse: 1\.[67]\d\u202f× \(", told["words"])
    assert " By throughput PostgreSQL 16.4 is worse: 0.9" in by_latency["words"]


def test_the_one_setting_that_an_effect_depends_on_is_named():
    """Was: "with wal_compression=on, random_page_cost=4.0, jit=off", of which wal_compression and jit did nothing."""
    world = World(noise=0.01)
    for buffers, cost, compression, jit in product((0, 1), repeat=4):
        settings = {
            "shared_buffers": ("4GB", "16GB")[buffers], "random_page_cost": ("4.0", "1.1")[cost],
            "wal_compression": ("off", "on")[compression], "jit": ("off", "on")[jit],
        }  # fmt: skip
        if (buffers, cost, compression, jit) != (1, 0, 1, 1):  # a cell that failed
            tps = 5_000 * (1.2 if buffers else 1) * (1.1 if cost else 1) * (1.08 if buffers and cost else 1)
            config = [{"name": name, "value": value} for name, value in settings.items()]
            world.add(tps, 4, factors={"terminals": 16}, config=config)

    claims = {claim["label"]: claim for claim in ask(world.store(), "ask=effects")["claims"]}

    least, most = claims["shared_buffers"]["ends"]
    assert (least["beside"], most["beside"]) == ("random_page_cost=4.0", "random_page_cost=1.1")
    assert least["ratio"]["low"] < 1.2 < least["ratio"]["high"] and most["ratio"]["low"] < 1.296 < most["ratio"]["high"]
    assert [end["beside"] for end in claims["random_page_cost"]["ends"]] == [
        "shared_buffers=16GB",
        "shared_buffers=4GB",
    ]
    assert not claims["jit"]["ends"] and not claims["wal_compression"]["ends"]


def test_what_lies_close_together_is_not_said_to_scatter():
    """Was: "No winner yet, repeats scatter too much", of four whose means were 1 % apart at a CV of 1 %."""
    world = World(noise=0.02)
    for jit in ("off", "on"):
        world.add(7_000, 4, factors={"terminals": 16}, config=[{"name": "jit", "value": jit}])

    words = ask(world.store(), "ask=rank&fact=config")["words"]

    assert (
        words.startswith("No winner by throughput: less than 3\u202f% lie between the means of ")
        and "undecided" in words
    )


def test_settings_of_two_systems_are_each_told_from_their_own_first_value():
    """Seen: of two systems in one batch the settings of one were told; of jit off and on nothing, as the other system
    has no jit. A buffer stood "16G → 128M", a default "16GB → not given".
    """
    world = World(noise=0.01)
    of_systems = {
        "PostgreSQL": ("jit", {"off": 1000, "on": 1200}),
        "MariaDB": ("innodb_buffer_pool_size", {"128M": 700, "16G": 900}),
        "MySQL": ("innodb_log_buffer_size", {None: 500, "64M": 600}),
        "Firebird": ("checkpoint_timeout", {"5min": 300, "1h": 400}),
    }
    for system, (setting, values) in of_systems.items():
        for value, tps in values.items():
            config = [{"name": "fsync", "value": "on"}, *([{"name": setting, "value": value}] if value else [])]
            world.add(tps, 5, dbms={"name": system, "version": "1"}, factors={"terminals": 8}, config=config)

    claims = ask(world.store(), "ask=effects")["claims"]

    assert {(claim["label"], claim["start"], claim["end"]) for claim in claims} == {
        ("jit", "off", "on"), ("innodb_buffer_pool_size", "128M", "16G"), ("checkpoint_timeout", "5min", "1h"),
        ("innodb_log_buffer_size", "not given", "64M"),
    }  # fmt: skip


def test_a_value_is_told_from_the_first_one_that_was_measured_beside_the_same():
    """Seen: "no two groups differ in one setting", as the smallest buffer was measured without compression only."""
    world = World(noise=0.01)
    for buffer, compression, tps in (("1GB", "off", 1000), ("4GB", "on", 1200), ("16GB", "on", 1500)):
        settings = {"shared_buffers": buffer, "wal_compression": compression}
        config = [{"name": name, "value": value} for name, value in settings.items()]
        world.add(tps, 5, factors={"terminals": 8}, config=config)

    (effect,) = ask(world.store(), "ask=effects")["claims"]

    assert (effect["label"], effect["start"], effect["end"]) == ("shared_buffers", "4GB", "16GB")


def test_settings_whose_effects_do_not_depend_on_each_other_are_told_by_their_average():
    assert not any(claim["ends"] for claim in ask(eight_configurations(5), "ask=effects")["claims"])


def test_a_curve_that_is_flat_has_no_sure_most():
    """Seen: "its most at 64 terminals, the last level that was measured", sure, of 10,000 TPS from 8 on."""
    world = World(noise=0.01)
    for terminals in TERMINALS:
        world.add(min(10_000, 1_300 * terminals), factors={"terminals": terminals})

    selects = world.store()
    told = ask(selects)

    (claim,) = told["claims"]
    assert sorted({claim["most_at"], *claim["as_high"]}) == [8, 16, 32, 64]
    assert (claim["still_grows"], told["sure"]) == (False, True)
    # Was: "has its most at 32 terminals, not surely more than at 8, 16 and 64", of what levels off.
    assert claim["flat_from"] == 8 and 9_800 < claim["flat"][0] < claim["flat"][1] < 10_200
    flat = re.search(r"levels off: from 8 terminals on 9,\d{3} to 10,\d{3} TPS up to 64 terminals, ", told["words"])
    # Was: "no knee up to 64 terminals".
    falls_off = ask(selects, "ask=falls_off&x=factor:terminals")
    assert flat and flat[0][1:] in falls_off["words"] and falls_off["claims"][0]["shape"] == "none"


def test_what_grows_with_its_terminals_is_called_linear():
    """Was: "has its most at 64 terminals, the last level that was measured", as of what all but stands still."""
    world = World(noise=0.002)
    for terminals in TERMINALS:
        for version, tps in (("16", 250 * terminals), ("17", 250 * terminals**0.9)):
            world.add(tps, dbms={"name": "PostgreSQL", "version": version}, factors={"terminals": terminals})
    told = ask(world.store(), "ask=scales&x=factor:terminals")

    assert {claim["label"]: claim["linear"] for claim in told["claims"]} == {
        "PostgreSQL 16": True,
        "PostgreSQL 17": False,
    }
    assert re.search(r"PostgreSQL 16 \([\d,]+ TPS, linear: (99|100)\.?\d*\u202f% of ideal\)", told["words"])
    assert told["words"].count("linear") == 1

    world = World(noise=0.01)
    for terminals in (8, 16, 32, 64):
        world.add(10_000, factors={"terminals": terminals})
    assert not ask(world.store(), "ask=scales")["sure"]


def test_what_is_best_is_told_of_where_each_was_measured():
    """Seen: "PostgreSQL (mb) has 1.15 × that of MariaDB", which is faster on the one machine that measured both; and
    "mb has 1.15 × that of ma" of two systems, where one system was measured on both.
    """
    world = World(noise=0.01)
    for system, machine, tps in (("PostgreSQL", "ma", 1000), ("PostgreSQL", "mb", 1400), ("MariaDB", "ma", 1200)):
        hardware = {"name": machine, "cpu_model": "Example", "ram_bytes": 64 * GIB}
        world.add(tps, 5, dbms={"name": system, "version": "1"}, hardware=hardware)
    selects = world.store()

    best, machine = ask(selects), ask(selects, "ask=rank&fact=hardware")

    assert [(claim["label"], claim["rank"]) for claim in best["claims"]] == [("MariaDB 1", 1), ("PostgreSQL 1", 2)]
    assert best["claims"][1]["ratio"]["low"] < 1.2 < best["claims"][1]["ratio"]["high"]
    assert best["words"].endswith("that of PostgreSQL 1. This is of ma alone, where each was measured.")
    assert machine["claims"][1]["ratio"]["low"] < 1.4 < machine["claims"][1]["ratio"]["high"]
    assert machine["words"].endswith("that of ma. This is of PostgreSQL 1 alone, where each was measured.")


def test_a_context_that_varies_beside_the_system_is_asked_for():
    world = World(noise=0.01)
    for system, tps in (("PostgreSQL", 1000), ("MariaDB", 900)):
        for pages, factor in (("off", 1.0), ("on", 1.1)):
            dbms = {"name": system, "version": "1"}
            world.add(tps * factor, dbms=dbms, context={"hugepages": pages}, factors={"terminals": 8})
    selects = world.store()

    (query,) = (each["query"] for each in ask(selects)["questions"] if "hugepages" in each["query"])

    told = ask(selects, query)
    ratio = told["claims"][1]["ratio"]
    assert ratio["low"] < 1.1 < ratio["high"]
    # Seen: "on has 1.10 × the throughput of off".
    assert told["words"].startswith("Hugepages on has ")
    assert " of Hugepages off " in told["words"]


def test_where_nothing_is_ranked_nothing_was_measured_alike():
    world = World()
    for system, disk in (("PostgreSQL", "SATA"), ("PostgreSQL", "NVMe"), ("MariaDB", "NVMe")):
        dbms = {"name": system, "version": "1"}
        world.add(1000, dbms=dbms, factors={"disk": disk}, durability="memory")
    world.add(1000, dbms={"name": "MariaDB", "version": "1"})

    assert ask(world.store())["words"]


def test_systems_at_one_size_in_common_are_ranked_there():
    """Seen: "Groups that differ in this have no order: Scale factor: 10 against 100", of two measured at 10."""
    world = World(noise=0.01)
    for system, size, tps in (("PostgreSQL", 10, 1000), ("PostgreSQL", 100, 500), ("SQLite", 10, 1500)):
        world.add(tps, 5, dbms={"name": system, "version": "1"}, factors={"scale_factor": size, "terminals": 8})

    told = ask(world.store(), "ask=best&fact=dbms")

    assert told["sure"]
    assert told["claims"][1]["ratio"]["low"] < 1.5 < told["claims"][1]["ratio"]["high"]
    assert told["words"].endswith("This is of scale factor 10 alone, where each was measured.")


def test_beside_throughput_the_tail_of_latency_is_asked_for():
    """Seen: a winner by TPS whose p99 was five times as long, and nobody asked."""
    world = World(noise=0.01)
    for system, tps, p99 in (("PostgreSQL", 1000, 10), ("MariaDB", 1300, 50)):
        dbms = {"name": system, "version": "1"}
        metrics = {"tps": tps, "latency_p99_ms": p99}
        repeats = [{"metrics": {name: value * (1 + at / 100) for name, value in metrics.items()}} for at in range(3)]
        world.documents.append(document(workload="tpcb", config=[], dbms=dbms, repeats=repeats) | {"id": str(uuid4())})
    selects = world.store()

    (offered,) = (question for question in ask(selects)["questions"] if question["kind"] == "best")

    assert offered["query"] == "ask=best&metric=latency_p99_ms&fact=dbms"
    assert offered["words"] == "Which system has the lowest p99 latency, and is it sure?"
    told = ask(selects, offered["query"])
    assert told["claims"][0]["label"] == "PostgreSQL 1"
    (back,) = (question["query"] for question in told["questions"] if question["kind"] == "best")
    assert back == "ask=best&metric=tps&fact=dbms"


def test_a_configuration_of_each_level_is_one_curve():
    """Seen: "max_connections=74 has 1.42 × that of max_connections=42", which the terminals did."""
    world = World()
    for terminals in TERMINALS:
        tps = 1000 * terminals / (1 + 0.02 * (terminals - 1))
        config = [{"name": "max_connections", "value": str(terminals + 10)}]
        world.add(tps, factors={"terminals": terminals}, config=config)
    selects = world.store()

    told = ask(selects)

    assert (told["question"]["kind"], len(told["claims"])) == ("scales", 1)
    assert told["claims"][0]["most_at"] == 64
    assert "Not alike: Terminals." in ask(selects, "ask=rank&fact=config")["words"]


def test_the_best_of_two_disks_says_on_how_many_terminals_each_was():
    world = World()
    for terminals in TERMINALS:
        for disk, wait in (("SATA", 0.02), ("NVMe", 0.001)):
            tps = 1000 * terminals / (1 + wait * (terminals - 1) * (1 + terminals / 20))
            world.add(tps, factors={"terminals": terminals, "disk": disk})

    assert ask(world.store())["words"].endswith("that of SATA (32 terminals). Not alike: Terminals (64 against 32).")


def test_nothing_is_set_against_a_system_that_came_to_nothing():
    """Seen: the first by name had 0 TPS, was the baseline of the page, and no other had a ratio."""
    world = World()
    for name, tps in (("Firebird", 0), ("MariaDB", 700), ("PostgreSQL", 1000)):
        world.add(tps, dbms={"name": name, "version": "1"})

    groups = Client().get(f"/api/v1/compare/?{world.store()}").json()["groups"]

    assert {group["label"]: group["is_baseline"] for group in groups} == {
        "PostgreSQL 1": False, "MariaDB 1": True, "Firebird 1": False,
    }  # fmt: skip


@pytest.mark.parametrize("question", ["", "ask=scales&x=factor:terminals"])
def test_levels_beyond_the_last_value_are_told_with_why_they_have_none(question):
    world = World()
    for terminals in TERMINALS:
        world.add(1000 * terminals / (1 + 0.02 * (terminals - 1)), factors={"terminals": terminals})
        if terminals > 16:
            world.documents[-1] |= {"outcome": "failed", "message": "out of connections", "repeats": [{"metrics": {}}]}

    told = ask(world.store(), question)

    assert told["question"]["kind"] == "scales"
    assert told["words"].startswith("It has its most at 16 terminals")
    assert told["words"].endswith("No value at 32 terminals and 64 terminals: failed: out of connections.")


def test_a_number_that_nobody_knows_is_asked_for_what_is_lost_over_it():
    """Seen: "Which value size kb has the highest throughput?", and then that its levels have no order."""
    world = World()
    for size_kb in (1, 4, 16, 64):
        world.add(1000 / math.sqrt(size_kb), factors={"value_size_kb": size_kb, "terminals": 8})
    selects = world.store()

    told = ask(selects)

    assert (told["question"]["kind"], told["question"]["x"]) == ("loss", "factor:value_size_kb")
    assert told["claims"][0]["change"]["low"] < 1 / 8 - 1 < told["claims"][0]["change"]["high"]
    assert told["claims"][0]["change"] == ask(selects, "ask=loss&x=factor:value_size_kb")["claims"][0]["change"]
    assert "How does it change from value size kb 1 to 64?" in Client().get("/").content.decode()


def test_of_one_system_over_sizes_and_terminals_nobody_asks_which_number_of_terminals_is_best():
    world = World()
    for terminals in (1, 4, 16):
        for size in (10, 20, 40):
            world.add(1000 * terminals / size, factors={"size_gb": size, "terminals": terminals})
    selects = world.store()

    told = ask(selects)

    assert (told["question"]["kind"], told["question"]["x"]) == ("loss", "factor:size_gb")
    assert {claim["label"] for claim in told["claims"]} == {"1 terminal", "4 terminals", "16 terminals"}
    assert all(claim["change"]["low"] < -0.75 < claim["change"]["high"] for claim in told["claims"])
    assert told["claims"] == ask(selects, "ask=loss&x=factor:size_gb")["claims"]
    assert ask(selects, "x=factor:terminals")["question"]["kind"] == "scales"
    standings = ask(selects, "ask=rank&fact=factor:terminals")["claims"]
    assert standings[0]["label"] == "16 terminals"


def test_versions_that_nightlies_went_through_are_not_ranked_by_their_best_day():
    """Seen: "No winner yet, repeats scatter too much", of a step that the same page was sure of."""
    for night in range(20):
        world = World(seed=night, noise=0.01)
        version, tps = ("18beta1", 1000) if night < 12 else ("18.0", 940)
        day = str(date(2026, 5, 1) + timedelta(days=night))
        world.add(tps, measured_on=day, dbms={"name": "PostgreSQL", "version": version}, label="nightly")
        world.store()

    told = ask("workload=tpcb")

    assert (told["question"]["kind"], told["claims"][0]["day"]) == ("since", "2026-05-13")
    assert {question["kind"] for question in told["questions"]} == {"newer"}
    for question in ("ask=best&fact=dbms", "ask=a_b&fact=dbms&a=PostgreSQL 18beta1&b=PostgreSQL 18.0"):
        refused = ask("workload=tpcb", question)
        assert not refused["claims"]
        assert refused["words"].startswith("Each was measured on days of its own")
    assert "is best, and is it sure" not in Client().get("/").content.decode()


def test_what_names_the_curves_is_ranked_before_their_axis():
    """Seen: "Which number of terminals has the highest throughput?", and that there is one only."""
    world = World()
    for tool, factor in (("pgbench", 1.0), ("sysbench", 1.3)):
        for terminals in (1, 4, 16):
            tps = 1000 * factor * terminals
            world.add(tps, driver={"name": tool, "version": "1"}, factors={"terminals": terminals, "size_gb": 10})

    told = ask(world.store())

    assert told["question"]["fact"] == "tool"
    assert [claim["label"] for claim in told["claims"][:2]] == ["sysbench", "pgbench"]
    assert told["claims"][1]["ratio"]["low"] < 1.3 < told["claims"][1]["ratio"]["high"]


def test_each_night_says_what_a_setting_did():
    """Seen: the interval of the first night alone, beside the ranking over all of them."""
    for night in range(10):
        world = World(seed=night, noise=0.01)
        for size, factor in (("1GB", 1.0), ("8GB", 1.2)):
            day = str(date(2026, 5, 1) + timedelta(days=night))
            world.add(1000 * factor, measured_on=day, config=[{"name": "shared_buffers", "value": size}])
        world.store()

    (effect,) = ask("workload=tpcb", "ask=effects")["claims"]

    assert (effect["pairs"], len(effect["runs"])) == (10, 60)
    assert 1.18 < effect["ratio"]["low"] < 1.2 < effect["ratio"]["high"] < 1.22
    ranking = ask("workload=tpcb", "ask=best")
    assert (ranking["question"]["fact"], ranking["over"]) == ("config", "10 batches")


def test_what_came_to_nothing_at_the_last_size_has_lost_all_of_it():
    """Seen: "MariaDB not known from 1 to 100 GB"."""
    world = World()
    for size in (1, 10, 100):
        for name, tps in (("PostgreSQL", 1000 / size), ("MariaDB", 900 / size if size < 100 else 0)):
            world.add(tps, dbms={"name": name, "version": "1"}, factors={"size_gb": size})

    told = ask(world.store(), "ask=loss&x=factor:size_gb")

    assert told["words"].startswith("MariaDB 1 −100.0\u202f%, PostgreSQL 1 −99.0\u202f% (")


def test_what_one_system_lacks_at_the_size_that_is_asked_for_says_why():
    """Seen: "MariaDB: not measured at 160"."""
    world = World()
    for size in (10, 40, 160):
        for name in ("PostgreSQL", "MariaDB"):
            world.add(1000 / size, dbms={"name": name, "version": "1"}, factors={"size_gb": size})
    world.documents[-1] |= {"outcome": "failed", "message": "disk full", "repeats": [{"metrics": {}}]}

    told = ask(world.store(), "ask=loss&x=factor:size_gb&from=10&to=160")

    assert [claim["label"] for claim in told["claims"]] == ["PostgreSQL 1"]
    assert told["missing"] == ["MariaDB 1: no value at 160 GB: failed: disk full."]


def test_home_asks_from_where_to_where_only_what_was_measured_at_both():
    world = World()
    for name, sizes in (("PostgreSQL", (1, 10, 100)), ("MariaDB", (2, 20, 200))):
        for size in sizes:
            world.add(1000 / size, dbms={"name": name, "version": "1"}, factors={"size_gb": size})
    world.store()

    assert "What is lost over size?" in Client().get("/").content.decode()


def test_systems_that_were_measured_on_two_days_are_compared_on_each():
    """Seen: the better day of one against the better day of the other."""
    for day, factor in (("2026-05-01", 1.1), ("2026-05-03", 1.2)):
        world = World(seed=len(day), noise=0.005)
        busy = 1.0 if factor > 1.1 else 0.8
        for name, tps in (("PostgreSQL", 1000), ("MariaDB", 1000 * factor)):
            world.add(tps * busy, dbms={"name": name, "version": "1"}, measured_on=day)
        world.store()

    told = ask("workload=tpcb")

    assert (told["question"]["kind"], told["over"]) == ("best", "2 batches")
    assert told["claims"][1]["ratio"]["low"] < math.sqrt(1.1 * 1.2) < told["claims"][1]["ratio"]["high"]
    assert {claim["label"] for claim in told["claims"][2:]} == {"2026-05-01", "2026-05-03"}


def day_of_may(day: int) -> str:
    return str(date(2026, 5, 1) + timedelta(days=day))


@pytest.mark.parametrize("view", ["bars", "table", "heatmap"])
def test_every_view_of_two_systems_on_two_disks_names_the_winner(view):
    """Seen: "Not judged" in the table, where the bars named it."""
    world = World(noise=0.005)
    for name, speed in (("PostgreSQL", 1.0), ("MariaDB", 0.7)):
        for disk, medium, factor in (("sda", "hdd", 1.0), ("nvme0", "nvme", 5.0)):
            device = {"role": "data", "device": {"name": disk, "medium": medium}}
            world.add(1000 * speed * factor, dbms={"name": name, "version": "1"}, storage=[device])

    told = ask(world.store(), f"view={view}")

    assert (told["sure"], told["claims"][0]["label"]) == (True, "PostgreSQL 1")


@pytest.mark.parametrize("one_batch", [True, False])
def test_the_best_day_of_one_disk_is_not_set_against_the_best_day_of_another(one_batch):
    for day, busy in ((0, 1.0), (2, 0.7)):
        world = World(seed=day, noise=0.005)
        for disk, factor in (("slow", 1.0), ("fast", 1.1)):
            world.add(1000 * factor * busy, measured_on=day_of_may(day), factors={"disk": disk, "terminals": 8})
            if not one_batch:
                world.store()
        if one_batch:
            world.store()

    told = ask("workload=tpcb")

    assert (told["question"]["fact"], told["over"]) == ("factor:disk", "2 batches")
    assert told["claims"][1]["ratio"]["low"] < 1.1 < told["claims"][1]["ratio"]["high"]


def test_a_few_days_of_two_systems_say_which_is_best():
    """Seen: the last day of the first system against its first, and not a word of the other."""
    for day in range(4):
        world = World(seed=day, noise=0.005)
        for name, tps in (("PostgreSQL", 1000), ("MariaDB", 900)):
            world.add(tps, measured_on=day_of_may(day), dbms={"name": name, "version": "1"})
        world.store()

    told = ask("workload=tpcb")

    assert (told["question"]["kind"], told["question"]["fact"], told["over"]) == ("best", "dbms", "4 batches")
    assert [claim["label"] for claim in told["claims"][:2]] == ["PostgreSQL 1", "MariaDB 1"]


def test_a_sweep_that_is_measured_every_night_is_asked_since_when():
    """Seen: "Which version has the highest throughput?", answered by the best night of each."""
    for night in range(16):
        world = World(seed=night, noise=0.01)
        version, factor = ("17.6", 1.0) if night < 9 else ("18.0", 0.9)
        for terminals in (1, 4, 16):
            tps = 1000 * factor * terminals / (1 + 0.05 * terminals)
            world.add(
                tps, measured_on=day_of_may(night), dbms={"name": "PostgreSQL", "version": version},
                factors={"terminals": terminals, "size_gb": 10},
            )  # fmt: skip
        world.store()

    told = ask("workload=tpcb")

    assert (told["question"]["kind"], {claim["day"] for claim in told["claims"]}) == ("since", {day_of_may(9)})
    assert not {"best", "rank"} & {question["kind"] for question in told["questions"]}
    refused = ask("workload=tpcb", "ask=best&fact=dbms")
    assert (refused["claims"], refused["words"][:38]) == ([], "Each was measured on days of its own: ")
    assert ask("workload=tpcb", "ask=scales")["question"]["x"] == "factor:terminals"


def test_levels_that_came_to_nothing_are_told_beside_the_most():
    """Seen: "its most at 16 terminals, the last level that was measured", where 32 and 64 had 0 TPS."""
    world = World()
    for terminals in TERMINALS:
        tps = 1000 * terminals / (1 + 0.02 * (terminals - 1)) if terminals <= 16 else 0
        world.add(tps, factors={"terminals": terminals})

    told = ask(world.store(), "ask=scales")

    assert told["words"].endswith("The value is zero at 32 terminals and 64 terminals.")
    (claim,) = told["claims"]
    assert (claim["most_at"], claim["last"], claim["still_grows"]) == (16, 64, False)
    assert "the last level" not in told["words"]


@pytest.mark.parametrize(
    ("axis", "levels", "question"),
    [("terminals", TERMINALS, "ask=scales"), ("size_gb", SIZES_GB, "ask=falls_off"), ("size_gb", SIZES_GB, "ask=loss")],
)
def test_curves_behind_the_first_six_are_counted(axis, levels, question):
    """Seen: sentences of six of eight curves, and no word that there are two more."""
    world = World(noise=0.005)
    for place in range(8):
        for level in levels:
            grown = level / (1 + 0.001 * (place + 1) * level * level)
            fallen = 1 if level <= 20 * (1 + place / 4) else (level / 20 / (1 + place / 4)) ** -0.5
            tps = 1000 * (grown if axis == "terminals" else fallen)
            world.add(tps, dbms={"name": f"Engine {place}", "version": "1"}, factors={axis: level})

    told = ask(world.store(), question)

    assert len(told["claims"]) == 8
    assert "Engine 5" in told["words"]
    assert "Engine 6" not in told["words"]
    assert "2 more in the table" in told["words"]


def commits(count: int, step: int, per_day: int = 1, *, has_times: bool = True, branches: tuple[str, ...] = ()) -> str:
    """Batches of one commit each; 6 % slower from the step on, where there are branches that of the first alone."""
    world = World(noise=0.005)
    for number in range(count):
        day = date(2026, 5, 1) + timedelta(days=number // per_day)
        branch = branches[number % len(branches)] if branches else ""
        when = {"measured_on": str(day)}
        if has_times:
            when = {"started_at": f"{day}T{6 + 4 * (number % per_day):02d}:00:00Z"}
        tested = {"commit": f"{number:02d}" * 20} | ({"branch": branch} if branch else {})
        world.add(940 if number >= step and branch in (*branches[:1], "") else 1000, tested=tested, **when)
        world.store()
    return "workload=tpcb"


@pytest.mark.parametrize("has_times", [True, False])
def test_commits_of_one_day_are_places_of_one_curve(has_times):
    """Seen: "No two series have two levels in common", of two commits a day over twenty days."""
    selects = commits(40, 25, per_day=2, has_times=has_times)

    told = ask(selects)

    (step,) = told["claims"]
    assert (step["day"], step["tested"], step["batches_before"]) == ("2026-05-13", "2525252525", 25)
    assert told["question"]["kind"] == "since"
    (newest,) = ask(selects, "ask=newer")["claims"]
    assert newest["newest"] == "2026-05-20 · 3939393939"
    drawn = Client().get(f"/api/v1/compare/?{selects}").json()["drawing"]["metrics"][0]
    points = drawn["panels"][0]["curves"][0]["points"]
    assert [point["label"] for point in points[:2]] == (
        ["2026-05-01 06:00:00", "2026-05-01 10:00:00"] if has_times else ["2026-05-01 #1", "2026-05-01 #2"]
    )


def test_two_commits_with_one_time_are_places_of_one_curve_in_the_order_of_their_numbers():
    """Seen: "5ab3c90753 · main, cc569f8fcb · main and 19 more: too few batches to tell a change, 1 of 6", since one
    commit of 21 was measured once more for a pipeline and sent with the time of its night."""
    world = World(noise=0.005)
    nights = [(night, 2 * night, 1000 if night < 11 else 940) for night in range(20)]
    for night, number, tps in [*nights, (11, 21, 1000)]:
        tested = {"commit": f"{number:02d}" * 20, "commit_number": str(number)}
        world.add(tps, started_at=f"{day_of_may(night)}T22:00:00Z", tested=tested)
        world.store()

    (step,) = ask("workload=tpcb")["claims"]

    assert (step["day"], step["tested"], step["batches_before"]) == ("2026-05-12", "2222222222", 12)


def test_series_that_a_sentence_has_no_room_for_stand_in_a_table():
    """Seen: "18 more in the table", of which the page had none."""
    world = World(noise=0.005)
    for day in ("2026-05-01", "2026-06-01"):
        for name in "ABCDEFGH":
            tps = 1100 if name == "H" and day > "2026-06" else 1000
            world.add(tps, dbms={"name": name, "version": "1"}, measured_on=day)
        world.store()

    html = page("workload=tpcb", "ask=since")

    assert "more in the table" in html
    rows = html.partition("Series by series")[2].partition("<tbody>")[2].partition("</tbody>")[0]
    assert rows.count("<tr>") == 8 and "better" in rows.rpartition("<tr>")[2]


@pytest.mark.parametrize("has_times", [True, False])
def test_an_old_commit_measured_on_the_day_of_a_newer_version_parts_no_curve(has_times):
    """Seen: "PostgreSQL 18.0: the batch of 2026-11-29 has 0.994 × …: undecided" of the old commit, beside 18.1."""
    world = World(noise=0.005)
    nights = [(night, night, "18.1" if night > 9 else "18.0", 940 if night > 13 else 1000) for night in range(22)]
    for night, number, version, tps in [*nights, (21, 5, "18.0", 1000)]:
        hour = 20 if number == 5 else 22
        day = day_of_may(night)
        when = {"started_at": f"{day}T{hour}:00:00Z"} if has_times else {"measured_on": day}
        tested = {"commit": f"{number:02d}" * 20, "commit_number": str(number)}
        world.add(tps, dbms={"name": "PostgreSQL", "version": version}, tested=tested, **when)
        world.store()

    while filing.keep_up():
        continue
    (step,), (newest,) = (ask("workload=tpcb", f"ask={kind}")["claims"] for kind in ("since", "newer"))

    assert (step["day"], step["batches_before"] + step["batches"]) == ("2026-05-15", 23)
    assert newest["newest"] == "2026-05-22 · PostgreSQL 18.1 · 2121212121"


@pytest.mark.parametrize("has_times", [True, False])
def test_batches_of_one_day_are_asked_since_when_and_whether_the_newest_differs(has_times):
    """Seen: "nothing here was measured on two days", of thirteen batches whose benchmark's page answers both."""
    world = World(noise=0.005)
    for number in range(1, 17):
        when = {"started_at": f"2026-05-01T10:{number:02d}:00Z"} if has_times else {"measured_on": "2026-05-01"}
        world.add(900 if number > 8 else 1000, label=f"run {number}", **when)
        world.store()
    (step,) = ask("workload=tpcb", "ask=since")["claims"]
    assert step["day"] == ("2026-05-01 10:09:00" if has_times else "2026-05-01 #9")
    assert (step["batches_before"], step["batches"]) == (8, 8)
    (newest,) = ask("workload=tpcb", "ask=newer")["claims"]
    assert newest["newest"] == ("2026-05-01 10:16:00" if has_times else "2026-05-01 #16")
    assert newest["batches"] == 7
    page = Client().get("/compare/?workload=tpcb").content.decode()
    assert "ask=since" in page and "ask=newer" in page


def test_a_copy_of_one_night_parts_no_curve():
    """Seen: "0000000000, 0101010101 and 18 more: one batch only", as the last night had been sent twice."""
    selects, world = commits(20, 12, has_times=False), World(seed=2)
    last = Run.objects.order_by("-measured_at").first()
    world.add(1000, measured_on=str(last.measured_on), tested=last.tested)
    copied = list(Run.objects.filter(batch=last.batch).order_by("repeat"))
    world.documents[0]["repeats"] = [{"metrics": {"tps": run.measurements.get().value}} for run in copied]
    world.store()
    assert Run.objects.exclude(copy_of=None).count() == 3

    (step,) = ask(selects)["claims"]

    assert (step["day"], step["batches"]) == ("2026-05-13", 8)


def test_a_branch_that_was_measured_once_is_no_night_of_the_main_branch():
    """Seen: "Suspected: −10.1 % since 2026-11-21 (feature-x)" of 20 nights of main and one batch of the branch."""
    world = World(noise=0.005)
    for night in range(21):
        branch = "feature-x" if night == 20 else "main"
        world.add(800 if night == 20 else 1000, measured_on=day_of_may(night), tested={"branch": branch})
        world.store()

    told = ask("workload=tpcb", "ask=since")

    assert [claim["day"] for claim in told["claims"] if claim["kind"] == "step"] == [""]
    assert "feature-x: too few batches" in told["words"]


def test_branches_that_are_measured_in_turn_are_two_curves():
    """Seen: "−3.2 % (−5.6 to −0.8)", the mean of a branch that lost 6 % and of one that lost nothing."""
    told = ask(commits(40, 20, branches=("main", "release-17")))

    assert [(claim["label"], claim["day"]) for claim in told["claims"]] == [("main", "2026-05-21"), ("release-17", "")]


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"config": [{"name": "jit", "value": "off"}]}, {"config": [{"name": "jit", "value": "on"}]}, "jit off → on"),
        ({"context": {"kernel": "6.1"}}, {"context": {"kernel": "6.8"}}, "Kernel 6.1 → 6.8"),
    ],
)  # fmt: skip
def test_a_change_below_a_benchmark_is_a_step_with_its_reason(before, after, changed):
    """Seen: "No lasting change in 10 batches over 10 days", of twenty that had lost a fifth with another setting."""
    for night in range(20):
        world = World(seed=night, noise=0.005)
        world.add(1000 if night < 10 else 800, measured_on=day_of_may(night), **(before if night < 10 else after))
        world.store()

    told = ask("workload=tpcb")

    (step,) = told["claims"]
    assert (step["day"], step["batches_before"]) == (day_of_may(10), 10)
    assert any(changed in words for words in step["besides"])


def test_a_machine_that_was_replaced_is_named_where_neither_part_has_changed():
    """Seen: "No lasting change in 10 batches over 10 days" of twenty nights on two machines."""
    world = World(noise=0.005)
    for night in range(20):
        machine = {"name": "alpha" if night < 10 else "beta", "cpu_model": "Example", "ram_bytes": 64 * GIB}
        world.add(7000 if night < 10 else 12000, measured_on=day_of_may(night), hardware=machine)
        world.store()

    told = ask("workload=tpcb")

    assert told["words"].startswith("alpha and beta: no lasting change of throughput by 3")
    assert not any(question.get("fact") == "hardware" for question in told["questions"])


def test_batches_that_differ_from_others_are_told_from_which_to_which():
    """Seen: "1.25 × to 1.27 × at 10 batches and 1.11 × to 1.14 × at 10 batches"."""
    for night in range(20):
        world = World(seed=night, noise=0.002)
        for system, tps in (("PostgreSQL", 1000), ("MariaDB", 800 if night < 10 else 900)):
            dbms = {"name": system, "version": "1"}
            world.add(tps, 5, measured_on=day_of_may(night), dbms=dbms, label=f"night {night + 10}")
        world.store()

    words = ask("workload=tpcb", "ask=best&fact=dbms")["words"]

    assert "10 batches, night 10 to night 19" in words
    assert "10 batches, night 20 to night 29" in words


def test_a_step_that_is_taken_back_says_so():
    """Seen: "+6.4 % … better. 1 more step before.", of a commit that had been reverted."""
    for night in range(30):
        world = World(seed=night, noise=0.005)
        world.add(940 if 10 <= night < 20 else 1000, measured_on=day_of_may(night))
        world.store()

    told = ask("workload=tpcb")

    assert [(claim["day"], claim["back_to"]) for claim in told["claims"]] == [
        (day_of_may(10), ""), (day_of_may(20), day_of_may(10)),
    ]  # fmt: skip
    assert f"That is nearly the level of before {day_of_may(10)}." in told["words"]


def test_the_newest_batch_is_set_against_batches_of_one_level():
    """Seen: "a change of 3 % would not show: the batches differ too much", four nights after a sure step of 6 %."""
    selects = commits(20, 15, has_times=False)
    (claim,) = ask(selects, "ask=newer")["claims"]
    assert (claim["batches"], claim["ratio"]["value"]) == (4, pytest.approx(1, abs=0.02))
    told = ask(selects, "ask=newer&than=version:15.8")
    assert told["words"].endswith("The batches that it is set against changed on 2026-05-16: ask since when.")


def test_a_slow_drift_is_told_as_the_benchmark_tells_it():
    """Was: steps, the last of them with a commit to blame."""
    first = date(2026, 5, 1)
    for night in range(60):
        world = World(seed=night, noise=0.005)
        world.add(1000 * 0.998**night, 3, measured_on=str(first + timedelta(days=night)))
        world.store()

    told = ask("workload=tpcb")

    (claim,) = told["claims"]
    assert (told["question"]["kind"], claim["is_drift"], claim["batches"], claim["tested"]) == ("since", True, 60, "")
    assert claim["change"]["value"] == pytest.approx(0.998**59 - 1, abs=0.02)
    assert "a slow drift in 60 batches: worse" in told["words"]
    # Seen: steps as marks of the chart below it.
    drawn = json.loads(re.search(r'<script id="[^"]*-data"[^>]*>(.*?)<', page("workload=tpcb"))[1])
    (mark,) = drawn["marks"]
    assert re.fullmatch(r"−11\.\d\u202f% drift", mark["label"])


def test_a_change_on_a_chart_of_several_curves_names_its_own():
    """Seen: "−7.7 %" at the top of the chart, beside the curve that had not changed."""
    for night in range(12):
        world = World(seed=night, noise=0.005)
        for name, level in (("alpha", 1000), ("beta", 800 if night < 7 else 730)):
            world.add(level, measured_on=day_of_may(night), hardware={"name": name, "cpu_model": "Example"})
        world.store()
    drawn = json.loads(re.search(r'<script id="[^"]*-data"[^>]*>(.*?)<', page("workload=tpcb&ask=since"))[1])
    assert [re.sub(r"\d", "n", mark["label"]) for mark in drawn["marks"]] == ["beta −n.n\u202f%"]


def test_a_series_of_releases_is_asked_since_which_one_it_changed():
    """Seen: "1.0, 1.1 and 8 others: too few batches to tell a change, 1 of 6"."""
    for number in range(12):
        world = World(seed=number, noise=0.005)
        dbms = {"name": "PostgreSQL", "version": f"1.{number}"}
        world.add(900 if number >= 7 else 1000, measured_on=day_of_may(2 * number), dbms=dbms)
        world.store()

    told = ask("workload=tpcb")

    (step,) = told["claims"]
    assert (told["question"]["kind"], step["day"]) == ("since", day_of_may(14))
    assert any("1.6 → " in words for words in step["besides"])


RELEASES = ("8.4.0", "9.0.0", "9.6.0", "10.0", "13.0", "17.0", "18.0")


def measured_releases(days: range) -> None:
    for number, (version, day) in enumerate(zip(RELEASES, days, strict=True)):
        world = World(seed=number, noise=0.005)
        mean = (100, 120, 220, 230, 330, 420, 430)[number]
        world.add(mean, measured_on=day_of_may(day), dbms={"name": "PostgreSQL", "version": version})
        world.store()


def test_of_releases_that_differ_much_the_newest_is_set_against_the_one_before_it():
    """Seen: "No lasting change of throughput by 49922.3 % or more in 7 batches"."""
    measured_releases(range(7))

    told = ask("workload=tpcb")

    assert told["words"].startswith("PostgreSQL 18.0 has 1.02")
    assert ask("workload=tpcb&baseline=postgresql-8-4-0")["words"].startswith("PostgreSQL 18.0 has 4.29")
    asked = ask("workload=tpcb", "ask=since")
    assert [claim["kind"] for claim in asked["claims"]] == ["newer"]
    assert asked["missing"] == ["The batches differ too much to tell since when."]


@pytest.mark.parametrize("days", [[1, 1, 1, 1], [1, 5, 9, 13]])
def test_of_several_versions_it_is_asked_what_the_newest_has_changed(days: list[int]):
    """Was: no winner among 17.0 and 16.2, and in no question that 17.1 is slower than 17.0 by a sixth."""
    world = World(noise=0.01)
    for version, latency, day in zip(("15.6", "16.2", "17.0", "17.1"), (5.0, 4.0, 4.0, 4.7), days, strict=True):
        world.add(
            latency, 5, "latency_p99_ms", dbms={"name": "PostgreSQL", "version": version}, measured_on=day_of_may(day)
        )
    selects = world.store()
    (offered,) = [each for each in ask(selects)["questions"] if each["kind"] == "a_b"]
    told = ask(selects, offered["query"])
    assert told["asked"] == offered["words"] == "How does PostgreSQL 17.1 compare with PostgreSQL 17.0?"
    assert told["claims"][0]["ratio"]["verdict"] == "worse"


def test_releases_that_were_measured_from_new_to_old_are_compared():
    """Seen: the newest was the oldest release on the page of a comparison, and the newest on that of its benchmark."""
    measured_releases(range(6, -1, -1))

    told = ask("workload=tpcb")

    assert told["asked"] == "Which version of PostgreSQL has the highest throughput, and is it sure?"


def test_nights_that_came_to_nothing_are_told_where_they_may_be_chance():
    """Seen: "No lasting change", of five nights at 0 TPS."""
    for night in range(14):
        world = World(seed=night, noise=0.01)
        world.add(1000 if night < 11 else 0, measured_on=day_of_may(night))
        world.store()

    told = ask("workload=tpcb", "ask=since")

    assert "The value is zero at 2026-05-12, 2026-05-13 and 2026-05-14." in told["words"]


def test_a_page_asks_from_where_to_where_only_what_was_measured_at_both():
    world = World()
    for name, sizes in (("PostgreSQL", (1, 10, 100)), ("MariaDB", (2, 20, 200))):
        for size in sizes:
            world.add(1000 / size, dbms={"name": name, "version": "1"}, factors={"size_gb": size, "terminals": 8})
    selects = world.store()

    offered = [question for question in ask(selects, "ask=best")["questions"] if question["kind"] != "best"]

    assert [question["query"] for question in offered] == ["ask=loss&x=factor%3Asize_gb"]
    assert len(ask(selects, offered[0]["query"])["claims"]) == 2


def test_what_came_to_nothing_under_another_durability_is_no_loss():
    world = World()
    for size, tps, durability in ((1, 1000, "power_loss"), (10, 900, "power_loss"), (100, 0, "none")):
        world.add(tps, factors={"size_gb": size, "terminals": 8}, durability=durability)

    told = ask(world.store(), "ask=loss&x=factor:size_gb&from=1&to=100")

    assert [claim["change"]["verdict"] for claim in told["claims"]] == ["refused"]
    assert told["words"].startswith("No ratio: Durability")


def test_each_base_of_a_setting_is_set_against_one_group():
    world = World(noise=0.01)
    for test_no in (1, 2, 3):
        for value, factor in (("off", 1.0), ("on", 1.1)):
            settings = [{"name": "wal_compression", "value": value}]
            world.add(1000 * factor, factors={"test_no": test_no, "terminals": 8}, config=settings)

    (effect,) = ask(world.store(), "ask=effects")["claims"]

    assert (effect["pairs"], len(effect["runs"]), len(set(effect["runs"]))) == (3, 18, 18)


def test_of_one_result_nobody_asks_how_far_it_scales():
    world = World()
    world.add(1000, repeats=1)

    told = ask(world.store())

    assert (told["question"]["kind"], told["words"]) == ("best", "There is one only: add another to set it against.")


def test_a_system_that_was_measured_again_another_day_is_ranked_beside_the_other():
    for day, name, tps in ((0, "PostgreSQL", 1000), (1, "PostgreSQL", 1010), (2, "MariaDB", 700)):
        world = World(seed=day, noise=0.01)
        world.add(tps, measured_on=day_of_may(day), dbms={"name": name, "version": "1"})
        world.store()

    told = ask("workload=tpcb")

    assert (told["question"]["fact"], told["sure"], told["claims"][0]["value"]) == ("dbms", True, "PostgreSQL 1")


def three_machines_in_turn(metric: str) -> str:
    world = World(noise=0.005)
    for terminals in TERMINALS:
        best = "Box C" if terminals < 16 else "Box A" if terminals == 16 else "Box B"
        for name in ("Box A", "Box B", "Box C"):
            level = 1000 * math.sqrt(terminals) * (1.2 if name == best else 1.0)
            hardware = {"name": name, "cpu_model": "Example", "ram_bytes": 64 * GIB}
            world.add(
                level if metric == "tps" else 1000 / level, metric=metric, hardware=hardware,
                factors={"scale_factor": 10, "terminals": terminals},
            )  # fmt: skip
    return world.store()


@pytest.mark.parametrize("metric", ["tps", "latency_mean_ms"])
def test_where_the_best_depends_on_the_level_each_level_has_its_own(metric: str):
    selects = three_machines_in_turn(metric)
    told = ask(selects, f"ask=rank&fact=hardware&metric={metric}")
    best_at = {"Box C": (1, 2, 4, 8), "Box A": (16,), "Box B": (32, 64)}
    assert told["best_at"] == {
        name: ["1 terminal" if level == 1 else f"{level} terminals" for level in levels]
        for name, levels in best_at.items()
    }
    each = "Box C is best at 1, 2, 4 and 8 terminals; Box A at 16 terminals; Box B at 32 and 64 terminals."
    by = "throughput" if metric == "tps" else "mean latency"  # Seen: "No winner", without of what.
    assert told["words"] == f"No single winner by {by} over 7 levels of terminals: {each}"
    # Who has the most at some level is behind at others.
    at_its_best = ask(selects, f"metric={metric}")["words"]
    assert at_its_best.endswith(f": {each}" if metric != "tps" else f"Level by level, {each}")
    assert metric != "tps" or at_its_best.startswith("Box B (64 terminals) has the highest throughput at its best")
    # A pair that is told apart at every level, in turns, shares no letter.
    pairs = Client().get(f"/api/v1/compare/?{selects}&ask=rank&fact=hardware&metric={metric}").json()["pairs"]
    assert {row["letters"] for row in pairs["rows"]} == {""}


def test_who_has_none_in_any_repeat_is_told_first():
    world = World(noise=0.05)
    for name, errors in (("PostgreSQL", 0), ("MariaDB", 270), ("SQLite", 0)):
        world.add(errors, metric="errors", dbms={"name": name, "version": "1"}, factors={"scale_factor": 10})
    told = ask(world.store(), "ask=best&metric=errors")
    begin = "No ratio: PostgreSQL 1 and SQLite 1 have 0 errors in every repeat, beside MariaDB 1 ("
    assert told["words"].startswith(begin)


def test_the_repeats_that_are_missing_are_those_of_the_sentence():
    world = World()
    for name, values in (
        ("PostgreSQL", (1240, 1250, 1262)),
        ("MariaDB", (1070, 1120, 1200)),
        ("SQLite", (1110, 1150, 1190)),
    ):
        world.add(1, dbms={"name": name, "version": "1"}, factors={"scale_factor": 10, "terminals": 8})
        world.documents[-1]["repeats"] = [{"metrics": {"tps": value}} for value in values]
    told = ask(world.store(), "ask=best")
    (more,) = [re.search(r"bout (\d+) more", words) for words in told["missing"]]
    assert more
    assert f"needs about {more[1]} more repeat" in told["words"]
    assert {claim["ratio"]["more_repeats"] for claim in told["claims"]} >= {int(more[1])}


def test_nothing_is_ranked_of_which_one_is_ranked_only():
    world = World(seed=3)
    for size in (1, 4, 10):
        for name, tps, durability in (("PostgreSQL", 1200, "power_loss"), ("H2", 9000, "memory")):
            world.add(
                tps, dbms={"name": name, "version": "1"}, factors={"scale_factor": size, "terminals": 8},
                durability=durability,
            )  # fmt: skip
    selects = world.store()
    told = ask(selects, "ask=best&fact=dbms")
    assert told["words"].startswith("Only one is ranked")
    assert "best" not in {each["kind"] for each in told["questions"]}


@pytest.mark.parametrize("levels", [(8,), (1, 8, 64)])
def test_a_group_that_is_not_ranked_is_named_also_where_another_of_its_system_is(levels: tuple[int, ...]):
    """Was: the highest throughput of PostgreSQL, and no word of its 3,000 TPS with commits that promise less."""
    world = World(noise=0.005)
    for terminals in levels:
        for name, tps, durability in (
            ("PostgreSQL", 1000, "power_loss"), ("PostgreSQL", 3000, "bounded_loss"), ("MySQL", 900, "power_loss")
        ):  # fmt: skip
            world.add(
                tps, dbms={"name": name, "version": "1"}, factors={"terminals": terminals}, durability=durability
            )  # fmt: skip
    selects = world.store()
    for question in ("", "ask=best&fact=dbms", "ask=rank&fact=dbms"):
        told = ask(selects, question)
        assert told["sure"] and [claim["label"] for claim in told["claims"][:2]] == ["PostgreSQL 1", "MySQL 1"]
        (unranked,) = told["apart"].values()
        assert len(unranked) == len(levels) and "Not ranked: PostgreSQL 1" in told["words"]
        # Was: its class in its name, once more behind it, and a third time in a notice of the page.
        assert told["words"].count("a crash may lose the last commits") == 1
        assert told["over"] == ("3 levels of terminals" if len(levels) > 1 else "")
        assert "Shown apart, not ranked" not in page(selects, question)
    assert "Shown apart, not ranked" in page(selects, "ask=changed")


def test_a_level_without_a_ratio_is_named_where_others_of_what_is_not_ranked_have_one():
    """Was: "over 3 levels", and no word of the fourth, at which one of two machines had not been measured."""
    world = World(noise=0.005)
    for size in (10, 40):
        for durability in ("power_loss", "none"):
            for machine, tps in (("a", 2000), ("b", 1000)):
                if (machine, size, durability) != ("a", 10, "none"):
                    world.add(
                        tps, hardware={"name": machine}, factors={"size_gb": size, "terminals": 8},
                        durability=durability,
                    )  # fmt: skip
    told = ask(world.store(), "ask=rank&fact=hardware")
    assert told["over"].startswith("3 levels")
    assert "Left out: 10 GB · not durable (a was not measured)." in told["words"]


def test_settings_that_were_measured_on_days_of_their_own_are_asked_since_when():
    world = World(noise=0.005)
    for night in range(24):
        config = [{"name": "shared_buffers", "value": "4GB" if night < 12 else "8GB"}]
        world.add(1000, measured_on=str(date(2026, 3, 1) + timedelta(days=night)), config=config)
        world.store()
    assert {each["kind"] for each in ask("workload=tpcb", "ask=since")["questions"]} == {"newer"}


def test_one_pair_of_levels_has_one_interval_in_the_table_of_a_curve():
    two_systems_over_terminals()
    comparison = compare(Run.objects.present().for_lists())
    every = curves_along(comparison, NO_PLACE, comparison.curves)
    assert len(every) == 2
    for along in every:
        against_first, against_before = along.changes[2]
        assert against_first
        assert against_first == against_before


def test_two_machines_of_one_name_are_told_apart_by_what_they_have():
    world = World(seed=3)
    for cores, ram, tps in ((8, 16, 1000), (16, 64, 1100)):
        world.add(tps, hardware={"name": "Lab", "cpu_cores": cores, "ram_bytes": ram * GIB})
    selects = world.store()
    words = ask(selects)["words"]
    assert re.fullmatch(r"Lab \(16 cores, 64 GiB\) has the highest .* that of Lab \(8 cores, 16 GiB\)\.", words)
    assert "Nothing: one cell" not in page(selects)
    assert "differ in Machine" in ask(selects, "ask=changed")["words"]


def test_a_machine_that_changes_in_the_midst_is_one_curve_that_says_how():
    world = World(noise=0.005)
    for night in range(24):
        machine = {"name": "Lab", "cpu_cores": 8, "kernel": "5.15" if night < 12 else "6.1"}
        tested = {"commit": f"{night:02d}" * 20}
        day = str(date(2026, 3, 1) + timedelta(days=night))
        world.add(1000 * (1.1 if night >= 12 else 1), measured_on=day, hardware=machine, tested=tested)
        world.store()
    told = ask("workload=tpcb")
    assert [claim["day"] for claim in told["claims"]] == ["2026-03-13"]
    assert "Kernel 5.15 → 6.1" in told["words"]
    ends = Run.objects.filter(repeat=1).order_by("measured_at")
    pair = ask(f"run={ends[0].pk}&run={ends[23].pk}", "ask=a_b")
    assert re.match(r"Lab \(6\.1\) has .* the throughput of Lab \(5\.15\)", pair["words"])


def test_processors_and_kernels_of_machines_are_asked_about():
    world = World(noise=0.005)
    for cpu, tps in (("EPYC", 1000), ("Xeon", 1200)):
        for twin in ("1", "2"):
            kernel = "6.1" if twin == "1" else "6.12"
            world.add(tps, hardware={"name": f"{cpu} {twin}", "cpu_model": cpu, "kernel": kernel})
    selects = world.store()
    told = ask(selects, "ask=rank&fact=cpu_model&pool=hardware")
    assert [(claim["label"], claim["rank"]) for claim in told["claims"]] == [("Xeon", 1), ("EPYC", 2)]
    (claim,) = ask(selects, "ask=a_b&fact=kernel&a=6.12&b=6.1&hardware=epyc-1&hardware=epyc-2")["claims"]
    assert claim["ratio"]["verdict"] == "equivalent"
    assert "kernel" not in page(selects).lower(), "the names of machines stand for all that they are"


def over_nights(of_night: Any, *, noise: float = 0.005) -> None:
    """Twenty-four of 1,000 TPS at first, and what `of_night` says of each: (level, what the document has)."""
    world = World(noise=noise)
    for night in range(24):
        level, more = of_night(night)
        tested = {"commit": f"{night:02d}" * 20}
        world.add(1000 * level, measured_on=str(date(2026, 3, 1) + timedelta(days=night)), tested=tested, **more)
        world.store()


@pytest.mark.parametrize("fact", [{"motherboard": ["X11", "H13"]}, {"cpu_model": ["Xeon", "EPYC"]}])
def test_another_machine_of_the_same_name_is_another_curve(fact: dict[str, list[str]]):
    """Was: the newest batch on the new machine "1.18x: better" than those on the old one; it had become 6 % slower."""
    ((name, values),) = fact.items()

    def of_night(night: int) -> tuple[float, dict[str, Any]]:
        # A new kernel makes no other machine of the new one.
        hardware = {"name": "Lab", name: values[night >= 12], "kernel": "6.1" if night < 18 else "6.8"}
        version = "16.1" if night < 8 else "16.2"
        return 1.25 if night >= 12 else 1, {"hardware": hardware, "dbms": {"name": "PostgreSQL", "version": version}}

    over_nights(of_night)
    told = ask("workload=tpcb", "ask=newer&than=version:16.1")
    (old,) = told["claims"]
    assert (old["label"], old["batches"], old["newest"][:10]) == (f"Lab ({values[0]})", 8, "2026-03-12")
    assert told["missing"] == [f"Lab ({values[1]}): no selected batch before it is “version:16.1”."]
    told = ask("workload=tpcb", "ask=newer")
    new = next(claim for claim in told["claims"] if claim["label"] == f"Lab ({values[1]})")
    assert (new["batches"], new["ratio"]["verdict"]) == (10, "equivalent")
    assert told["not_alike"] == f"Kernel (6.8 against 6.1 of Lab ({values[1]}))"
    assert not any(claim["day"] for claim in ask("workload=tpcb", "ask=since")["claims"])


def test_a_kernel_that_is_taken_back_leaves_its_machine_one_curve():
    """Was: two curves, and of the kernel that came back "Suspected: −30 %" with the step that was before that."""

    def of_night(night: int) -> tuple[float, dict[str, Any]]:
        kernel = "6.1.0-28" if night in (8, *range(10, 20)) else "6.1.0-25"
        return 0.7 if night >= 14 else 1, {"hardware": {"name": "Lab", "cpu_cores": 8, "kernel": kernel}}

    over_nights(of_night)
    told = ask("workload=tpcb", "ask=since")
    assert [(claim["label"], claim["day"], claim["batches"]) for claim in told["claims"]] == [("", "2026-03-15", 10)]
    assert not told["missing"]
    first, second = HardwareProfile.objects.values_list("slug", flat=True)
    told = ask("workload=tpcb", f"ask=a_b&fact=hardware&a={first}&b={second}")
    assert (told["claims"], told["missing"]) == ([], ["All that stands here has one machine, or none that is known."])


def test_batches_that_are_not_alike_are_left_out_of_a_baseline_and_named():
    def of_night(night: int) -> tuple[float, dict[str, Any]]:
        is_new = night >= 20
        settings = [{"name": "synchronous_commit", "value": "off" if is_new else "on"}]
        return 1, {"config": settings, "durability": "dbms_crash" if is_new else "power_loss"}

    over_nights(of_night)
    told = ask("workload=tpcb", "ask=newer")
    (claim,) = told["claims"]
    assert claim["batches"] == 3
    (missing,) = told["missing"]
    assert missing.startswith("7 of the batches before it are left out, as they are not alike: Durability: ")


def nights_of_branches(*nights: tuple[int, str]) -> None:
    """Of each a commit of its own; main is 6 % slower, and all but the release have its version."""
    world = World(noise=0.005)
    for night, branch in nights:
        tested = {"branch": branch, "commit": f"{night:02d}{branch.encode().hex()}"}
        version = "16.1" if branch == "release" else "16.2"
        world.add(
            1000 * (0.94 if branch == "main" else 1), measured_on=str(date(2026, 3, 1 + night)), tested=tested,
            dbms={"name": "PostgreSQL", "version": version},
        )  # fmt: skip
        world.store()


def test_two_branches_are_set_against_each_other_over_the_nights_of_both():
    """Was: by their oldest pair of nights alone."""
    nights_of_branches(*((night, branch) for night in range(8) for branch in ("main", "release")), (7, "pr-1"))
    told = ask("workload=tpcb", "ask=a_b&fact=tested:branch&a=main&b=release")
    assert ask("workload=tpcb", "ask=a_b&fact=branch&a=main&b=release")["claims"] == told["claims"]
    overall, *of_nights = told["claims"]
    assert (told["first"], told["second"], told["over"]) == ("main", "release", "8 days")
    assert overall["ratio"]["verdict"] == "worse" and overall["ratio"]["low"] < 0.94 < overall["ratio"]["high"]
    assert len(of_nights) == 8
    assert "main" in page("workload=tpcb", "ask=a_b&fact=tested:branch&a=main&b=release")


@pytest.mark.parametrize(("other", "after"), [(1.0, "; less than 3"), (0.9, ".")], ids=["alike", "worse"])
def test_days_on_which_one_branch_is_better_are_told_from_when_until_when(other, after):
    """Was: "1.04 × to 1.08 × at 16 days", of 40, which were two stretches."""
    world = World(noise=0.002)
    for night in range(24):
        has_gain = 4 <= night < 12 or night >= 18
        for branch, level in (("main", 1.0), ("wal", 1.1 if has_gain else other)):
            world.add(1000 * level, measured_on=str(date(2026, 3, 1 + night)), tested={"branch": branch})
        world.store()
    told = ask("workload=tpcb", "ask=a_b&fact=branch&a=wal&b=main")
    assert f" at 14 days, 2026-03-05 to 2026-03-12 and 2026-03-19 to 2026-03-24{after}" in told["words"]


def test_two_branches_with_one_night_in_common_are_set_against_each_other_by_that_one():
    nights_of_branches(*((night, "main") for night in range(9)), (6, "release"))
    told = ask("workload=tpcb", "ask=a_b&fact=tested:branch&a=main&b=release")
    days = {str(run.measured_on) for run in Run.objects.filter(pk__in=told["claims"][0]["runs"])}
    assert (len(told["claims"]), days) == (1, {"2026-03-07"}), told["words"]


def test_a_day_with_several_batches_of_a_branch_is_one_of_the_days_of_both():
    """Was: left out, so that 3 of 8 days were compared."""
    once = [(night, branch) for night in range(8) for branch in ("main", "release")]
    nights_of_branches(*once, *((night, "main") for night in range(5)))
    told = ask("workload=tpcb", "ask=a_b&fact=tested:branch&a=main&b=release")
    overall, *of_days = told["claims"]
    assert (told["over"], len(of_days)) == ("8 days", 8)
    assert {len(day["runs"]) for day in of_days} == {6, 9}
    assert overall["ratio"]["low"] < 0.94 < overall["ratio"]["high"]


def test_two_branches_need_no_names_to_be_set_against_each_other():
    """Was: the first two nights of main."""
    nights_of_branches(*((night, "main") for night in range(9)), (6, "release"))
    named, told = (ask("workload=tpcb", f"ask=a_b&fact=tested:branch{names}") for names in ("&a=release&b=main", ""))
    assert told["claims"] == named["claims"]
    assert ("release" in told["first"], "main" in told["second"]) == (True, True)


def two_disks_of_one_machine_and_one_of_another() -> str:
    world = World()
    for name, disk, tps in (("a", "sda", 5000), ("a", "nvme0", 8000), ("b", "sda", 9000)):
        hardware = {"name": name, "cpu_model": "Example", "ram_bytes": 64 * GIB}
        hardware["storage"] = [{"name": disk, "medium": "hdd" if disk == "sda" else "nvme"}]
        world.add(tps, hardware=hardware, storage=[{"role": "data", "device": disk}])
    return world.store()


def test_a_disk_that_each_machine_has_of_its_own_is_a_part_of_it():
    """Was: "Which disk has the highest throughput", and the names of disks in headlines and legends."""
    world = World()
    for name, disk, tps in (("lab-one", "Samsung SSD 970", 8000), ("lab-two", "WDC WD40", 5000)):
        for size in SIZES_GB:
            hardware = {"name": name, "storage": [{"name": disk, "medium": "ssd" if tps == 8000 else "hdd"}]}
            factors, storage = {"size_gb": size}, [{"role": "data", "device": disk}]
            world.add(tps / size, hardware=hardware, storage=storage, factors=factors)
    selects = world.store()
    told = ask(selects)
    asked = [told["question"]["fact"], *(offer["query"] for offer in told["questions"])]
    assert (told["claims"][0]["label"], "storage" in " ".join(asked)) == ("lab-one", False)
    assert [told["label"] for told in ask(selects, "ask=loss")["claims"]] == ["lab-one", "lab-two"]


def backups_by_method_and_cpus() -> str:
    world = World()
    for method, cpus, backup_s in (("local", 2, 13), ("services", 2, 26), ("TCP", 2, 34), ("TCP", 1, 29)):
        world.add(backup_s, metric="backup_s", factors={"method": method, "cpus": cpus, "scale_factor": 10})
    return world.store()


def two_machines_of_which_one_has_two_settings() -> str:
    world = World()
    for name, jit, tps in (("old", "off", 10_000), ("old", "on", 5000), ("new", "on", 6000)):
        hardware = {"name": name, "cpu_model": "Example", "ram_bytes": 64 * GIB}
        world.add(tps, hardware=hardware, config=[{"name": "jit", "value": jit}])
    return world.store()


@pytest.mark.parametrize(
    ("build", "question", "first", "of"),
    [
        (two_disks_of_one_machine_and_one_of_another, "", "nvme0", "a"),
        (two_disks_of_one_machine_and_one_of_another, "ask=rank&fact=hardware", "b", "sda (HDD)"),
        (backups_by_method_and_cpus, "metric=backup_s&ask=rank&fact=factor:cpus", "CPUs 1", "TCP"),
        (backups_by_method_and_cpus, "metric=backup_s", "local", "CPUs 2"),
        (two_machines_of_which_one_has_two_settings, "", "new", "jit=on"),
    ],
)
def test_what_is_ranked_without_being_asked_is_told_of_where_each_was_measured(build, question, first, of):
    told = ask(build(), question)
    assert (told["sure"], told["claims"][0]["label"], told["alike_in"]) == (True, first, [of])


def test_a_frame_says_why_what_it_shows_may_not_be_compared():
    world = World()
    for version, size, tps in (("16.4", 100, 1000), ("17.2", 10, 1500)):
        world.add(tps, dbms={"name": "PostgreSQL", "version": version}, factors={"scale_factor": size})
    frame = Client().get(f"/embed/compare/?{world.store()}").content.decode()
    assert "Groups that differ in this have no order" in frame


def test_which_loads_fastest_is_told_by_the_time_where_nothing_else_is_known():
    world = World()
    for version, load_s in (("16.4", 32.4), ("17.2", 22.6)):
        world.add(
            load_s, metric="load_s", dbms={"name": "PostgreSQL", "version": version}, factors={"scale_factor": 10}
        )
        for repeat in world.documents[-1]["repeats"]:
            repeat["metrics"]["create_tables_s"] = {"value": 0.01, "unit": "s", "better": "lower"}
        world.documents[-1]["workload"] = {"slug": "init", "name": "pgbench -i", "version": "1"}
    selects = world.store()
    for question in ("", "ask=load"):
        told = ask(selects, question)
        assert (told["metric"], told["sure"], told["claims"][0]["label"]) == ("load_s", True, "PostgreSQL 17.2")


def test_where_the_most_is_is_judged_together_with_the_other_curves_of_the_page():
    """Noise alone named a false peak on more pages the more curves they had."""

    def as_high_beside(others: int) -> list[float]:
        world = World()
        for name in "ABCDEF"[: 1 + others]:
            for terminals, values in ((8, (1000, 1010, 1020)), (16, (1034, 1047, 1060))):
                world.add(1, dbms={"name": name, "version": "1"}, factors={"terminals": terminals})
                world.documents[-1]["repeats"] = [
                    {"metrics": {"tps": value + 3 * others + ord(name)}} for value in values
                ]
        claims = ask(world.store(), "ask=scales&x=factor:terminals")["claims"]
        assert len(claims) == 1 + others
        return claims[0]["as_high"]  # type: ignore[no-any-return]

    assert (as_high_beside(0), as_high_beside(5)) == ([], [8])


def test_of_fewer_than_three_repeats_no_level_surely_has_the_most():
    """Was: "It has its most at 8 terminals" of one repeat each, where three told "not surely more than at 4"; then "not
    surely more than at 1 terminal" of 24 times as much, in two repeats.
    """
    world = World()
    for terminals, values in ((1, [700, 710]), (4, [760, 1860]), (8, [1270, 1280])):
        world.add(1, factors={"terminals": terminals})
        world.documents[-1]["repeats"] = [{"metrics": {"tps": value}} for value in values]
    told = ask(world.store(), "ask=scales&x=factor:terminals")

    (claim,) = told["claims"]
    assert (told["sure"], claim["as_high"], claim["still_grows"]) == (False, [1, 4], False)
    assert claim["few_repeats"] == [1, 4, 8]
    few = "Some levels have fewer than the 3 repeats that it takes to be sure."
    unjudged = "of 2 repeats only, so that it is judged against no level."
    assert told["missing"] == [few] and told["words"].endswith(f", {unjudged} {few}")
    assert unjudged in page("workload=tpcb", "ask=scales&x=factor:terminals")


@pytest.mark.parametrize(
    ("repeats", "words"),
    [(1, "Most at 1 terminal, of 1 repeat only, so that it is judged against no level."),
     (3, "Most at 1 terminal: more only take away.")],
)  # fmt: skip
def test_a_curve_that_only_falls_says_of_how_many_repeats(repeats: int, words: str):
    """Seen: "more only take away" of one disturbed repeat a level, where the answer judged it against none."""
    world = World()
    for terminals, tps in ((1, 1198), (4, 788), (8, 584)):
        world.add(1, factors={"terminals": terminals})
        world.documents[-1]["repeats"] = [{"metrics": {"tps": tps + repeat}} for repeat in range(repeats)]
    world.store()

    assert words in page("workload=tpcb", "ask=scales&x=factor:terminals")


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_fewer_repeats_than_three_are_what_is_missing_of_a_setting(repeats: int):
    """Was: "needs over 20 more repeats" of one or two, while three decide it. Seen, too: "with 1 to … with 8"."""
    world = World()
    for terminals, with_it, without in ((1, 200, 1000), (4, 480, 1200), (8, 780, 1300)):
        for value, mean in (("on", with_it), ("off", without)):
            world.add(1, factors={"terminals": terminals}, config=[{"name": "wal_compression", "value": value}])
            values = [mean * factor for factor in (0.998, 1.0, 1.003)[:repeats]]
            world.documents[-1]["repeats"] = [{"metrics": {"tps": each}} for each in values]
    told = ask(world.store(), "ask=effects")

    (claim,) = told["claims"]
    if repeats == 3:
        assert claim["ratio"]["verdict"] == "worse"
        assert [end["beside"] for end in claim["ends"]] == ["1 terminal", "8 terminals"]
    else:
        assert (claim["ratio"]["verdict"], claim["ratio"]["more_repeats"]) == ("undecided", None)
        assert "undecided: at least 3 repeats of each are needed" in told["words"]


def test_a_disk_that_is_not_known_is_no_candidate():
    """Seen: "Which disk has the highest throughput?", of which one was "data storage not set"."""
    world = World()
    measured = {"name": "beta", "cpu_model": "Example", "ram_bytes": 64 * GIB, "storage": [{"name": "vda"}]}
    world.add(400, hardware=measured, storage=[{"role": "data", "device": "vda"}])
    world.add(900)
    told = ask(world.store())
    assert told["question"]["fact"] == "hardware"
    assert "not set" not in told["words"]


def test_a_setting_with_which_all_runs_failed_names_none_that_did_not():
    """Was: "fsync=on, synchronus_commit not given, synchronous_commit=on" of what is told apart by the last alone."""
    world = World()
    for value, tps in (("on", 1000), ("off", 1100)):
        world.add(tps, config=[{"name": "fsync", "value": "on"}, {"name": "jit", "value": value}])
    world.add(1, config=[{"name": "fsync", "value": "on"}, {"name": "jti", "value": "on"}])
    world.documents[-1] |= {"outcome": "failed", "message": "no such setting", "repeats": [{"metrics": {}}]}
    told = ask(world.store())
    assert {claim["label"] for claim in told["claims"]} == {"jit=on", "jit=off"}
    (failed,) = told["apart"].values()
    assert "jti=on" in failed[0]


def test_what_both_sides_have_lost_is_said_of_both():
    world = World()
    for version, tps in (("16.4", 1000), ("17.2", 1100)):
        system = {"dbms": {"name": "PostgreSQL", "version": version}, "factors": {"scale_factor": 10}}
        world.add(tps, **system)
        world.add(tps, **system)
        world.documents[-1] |= {"outcome": "failed", "message": "the disk is full", "repeats": [{"metrics": {}}]}
    words = ask(world.store())["words"]
    for version in ("16.4", "17.2"):
        assert f"PostgreSQL {version}: 1 of 4 repeats" in words


def test_warnings_of_the_runs_leave_the_page_with_the_numbers():
    """Was: 12 of 12 runs disturbed, of which Markdown, CSV, frames, frozen reports in frames and answers said nothing;
    a short window was named by the pages of its runs alone.
    """
    world = World()
    for tps in (1000, 1010, 1020):
        world.add(tps)
    world.store()
    named = "&".join(f"run={pk}" for pk in Run.objects.values_list("pk", flat=True))
    failed = [{"name": name, "ok": False, "detail": ""} for name in ("machine_alone", "window_long_enough")]
    Run.objects.update(checks=failed)
    owner = User.objects.create(username="author")
    report = reports.create(title="Kept", note="", query=named, visibility="public", owner=owner)
    client = Client()
    kept = client.get(f"/compare/?format=json&{named}").json()
    reports.freeze(report, Run.objects.all(), question="", comparison=kept, drawn=[], by=owner)
    paths = [
        *(f"/compare/?{form}{named}" for form in ("", "format=md&", "format=json&")),
        f"/compare.csv?{named}", f"/embed/compare/?{named}", f"/embed/reports/{report.slug}/",
        f"/api/v1/answers/?{named}",
    ]  # fmt: skip
    for said in ("Disturbed by other programs: ", "Short window: "):
        assert [path for path in paths if said not in client.get(path).content.decode()] == []


def test_every_answer_says_how_many_runs_of_its_address_are_not_here():
    """Was: the page alone, beneath its chart, and of a short address nothing."""
    world = World()
    for tps in (1000, 1010, 1020):
        world.add(tps)
    world.store()
    runs = list(Run.objects.values_list("pk", flat=True))
    named = "&".join(f"run={pk}" for pk in runs)
    short = StoredSelection.objects.create(pk="short", query=named)
    owner = User.objects.create(username="author")
    report = reports.create(title="Kept", note="", query=named, visibility="public", owner=owner)
    client = Client()
    said = "Not here, as deleted or not for you: 1 of the runs that are named."
    shown = [
        f"{path}{query}"
        for query in (named, f"s={short.pk}")
        for path in (
            "/compare/?",
            "/embed/compare/?",
            "/compare.csv?",
            "/compare/?format=md&",
            "/compare/?format=json&",
        )
    ] + [f"/api/v1/compare/?s={short.pk}", f"/api/v1/answers/?s={short.pk}", f"/api/v1/reports/{report.slug}/"]
    assert not [path for path in shown if "Not here" in client.get(path).content.decode()]
    Run.objects.filter(pk=runs[0]).update(deleted_at=timezone.now())
    assert [path for path in shown if said not in client.get(path).content.decode()] == []
    answer = client.get(f"/api/v1/reports/{report.slug}/").json()["comparison"]
    assert (answer["not_here"], answer["warnings"][0]) == (1, said)
