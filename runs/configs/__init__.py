"""Configurations of DBMSs: taken from files or parameters, revised, compared, judged for durability.

What a configuration holds is never changed: an edit makes the next revision. Names and notes may be corrected.
"""

from __future__ import annotations

from runs.configs.creating import (
    DETAIL_FIELDS,
    Content,
    Parameter,
    config_of,
    correct,
    create_config,
    resolve_config,
    revise,
)
from runs.configs.diff import Difference, diff
from runs.configs.facts import (
    FileFacts,
    dbms_of,
    durability_of,
    files_of,
    meanings_of,
    parameter_rows,
    settings_of,
)
from runs.configs.pages import family_of, for_pages, listed_configs, readable_configs, stated_by, versions_for
from runs.configs.reading import ConfigError, FileText, understand
