from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runs.publications.check import Check, stored
from runs.publications.document import Results
from scripts.article_checks import cubrid_mysql_ssd_2011, firebird_terabyte_2015, gbak_backup_2007, tpcb_2010
from scripts.article_checks.article import Article

Topics = Mapping[str, Sequence[Callable[[Article], Iterator[Check]]]]
# The articles that come with the program, by slug.
TOPICS: Mapping[str, Topics] = {
    "gbak-backup-2007": gbak_backup_2007.TOPICS,
    "tpcb-2010": tpcb_2010.TOPICS,
    "cubrid-mysql-ssd-2011": cubrid_mysql_ssd_2011.TOPICS,
    "firebird-terabyte-2015": firebird_terabyte_2015.TOPICS,
}


def computed(topics: Topics, results: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of checks.json, of what results.json holds: the checks of each topic, in order."""
    article = Article(Results.model_validate(results))
    rows = stored([
        replace(each, topic=topic) for topic, makers in topics.items() for maker in makers for each in maker(article)
    ])  # fmt: skip
    for row in rows:
        for figure in row["computed"]:
            del figure["rounded"]  # follows from value and digits
    return rows
