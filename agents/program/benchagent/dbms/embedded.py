"""Common to the engines that run inside the load generator's JVM: their versions are groups of jars."""

from __future__ import annotations

from pathlib import Path

from benchagent.dbms.base import Adapter, EngineContext, JobError, ProvisionRequest
from benchagent.java import EngineJars, JavaToolchain
from benchagent.protocol import EngineFacts


def engine_name(group: EngineJars) -> str:
    return f"{group.dbms}-{group.version}"


class EmbeddedAdapter(Adapter):
    """An embedded engine is there when its jars are in the default set or were added with `engines install`."""

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        reason = java_problem(context.toolchain)
        return [
            {
                "dbms": self.slug,
                "version": group.version,
                "available": not reason,
                "reason": reason,
                "path": "in the load generator",
            }
            for group in context.toolchain.engine_groups()
            if group.dbms == self.slug and (group.default or engine_name(group) in context.installed)
        ]

    def class_path(self, request: ProvisionRequest) -> list[Path]:
        """Jars of the requested version, fetched when they are not here yet. Raises `JobError`."""
        return jars(request.toolchain, self.slug, request.version)


def java_problem(toolchain: JavaToolchain) -> str:
    """Empty when a Java runtime is there."""
    try:
        toolchain.java()
    except Exception as error:  # whatever it is, the form shows it as the reason
        return f"no Java runtime: {error}"
    return ""


def jars(toolchain: JavaToolchain, dbms: str, version: str | None = None) -> list[Path]:
    """Class path of a group of jars; of the default one when no version is given."""
    for group in toolchain.engine_groups():
        if group.dbms == dbms and (group.version == version if version else group.default):
            try:
                return toolchain.class_path(group)
            except Exception as error:  # no network, a changed jar, no space: the run page says which
                raise JobError(f"the jars of {engine_name(group)} cannot be had: {error}") from error
    raise JobError(f"this agent has no jars for {dbms} {version or ''}".rstrip())


def folders(request: ProvisionRequest) -> tuple[Path, Path]:
    """Folders for the data and for the load generator."""
    made = request.job_dir / "data", request.job_dir / "driver"
    for folder in made:
        folder.mkdir()
    return made
