"""Which format a configuration file has, by what stands in it, never by its name."""

from __future__ import annotations

import re

from benchagent.configfiles.engines import ENGINES
from benchagent.configfiles.model import Format, LineKind, ParsedFile

# A parameter that is commented out tells as much about the format as one that is set, but an editor's remark may too.
SET, COMMENTED, SECTION, PREFIX = 4, 1, 12, 6
_COMMENTED = re.compile(r"\s*[#;!]\s*([A-Za-z_][\w.-]*)\s*(?:[=:]|\Z)")
SECTIONS = {
    "my_cnf": re.compile(
        r"(?:mysqld?|client|mariadb|mariadbd|server|galera|embedded|mysqld_safe|mysqldump|mysql_safe|myisamchk|isamchk"
        r"|mysqlhotcopy|safe_mysqld|mysql-server|client-server)(?:[-.\d_]\w*)?\Z",
        re.IGNORECASE,
    ),
    "cubrid": re.compile(r"(?:service|common|@\w[\w@.-]*)\Z"),
}


def score(parsed: ParsedFile, kind: Format) -> int:
    """How much of the content is typical of the format; 0 is nothing."""
    engine = ENGINES[kind.dbms]
    found = 0
    for line in parsed.lines:
        if line.kind is LineKind.SECTION and kind.name in SECTIONS and SECTIONS[kind.name].match(line.target):
            found += SECTION
        elif line.kind is LineKind.COMMENT:
            commented = _COMMENTED.match(line.text)
            found += COMMENTED if commented and engine.knows(commented[1]) else 0
        elif line.kind is LineKind.INCLUDE and line.text.lstrip().startswith("!"):
            found += SET
        else:
            found += sum(_weight(entry.name, entry.section, kind) for entry in line.entries)
    return found


def _weight(name: str, section: str, kind: Format) -> int:
    if kind.name == "derby":
        return PREFIX if name.startswith("derby.") else 0
    if kind.name == "init_ora" and section == "*":
        return SET + PREFIX
    return SET if ENGINES[kind.dbms].knows(name) else 0


def best(parses: dict[str, tuple[Format, ParsedFile]]) -> str | None:
    """The format whose marks clearly outweigh those of every other; None where two are as likely, or none is."""
    scores = sorted(((score(parsed, kind), name) for name, (kind, parsed) in parses.items()), reverse=True)
    (first, name), (second, _) = scores[0], scores[1]
    return name if first >= SET and first > second else None
