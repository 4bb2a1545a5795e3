"""Every stored file of a tool, also damaged: right values, fewer values, or "not understood". Never another number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.benchagent.importers.damage import wrong_answers
from tests.benchagent.importers.mutations import KINDS
from tests.benchagent.importers.samples import DATA, of_file, reports
from tests.whole import whole

# Of a history any line may go, and it is another history.
FILES = sorted(path for path in DATA.rglob("*") if path.is_file() and path.parent.name != "histories")
# What nobody can see in a file, as its words begin behind its name. A list without its first or last rows is a list
# where nobody says how many there are; of two rows of one form that changed places nothing tells.
UNSEEN = {
    "benchbase/.*[.]raw[.]": "dropped: series",
    "clickbench/": "swapped",
    "described/k6_summary_export": "swapped",
    "described/k6_machine_readable": "swapped",
    "described/mongo_perf": "swapped|shuffled",
    "described/pg_test_fsync": "swapped",
    "described/scylla_bench": "swapped",
    "gotpc/json": "(swapped|shuffled): series",
    "gotpc/": "swapped: series",
    "hammerdb/etprof_v3": "swapped: series",
    "hammerdb/jobs_timing": "swapped",
    # Which lines belong to which run, or to a heading, is told by where they stand alone.
    "hammerdb/loop_v5": "shuffled: parameter terminals",
    # One line for each request.
    "jmeter/run[.]": "",
    "jmeter/": "swapped",
    "memtier/two_runs": "swapped",
    "mysqlslap/engines": "swapped",
    "nosqlbench/result": "",
    "pgbench/.*sampled": "dropped",
    "phoronix/": "swapped",
    "sysbench/.*fileio": "shuffled: parameter heading",
    # Once as it is, once rounded: a report without its first lines has the other.
    "sysbench/v11_memory": "shuffled: ops_per_s",
    "tpccmysql/load": "shuffled: parameter heading",
    "querytimes/": r".*(_total_s|_geomean_s|queries|longest|streams)",
}  # fmt: skip


def name_of(file: Path) -> str:
    return file.relative_to(DATA).as_posix()


@pytest.mark.parametrize("seed", [14, *whole(*range(15, 24))])
@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_it_gives_no_other_numbers_whatever_the_damage(file: Path, seed: int):
    """A copy of each kind of damage for each seed."""
    wrong = wrong_answers(file.name, file.read_bytes(), seed=seed, count=len(KINDS))
    unseen = next((words for beginning, words in UNSEEN.items() if re.match(beginning, name_of(file))), "(?!)")
    assert [words for words in wrong if not re.match(unseen, words.partition(": ")[2])] == []


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_it_names_nothing_twice(file: Path):
    for report in of_file(file):
        names = [(metric.name, metric.phase) for metric in report.metrics]
        assert len(names) == len(set(names))
        assert all(len(metric.name) <= 120 and len(metric.phase) <= 20 for metric in report.metrics)
        assert len({series.name for series in report.series}) == len(report.series)


def test_it_keeps_no_secret():
    secrets = re.compile(rb"s3cr3t|hunter2|Gehe1mnis|Gr8Secret|sw0rdf1sh")
    told = [file for file in FILES if secrets.search(file.read_bytes())]
    assert len(told) >= 8
    for file in told:
        assert not secrets.search(repr(reports(file.name, file.read_bytes())).encode()), file
