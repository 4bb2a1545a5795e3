"""Fetches jars in the background, so that an engine is offered when it can be run, and no run fails for want of them.

What cannot be had is tried again with growing pauses for as long as the agent lives.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from benchagent.java.jars import Jar, JarChecksumError, tool_jars
from benchagent.java.maven import FetchError
from benchagent.java.toolchain import JavaToolchain
from benchagent.link.client import Backoff

log = logging.getLogger(__name__)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 4.0, 300.0
LOOK_EVERY_S = 1.0
FETCHING = "its jars are being fetched"


class JarSupply:
    """`may_fetch`: not while something is measured. `on_news`: a jar is here, or cannot be had, since just now."""

    def __init__(self, toolchain: JavaToolchain, *, may_fetch: Callable[[], bool], on_news: Callable[[], None]) -> None:
        self._toolchain = toolchain
        self._may_fetch, self._on_news = may_fetch, on_news
        # In the order in which they were asked for, each with why it could not be had at the last try.
        self._wanted: dict[Jar, str] = {}
        self._asked = threading.Event()
        self._stopping = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._work, name="jars", daemon=True).start()

    def stop(self) -> None:
        """What is being fetched just now ends with the process."""
        self._stopping.set()
        self._asked.set()

    def why_missing(self, jars: Sequence[Jar]) -> str:
        """Why an engine with these jars cannot be run yet; empty when they are here. They are fetched from now on."""
        compiler = () if self._toolchain.java().compiler else tool_jars("compiler")
        missing = self._toolchain.store.missing([*tool_jars("loadgen"), *compiler, *jars])
        problems = [self._wanted.setdefault(jar, "") for jar in missing]
        if not all(problems):  # what could not be had waits for its next try
            self._asked.set()
        if problem := next(filter(None, problems), ""):
            return f"its jars cannot be had, which is tried again by itself: {problem}"
        return FETCHING if missing else ""

    def _work(self) -> None:
        backoff = Backoff(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        while not self._stopping.is_set():
            problems = [problem for jar in self._missing() if (problem := self._fetch(jar))]
            self._asked.clear()
            if not all(self._wanted[jar] for jar in self._missing()):
                continue  # asked for meanwhile
            pause_s = None
            if problems:
                pause_s = backoff.wait_s()
                log.warning("%s; tried again in %.0f s", "; ".join(dict.fromkeys(problems)), pause_s)
            else:
                backoff.reset()
            self._asked.wait(pause_s)

    def _missing(self) -> list[Jar]:
        return self._toolchain.store.missing([*self._wanted])

    def _fetch(self, jar: Jar) -> str:
        """Why it cannot be had; empty when it is here."""
        while not self._may_fetch() and not self._stopping.wait(LOOK_EVERY_S):
            pass
        if self._stopping.is_set():
            return ""
        before, problem = self._wanted[jar], ""
        try:
            self._toolchain.store.files([jar], log.info)
        except (FetchError, JarChecksumError, OSError) as error:
            problem = str(error)
        self._wanted[jar] = problem
        if problem != before or not problem:
            self._on_news()
        return problem
