"""What HammerDB's virtual users say of themselves, whether they run or build."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from benchagent.importers.report import Scalar
from benchagent.redaction import redact_text

_ERROR = re.compile(r"^Error in Virtual User (?P<vuser>\d+):(?P<message>.*)$")


@dataclass
class VirtualUsers:
    # The dictionary's settings of `tpcc` or `tpch`, as far as they are known.
    settings: Callable[[str], dict[str, Scalar]]
    dbms: str = ""
    created: set[int] = field(default_factory=set)
    # How many HammerDB said it created.
    told: int | None = None
    running: set[int] = field(default_factory=set)
    succeeded: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    def take_state(self, vuser: int, text: str) -> bool:
        """Whether a virtual user said that it runs or how it finished."""
        if text == "RUNNING":
            self.running.add(vuser)
        elif text == "FINISHED SUCCESS":
            self.succeeded.add(vuser)
        elif text.startswith("FINISHED FAILED"):
            self.failed.add(vuser)
        else:
            return False
        return True

    def take_error(self, text: str) -> bool:
        match = _ERROR.match(text)
        if match:
            self.errors.append(f"virtual user {match['vuser']}: {match['message'].strip()}")
        return bool(match)

    @property
    def first_error(self) -> str:
        return redact_text(self.errors[0])[:200] if self.errors else ""

    @property
    def failure(self) -> str:
        """Which of them failed; empty where none did."""
        return f"virtual users {', '.join(map(str, sorted(self.failed)))} failed" if self.failed else ""
