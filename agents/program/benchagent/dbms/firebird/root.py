"""The private root of one server: its configuration, its locks, its users. Nothing of the machine's own is touched.

Three traps: without SecurityDatabase even a private root changes the users of the machine's own installation; an
installation that was unpacked looks for its plugins where it was built to lie, so each is named with its path; and a
module that is reached through a symbolic link is refused ("entrypoint does not exist"), so every path is resolved.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from benchagent.dbms.base import Settings
from benchagent.dbms.firebird.discovery import Home
from benchagent.dbms.private_server import hand_over
from benchagent.machine.users import ServiceUser

SYSDBA = "SYSDBA"
PLUGIN_NAMES = {"udr_engine": "UDR"}
# Only in-process: no way to reach a server, by TCP or otherwise.
EMBEDDED_FOLDER = "embedded"


@dataclass(frozen=True)
class Root:
    """Environment and files for the server and for tools. `folder` is what FIREBIRD points to."""

    folder: Path
    lock: Path
    home: Home

    @property
    def security_database(self) -> Path:
        return self.folder / "security.fdb"

    def environment(self, password: str = "") -> dict[str, str]:
        """For programs of this root. Without a password: for those that open files themselves."""
        folders = {"FIREBIRD": str(self.folder), "FIREBIRD_LOCK": str(self.lock), "FIREBIRD_TMP": str(self.lock)}
        secret = {"ISC_PASSWORD": password} if password else {}
        return {**folders, **self.home.environment, "ISC_USER": SYSDBA, **secret}

    def write_configuration(self, settings: Settings) -> None:
        """firebird.conf with `settings` in their order, duplicates kept."""
        quoted = [(name, f'"{value}"' if "#" in value and '"' not in value else value) for name, value in settings]
        lines = [f"{name} = {value}\n" for name, value in quoted]
        (self.folder / "firebird.conf").write_text("".join(lines), encoding="utf-8")


def make_root(folder: Path, home: Home, user: ServiceUser | None, *, lock: Path | None = None) -> Root:
    """A folder that may be used as FIREBIRD. With `lock`: one that shares the locks of another root."""
    folder = folder.resolve()
    root = Root(folder, lock or folder / "lock", home)
    for made in dict.fromkeys((folder, root.lock)):
        made.mkdir(mode=0o755, exist_ok=True)
    links = {"firebird.msg": home.messages, "plugins": home.plugins, "tzdata": home.time_zones}
    for name, target in links.items():
        if target is not None:
            (folder / name).symlink_to(target)
    # Through a link WIN1252 would be "not installed".
    shutil.copytree(home.intl, folder / "intl")
    plugins = sorted(home.plugins.resolve().glob("lib*.so"))
    named = [(path.stem.removeprefix("lib"), path) for path in plugins]
    lines = [f"Plugin = {PLUGIN_NAMES.get(name, name)} {{\n\tModule = {path}\n}}\n" for name, path in named]
    (folder / "plugins.conf").write_text("".join(lines))
    (folder / "databases.conf").write_text("")
    hand_over([folder, root.lock], user)
    return root
