from __future__ import annotations

from typing import Any

from runs.publications.check import stored
from runs.publications.document import Results
from scripts.article_checks import cubrid_mysql_ssd_2011, firebird_terabyte_2015, gbak_backup_2007, tpcb_2010
from scripts.article_checks.article import Article, in_topics

MODULES = {
    "gbak-backup-2007": gbak_backup_2007,
    "tpcb-2010": tpcb_2010,
    "cubrid-mysql-ssd-2011": cubrid_mysql_ssd_2011,
    "firebird-terabyte-2015": firebird_terabyte_2015,
}


def computed(slug: str, results: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of checks.json, of what results.json holds."""
    rows = stored(list(in_topics(Article(Results.model_validate(results)), MODULES[slug].TOPICS)))
    for row in rows:
        for figure in row["computed"]:
            del figure["rounded"]  # follows from value and digits
    return rows
