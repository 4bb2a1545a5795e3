"""What is known of each engine's settings: units, defaults, meanings, durability: a file and a module per engine."""

from __future__ import annotations

from pkgutil import resolve_name

from benchagent.catalog import DBMSS
from benchagent.configfiles.engines.firebird import YAFFIL
from benchagent.configfiles.settings import Engine

# Yaffil is in articles only: no agent connects to it.
ENGINES: dict[str, Engine] = {
    slug: resolve_name(entry.configuration) for slug, entry in DBMSS.items() if entry.configuration
} | {YAFFIL.slug: YAFFIL}
