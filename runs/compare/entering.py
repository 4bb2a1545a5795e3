"""Which tests a filtered list of runs holds: its workloads at each size, counted before they are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.http import QueryDict

from runs.compare.groups import SIZES
from runs.compare.select import choose
from runs.formatting import natural
from runs.incoming.values import int_if_whole
from runs.listing.filters import without
from runs.machines.usage import named_phrase
from runs.models import RunFactor, Workload
from runs.models.choices import RunState
from runs.models.runs import RunQuerySet
from runs.models.visible import Reader

# The newest of a longer list are looked through.
LOOKED_THROUGH = 5_000
Size = tuple[tuple[str, float | str], ...]


@dataclass(frozen=True)
class Test:
    """A workload of the list, or with `sizes` all of its sizes. `query`: of the comparison of its `runs`."""

    words: str
    runs: int
    query: str
    sizes: Sequence[Test] = ()


@dataclass(frozen=True)
class Entry:
    """`whole` is false where the newest runs of a longer list were looked through. `uncounted`: how many others match
    that count nowhere, by why.
    """

    tests: list[Test]
    problems: Mapping[str, list[str]]
    whole: bool = True
    uncounted: Mapping[str, int] = field(default_factory=dict)

    @property
    def only(self) -> Test | None:
        """The test, where there is nothing to ask: one workload at one size."""
        first = self.tests[0] if len(self.tests) == 1 else None
        return first if first and len(first.sizes) < 2 else None


def entry(query: QueryDict, user: Reader) -> Entry:
    """The entry to comparing the runs with a number that this query of the list of runs finds."""
    choice = choose(query, user)
    if choice.problems:
        return Entry([], choice.problems)
    rows = choice.rows().with_values().order_by("-created_at", "id")
    workload_of = dict(rows.values_list("pk", "workload")[: LOOKED_THROUGH + 1])
    is_whole = len(workload_of) <= LOOKED_THROUGH
    sizes = _sizes(list(workload_of))
    counted: dict[UUID, Counter[Size]] = {}
    for run, workload in workload_of.items():
        counted.setdefault(workload, Counter())[sizes.get(run, ())] += 1
    workloads = Workload.objects.in_bulk(list(counted))
    tests = [_test(query, workloads[key], of_sizes) for key, of_sizes in counted.items()]
    uncounted = _uncounted(choice.rows().exclude(pk__in=rows.order_by().values("pk"))) if is_whole else {}
    return Entry(sorted(tests, key=lambda test: -test.runs), {}, whole=is_whole, uncounted=uncounted)


def _uncounted(rows: RunQuerySet) -> dict[str, int]:
    """How many of these runs are copies, invalid, or of which state."""
    why: Counter[str] = Counter()
    told = rows.order_by().values_list("state", "copy_of", "invalid_at")[:LOOKED_THROUGH]
    for state, copy_of, invalid_at in told:
        is_of_state = "finished without a number" if state == RunState.FINISHED else RunState(state).label.lower()
        why["a copy" if copy_of else "invalid" if invalid_at else is_of_state] += 1
    return dict(sorted(why.items(), key=lambda each: (-each[1], each[0])))


def _sizes(runs: Sequence[UUID]) -> dict[UUID, Size]:
    """The sizes that each run states, in the order of their names."""
    sizes: dict[UUID, Size] = {}
    rows = RunFactor.objects.filter(run__in=runs, name__in=SIZES).order_by("name")
    for run, name, number, text in rows.values_list("run", "name", "number", "text"):
        sizes[run] = (*sizes.get(run, ()), (name, text if number is None else int_if_whole(number)))
    return sizes


def _test(query: QueryDict, workload: Workload, counted: Counter[Size]) -> Test:
    of_workload = without(query, "workload")
    of_workload["workload"] = workload.slug
    of_each = []
    for size, runs in counted.items():
        of_size = without(of_workload, *(f"factor.{name}" for name, _ in size))
        for name, value in size:
            of_size[f"factor.{name}"] = str(value)
        words = ", ".join(named_phrase(name, value) for name, value in size)
        # No filter finds what is not stated.
        of_each.append(Test(words or "size not stated", runs, of_size.urlencode() if size else ""))
    of_each.sort(key=lambda test: natural(test.words))
    return Test(str(workload), counted.total(), of_workload.urlencode(), of_each)
