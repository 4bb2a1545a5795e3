"""Addresses of every kind of page, on a site that holds something of each kind; and what axe says of a page."""

from __future__ import annotations

import re
from functools import partial
from typing import Any
from urllib.parse import urlencode

from axe_playwright_python.base import AXE_SCRIPT

from tests.e2e.asked import store
from tests.e2e.conftest import Site, wait_for
from tests.e2e.steps import schedule

ARTICLE = "publication=tpcb-2010&workload=wl-tpcb"
FIXED = [
    "/", "/login/", "/runs/", "/runs/?publication=tpcb-2010&values=lost", "/publications/", "/publications/import/",
    "/publications/tpcb-2010/", "/publications/firebird-terabyte-2015/", "/publications/gbak-backup-2007/",
    "/publications/cubrid-mysql-ssd-2011/", "/hardware/", "/hardware/new/", "/hardware/hw-tpcb/",
    "/hardware/diff/?machine=hw-firebird-sata&machine=hw-firebird-ssd", "/configs/", "/configs/new/",
    "/configs/cfg-tpcb-db2-stmm/", "/dbms/", "/dbms/postgresql/", "/imports/", "/imports/api/", "/imports/tools/",
    "/uploads/", "/schedule/", "/schedule/?workload=tpcc", "/schedule/article/tpcb-2010/", "/agents/", "/account/",
    "/account/password/",
    "/people/", "/deleted/", "/purge/", "/reports/", f"/reports/new/?{ARTICLE}", f"/compare/?{ARTICLE}",
    f"/embed/compare/?{ARTICLE}", "/compare/?label=nothing", "/nothing-here/",
]  # fmt: skip
VIEWS = ("bars", "curve", "heatmap", "table", "tradeoff")
PGBENCH = """pgbench (16.4)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: prepared
number of clients: 4
number of threads: 2
duration: 60 s
number of transactions actually processed: 48000
latency average = 5.000 ms
tps = 800.000000 (without initial connection time)
"""


def made(site: Site, page: Any) -> dict[str, str]:
    """Name -> path of pages of single things; what is missing is made. `page` is one of the operator."""
    store(partial(site.send, "POST", "/api/v1/results/"))
    found: dict[str, str] = {}
    of_stall = site.get("/api/v1/runs/", label="a night with a stall")["results"][0]
    versions = site.get("/api/v1/runs/", label="before and after the upgrade")["results"]
    found["run"] = f"/runs/{of_stall['id']}/"
    found["run of an article"] = f"/runs/{site.get('/api/v1/runs/', publication='tpcb-2010')['results'][0]['id']}/"
    found["describe a run"] = f"/runs/{of_stall['id']}/describe/"
    others = [run for run in versions if run["dbms"] != versions[0]["dbms"]]
    found["run diff"] = f"/runs/diff/?run={versions[0]['id']}&run={others[0]['id']}"
    configs = [run["config"]["slug"] for run in (versions[0], others[0])]
    found["config diff"] = f"/configs/diff/?{urlencode([('config', slug) for slug in configs])}"
    found["config"] = f"/configs/{configs[0]}/"
    found["machine"], found["edit a machine"] = "/hardware/db-server/", "/hardware/db-server/edit/"
    found["new disk"] = "/hardware/db-server/disks/new/"
    found["edit a config"], found["correct a config"] = (
        f"/configs/{configs[0]}/{verb}/" for verb in ("edit", "correct")
    )
    found["embedded run"] = f"/embed/runs/{of_stall['id']}/"
    found |= _of_states(site, page)
    page.goto(site.url + found["run"])
    found["batch"] = page.locator("main a[href^='/batches/']").first.get_attribute("href")
    found["edit a batch"] = f"{found['batch']}edit/"
    page.goto(f"{site.url}/uploads/")
    found["upload"] = page.locator("main a[href^='/uploads/']").first.get_attribute("href")
    page.goto(f"{site.url}/")
    experiments = page.locator("main a[href^='/experiments/']")
    short = {"scale_factor": 1, "terminals": 1, "warm_up_s": 1, "duration_s": 1, "repeats": 1}
    if not experiments.count():
        schedule(page, site, engines=["sqlite"], **short)
        page.goto(f"{site.url}/")
    found["experiment"] = experiments.first.get_attribute("href")
    found["purge an experiment"] = re.sub("^/experiments/", "/purge/experiment/", found["experiment"])
    page.goto(f"{site.url}/imports/")
    page.set_input_files("#id_file", {"name": "pgbench.log", "mimeType": "text/plain", "buffer": PGBENCH.encode()})
    page.get_by_role("button", name="Read the files").click()
    page.wait_for_url("**/imports/*-*/")
    found["import"] = page.url.removeprefix(site.url)
    for name in ("report", "frozen report"):
        page.goto(f"{site.url}/reports/new/?{ARTICLE}")
        page.get_by_label("Title").fill(f"A {name}")
        page.get_by_role("button", name="Save").click()
        page.wait_for_url(re.compile(r"/reports/(?!new)"))
        if name == "frozen report":
            page.get_by_role("button", name="Freeze the numbers").click()
            page.get_by_role("button", name="Freeze anew").wait_for()
        found[name] = page.url.removeprefix(site.url)
    found["edit a report"] = f"{found['report']}edit/"
    found["embedded report"] = f"/embed{found['report']}"
    of = urlencode({"label": "four systems over terminals"})
    found |= {f"view {view}": f"/compare/?{of}&view={view}" for view in VIEWS}
    found["view time"] = f"/compare/?run={of_stall['id']}&view=time"
    found["view latency"] = f"/compare/?run={of_stall['id']}&view=latency"
    sizes = urlencode({"label": "PostgreSQL over sizes on two disks"})
    found["level by level"] = f"/compare/?{sizes}"
    return found


