"""Runs one job: provision, let the workload perform, collect, and always clean up."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from benchagent import dbms, workloads
from benchagent.catalog import DBMSS, Durability
from benchagent.catalog.factors import KNOBS
from benchagent.dbms import external
from benchagent.dbms.base import GUEST, ConfigurationRefused, Instance, JobError, ProvisionRequest
from benchagent.dbms.embedded import fit_heap
from benchagent.java import JavaToolchain
from benchagent.job import checks
from benchagent.job.bench import JobBench
from benchagent.job.refused import refuse_changes
from benchagent.job.result import SAMPLED, Description
from benchagent.link import identity
from benchagent.link.client import Clock
from benchagent.link.spool import Spool
from benchagent.machine import process
from benchagent.machine.confinement import Confinement, sandbox
from benchagent.machine.datasets import FRESH, DataPlan, Datasets, copied_by, dataset_key
from benchagent.machine.devices import device_of
from benchagent.machine.fingerprint import LEAST_QUIET, SYNC_RATES, TRIES, BestRate, SyncRates
from benchagent.machine.limits import CgroupError, JobCgroup, Limits
from benchagent.machine.process import Abort, Aborted, Children, ProcessFailed
from benchagent.machine.storages import JobFolders, Storages
from benchagent.machine.system import bytes_on_disk
from benchagent.paths import AgentDirs
from benchagent.protocol import CONFIGURATION, COUNTED_STATES, NOT_SAMPLED, FinishItem, JobSpec
from benchagent.workloads.base import Factors, Workload

log = logging.getLogger(__name__)
MEGABYTE = 1_000_000


class Job:
    """One attempt at one `JobSpec`. `run` never raises; its outcome is in the spool when it returns."""

    # There from when the job is measured.
    _folders: JobFolders
    _data: DataPlan

    def __init__(
        self,
        spec: JobSpec,
        *,
        dirs: AgentDirs,
        toolchain: JavaToolchain,
        spool: Spool,
        abort: Abort | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.spec = spec
        self.run_id = spec["run_id"]
        self.abort = abort or Abort()
        self.job_dir = dirs.jobs / self.run_id
        self._dirs = dirs
        self._spool = spool
        self._clock = clock or Clock()
        self._toolchain = toolchain
        self._storages = Storages(dirs)
        self._children = Children(self.job_dir)
        self._factors = Factors({})
        self.instance: Instance | None = None
        # Without limits until they are made.
        self._server_cgroup = self._generator_cgroup = JobCgroup(self.run_id)
        self._sync_rate: BestRate | None = None
        # Why it is not known.
        self._sync_problem = "it is the disk of a server that the agent did not start"
        self._last_state = ""
        self._connection = spec.get("connection", "")
        self._embedded = not self._connection and spec["dbms"] in DBMSS and DBMSS[spec["dbms"]].embedded
        self._described = Description(embedded=self._embedded)
        self.result = self._described.result

    def run(self) -> FinishItem:
        self._log(f"job {self.run_id}: {self.spec['workload']} on {self.spec['dbms']} {self.spec['dbms_version']}")
        self._state("preparing")
        self.abort.on_request(self._children.kill_all)
        failure = ""
        try:
            outcome, message = self._measure()
        except Aborted:
            outcome, message = self.abort.outcome, self.abort.message
        except (JobError, ProcessFailed) as error:
            outcome, message = "failed", str(error)
            failure = CONFIGURATION if isinstance(error, ConfigurationRefused) else ""
        except Exception as error:
            log.exception("run %s", self.run_id)
            outcome, message = "failed", f"{type(error).__name__}: {error}"
        if self.abort.requested:  # whatever went wrong after that is a consequence
            outcome, message = self.abort.outcome, self.abort.message
        elif outcome == "failed":
            message = self._storages.without_paths(self._described.with_cause(message, self._server_cgroup))
        self._described.complete(self.instance)
        self.result["command_lines"] = [*map(self._storages.without_paths, self.result["command_lines"])]
        if self.instance is not None:
            try:
                self.instance.stop()
            except Exception:
                log.exception("stopping %s", self.spec["dbms"])
        clean_up(self.job_dir, self._storages, self._children)
        self._log(f"{outcome}: {message}" if message else outcome)
        item = FinishItem(kind="finish", outcome=outcome, message=message, at=time.time(), result=self.result)
        if failure and outcome == "failed":
            item["failure"] = failure
        self._spool.finish(self.run_id, item)
        return item

    @property
    def is_preparing(self) -> bool:
        """Nothing is loaded or measured yet."""
        return self._last_state in ("", "preparing")

    # Steps

    def _measure(self) -> tuple[str, str]:
        workload = workloads.workload(self.spec["workload"], self.spec["workload_version"])
        self._factors = workload.factors(self.spec["factors"], self.spec["dbms"])
        names = {role: self._factors.text(f"{role}_storage", "") for role in ("data", "log", "temp", "backup")}
        self._folders = self._storages.make_folders(self.run_id, names)
        (self.job_dir / "tmp").mkdir(mode=0o755)
        self._confine()
        self._data = self._data_plan(workload)
        if not self._connection:  # there the space that counts is the server's
            self._data.ensure_space(self._folders.data, workload.disk_bytes(self._factors))
        with self._limits():
            if self._factors.number("terminals", 0) and not self._connection:
                self._measure_sync_rate()
            with self._server_cgroup.at_full_speed():
                dataset = self._data.restore(self._folders.by_role(), self._log)
                self.instance = self._provision(restored=dataset is not None)
            bench = self._new_bench(workload, self.instance, data_missing=dataset is None)
            self.result["dataset"] = self._data.facts(dataset, workload.dataset(self._factors, self.spec["seed"]))
            if not self.instance.in_memory:
                self._described.condition("caches", self._data.cache_words(dataset))
            self._keep_draft()
            workload.perform(bench)
            self._described.done = True
            outcome = self._judge(bench, workload.reading(self._factors))
            self._described.memory(self._server_cgroup)
            if outcome[0] == "finished":
                self._hand_on()
        return outcome

    def _confine(self) -> None:
        """From now on what runs reaches the job's folders and what is installed, as far as this machine can."""
        if self._connection:  # drivers and tools read keys and certificates wherever its URL names them
            return
        own = [*self._folders.by_role().values(), self.job_dir / "tmp"]
        readable = (*self._toolchain.readable(), self._dirs.engines)
        around = sandbox(self.job_dir, *readable)
        self._children.confinement = Confinement(around, readable, (self.job_dir, *own), secrets=self._dirs.root)
        self._children.own(*own)
        self._log(around.words)

    def _hand_on(self) -> None:
        """Keep the data for the run that goes on with them: within the limits, whose end kills what is still there."""
        instance = self.instance
        if not self._data.handed_on or not instance or instance.in_memory:
            return
        try:
            instance.shut_down()
            self._keep_data()
        except (JobError, ProcessFailed, CgroupError, OSError) as error:
            self._described.warn(f"the data could not be handed on, so the next run loads them anew: {error}")

    @contextmanager
    def _limits(self) -> Iterator[None]:
        """Cages for the DBMS and, with nothing but its CPUs limited, for the load generator."""
        memory = self._factors.number("memory_limit_mb", 0) * MEGABYTE or None
        cpus = self._factors.number("cpus", 0) or None
        throttles = self._storages.throttles(self._folders)
        with (
            Limits(memory, cpus, throttles).cgroup(self.run_id) as self._server_cgroup,
            Limits(cpus=cpus).cgroup(self.run_id) as self._generator_cgroup,
        ):
            if self._server_cgroup.words:
                self._described.condition("limits", self._server_cgroup.words)
            yield

    def _provision(self, *, restored: bool) -> Instance:
        adapter = dbms.adapter(self.spec["dbms"])
        knob_values = {knob.name: value for knob in KNOBS if (value := self._factors.text(knob.name, ""))}
        knobs = [adapter.knob(name, value, self.spec["dbms_version"]) for name, value in knob_values.items()]
        given = [(str(name), str(value)) for name, value in self.spec["settings"]]
        request = ProvisionRequest(
            version=self.spec["dbms_version"],
            settings=[*given, *chain.from_iterable(knobs)],
            connections=self._factors.number("terminals", 0) or 1,
            job_dir=self.job_dir,
            folders=self._folders,
            restored=restored,
            engines_dir=self._dirs.engines,
            toolchain=self._toolchain,
            children=self._children,
            cgroup=self._server_cgroup,
            abort=self.abort,
            log=self._log,
        )
        if self._connection:  # a schema on a server of others, of whose machine nothing is known
            refuse_changes(adapter, self._factors, request.version)
            agent_id = identity.agent_id(self._dirs.identity)
            self._described.condition("server_sampling", NOT_SAMPLED)
            self._described.warn(f"{NOT_SAMPLED}: it was not started by the agent")
            return external.connect(request, self._dirs.root, agent_id, self.spec["dbms"], self._connection)
        instance = adapter.provision(request)
        limit_bytes = self._factors.number("memory_limit_mb", 0) * MEGABYTE
        if self._embedded and limit_bytes and (words := fit_heap(instance, limit_bytes)):
            self._described.condition("heap", words)
        self._described.condition("server_sampling", SAMPLED)
        self._described.storage(self._folders, backup="backup_storage" in self._factors)
        return instance

    def _new_bench(self, workload: Workload, instance: Instance, *, data_missing: bool) -> JobBench:
        return JobBench(
            spec=self.spec,
            job_dir=self.job_dir,
            folders=self._folders,
            toolchain=self._toolchain,
            spool=self._spool,
            children=self._children,
            abort=self.abort,
            server_cgroup=self._server_cgroup,
            generator_cgroup=self._generator_cgroup,
            embedded=self._embedded,
            described=self._described,
            on_state=self._state,
            log=self._log,
            on_news=self._keep_draft,
            data_loaded=self._loaded,
            instance=instance,
            factors=self._factors,
            tables=workload.tables(self._factors),
            reading=workload.reading(self._factors),
            sql=workload.foreign_text(self._factors),
            data_missing=data_missing,
        )

    # Data: loaded anew, a copy, or handed on

    def _data_plan(self, workload: Workload) -> DataPlan:
        own, *others = self._storages.keeping(self._folders.storages["data"])
        # Commit groups leave the data as they are; maintenance in the background works on them from the load on.
        deciding = [name for name in (*workload.data_factors, "background_maintenance") if name in self._factors]
        factors = {name: self._factors.text(name) for name in deciding}
        if workload.foreign_sql:
            factors["owner"] = GUEST
        origin = self._factors.text("data_origin", "") or FRESH
        beside_data = dbms.adapter(self.spec["dbms"]).settings_beside_data
        key = dataset_key(self.spec, factors, origin, log_apart=self._folders.log_apart, beside_data=beside_data)
        copy = copied_by(self._children, lambda: self._server_cgroup)
        return DataPlan(origin, key, Datasets(*own, copy), [Datasets(*other, copy) for other in others])

    def _loaded(self) -> None:
        """The data are there: keep a copy when later repeats shall start from the same."""
        instance = self.instance
        if instance is not None and not instance.in_memory and self._data.for_each_repeat:
            instance.shut_down()
            self._keep_data()
            instance.start()

    def _keep_data(self) -> None:
        facts = {"run_id": self.run_id, "at": time.time(), "dataset": self.result["dataset"]}
        folders = self._folders.by_role()
        with self._server_cgroup.at_full_speed():
            kept = self._data.keep(folders, facts, sum(map(bytes_on_disk, folders.values())))
        if not kept:
            self._described.warn("there is no space to keep the data for later repeats")

    # Judgement

    def _judge(self, bench: JobBench, reading: frozenset[str]) -> tuple[str, str]:
        """Outcome and message. Integrity decides; what is merely suspicious becomes a warning."""
        integrity, suspicious = list(bench.checks), []
        summary = bench.collector.summary
        if summary is not None:
            integrity = [*checks.integrity(summary, self._spool.seconds(self.run_id)), *integrity]
            promised = self._described.promised
            claims_disk = promised is not None and promised.durability is Durability.POWER_LOSS
            if claims_disk:
                self._measure_again_before_accusing(checks.writing_tps(summary, reading))
            if claims_disk and self._sync_problem and checks.writing_tps(summary, reading):
                self.result["warnings"].append(f"disk rate not known: {self._sync_problem}")
            suspicious = checks.suspicions(
                summary,
                terminals=self._factors.number("terminals", 0),
                closed_loop=not self._factors.decimal("rate_per_s", 0),
                generator_cores=None if self._embedded else bench.collector.measured("driver_cpu_cores"),
                observation=self._described.observation if claims_disk else None,
                reading=reading,
            )
        if self._sync_rate is not None:
            self._described.metric("sync_rate_per_s", self._sync_rate.fdatasync_per_s)
        self.result["checks"] = [*integrity, *suspicious]
        self.result["warnings"] += [check["detail"] for check in suspicious if not check["ok"]]
        broken = [check["detail"] for check in integrity if not check["ok"]]
        return ("failed", "; ".join(broken)) if broken else ("finished", "")

    def _measure_sync_rate(self, *, anew: bool = False) -> None:
        """Measure the sync rate of the device that holds the log; None if that failed. `anew` makes one try more."""
        folder = self._folders.log
        rates = SyncRates(self._dirs.root / SYNC_RATES)
        try:
            self._sync_rate = (rates.again if anew else rates.of)(device_of(folder), folder, self._server_cgroup)
        except JobError as error:
            self._sync_rate, self._sync_problem = None, str(error)
            self._described.saw(syncs_per_s=None, syncs_known_by="")
        else:
            rate, self._sync_problem = self._sync_rate, ""
            self._described.saw(syncs_per_s=rate.fdatasync_per_s, syncs_known_by=rate.words)

    def _measure_again_before_accusing(self, tps: float) -> None:
        """A disk that was measured while something else wrote is faster than was known: the load may be over now.

        Without quiet tries, and where none could be made, nothing is known of it.
        """
        if self._described.observation.has_flushes is not None:
            return
        terminals = self._factors.number("terminals", 0)
        for _ in range(TRIES):
            if self._sync_rate is None or tps <= terminals * self._sync_rate.fdatasync_per_s:
                return
            self._measure_sync_rate(anew=True)
        rate = self._sync_rate
        if rate and tps > terminals * rate.fdatasync_per_s and rate.quiet < LEAST_QUIET:
            self._sync_problem = f"the machine was busy at each try ({rate.tries[-1].busy})"
            self._described.saw(syncs_per_s=None, syncs_known_by="")

    def _keep_draft(self) -> None:
        self._described.fill(self.instance)
        self._spool.save_draft(self.run_id, self.result)

    # Around

    def _state(self, state: str) -> None:
        if state != self._last_state:
            self._last_state = state
            clock = self._clock.best() if state in COUNTED_STATES else None
            self._spool.add_state(self.run_id, state, self._clock.wall(), clock)

    def _log(self, line: str) -> None:
        told = self._storages.without_paths(line)
        self._spool.add_log(self.run_id, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {told}\n")


def clean_up(job_dir: Path, storages: Storages, children: Children | None = None) -> None:
    """Kill what is left of a job and remove its folders: by the last one the next start knows what to clear.

    Never raises.
    """
    try:
        if children:
            children.kill_all()
        process.kill_leftovers(job_dir)
        storages.clear(job_dir.name)
        shutil.rmtree(job_dir, ignore_errors=True)
        if job_dir.exists():
            log.warning("could not remove all of %s", job_dir)
    except Exception:
        log.exception("cleaning up %s", job_dir)
