"""The agent's main loop: register, poll, claim, run, report."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from benchagent import __version__
from benchagent.dbms import discover, external
from benchagent.dbms.base import EngineContext
from benchagent.java import JarSupply, JavaToolchain
from benchagent.job import errands
from benchagent.job.job import Job, clean_up
from benchagent.job.observer import Observer, ended
from benchagent.job.result import empty_result, partial_counts
from benchagent.link import identity as identities
from benchagent.link.client import Backoff, Client, ClientError, Refused, Unreachable
from benchagent.link.identity import Identity
from benchagent.link.sender import Heartbeat, Sender
from benchagent.link.spool import Spool, SpooledJob
from benchagent.machine.confinement import sandbox
from benchagent.machine.devices import hardware_facts
from benchagent.machine.limits import remove_leftover_cgroups
from benchagent.machine.observations import Observations
from benchagent.machine.process import Abort
from benchagent.machine.storages import Storages
from benchagent.paths import AgentDirs
from benchagent.protocol import (
    POLL_IDLE_S,
    PROTOCOL_VERSION,
    Claimed,
    ConfinementFacts,
    EngineFacts,
    FinishItem,
    HardwareFacts,
    Ordered,
    Poll,
    PollAnswer,
    Registration,
)

log = logging.getLogger(__name__)
REDISCOVER_S = 15.0
AnyClaim = TypeVar("AnyClaim", Claimed, Ordered)
INTERRUPTED = "the agent was interrupted"
FLUSH_AT_END_S = 2.0


class Stop(Exception):
    """The agent cannot go on; the text says what to do."""


class Worker:
    def __init__(
        self,
        dirs: AgentDirs,
        toolchain: JavaToolchain,
        *,
        server: str,
        name: str,
        code_file: Path | None = None,
        plain_http: bool = False,
        ca: Path | None = None,
    ) -> None:
        self._dirs = dirs
        self._toolchain = toolchain
        self._server, self._name, self._code_file = server, name, code_file
        self._client = Client(server, plain_http=plain_http, ca=ca)
        self._spool = Spool(dirs.spool)
        self._sender = Sender(self._client, self._spool, self._on_cancel)
        self._stopping, self._aborting = threading.Event(), False
        self._abort = Abort()
        self._running = ""
        self._lock = threading.Lock()
        self._job: Job | None = None
        self._supply = JarSupply(toolchain, may_fetch=self._may_fetch, on_news=self._look_again)
        self._storages = Storages(dirs)
        self._errands = errands.Errands(dirs, self._client)
        self.is_updated = False
        # What the last look around has found, as polls tell it.
        self._seen: dict[str, Any] = {}
        self._looked_at = float("-inf")
        self._reported = False
        self._status = ""

    def run(self) -> None:
        """Work until `stop`. Raises `Stop` with words for the operator."""
        self._recover()
        self._storages.open()
        self._supply.start()
        try:
            self._work()
        finally:
            self._errands.stop()
            self._supply.stop()
            self._storages.close()

    def _work(self) -> None:
        try:
            identity = identities.load(self._dirs.identity) or self._register()
        except identities.IdentityError as error:
            raise Stop(str(error)) from error
        if identity is None:
            return
        self._client.token = identity.token
        self._sender.start()
        try:
            self._loop()
        finally:
            if not self._sender.flush(FLUSH_AT_END_S):
                log.warning("not everything could be sent; it goes on at the next start")
            self._sender.stop()
        self._leave()

    def finish(self) -> None:
        """Take no more jobs, and end when the running one has ended. May be called from any thread."""
        self._stopping.set()

    def stop(self) -> None:
        """End soon: a running job ends as `lost`. May be called from any thread."""
        self._aborting = True
        self._stopping.set()
        with self._lock:
            abort = self._abort
        abort.request("lost", "the agent was stopped")

    # Start

    def _recover(self) -> None:
        """Kill what an earlier life left behind and close its jobs, with what was measured so far."""
        for folder in self._dirs.jobs.iterdir():
            log.warning("removing what is left of job %s", folder.name)
            remove_leftover_cgroups(folder.name)
            clean_up(folder, self._storages)
        for job in self._spool.unfinished():
            observing = "observation" in job.spec
            self._spool.finish(job.run_id, ended(INTERRUPTED, None) if observing else self._interrupted(job))
            if connection := job.spec.get("connection"):
                external.clean_after_kill(self._dirs, self._toolchain, str(connection))
        self._spool.trim()

    def _interrupted(self, job: SpooledJob) -> FinishItem:
        result = self._spool.draft(job.run_id) or empty_result()
        seconds = [(bool(second["warm_up"]), second["n"]) for second in self._spool.seconds(job.run_id)]
        if seconds:
            others = [metric for metric in result["metrics"] if not metric["name"].startswith("transactions")]
            result["metrics"] = [*others, *partial_counts(seconds)]
        return {"kind": "finish", "outcome": "lost", "message": INTERRUPTED, "at": time.time(), "result": result}

    def _register(self) -> Identity | None:
        """None when the agent was stopped before the server answered."""
        message: Registration = {
            "protocol": PROTOCOL_VERSION,
            "agent_version": __version__,
            "name": self._name,
            "hardware": self._hardware(),
            "engines": self._discovered(),
            "places": self._storages.facts(),
            "observations": Observations(self._dirs.root).facts(),
            "confinement": self._confinement(),
        }
        code = identities.one_time_code(self._code_file)
        if self._code_file and not code:
            raise Stop(f"{self._code_file} holds no one-time code: it is not there, or empty")
        if code:
            message["code"] = code
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                answer = self._client.register(message)
            except Unreachable as error:
                self._wait(backoff, error)
            except Refused as error:
                raise Stop(f"the server refused to register this agent: {error.detail}") from error
            else:
                made = Identity(answer["agent_id"], answer["token"], self._server)
                identities.save(self._dirs.identity, made)
                log.info("registered as %s (%s)", answer["agent_id"], answer["status"])
                return made
        return None

    # Work

    def _loop(self) -> None:
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                answer = self._client.poll(self._poll_message())
            except Unreachable as error:
                self._wait(backoff, error)
                continue
            except Refused as error:
                raise Stop(self._refusal(error)) from error
            backoff.reset()
            self._reported = True
            words = f"{answer['status']} {answer.get('message', '')}".strip()
            if words != self._status:
                log.info("server: %s", words)
                self._status = words
            self._run_errand(answer)
            if "observe" in answer:
                self._observe(answer["observe"])
            elif answer["job"] and not self._errands.is_busy:
                self._run_job(answer["job"])
            else:
                tempo_s = answer.get("poll_after_s") or POLL_IDLE_S
                self._stopping.wait(tempo_s * random.uniform(0.9, 1.1))  # noqa: S311

    def _run_errand(self, answer: PollAnswer) -> None:
        """Begin what the answer names. One that it names no more, the server has heard the end of."""
        if "errand" in answer:
            self._errands.begin(answer["errand"], self._seen["errands"])
        elif self._errands.report():
            if self._errands.is_updated:
                log.info("this program was updated and begins anew")
                self.is_updated = True
                self._stopping.set()
            self._errands.stop()
            self._look_again()

    def _leave(self) -> None:
        """Tell the server, so that nothing is given to an agent that is gone. It finds out by itself, too."""
        try:
            self._client.poll({"protocol": PROTOCOL_VERSION, "agent_version": __version__, "leaving": True})
        except ClientError as error:
            log.info("the server was not told that this agent ends: %s", error)

    def _poll_message(self) -> Poll:
        message: Poll = {"protocol": PROTOCOL_VERSION, "agent_version": __version__}
        if report := self._errands.report():
            message["errand"] = report
        if time.monotonic() - self._looked_at > REDISCOVER_S or not self._reported:
            before = self._seen
            self._storages.open()
            self._seen = {
                "engines": self._discovered(), "places": self._storages.facts(),
                "observations": Observations(self._dirs.root).facts(),
                "errands": errands.possible(self._dirs, self._toolchain, self._storages),
            }  # fmt: skip
            if not self._reported:
                message["confinement"] = self._confinement()
            if self._seen["places"] != before.get("places") or not self._reported:
                # The disk of a storage that was named meanwhile is told of before a run can refer to it.
                message["hardware"] = self._hardware()
            if self._seen != before or not self._reported:
                message.update(cast(Poll, self._seen))
                self._reported = False
        return message

    def _hardware(self) -> HardwareFacts:
        facts = hardware_facts(self._dirs.root)
        return {**facts, "storage": self._storages.named(facts["storage"])}

    def _confinement(self) -> ConfinementFacts:
        around = sandbox(self._dirs.jobs, self._dirs.engines, *self._toolchain.readable())
        return {"confined": bool(around), "words": around.words}

    def _discovered(self) -> list[EngineFacts]:
        self._looked_at = time.monotonic()
        installed = frozenset(marker.name for marker in self._dirs.engines.iterdir())
        return discover(EngineContext(self._toolchain, installed, self._dirs.jobs, self._dirs.engines, self._supply))

    def _look_again(self) -> None:
        self._looked_at = float("-inf")

    def _may_fetch(self) -> bool:
        """Not while a job loads or measures: a download would show in its figures."""
        job = self._job
        return job is None or job.is_preparing

    def _run_job(self, run_id: str) -> None:
        claimed = self._claimed(self._client.claim, run_id)
        if claimed is None:
            return
        spec = claimed["job"]
        with self._at_work(run_id, claimed):
            heartbeat = Heartbeat(self._client, claimed, self._on_cancel)
            heartbeat.start()
            try:
                log.info("run %s: %s on %s", run_id, spec["workload"], spec["dbms"])
                self._job = job = Job(
                    spec,
                    dirs=self._dirs,
                    toolchain=self._toolchain,
                    spool=self._spool,
                    abort=self._abort,
                    clock=self._client.clock,
                )
                item = job.run()
                log.info("run %s: %s %s", run_id, item["outcome"], item["message"])
            finally:
                self._job = None
                heartbeat.stop()

    def _observe(self, run_id: str) -> None:
        order = self._claimed(self._client.claim_observation, run_id)
        if order is None:
            return
        with self._at_work(run_id, order):
            log.info("run %s: observing %s", run_id, order["job"]["observation"])
            observer = Observer(order, dirs=self._dirs, client=self._client, spool=self._spool, abort=self._abort)
            problem = observer.run()
            log.info("run %s: observed %s", run_id, problem)

    def _claimed(self, claim: Callable[[str], AnyClaim], run_id: str) -> AnyClaim | None:
        """None when it cannot be had (now)."""
        try:
            return claim(run_id)
        except Unreachable as error:
            log.warning("claim of %s failed: %s", run_id, error)
        except Refused as error:
            log.info("run %s is not ours (any more): %s", run_id, error.detail)
        self._stopping.wait(1)
        return None

    @contextmanager
    def _at_work(self, run_id: str, claimed: Claimed | Ordered) -> Iterator[None]:
        """What the server cancels or the operator stops meanwhile is this; afterwards its outcome is sent."""
        with self._lock:
            self._abort, self._running = Abort(), run_id
        self._spool.add_job(claimed, time.time())
        if self._aborting:
            self._abort.request("lost", "the agent was stopped")
        try:
            yield
        finally:
            self._running = ""
        self._sender.flush(FLUSH_AT_END_S)
        self._spool.trim()

    def _on_cancel(self, run_id: str, outcome: str, message: str) -> None:
        with self._lock:
            abort = self._abort if run_id == self._running else None
        if abort:
            abort.request(outcome, message)

    # Words

    def _refusal(self, error: Refused) -> str:
        if error.status == 426:
            return f"server and agent do not speak the same protocol: {error.detail}"
        if error.status == 401:
            return (
                f"the server does not know this agent ({error.detail}). If it was removed or its token was changed on "
                f"the agents page, remove {self._dirs.identity} and start again: the agent then registers anew"
            )
        return f"the server refuses this agent: {error}"

    def _wait(self, backoff: Backoff, error: Exception) -> None:
        wait_s = backoff.wait_s()
        log.warning("no answer, next try in %.1f s: %s", wait_s, error)
        self._stopping.wait(wait_s)