def _of_states(site: Site, page: Any) -> dict[str, str]:
    """Runs that came to nothing: cancelled in the queue, and deleted."""
    slug = schedule(page, site, engines=["sqlite"], scale_factor=1, terminals=1, warm_up_s=1, duration_s=1, repeats=3)
    cancelled, deleted = (run["id"] for run in site.experiment_runs(slug)[-2:])
    for run_id in (cancelled, deleted):
        site.send("POST", f"/api/v1/runs/{run_id}/cancel/").raise_for_status()
        wait_for(f"{run_id} is cancelled", lambda of=run_id: site.run(of)["status"] == "cancelled", timeout_s=90)
    page.goto(f"{site.url}/runs/{deleted}/")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").first.wait_for()
    return {"cancelled run": f"/runs/{cancelled}/", "deleted run": f"/runs/{deleted}/"}


# Of elements with words of their own, one for each set of colours that no page of this tab has shown in this theme.
UNSEEN = """() => {
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const seen = new Set(JSON.parse(sessionStorage.getItem(`seen ${theme}`) ?? '[]'));
  const behind = element => {
    const {backgroundColor, backgroundImage, opacity} = getComputedStyle(element);
    const own = [backgroundColor, backgroundImage, opacity].join(' ').replace('rgba(0, 0, 0, 0) none 1', '');
    return (element.parentElement ? behind(element.parentElement) : '') + own;
  };
  const isText = node => node.nodeType === Node.TEXT_NODE && node.data.trim();
  const unseen = [...document.body.querySelectorAll('*')].filter(element => {
    if (!element.checkVisibility() || ![...element.childNodes].some(isText)) return false;
    const style = getComputedStyle(element);
    const colours = [behind(element), style.color, style.fontSize, style.fontWeight].join();
    return !seen.has(colours) && seen.add(colours);
  });
  sessionStorage.setItem(`seen ${theme}`, JSON.stringify([...seen]));
  return unseen;
}"""


def violations(
    page: Any, rules: list[str] | None = None, *, but: tuple[str, ...] = (), unseen: bool = False
) -> list[list[str]]:
    """[rule, element, where] of everything that axe holds against the page as it is; of these rules only, or of all.

    With `unseen`, only of what shows words in colours that no such call has met before.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    found: list[list[str]] = page.evaluate(
        """async ([rules, but, unseen]) => {
            const include = unseen && (0, eval)(unseen)();
            if (include && !include.length) return [];
            const off = Object.fromEntries(but.map(rule => [rule, {enabled: false}]));
            const options = {resultTypes: ['violations'], rules: off, ...(rules && {runOnly: rules})};
            return (await axe.run(include ? {include} : document, options)).violations.flatMap(
                ({id, nodes}) => nodes.map(({html, target}) => [id, html.slice(0, 99), target.join()]));
        }""",
        [rules, [*but], UNSEEN if unseen else None],
    )
    return found
