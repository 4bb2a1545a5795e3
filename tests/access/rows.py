"""The table: every route and method, what it counts as (docs/operate/access.md), and an address to try it at.

A new route needs a row here. `path` names things of tests/access/world.py in braces; a row that names one which has a
visibility ({run}, {upload}, {experiment}, {job_run}, {report}, {artefact}, {hardware}) is tried with a public, an
unlisted and a private one. `ok` is what is answered to who may: a form that is wrong (400, 422) has passed the guard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runs.models import SCOPES

HIDEABLE = (
    "run", "upload", "experiment", "job_run", "report", "artefact", "hardware", "config", "dbms", "batch", "benchmark",
    "alert",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """`action` is one of tests/access/rules.py; `kind` page, api or agent."""

    route: str
    method: str
    action: str
    path: str
    ok: int | tuple[int, ...] = 200
    kind: str = "page"
    data: Any = None
    # Pages that also take a token with the scope read: files for programs.
    token_may_read: bool = False
    reading_scopes: tuple[str, ...] = ("read",)
    # Open also where PUBLIC_READ is off.
    is_open: bool = False
    # Shown to everybody as to a stranger: a private thing is not there even for its owner.
    as_stranger: bool = False
    # Acts on one's own things only, whatever the address says: nobody meets somebody else's here.
    own_only: bool = False

    @property
    def writes(self) -> bool:
        return self.method not in ("GET", "HEAD")

    @property
    def takes_tokens(self) -> bool:
        return self.kind == "api" or self.token_may_read

    @property
    def only_reads(self) -> bool:
        return self.action == "read" and not self.writes and self.reading_scopes == ("read",)

    @property
    def is_hideable(self) -> bool:
        return any(f"{{{name}}}" in self.path or f"{{{name}}}" in str(self.data) for name in HIDEABLE)

    def __str__(self) -> str:
        return f"{self.route} {self.method}"


def page(route: str, action: str, path: str, ok: int | tuple[int, ...] = 200, **more: Any) -> Row:
    return Row(route, "GET", action, path, ok, **more)


def form(route: str, action: str, path: str, ok: int | tuple[int, ...] = 302, **more: Any) -> Row:
    return Row(route, "POST", action, path, ok, **more)


def api(route: str, method: str, action: str, path: str, ok: int | tuple[int, ...] = 200, **more: Any) -> Row:
    return Row(route, method, action, f"/api/v1/{path}", ok, kind="api", **more)


def plan(workload: str = "tpcb", connection: str = "", **more: Any) -> dict[str, Any]:
    """The body of an experiment that the world's agent can run."""
    engine = {"dbms": "postgresql", "version": "15.20", "connection": connection}
    own = {"dbms": "sqlite", "version": "3.50.1"}
    return {"workload": workload, "engines": [engine if connection else own], **more}


