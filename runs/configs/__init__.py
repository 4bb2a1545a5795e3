"""Configurations of DBMSs: taken from files or parameters, revised, compared, judged for durability.

What a configuration holds is never changed: an edit makes the next revision. Names and notes may be corrected.
"""

from __future__ import annotations

from runs.configs.creating import (
    DETAIL_FIELDS,
    EDITABLE,
    Content,
    correct,
    create_config,
    revise,
)
from runs.configs.diff import Difference, DiffRow, diff
from runs.configs.facts import (
    FileFacts,
    ParameterRow,
    dbms_of,
    durability_of,
    files_of,
    meanings_of,
    parameter_rows,
    settings_of,
)
from runs.configs.parameters import Parameter, config_of, resolve_config
from runs.configs.reading import ConfigError, FileText, Understood, understand
from runs.configs.usage import (
    family_of,
    for_pages,
    listed_configs,
    readable_configs,
    stated_by,
    versions_for,
)
