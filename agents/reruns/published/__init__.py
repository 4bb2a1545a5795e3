"""Which cells of the experiments in `agents.reruns.experiments` answer which published figure of their article.

It travels in the plan of an experiment, so that pages of results need no knowledge of agents and guess nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.machines.second_storage import SecondStorage
from agents.reruns.published import cubrid, firebird, gbak, tpcb
from runs.publications.matching import Match

# Claims that no cell can answer and that are not shown as a gap either, with the reason.
EXEMPT: Mapping[str, str] = {
    "tpcb-c": "a general statement: the article tested no in-memory database",
    "tpcb-g": "a general statement from other literature, without an amount",
    "firebird-e": "of customers' applications, which nobody else has",
}


def of(publication: str, part: str, other: SecondStorage | None = None) -> tuple[Match, ...]:
    """Matches of one part; empty of a part that the article has no figure for.

    `other`: the machine's second storage; None where it has one.
    """
    if publication == "gbak-backup-2007":
        return gbak.matches(part, other)
    if publication == "tpcb-2010":
        return {"engines": tpcb.engines, "group-commit": tpcb.commit_groups}.get(part, tuple)()
    if publication == "firebird-terabyte-2015":
        return firebird.matches(part, other)
    return cubrid.matches(part, other) if publication == "cubrid-mysql-ssd-2011" else ()
