"""How large the buffer pool of an engine is by the settings that were read back from it."""

from __future__ import annotations

from benchagent.configfiles.meaning import settings_of
from benchagent.configfiles.settings import Facts, Given
from benchagent.configfiles.units import Kind
from benchagent.dbms.base import Settings


def buffer_in_force(dbms: str, effective: Settings, *, complete: bool = True) -> int | None:
    """Bytes; None where the settings do not tell, as long as none were read back.

    `complete`: what is not among them has its default.
    """
    given = [Given(name, value) for name, value in effective]
    found = settings_of(dbms, given, Facts(complete=complete)) if given else None
    size = found.means("buffer_pool") if found else None
    if size is None or size.kind is not Kind.BYTES or not isinstance(size.value, int):
        return None
    return size.value or None