PAGES = [
    page("home", "read", "/"),
    page("runs", "read", "/runs/"),
    page("run", "read", "/runs/{run}/"),
    form("run-annotate", "correct", "/runs/{run}/annotations/", data={"at_s": "1", "text": "x"}),
    form("run-annotation", "correct", "/runs/{run}/annotations/{annotation}/", data={"at_s": "2", "text": "y"}),
    page("run-diff", "read", "/runs/diff/?run={run}"),
    form("run-delete", "correct", "/runs/{run}/delete/"),
    form("run-restore", "correct", "/runs/{run}/restore/"),
    form("run-invalidate", "correct", "/runs/{run}/invalidate/", data={"reason": "x"}),
    form("run-validate", "correct", "/runs/{run}/validate/"),
    page("run-series-csv", "read", "/runs/{run}/series.csv", token_may_read=True),
    page("run-job", "read", "/runs/{job_run}/job/"),
    form("run-cancel", "schedule", "/runs/{job_run}/cancel/"),
    form("run-repeat", "schedule", "/runs/{job_run}/repeat/"),
    page("experiments", "read", "/experiments/"),
    page("experiment", "read", "/experiments/{experiment}/"),
    page("experiment-progress", "read", "/experiments/{experiment}/progress/"),
    form("run-repeat", "script", "/runs/{script_run}/repeat/"),
    form("run-repeat", "connection", "/runs/{connection_run}/repeat/"),
    form("experiment-delete", "correct", "/experiments/{experiment}/delete/"),
    form("experiment-restore", "correct", "/experiments/{experiment}/restore/"),
    form("experiment-accept", "agents", "/experiments/{experiment}/accept/"),
    form("experiment-repeat", "schedule", "/experiments/{experiment}/repeat/"),
    form("experiment-cancel", "schedule", "/experiments/{experiment}/cancel/"),
    form("visibility", "correct", "/visibility/upload/{upload}/", data={"visibility": "unlisted"}),
    form("visibility", "correct", "/visibility/experiment/{experiment}/", data={"visibility": "public"}),
    form("visibility", "correct", "/visibility/report/{report}/", data={"visibility": "private"}),
    page("deleted", "contribute", "/deleted/"),
    page("purges", "purge", "/purge/"),
    page("purge", "purge", "/purge/upload/{upload}/"),
    form("purge", "purge", "/purge/upload/{upload}/"),
    form("purge", "purge", "/purge/run/{run}/"),
    form("purge", "purge", "/purge/report/{report}/"),
    page("batch", "read", "/batches/{batch}/"),
    page("benchmarks", "read", "/benchmarks/"),
    page("benchmark", "read", "/benchmarks/{benchmark}/"),
    form("benchmark-join", "schedule", "/benchmarks/{benchmark}/join/"),
    page("alerts", "read", "/alerts/"),
    page("alert", "read", "/alerts/{alert}/"),
    form("alert-say", "schedule", "/alerts/{alert}/say/", data={"state": "noise"}),
    page("batch-edit", "correct", "/batches/{batch}/edit/"),
    form("batch-edit", "correct", "/batches/{batch}/edit/", data={"label": "night"}),
    page("run-describe", "correct", "/runs/{run}/describe/"),
    form("run-describe", "correct", "/runs/{run}/describe/", data={"label": "night"}),
    page("uploads", "account", "/uploads/"),
    page("upload", "read", "/uploads/{upload}/"),
    form("import-bundle", "contribute", "/imports/bundle/"),
    form("upload-delete", "correct", "/uploads/{upload}/delete/"),
    form("upload-restore", "correct", "/uploads/{upload}/restore/"),
    page("compare", "read", "/compare/", (200, 302), token_may_read=True),
    page("compare-which", "read", "/compare/which/?status=finished", (200, 302)),
    form("compare-ticked", "read", "/compare/ticked/"),
    page("compare-csv", "read", "/compare.csv", token_may_read=True),
    page("upload-by-api", "read", "/imports/api/"),
    page("hardware", "read", "/hardware/"),
    page("hardware-new", "contribute", "/hardware/new/"),
    form("hardware-new", "contribute", "/hardware/new/", data={"name": "A new one"}),
    page("hardware-diff", "read", "/hardware/diff/"),
    page("hardware-detail", "read", "/hardware/{hardware}/"),
    page("hardware-edit", "correct", "/hardware/{hardware}/edit/"),
    form("hardware-edit", "correct", "/hardware/{hardware}/edit/", data={"name": "Another name"}),
    form("hardware-merge", "correct", "/hardware/{hardware}/merge/", data={"into": "{hardware}"}),
    form("hardware-unmerge", "correct", "/hardware/{hardware}/unmerge/"),
    page("device-new", "correct", "/hardware/{hardware}/disks/new/"),
    form("device-new", "correct", "/hardware/{hardware}/disks/new/", data={"name": "sdz"}),
    page("device-edit", "correct", "/hardware/{hardware}/disks/{device}/"),
    form("device-edit", "correct", "/hardware/{hardware}/disks/{device}/", data={"name": "sdy"}),
    page("configs", "read", "/configs/"),
    page("config-new", "contribute", "/configs/new/"),
    form("config-new", "contribute", "/configs/new/", (200, 422)),
    page("config-diff", "read", "/configs/diff/"),
    page("config", "read", "/configs/{config}/"),
    page("config-edit", "correct", "/configs/{config}/edit/"),
    form("config-edit", "correct", "/configs/{config}/edit/", (200, 422)),
    page("config-correct", "correct", "/configs/{config}/correct/"),
    form("config-correct", "correct", "/configs/{config}/correct/", (200, 422)),
    page("config-file", "read", "/configs/{config}/files/1/"),
    page("dbms", "read", "/dbms/"),
    page("dbms-detail", "read", "/dbms/{dbms}/"),
    page("own-tools", "contribute", "/imports/tools/"),
    form("own-tools", "contribute", "/imports/tools/", 422),
    page("imports", "contribute", "/imports/"),
    form("imports", "contribute", "/imports/", 422),
    page("import", "import", "/imports/{import}/"),
    form("import", "import", "/imports/{import}/", (302, 422)),
    form("import-read-again", "import", "/imports/{import}/read-again/"),
    form("import-columns", "import", "/imports/{import}/columns/"),
    form("import-delete", "import", "/imports/{import}/delete/"),
    form("import-restore", "import", "/imports/{import}/restore/"),
    form("import-forget", "import", "/imports/{import}/forget/"),
    page("publications", "read", "/publications/"),
    page("publication-import", "agents", "/publications/import/"),
    form("publication-import", "agents", "/publications/import/", 422),
    page("publication", "read", "/publications/{publication}/"),
    form("publication-delete", "agents", "/publications/{publication}/delete/"),
    form("publication-restore", "agents", "/publications/{publication}/restore/", 404),
    form("publication-forget", "agents", "/publications/{publication}/forget/", 404),
    page("publication-zip", "read", "/publications/{publication}.zip", (200, 404)),
    page("publication-csv", "read", "/publications/{publication}.csv", (200, 404)),
    page("reports", "read", "/reports/"),
    page("report", "read", "/reports/{report}/"),
    page("report-new", "contribute", "/reports/new/"),
    form("report-new", "contribute", "/reports/new/", 422),
    page("report-edit", "correct", "/reports/{report}/edit/"),
    form("report-edit", "correct", "/reports/{report}/edit/", data={"title": "x"}),
    form("report-freeze", "correct", "/reports/{report}/freeze/"),
    form("report-delete", "correct", "/reports/{report}/delete/"),
    form("report-restore", "correct", "/reports/{report}/restore/"),
    page("embed-compare", "read", "/embed/compare/?run={run}", as_stranger=True),
    page("embed-report", "read", "/embed/reports/{report}/", as_stranger=True),
    page("embed-run", "read", "/embed/runs/{run}/", as_stranger=True),
    page("agents", "read", "/agents/"),
    form("agent-code", "agents", "/agents/code/", 200),
    page("agent-install", "read", "/agents/install.sh", is_open=True),
    page("agent-wheel", "read", "/agents/install/nothing.whl", 404, is_open=True),
    page("agent", "read", "/agents/{agent}/"),
    form("agent", "agents", "/agents/{agent}/", data={"action": "resume"}),
    form("agent-approve", "agents", "/agents/{agent}/approve/"),
    form("agent-disable", "agents", "/agents/{agent}/disable/"),
    page("first-experiment", "read", "/first-experiment/"),
    form("first-experiment-again", "schedule", "/first-experiment/again/"),
    form("agent-delete", "agents", "/agents/{agent}/delete/"),
    page("alert-feed", "read", "/alerts/feed/"),
    page("benchmark-badge", "read", "/benchmarks/{nowhere}/badge.svg", 404),
    page("telling", "schedule", "/telling/"),
    form("telling", "schedule", "/telling/", 422),
    form("telling-change", "schedule", "/telling/{nowhere}/", 404),
    page("schedule-between", "schedule", "/schedule/between/"),
    form("schedule-between", "schedule", "/schedule/between/", data={"run": "nowhere"}),
    page("templates", "schedule", "/templates/"),
    form("templates", "schedule", "/templates/", 404, data={"experiment": "nowhere"}),
    page("schedules", "schedule", "/schedules/"),
    page("schedule-new", "schedule", "/schedules/new/?experiment={experiment}"),
    form("schedule-new", "schedule", "/schedules/new/", 404, data={"experiment": "nowhere"}),
    page("schedule-one", "schedule", "/schedules/nowhere/", 404),
    form("schedule-one", "schedule", "/schedules/nowhere/", 404),
    page("schedule-purge", "purge", "/schedules/nowhere/purge/", 404),
    form("schedule-purge", "purge", "/schedules/nowhere/purge/", 404),
    page("queue", "read", "/queue/"),
    form("queue", "schedule", "/queue/", 404, data={"experiment": "nowhere"}),
    page("schedule", "read", "/schedule/"),
    form("schedule", "schedule", "/schedule/", 422, data={"action": "start"}),
    form("schedule-estimate", "read", "/schedule/estimate/", 200),
    page("article-experiment", "read", "/schedule/article/tpcb-2010/"),
    form("article-experiment", "schedule", "/schedule/article/tpcb-2010/"),
    page("login", "read", "/login/", is_open=True),
    form("login", "read", "/login/", (200, 429), is_open=True, data={"username": "x", "password": "y"}),
    form("logout", "read", "/logout/", is_open=True),
    page("account", "account", "/account/"),
    form("tokens", "account", "/account/tokens/", 422),
    form("token-revoke", "account", "/account/tokens/{nowhere}/revoke/", 404),
    page("password", "account", "/account/password/"),
    form("password", "account", "/account/password/", 422),
    page("set-password", "read", "/account/set-password/{uid}/{link}/", is_open=True),
    form("set-password", "read", "/account/set-password/{uid}/{link}/", 422, is_open=True),
    page("people", "people", "/people/"),
    form("people", "people", "/people/", 200, data={"username": "nina", "role": "viewer"}),
    form("person-role", "people", "/people/{person}/role/", data={"role": "operator"}),
    form("person-active", "people", "/people/{person}/active/", data={"active": "0"}),
    form("person-link", "people", "/people/{person}/link/", 200),
    Row("may-send", "GET", "account", "/may-send/", 204, kind="api", reading_scopes=SCOPES),
    Row("metrics", "GET", "metrics", "/metrics", kind="api", is_open=True),
    page("healthz", "read", "/healthz", is_open=True),
    page("readyz", "read", "/readyz", (200, 503), is_open=True),
]

