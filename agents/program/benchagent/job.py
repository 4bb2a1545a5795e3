"""Runs one job: provision, load, measure, collect, and always clean up."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from benchagent import checks, dbms, histogram, process, workloads
from benchagent.abort import Abort, Aborted
from benchagent.catalog import DBMSS
from benchagent.collect import Collector
from benchagent.dbms.base import EFFECTIVE, Instance, JobError, ProvisionRequest
from benchagent.java import JavaToolchain, LoadGenerator
from benchagent.paths import AgentDirs
from benchagent.process import Children, ProcessFailed
from benchagent.protocol import Check, FinishItem, JobResult, JobSpec
from benchagent.results import driver_facts, empty_result, metrics
from benchagent.sampling import Sampler
from benchagent.spool import Spool
from benchagent.storage import device_of
from benchagent.workloads.base import Steps, Workload

log = logging.getLogger(__name__)
EFFECTIVE_PREFIX = f"{EFFECTIVE}:"
ROLES = ("data", "log", "temp")


class Job:
    """One attempt at one `JobSpec`. `run` never raises; its outcome is in the spool when it returns."""

    def __init__(
        self, spec: JobSpec, *, dirs: AgentDirs, toolchain: JavaToolchain, spool: Spool, abort: Abort | None = None
    ) -> None:
        self.spec = spec
        self.run_id = spec["run_id"]
        self.abort = abort or Abort()
        self.job_dir = dirs.jobs / self.run_id
        self.result: JobResult = empty_result()
        self._spool = spool
        self._toolchain = toolchain
        self._children = Children(self.job_dir)
        self._instance: Instance | None = None
        self._collector: Collector | None = None
        self._factors: dict[str, int] = {}
        self._effective: dict[str, str] = {}
        self._last_state = ""
        self._embedded = spec["dbms"] in DBMSS and DBMSS[spec["dbms"]].embedded

    def run(self) -> FinishItem:
        self._log(f"job {self.run_id}: {self.spec['workload']} on {self.spec['dbms']} {self.spec['dbms_version']}")
        self._state("preparing")
        self.abort.on_request(self._children.kill_all)
        try:
            outcome, message = self._measure()
        except Aborted:
            outcome, message = self.abort.outcome, self.abort.message
        except (JobError, ProcessFailed) as error:
            outcome, message = "failed", str(error)
        except Exception as error:
            log.exception("run %s", self.run_id)
            outcome, message = "failed", f"{type(error).__name__}: {error}"
        if self.abort.requested:  # whatever went wrong after that is a consequence
            outcome, message = self.abort.outcome, self.abort.message
        self._describe()
        self._clean_up()
        self._log(f"{outcome}: {message}" if message else outcome)
        item: FinishItem = {
            "kind": "finish",
            "outcome": outcome,
            "message": message,
            "at": time.time(),
            "result": self.result,
        }
        self._spool.finish(self.run_id, item)
        return item

    # Steps

    def _measure(self) -> tuple[str, str]:
        workload = workloads.workload(self.spec["workload"], self.spec["workload_version"])
        self._factors = workload.factors(self.spec["factors"])
        self._make_dir(workload)
        instance = self._provision()
        steps = workload.steps(instance.dialect, self._factors, self.spec["seed"])
        self.result["dataset"] = workload.dataset(self._factors, self.spec["seed"])
        self._generate_load(instance, steps)
        return self._judge(workload)

    def _make_dir(self, workload: Workload) -> None:
        (self.job_dir / "tmp").mkdir(mode=0o755, parents=True)
        free, needed = shutil.disk_usage(self.job_dir).free, workload.disk_bytes(self._factors)
        if free < needed:
            raise JobError(f"{needed / 1e9:.1f} GB of disk space are needed, {free / 1e9:.1f} GB are free")

    def _provision(self) -> Instance:
        settings = [(str(name), str(value)) for name, value in self.spec["settings"]]
        request = ProvisionRequest(
            version=self.spec["dbms_version"],
            settings=settings,
            connections=self._factors["terminals"],
            job_dir=self.job_dir,
            toolchain=self._toolchain,
            children=self._children,
            abort=self.abort,
            log=self._log,
        )
        self._instance = instance = dbms.adapter(self.spec["dbms"]).provision(request)
        device = device_of(instance.data_path)
        self.result["storage"] = [{"role": role, "device": device, "path": str(instance.data_path)} for role in ROLES]
        self._keep_draft()
        return instance

    def _generate_load(self, instance: Instance, steps: Steps) -> None:
        generator = LoadGenerator(
            self._toolchain,
            instance.class_path,
            heap_mb=instance.heap_mb,
            cwd=instance.driver_dir,
            env=self._children.environment(**instance.jvm_environment),
            spawn=self._children.spawn,
        )
        self.abort.check()
        generator.start(load_job(instance, steps))
        instance.command_lines.append(generator.command_line)
        self._collector = collector = self._new_collector(instance, generator)
        try:
            for event in generator.events():
                collector.take(event)
        finally:
            generator.abort()
        self.abort.check()
        self._log_trouble(generator, instance)
        if collector.error:
            raise JobError(_error_words(collector.error))
        if collector.summary is None:
            raise JobError("the load generator ended without a result; the end of its output is in the log")

    def _log_trouble(self, generator: LoadGenerator, instance: Instance) -> None:
        """Keep what load generator and DBMS wrote when something went wrong: their files will be gone."""
        summary = self._collector.summary if self._collector else None
        if summary and not summary["dead_terminals"]:
            return
        for source, text in (("load generator", generator.stderr_tail), (self.spec["dbms"], instance.log_tail())):
            for line in text.splitlines():
                self._log(f"{source}: {line}")

    def _new_collector(self, instance: Instance, generator: LoadGenerator) -> Collector:
        device = device_of(instance.data_path)
        return Collector(
            self._spool,
            self.run_id,
            warm_up_s=self._factors["warm_up_s"],
            on_state=self._state,
            on_log=self._log,
            on_query=self._queried,
            make_sampler=lambda: Sampler(driver_pid=generator.pid, server_pids=instance.server_pids, device=device),
        )

    def _judge(self, workload: Workload) -> tuple[str, str]:
        """Outcome and message. Integrity decides; what is merely suspicious becomes a warning."""
        collector = self._collector
        if collector is None or collector.summary is None:
            raise JobError("the load generator ended without a result")
        summary = {**collector.summary, "histogram_count": _histogram_count(collector.summary)}
        found = [
            checks.terminals_alive(summary),
            checks.something_measured(summary),
            *workload.checks(summary, collector.rows),
            checks.percentiles_ordered(summary),
            checks.counts_agree(summary, self._spool.seconds(self.run_id)),
        ]
        suspicious = self._suspicions(summary)
        self.result["checks"] = [*found, *suspicious]
        self.result["warnings"] += [check["detail"] for check in suspicious if not check["ok"]]
        broken = [check["detail"] for check in found if not check["ok"]]
        return ("failed", "; ".join(broken)) if broken else ("finished", "")

    def _suspicions(self, summary: Mapping[str, Any]) -> list[Check]:
        found = [checks.little_law(summary, self._factors["terminals"])]
        cores = self._collector.measured("driver_cpu_cores") if self._collector else []
        if cores and not self._embedded:
            found.append(checks.client_bound(sum(cores) / len(cores), psutil.cpu_count() or 1))
        return found

    # What is known so far

    def _queried(self, name: str) -> None:
        """The settings in force are known before the run: a run that is cut short has them too."""
        if not name.startswith(EFFECTIVE_PREFIX) or self._instance is None or self._collector is None:
            return
        wanted = {EFFECTIVE_PREFIX + query for query in self._instance.effective_queries()}
        if wanted <= self._collector.rows.keys():
            rows = {query.removeprefix(EFFECTIVE_PREFIX): self._collector.rows[query] for query in wanted}
            settings = self._instance.effective_settings(rows)
            self.result["effective_settings"] = settings
            durability, reason = self._instance.durability(dict(settings))
            self.result["durability"] = {"durability": durability.value, "reason": reason}
            self._log(f"durability {durability.value}: {reason}")
            self._keep_draft()

    def _describe(self) -> None:
        """Fill in what the run has shown, as far as it came. Never raises: a result without it is better than none."""
        try:
            self._fill_result()
        except Exception:
            log.exception("the result of run %s is incomplete", self.run_id)
            self.result["warnings"].append("the result is incomplete: see the agent's log")

    def _fill_result(self) -> None:
        instance, collector = self._instance, self._collector
        if instance is not None:
            self.result["ignored_settings"] = list(dict.fromkeys(instance.ignored_settings))
            self.result["command_lines"] = [*instance.command_lines]
        if collector is None:
            return
        connected, summary = collector.connected, collector.summary
        self.result["product"] = f"{connected.get('product', '')} {connected.get('product_version', '')}".strip()
        self.result["driver"] = driver_facts(collector, self._embedded)
        size = instance.size_bytes() if instance and collector.phases.get("load") else None
        self.result["metrics"] = metrics(collector, psutil.cpu_count() or 1, size)
        if summary:
            self.result["per_terminal"] = list(summary["per_terminal"])
            self.result["histogram"] = summary["histogram"]
        elif collector.samples:
            self.result["warnings"].append(f"partial: {len(collector.measured('tps'))} measured seconds")

    def _keep_draft(self) -> None:
        self._fill_result()
        self._spool.save_draft(self.run_id, self.result)

    # Around

    def _state(self, state: str) -> None:
        if state != self._last_state:
            self._last_state = state
            self._spool.add_state(self.run_id, state, time.time())

    def _log(self, line: str) -> None:
        self._spool.add_log(self.run_id, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {line}\n")

    def _clean_up(self) -> None:
        if self._instance is not None:
            try:
                self._instance.stop()
            except Exception:
                log.exception("stopping %s", self.spec["dbms"])
        clean_up(self.job_dir, self._children)


def clean_up(job_dir: Path, children: Children | None = None) -> None:
    """Kill what is left of a job and remove its folder. Never raises."""
    try:
        if children:
            children.kill_all()
        process.kill_leftovers(job_dir)
        shutil.rmtree(job_dir, ignore_errors=True)
        if job_dir.exists():
            log.warning("could not remove all of %s", job_dir)
    except Exception:
        log.exception("cleaning up %s", job_dir)


def load_job(instance: Instance, steps: Steps) -> dict[str, Any]:
    """The one JSON document that the load generator gets."""
    before = [{"op": "execute", "phase": "setup", "statements": list(instance.setup_sql)}] if instance.setup_sql else []
    effective = [
        {"op": "query", "name": EFFECTIVE_PREFIX + name, "sql": sql}
        for name, sql in instance.effective_queries().items()
    ]
    after = [{"op": "query", "name": name, "sql": sql} for name, sql in steps.queries.items()]
    connection, transaction, retryable = instance.connection, instance.transaction, instance.retryable
    return {
        "version": 1,
        "connection": {
            "url": connection.url,
            "driver_class": connection.driver_class,
            "properties": dict(connection.properties),
        },
        "session": list(instance.session_sql),
        "transaction": {"begin": transaction.begin, "commit": transaction.commit, "rollback": transaction.rollback},
        "retryable": {
            "sqlstates": list(retryable.sqlstates),
            "sqlstate_prefixes": list(retryable.sqlstate_prefixes),
            "codes": list(retryable.codes),
        },
        "close": list(instance.close_sql),
        **({"close_url": instance.close_url} if instance.close_url else {}),
        "steps": [*before, *steps.prepare, *effective, steps.run, *after],
    }


def _error_words(event: Mapping[str, Any]) -> str:
    details = [f"{name} {event[key]}" for name, key in (("SQLSTATE", "sqlstate"), ("code", "code")) if event.get(key)]
    where = f"{event['phase']}: " if event.get("phase") else ""
    return f"{where}{event.get('message')}" + (f" ({', '.join(details)})" if details else "")


def _histogram_count(summary: Mapping[str, Any]) -> int | None:
    try:
        return histogram.total_count(summary["histogram"])
    except ValueError as error:
        log.warning("%s", error)
        return None
