"""Everything Java: the runtime, the jars with their checksums, the compiled load generator and its process."""

from __future__ import annotations

from benchagent.java.jars import EngineJars, JarChecksumError
from benchagent.java.loadgen import LoadGenerator
from benchagent.java.maven import FetchError
from benchagent.java.supply import JarSupply
from benchagent.java.toolchain import JavaNotFoundError, JavaRuntime, JavaToolchain

__all__ = [
    "EngineJars",
    "FetchError",
    "JarChecksumError",
    "JarSupply",
    "JavaNotFoundError",
    "JavaRuntime",
    "JavaToolchain",
    "LoadGenerator",
]