API = [
    api("api-me", "GET", "read", "me/", reading_scopes=SCOPES, own_only=True),
    api("api-runs", "GET", "read", "runs/"),
    api("api-run", "GET", "read", "runs/{run}/"),
    api("api-run", "PATCH", "correct", "runs/{run}/", data={"note": "x"}),
    api("api-catalogue", "GET", "read", "catalogue/"),
    api("api-uploads", "GET", "read", "uploads/", reading_scopes=("read", "upload")),
    api("api-imports", "GET", "read", "imports/", reading_scopes=("read", "upload")),
    api("api-batches", "GET", "read", "batches/"),
    api("api-batch", "GET", "read", "batches/{batch}/"),
    api("api-batch", "PATCH", "correct", "batches/{batch}/", data={"label": "night"}),
    api("api-run", "DELETE", "correct", "runs/{run}/", 204),
    api("api-run-series", "GET", "read", "runs/{run}/series/"),
    api("api-run-latency", "GET", "read", "runs/{run}/latency/"),
    api("api-run-annotations", "GET", "read", "runs/{run}/annotations/"),
    api("api-run-annotations", "POST", "correct", "runs/{run}/annotations/", 201, data={"at_s": 1, "text": "x"}),
    api("api-run-annotation", "PUT", "correct", "runs/{run}/annotations/{annotation}/", data={"at_s": 1, "text": "x"}),
    api("api-run-annotation", "DELETE", "correct", "runs/{run}/annotations/{annotation}/", 204),
    api("api-run-changes", "GET", "read", "runs/{run}/changes/"),
    api("api-run-restore", "POST", "correct", "runs/{run}/restore/"),
    api("api-run-invalidate", "POST", "correct", "runs/{run}/invalidate/", data={"reason": "x"}),
    api("api-run-validate", "POST", "correct", "runs/{run}/validate/"),
    api("api-run-cancel", "POST", "schedule", "runs/{job_run}/cancel/", 202),
    api("api-experiments", "GET", "read", "experiments/"),
    api("api-experiment", "GET", "read", "experiments/{experiment}/"),
    api("api-experiment-cancel", "POST", "schedule", "experiments/{experiment}/cancel/", 202),
    api("api-experiment-repeat", "POST", "schedule", "experiments/{experiment}/repeat/", (201, 400)),
    api("api-agents", "GET", "read", "agents/"),
    api("api-agent", "GET", "read", "agents/{agent}/"),
    api("api-errands", "GET", "read", "agents/{agent}/errands/"),
    api("api-errands", "POST", "agents", "agents/{agent}/errands/", 400, data={}),
    api("api-errand", "GET", "read", "agents/{agent}/errands/{nowhere}/", 404),
    api("api-errand", "DELETE", "agents", "agents/{agent}/errands/{nowhere}/", 404),
    api("api-agent", "PATCH", "agents", "agents/{agent}/", data={"labels": ["nvme"]}),
    api("api-templates", "GET", "read", "templates/"),
    api("api-templates", "POST", "schedule", "templates/", 400, data={}),
    api("api-template", "GET", "read", "templates/nowhere/", 404),
    api("api-template", "GET", "read", "templates/tpcb-2010/?agent={agent}"),
    api("api-template", "DELETE", "schedule", "templates/nowhere/", 404),
    api("api-queue", "GET", "read", "queue/"),
    api("api-queue", "PATCH", "schedule", "queue/", data={"paused": False}),
    api("api-queue-cancel", "POST", "schedule", "queue/cancel/", 202, data={"experiments": ["nowhere"]}),
    api("api-experiment-repeat-runs", "POST", "schedule", "experiments/{experiment}/repeat-runs/", 201),
    api("api-reservations", "GET", "read", "reservations/"),
    api("api-reservations", "POST", "agents", "reservations/", 201, data={"agent": "{agent}"}),
    api("api-reservation", "DELETE", "agents", "reservations/{nowhere}/", 404),
    api("api-schedules", "GET", "read", "schedules/"),
    api("api-schedules", "POST", "schedule", "schedules/", 400, data={}),
    api("api-schedule", "GET", "read", "schedules/nowhere/", 404),
    api("api-schedule", "PATCH", "schedule", "schedules/nowhere/", 404, data={"paused": True}),
    api("api-schedule", "DELETE", "schedule", "schedules/nowhere/", 404),
    api("api-bisections", "GET", "read", "bisections/", own_only=True),
    api("api-bisections", "POST", "schedule", "bisections/", 400, data={}),
    api("api-bisection", "GET", "read", "bisections/{nowhere}/", 404),
    api("api-experiments", "POST", "schedule", "experiments/", 400, data={}),
    api("api-experiments", "POST", "script", "experiments/", 201, data=plan(workload="script")),
    api("api-experiments", "POST", "script", "experiments/", 201, data=plan(settings={"sqlite": [["init_file", "x"]]})),
    api("api-experiments", "POST", "connection", "experiments/", 201, data=plan(connection="staging")),
    api("api-enrolment-codes", "POST", "agents", "agents/enrolment-codes/", 201),
    api("api-hardware", "GET", "read", "hardware/"),
    api("api-hardware", "POST", "contribute", "hardware/", 201, data={"name": "A new one"}),
    api("api-hardware-detail", "GET", "read", "hardware/{hardware}/"),
    api("api-hardware-detail", "PATCH", "correct", "hardware/{hardware}/", data={"note": "x"}),
    api("api-hardware-storage", "POST", "correct", "hardware/{hardware}/storage/", 201, data={"name": "sdz"}),
    api("api-hardware-device", "PATCH", "correct", "hardware/{hardware}/storage/{device}/", data={"note": "x"}),
    api("api-hardware-merge", "POST", "correct", "hardware/{hardware}/merge/", 409, data={"into": "{hardware}"}),
    api("api-hardware-merge", "DELETE", "correct", "hardware/{hardware}/merge/", 409),
    api("api-configs", "GET", "read", "configs/"),
    api("api-configs", "POST", "contribute", "configs/", 400, data={}),
    api("api-config-diff", "GET", "read", "configs/diff/?config=nowhere"),
    api("api-config", "GET", "read", "configs/{config}/"),
    api("api-config", "PATCH", "correct", "configs/{config}/", data={"note": "x"}),
    api("api-tools", "GET", "read", "tools/"),
    api("api-tools", "POST", "contribute", "tools/", 400, data={}),
    api("api-imports", "POST", "contribute", "imports/", (400, 415), data={}),
    api("api-parts", "GET", "read", "parts/", reading_scopes=("read", "upload")),
    api("api-parts", "POST", "contribute", "parts/", 400),
    api("api-part", "GET", "import", "parts/{part}/", reading_scopes=("read", "upload")),
    api("api-part", "PATCH", "import", "parts/{part}/", 400, data={}),
    api("api-part", "DELETE", "import", "parts/{part}/", 204),
    api("api-bundles", "POST", "contribute", "bundles/", (400, 415), data={}),
    api("api-experiment-bundle", "GET", "read", "experiments/{experiment}/bundle/", (200, 400)),
    api("api-import", "GET", "import", "imports/{import}/", reading_scopes=("read", "upload")),
    api("api-import-store", "POST", "import", "imports/{import}/store/", 400, data={}),
    api("api-import-read-again", "POST", "import", "imports/{import}/read-again/"),
    api("api-compare", "GET", "read", "compare/?status=finished"),
    api("api-answers", "GET", "read", "answers/?status=finished"),
    api("api-artefact", "GET", "read", "artefacts/{artefact}/"),
    api("api-publications", "GET", "read", "publications/"),
    api("api-gate", "POST", "contribute", "gate/", data={"runs": ["00000000-0000-0000-0000-000000000001"]}),
    api("api-benchmarks", "GET", "read", "benchmarks/"),
    api("api-releases", "GET", "read", "benchmarks/releases/"),
    api("api-machines", "GET", "read", "benchmarks/machines/"),
    api("api-benchmark", "GET", "read", "benchmarks/{benchmark}/"),
    api("api-alerts", "GET", "read", "alerts/"),
    api("api-alert", "GET", "read", "alerts/{alert}/"),
    api("api-alert", "PATCH", "schedule", "alerts/{alert}/", data={"state": "noise"}),
    api("api-publication", "GET", "read", "publications/{publication}/"),
    api("api-upload-visibility", "PUT", "correct", "uploads/{upload}/visibility/", data={"visibility": "private"}),
    api(
        "api-experiment-visibility",
        "PUT",
        "correct",
        "experiments/{experiment}/visibility/",
        data={"visibility": "public"},
    ),
    api("api-report-visibility", "PUT", "correct", "reports/{report}/visibility/", data={"visibility": "unlisted"}),
    api("api-reports", "GET", "read", "reports/"),
    api("api-report", "GET", "read", "reports/{report}/"),
    api("api-results", "POST", "contribute", "results/", 400, data={}),
    # As YAML it takes half a second to write, for each who asks.
    Row("api-schema", "GET", "read", "/api/schema/?format=json", kind="api"),
    Row("api-docs", "GET", "read", "/api/docs/", kind="api"),
]

# Agents show tokens of their own; nobody else's opens anything here.
AGENTS = [
    Row("agent-register", "POST", "read", "/api/agent/v1/register/", 426, kind="agent", data={}),
    Row("agent-poll", "POST", "read", "/api/agent/v1/poll/", 426, kind="agent", data={}),
    Row("agent-claim", "POST", "read", "/api/agent/v1/jobs/{job_run}/claim/", kind="agent", data={}),
    Row("agent-heartbeat", "POST", "read", "/api/agent/v1/jobs/{job_run}/heartbeat/", kind="agent", data={}),
    Row("agent-batch", "POST", "read", "/api/agent/v1/jobs/{job_run}/batch/", kind="agent", data={}),
    Row("observation-claim", "POST", "read", "/api/agent/v1/observations/{job_run}/claim/", kind="agent", data={}),
    Row(
        "observation-heartbeat",
        "POST",
        "read",
        "/api/agent/v1/observations/{job_run}/heartbeat/",
        404,
        kind="agent",
        data={},
    ),
    Row("observation-batch", "POST", "read", "/api/agent/v1/observations/{job_run}/batch/", 404, kind="agent", data={}),
]

TABLE = [*PAGES, *API, *AGENTS]
