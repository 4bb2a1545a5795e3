"""Which Firebird installations there are: Debian's, and those that the agent has installed for itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchagent.dbms.discovery import version_of
from benchagent.engines import InstalledEngine, installed

SLUG = "firebird"
# A folder that replaces the root below which Debian's packages lie.
ROOT_VARIABLE = "BENCHAGENT_FIREBIRD_ROOT"
SERIES = "3.0"
FIRST_WITH_BATCHES = 4
# The version of the program, whatever engine it loads, and why it does not run.
_version = partial(version_of, "-z", re.compile(r"-V(\d+\.\d+\.\d+)\.\d+"))
TOOLS = ("gbak", "isql-fb", "nbackup", "fbsvcmgr", "fbstat", "gfix")
ENGINE = re.compile(r"libEngine(\d+)\.so\Z")


@dataclass(frozen=True)
class Home:
    """The parts of one installation. `environment`: variables that its programs need, beside those of a root.

    The server and the tools of a mixed home are of another version than its engine; `version` then says so.
    `shared_log`: where the server writes its log, whatever its root is. `unusable`: why the server does not run.
    """

    version: str
    server: Path
    bin_dir: Path
    plugins: Path
    intl: Path
    messages: Path
    security_sql: Path
    time_zones: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    shared_log: Path | None = None
    unusable: str = ""

    @property
    def engine(self) -> Path:
        """The plugin that is the DBMS. Raises `LookupError`."""
        for path in sorted(self.plugins.glob("libEngine*.so")):
            if ENGINE.search(path.name):
                return path
        raise LookupError(f"{self.plugins} holds no engine")

    @property
    def provider(self) -> str:
        """The engine's name in the setting Providers, as Engine12."""
        return self.engine.stem.removeprefix("lib")

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    @property
    def knows_batches(self) -> bool:
        """False where its listener is of version 3: the driver then sends row by row, and waits for each answer."""
        return self.major >= FIRST_WITH_BATCHES and not self.mixed

    @property
    def mixed(self) -> bool:
        return "(" in self.version

    def problem(self) -> str:
        """What is missing; empty when the home is whole."""
        needed = [self.server, *(self.bin_dir / tool for tool in TOOLS)]
        missing = [path for path in needed if not os.access(path, os.X_OK)]
        missing += [path for path in (self.messages, self.security_sql) if not path.exists()]
        if missing:
            return f"missing: {', '.join(map(str, missing))}"
        if self.unusable:
            return self.unusable
        try:
            self.engine  # noqa: B018 - raises
        except LookupError as error:
            return str(error)
        return ""


def debian_home(root: Path) -> Home | None:
    """The home that the packages firebird3.0-* make below `root`; None without a server."""
    server = root / "usr/sbin/firebird"
    if not server.is_file():
        return None
    (*_, own) = [Path("none"), *sorted(root.glob(f"usr/lib/*/firebird/{SERIES}"))]
    # The linker looks below / by itself, and nowhere else.
    variables = {} if root == Path("/") else {"LD_LIBRARY_PATH": str(own.parent.parent)}
    version, unusable = _version(server, variables)
    return Home(
        version=version or SERIES,
        server=server,
        bin_dir=root / "usr/bin",
        plugins=own / "plugins",
        intl=own / "intl",
        messages=own / "firebird.msg",
        security_sql=root / f"usr/share/firebird/{SERIES}/security.sql",
        environment=variables,
        shared_log=Path(f"/var/log/firebird/firebird{SERIES}.log"),
        unusable=unusable,
    )


def installed_home(engine: InstalledEngine) -> Home:
    server = engine.layout("server")
    environment = engine.environment()
    listener, unusable = _version(server, environment)
    mixed = not unusable and listener.split(".")[:2] != engine.version.split(".")[:2]
    return Home(
        version=f"{engine.version} (listener and tools {listener})" if mixed else engine.version,
        server=server,
        bin_dir=engine.bin_dir,
        plugins=engine.layout("plugins"),
        intl=engine.layout("intl"),
        messages=engine.layout("messages"),
        security_sql=engine.layout("security_sql"),
        time_zones=engine.layout("time_zones") if "time_zones" in engine.record["layout"] else None,
        environment=environment,
        unusable=unusable,
    )


def homes(engines_dir: Path) -> dict[str, Home]:
    """The homes by version; the machine's own wins."""
    own = debian_home(Path(os.environ.get(ROOT_VARIABLE, "/")))
    listed = [own] if own else []
    listed += [installed_home(engine) for engine in installed(engines_dir, SLUG)]
    return {home.version: home for home in reversed(listed)}
