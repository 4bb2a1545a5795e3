"""What counts nowhere, as a copy, a failed run or a deleted one, changes no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from runs import results
from runs.models import Run
from runs.results import editing
from tests.runs.answers.test_answers import World, ask, page

pytestmark = pytest.mark.django_db

SELECTS = "workload=tpcb"
QUESTIONS = [
    "", "ask=best", "ask=rank&fact=hardware", "ask=rank&fact=config", "ask=scales", "ask=scales&hardware=alpha",
    "ask=effects", "ask=a_b&fact=hardware&a=alpha&b=beta", "ask=loss&x=factor:terminals",
]  # fmt: skip
MACHINES = {"alpha": (1.0, "2026-09-08"), "beta": (0.8, "2026-09-09"), "gamma": (0.6, "2026-09-10")}
OF_RUNS = {"runs", "counts", "warnings"}
Document = dict[str, Any]


def three_machines() -> list[Document]:
    """Two systems, each as it comes and tuned, over terminals: each cell is an import, and a batch, of its own."""
    world = World(noise=0.01)
    for name, (speed, day) in MACHINES.items():
        for system, setting, of_system in (("PostgreSQL", "shared_buffers", 1.3), ("MariaDB", "key_buffer_size", 1.0)):
            for tuned in (1.0, 1.1):
                for terminals in (1, 8, 64):
                    tps = 400 * terminals / (1 + 0.02 * terminals) * speed * of_system * tuned
                    world.add(
                        tps, dbms={"name": system, "version": "17.2"}, hardware={"name": name}, measured_on=day,
                        factors={"scale_factor": 10, "terminals": terminals},
                        config=[{"name": setting, "value": "8GB" if tuned > 1 else "1GB"}],
                        durability="dbms_crash",
                    )  # fmt: skip
    for document in world.documents:
        for repeat in document["repeats"]:
            mean = 1000 * document["factors"]["terminals"] / repeat["metrics"]["tps"]
            repeat["metrics"] |= {"latency_mean_ms": mean, "latency_p95_ms": 2 * mean, "latency_p99_ms": 3 * mean}
    stored = [dict(document) for document in world.documents]
    send(stored)
    return stored


def send(documents: list[Document]) -> None:
    outcomes = results.store_uploads(documents=documents)
    assert [outcome.errors for outcome in outcomes] == [{}] * len(documents)


def again(document: Document, **changes: Any) -> Document:
    """One of its repeats, as a batch of its own that was measured on another day."""
    return document | {"id": str(uuid4()), "measured_on": "2026-10-07", "repeats": document["repeats"][:1]} | changes


def a_copy(stored: list[Document]) -> str:
    send([again(stored[0]), again(stored[5], label="once more")])
    assert Run.objects.filter(copy_of__isnull=False).count() == 2
    return "a copy of a result"


def a_failed_run(stored: list[Document]) -> str:
    of_none = {
        "outcome": "failed",
        "message": "out of connections",
        "repeats": [{"metrics": {}}],
        "durability": "power_loss",
    }
    send([again(stored[0], **of_none), again(stored[5], label="once more", **of_none)])
    return "out of connections"


def an_invalid_one(stored: list[Document]) -> str:
    send([again(stored[0], repeats=[{"metrics": {"tps": 377.25}}])])
    Run.objects.filter(measured_on="2026-10-07").update(
        invalid_at="2026-11-01T00:00:00Z", invalid_reason="a backup ran"
    )
    return "a backup ran"


def a_deleted_one(stored: list[Document]) -> str:
    send([again(stored[0], repeats=[{"metrics": {"tps": 377.25}}])])
    for run in Run.objects.filter(measured_on="2026-10-07"):
        editing.delete(run, by=None)
    return ""


def told(question: str) -> dict[str, Any]:
    """The answer without the runs and the groups that it is of."""

    def without_runs(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: without_runs(each) for name, each in part.items() if name not in OF_RUNS}
        return [without_runs(each) for each in part] if isinstance(part, list) else part

    answer: dict[str, Any] = without_runs(ask(SELECTS, question))
    return answer


@pytest.mark.parametrize("sent", [a_copy, a_failed_run, an_invalid_one, a_deleted_one])
def test_what_counts_nowhere_changes_no_answer(sent: Callable[[list[Document]], str]) -> None:
    """Seen: one file that came a second time took the fastest machine out of the ranking, and gave each batch the
    second of its storing for a name: no two systems had a level in common.
    """
    stored = three_machines()
    before = {question: told(question) for question in QUESTIONS}
    assert before["ask=rank&fact=hardware"]["claims"][0]["label"] == "alpha"

    reason = sent(stored)

    after = {question: told(question) for question in QUESTIONS}
    for question in QUESTIONS:
        # That it has no number may be told behind all else.
        words, apart = after[question].pop("words"), after[question].pop("apart")
        assert words.startswith(before[question].pop("words")), question
        assert before[question].pop("apart") == {} and {reason in why for why in apart} <= {True}, question
        assert after[question] == before[question], question
    assert reason in page(SELECTS, "rows=all")
