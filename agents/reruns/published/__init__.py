"""Which cells of the experiments in `agents.reruns.experiments` answer which published figure of their article.

It travels in the plan of an experiment, so that pages of results need no knowledge of agents and guess nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.machines import SecondStorage
from agents.reruns.published import cubrid, firebird, gbak, tpcb
from runs.publications.matching import Match

# Claims that no cell can answer and that are not shown as a gap either, with the reason.
EXEMPT: Mapping[str, str] = {
    "tpcb-c": "a general statement: the article tested no in-memory database",
    "tpcb-g": "a general statement from other literature, without an amount",
    "firebird-e": "of customers' applications, which nobody else has",
}
# By publication: matches of one of its parts, empty of a part that the article has no figure for. The machine's second
# storage is None where it has one.
MATCHES: Mapping[str, Callable[[str, SecondStorage | None], tuple[Match, ...]]] = {
    "gbak-backup-2007": gbak.matches,
    "tpcb-2010": tpcb.matches,
    "firebird-terabyte-2015": firebird.matches,
    "cubrid-mysql-ssd-2011": cubrid.matches,
}
