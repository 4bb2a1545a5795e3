"""Which installations of MySQL and MariaDB there are, side by side."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchagent.dbms.discovery import version_of
from benchagent.dbms.mysql.product import MARIADB, MYSQL, Product
from benchagent.engines import installed

# Colon-separated lists of folders that replace the usual folders.
DIRS_VARIABLES = {MYSQL: "BENCHAGENT_MYSQL_DIRS", MARIADB: "BENCHAGENT_MARIADB_DIRS"}
USUAL_FOLDERS = ("/usr", "/usr/local/mysql*", "/usr/local/mariadb*", "/opt/mysql*", "/opt/mariadb*")
FOLDERS = ("bin", "sbin", "libexec", "scripts")
SERVERS = ("mariadbd", "mysqld")
VERSION = re.compile(r"Ver (\d+\.\d+\.\d+\S*)")
# The script that makes a data directory, where the server cannot do so itself.
INSTALLERS = ("mariadb-install-db", "mysql_install_db")


def _program(base: Path, *names: str) -> Path | None:
    """The first of these programs below a folder."""
    paths = (base / folder / name for name in names for folder in FOLDERS)
    return next((path for path in paths if os.access(path, os.X_OK)), None)


@dataclass(frozen=True)
class Installation:
    """`base` is what the server calls basedir; `environment`: variables that its programs need.

    `problem`: why it cannot be used, empty when it can.
    """

    product: Product
    base: Path
    server: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    def program(self, *names: str) -> Path | None:
        return _program(self.base, *names)

    @property
    def plugins(self) -> Path | None:
        """Where they are if the whole tree lies elsewhere than it was built for."""
        paths = (self.base / part for part in ("lib/mysql/plugin", "lib/plugin"))
        return next((path for path in paths if path.is_dir()), None)


def all_installations(slug: str, engines_dir: Path | None = None) -> list[Installation]:
    """All, those that cannot be used too: the machine's own first, then those that the agent has installed."""
    listed = [_looked_at(base, server, {}) for base, server in _on_the_machine(slug)]
    for engine in installed(engines_dir, slug) if engines_dir else []:
        server, stated = engine.layout("server"), Product(engine.dbms, engine.version)
        listed.append(_looked_at(server.parent.parent, server, engine.environment(), stated))
    return [installation for installation in listed if installation.product.slug == slug]


def installations(slug: str, engines_dir: Path | None = None) -> dict[str, Installation]:
    """Those that can be used, by version; the first wins."""
    usable = [installation for installation in all_installations(slug, engines_dir) if not installation.problem]
    return {installation.product.version: installation for installation in reversed(usable)}


def _on_the_machine(slug: str) -> Iterator[tuple[Path, Path]]:
    """basedir and server, each server once."""
    bases: list[Path] = []
    if (override := os.environ.get(DIRS_VARIABLES[slug])) is not None:
        for root in (Path(part) for part in override.split(":") if part):
            bases += [root, root / "usr", *sorted(root.glob("*/"), reverse=True)]
    else:
        for pattern in USUAL_FOLDERS:
            bases += sorted(Path("/").glob(pattern[1:]), reverse=True)
        bases += [Path(part).parent for part in os.environ.get("PATH", "").split(":") if part]
    seen = set()
    for base in bases:
        server = _program(base, *SERVERS)
        if server is not None and server.resolve() not in seen:
            seen.add(server.resolve())
            yield base, server


def _looked_at(base: Path, server: Path, environment: Mapping[str, str], stated: Product | None = None) -> Installation:
    """`stated`: what the record of an installed engine says, of a build with what tells it from others of its version;
    else names tell of a server that does not answer.
    """
    printed, problem = version_of("--no-defaults --version", VERSION, server, environment)
    text = printed or str(server)
    numbers = re.search(r"\d+(\.\d+){1,2}", text)
    product = Product(MARIADB if "mariadb" in text.lower() else MYSQL, numbers[0] if numbers else "unknown")
    if stated and (not printed or (stated.slug == product.slug and stated.version.startswith(product.version))):
        product = stated
    if not problem and not makes_its_data(product) and _program(base, *INSTALLERS) is None:
        problem = f"{base} has no {INSTALLERS[-1]}"
    return Installation(product, base, server, dict(environment), problem)


def makes_its_data(product: Product) -> bool:
    """True where the server itself makes a data directory."""
    return product.since((5, 7), None)
