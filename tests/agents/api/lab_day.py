"""A lab's day with a client that was generated of the server's own description. Run by that client's interpreter."""

from __future__ import annotations

import json
import sys
import time
import uuid

from lab_client import AuthenticatedClient
from lab_client.api.v1 import (
    v1_agents_list,
    v1_catalogue_retrieve,
    v1_compare_retrieve,
    v1_experiments_cancel_create,
    v1_experiments_create,
    v1_experiments_retrieve,
    v1_imports_list,
    v1_queue_list,
    v1_results_create,
    v1_runs_list,
    v1_runs_series_retrieve,
    v1_schedules_create,
    v1_templates_list,
)
from lab_client.models import (
    Error,
    PlanGiven,
    ScheduleGiven,
    TemplateStart,
    UploadDocument,
    V1CompareRetrieveNamed,
    V1RunsListNamed,
)


def document(version: str, tps: list[float]) -> UploadDocument:
    return UploadDocument.from_dict({
        "schema_version": 1, "id": str(uuid.uuid4()), "workload": "tpcb", "hardware": {"name": "Lab 3"},
        "dbms": {"name": "PostgreSQL", "version": version}, "factors": {"scale_factor": 10, "terminals": 4},
        "repeats": [
            {"metrics": {"tps": value}, "series": [{"name": "tps", "values": [value, value]}]} for value in tps
        ],
    })  # fmt: skip


def morning(client: AuthenticatedClient) -> dict[str, object]:
    """Uploads, lists, compares, schedules; `told` is what each answered, in the client's own types."""
    for version, tps in (("15.1", [100.0, 101.0, 99.0]), ("16.1", [150.0, 151.0, 149.0])):
        v1_results_create.sync(client=client, body=document(version, tps))
    named = V1RunsListNamed.from_dict({"factor.scale_factor": "10", "above.tps": "120"})
    runs = v1_runs_list.sync(client=client, named=named, workload=["tpcb"])
    wrong = v1_runs_list.sync(client=client, named=V1RunsListNamed.from_dict({"above.tps": "many"}))
    chosen = V1CompareRetrieveNamed.from_dict({"factor.scale_factor": "10"})
    compared = v1_compare_retrieve.sync(client=client, workload=["tpcb"], named=chosen)
    series = v1_runs_series_retrieve.sync(runs.results[0].id, client=client)
    (agent,) = v1_agents_list.sync(client=client).results
    engine = agent.engines[0]
    plan = PlanGiven.from_dict({
        "workload": "tpcb", "engines": [{"dbms": engine.dbms, "version": engine.version}], "repeats": 1,
        "factors": {"scale_factor": 1, "terminals": 2, "warm_up_s": 2, "duration_s": 5}, "name": "night",
    })  # fmt: skip
    first, again = (v1_experiments_create.sync(client=client, body=plan, idempotency_key="one") for _ in range(2))
    second = v1_experiments_create.sync(client=client, body=plan)
    queue = v1_queue_list.sync(client=client)
    cancelled = v1_experiments_cancel_create.sync(second.slug, client=client)
    nightly = ScheduleGiven(experiment=first.slug, name="Nightly", cron="0 22 * * *", timezone="Europe/Prague")
    schedule = v1_schedules_create.sync(client=client, body=nightly)
    (tpcb,) = [
        each for each in v1_templates_list.sync(client=client, agent=agent.slug).results if each.slug == "tpcb-2010"
    ]
    part = tpcb.parts[0]
    article = TemplateStart.from_dict({"template": tpcb.slug, "part": part.part, "agent": agent.slug})
    rerun = v1_experiments_create.sync(client=client, body=article)
    v1_experiments_cancel_create.sync(rerun.slug, client=client)
    catalogue = v1_catalogue_retrieve.sync(client=client)
    return {
        "runs": len(runs.results), "next": runs.next_, "refused": isinstance(wrong, Error),
        "verdicts": [group.verdict.kind if group.verdict else None for group in compared.groups],
        "samples": [list(each.values) for each in series.series], "experiments": [first.slug, again.slug, second.slug],
        "queued": [entry.experiment for entry in queue.results], "cancelled": cancelled.cancelled,
        "next_times": len(schedule.next_times), "workloads": [each.slug for each in catalogue.workloads],
        "rerun": [part.on_agent.runs, len(rerun.runs)], "imports": v1_imports_list.sync(client=client).count,
    }  # fmt: skip


def evening(client: AuthenticatedClient) -> dict[str, object]:
    """Watches until all has ended."""
    while (night := v1_experiments_retrieve.sync("night", client=client)).is_open:
        time.sleep(0.5)
    (run,) = v1_runs_list.sync(client=client, experiment=["night"]).results
    return {"states": night.states.to_dict(), "tps": run.metrics.to_dict()["tps"]}


if __name__ == "__main__":
    part, server, token = sys.argv[1:]
    with AuthenticatedClient(base_url=server, token=token, timeout=60) as made:
        print(json.dumps({"morning": morning, "evening": evening}[part](made)))
