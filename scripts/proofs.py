"""`make proofs`: what `make test` does not run, because it takes too long. Each proof has an hour.

    make proofs ONLY="bundle durability"

Writes result, commit, date and figures of each into docs/method/proofs.md; the whole output stays in STATE/proofs.
`--stale` says which proof is older than the code that it proves, and nothing else; `make check` shows that.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "method" / "proofs.md"
STATE = Path(os.environ.get("STATE") or ROOT / "var").absolute()
LIMIT_S, ENDED_WITHIN_S = 3_600, 120
NEVER = "never"
FIGURES_SHOWN = 400
AGENT = "agents/program/benchagent"


@dataclass(frozen=True)
class Proof:
    """`code`: what it proves; a later commit on it makes it stale. `figure_lines`: its lines that are
    figures; the last counts where none is.
    """

    shows: str
    command: tuple[str, ...]
    code: tuple[str, ...]
    figure_lines: str = r"(?!)"


def _leg(name: str) -> tuple[str, ...]:
    return ("scripts/test_legs.py", "--one", name)


WATCHING = ("runs/history", "runs/stats/watch.py", "runs/stats/steps.py", "runs/telling", "agents/plans/again.py")
PROOFS = {
    "bundle": Proof(
        "`make up` from a file of `make bundle`, without a network",
        _leg("bundle"),
        ("scripts/bundle.py", "scripts/bootstrap.py", "requirements.txt", "agents/program/pyproject.toml", "benchsite",
         f"{AGENT}/java"),
    ),
    "containers": Proof(
        "`docker-compose.yml`: built, started, used, restarted, destroyed, restored",
        _leg("containers"),
        ("Dockerfile", "docker-compose.yml", "Caddyfile", "requirements.txt", "benchsite"),
    ),
    "durability": Proof(
        "every durability class is what a kill and a cut of power leave",
        _leg("durability"),
        (f"{AGENT}/dbms", f"{AGENT}/configfiles", f"{AGENT}/catalog/durability.py", f"{AGENT}/machine"),
    ),
    "whole": Proof(
        "what `make test` holds a seed of: engines × workloads, versions, kills, damaged files, questions by clicks",
        _leg("whole"),
        (f"{AGENT}/importers", f"{AGENT}/dbms", f"{AGENT}/workloads", "benchsite", "runs/answers", "templates"),
    ),
    "kills": Proof(
        "`kill -9` of any part under load loses, doubles and leaves nothing",
        ("-m", "benchmarks.bench_kills", "--kills", "200", "--minutes", "45"),
        ("agents/jobs", "agents/api", f"{AGENT}/job", f"{AGENT}/link", f"{AGENT}/machine", "benchsite", "runs/imports",
         "runs/results"),
        r"^(SQLite|PostgreSQL), seed|^  (kills while a file came in parts|acknowledged|answers|lost|doubled|left"
        r"|answers that should not be): ",
    ),
    "lab": Proof(
        "six agents on a bad network, kill -9 of any part: one experiment is measured whole, and nothing twice",
        ("-m", "benchmarks.bench_lab", "--kills", "60", "--minutes", "20"),
        ("agents/jobs", "agents/api", "agents/plans", f"{AGENT}/job", f"{AGENT}/link", "benchsite"),
        r"^(SQLite|PostgreSQL), seed|^  (killed|requests|acknowledged|states|lost|doubled|wrong state"
        r"|wrong time|orphan): ",
    ),
    "fleet": Proof(
        "500 simulated agents over HTTP: every run is claimed once, and what that costs the server",
        ("-m", "benchmarks.bench_fleet", "--agents", "50,500", "--seconds", "60"),
        ("agents/jobs", "agents/api/views.py", "agents/machines.py", "agents/models.py"),
        r"^agents \d+|^exponent|^answers",
    ),
    "week": Proof(
        "a lab's week by the clock, over both changes of it and with a stopped beat: nothing missed, nothing doubled",
        ("-m", "benchmarks.bench_week"),
        ("agents/plans/timetable.py", "agents/plans/schedule.py", "agents/models.py"),
        r"^week of|^missed or doubled",
    ),
    "stopping": Proof(
        "a rule that ends repeats ends with an interval that holds the truth",
        ("-m", "benchmarks.bench_stopping"),
        ("runs/stats/stopping.py", "runs/stats/ratios.py", "agents/jobs/stopping.py"),
        r"^plain noise",
    ),
    "fuzz": Proof(
        "requests as nobody means them, over HTTP: no error of the server, no secret",
        ("-m", "benchmarks.bench_fuzz", "--http", "--cases", "20000"),
        ("runs/api", "runs/views", "runs/results", "runs/imports", "agents/api", "agents/views.py", "agents/plans",
         "benchsite", "templates"),
        r"^(as|all) .*",
    ),
    "truth": Proof(
        "every sentence about numbers holds in worlds whose truth is known",
        ("-m", "benchmarks.bench_truth", "--worlds", "300", "--seed", "1", "--minutes", "50", "--jobs", "2", "--write"),
        ("runs/answers", "runs/compare", "runs/stats"),
        r"^\d+ worlds of seed|^missed: ",
    ),
    "watch-setting": Proof(
        "a slower setting is found, confirmed by itself, explained, grouped and mailed, live",
        ("-m", "benchmarks.bench_watch", "--part", "setting"),
        WATCHING,
        r"^setting: | s after batch ",
    ),
    "watch-load": Proof(
        "a busy machine is found, confirmed by itself, called the machine, grouped and mailed, live",
        ("-m", "benchmarks.bench_watch", "--part", "load"),
        WATCHING,
        r"^load: | s after batch ",
    ),
    "causes": Proof(
        "of planted causes on PostgreSQL and SQLite the right kind is named first",
        ("-m", "benchmarks.bench_causes"),
        ("runs/history", "runs/stats", f"{AGENT}/dbms/postgresql/counters.py"),
        r" causes named first: ",
    ),
    "series": Proof(
        "pages and updates of 1,000 benchmarks of 1,000 batches on PostgreSQL",
        ("-m", "benchmarks.bench_series"),
        ("runs/history", "runs/stats", "runs/views/history.py", "templates/benchmarks"),
        r"^(overview|benchmark|update)\b.*\d$",
    ),
    "pages": Proof(
        "pages and lists at 10,000 and 100,000 runs on SQLite",
        ("-m", "benchmarks.bench_pages", "--database", "sqlite", "--sizes", "10000,100000"),
        ("runs/listing", "runs/views", "runs/compare", "runs/charts", "runs/models", "templates"),
        r"^(list|home|run|facets|compare)\b.*\d$",
    ),
    "driver": Proof(
        "the load generator is as fast as pgbench",
        ("-m", "benchmarks.bench_driver", "--pairs", "5"),
        ("agents/loadgen", f"{AGENT}/java", f"{AGENT}/job"),
        r"^(below the target|ratio to)",
    ),
    "sysbench": Proof(
        "and as sysbench",
        ("-m", "benchmarks.bench_sysbench", "--pairs", "3"),
        ("agents/loadgen", f"{AGENT}/java", f"{AGENT}/job"),
        r"^(below the target|ratio to)",
    ),
}  # fmt: skip
HEAD = """# Long proofs

What `make test` does not run, because it takes too long: `make proofs` runs it, one after the other and each within an
hour, `make proofs ONLY="bundle durability"` some of it. Run a proof before what it shows is called done. `make check`
says which is older than the code that it proves. This page is written by `scripts/proofs.py`; a commit with `+` had
changes beside it.

| proof | what it shows | result | commit | date (UTC) | minutes | figures |
|---|---|---|---|---|---|---|
"""


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def read() -> dict[str, list[str]]:
    """The cells behind its name of each proof that was run."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("| ")]
    return {row[0]: row[2:] for row in rows if row[0] in PROOFS and row[2] != NEVER}


def write(known: dict[str, list[str]]) -> None:
    rows = [
        f"| {' | '.join([name, proof.shows, *known.get(name, [NEVER, '', '', '', ''])])} |"
        for name, proof in PROOFS.items()
    ]
    PAGE.write_text(HEAD + "\n".join(rows) + "\n")


def stale(known: dict[str, list[str]]) -> list[str]:
    """In words, each proof that is older than its code, or was never run."""
    found = []
    for name, proof in PROOFS.items():
        if name not in known:
            found.append(f"{name}: never run")
            continue
        result, commit, date = known[name][:3]
        try:
            later = git("log", "--oneline", f"{commit.rstrip('+')}..HEAD", "--", *proof.code).splitlines()
        except subprocess.CalledProcessError:
            found.append(f"{name}: {date}, of a commit {commit} that is not here")
            continue
        if later or result != "passed":
            found.append(f"{name}: {result} {date}; {len(later)} commits on its code since")
    return found


def run(name: str) -> list[str]:
    """Result, commit, date, minutes, figures."""
    proof, log, began = PROOFS[name], STATE / "proofs" / f"{name}.log", time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    changed = git("status", "--porcelain", "--", ".", f":!{PAGE.relative_to(ROOT)}")
    commit = git("rev-parse", "--short=8", "HEAD") + ("+" if changed else "")
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, *proof.command], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            result = "passed" if process.wait(LIMIT_S) == 0 else "FAILED"
        except subprocess.TimeoutExpired:
            result = "NOT WITHIN AN HOUR"
        finally:
            if process.poll() is None:
                # As by hand: what it has started ends with it.
                os.killpg(process.pid, signal.SIGINT)
                try:
                    process.wait(ENDED_WITHIN_S)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
    text = log.read_text(errors="replace")
    if result == "passed" and re.search(r"^\w+: 0 passed, 0 failed, \d+ skipped", text, re.MULTILINE):
        result = "SKIPPED"
    minutes = f"{(time.monotonic() - began) / 60:.1f}"
    return [result, commit, time.strftime("%Y-%m-%d %H:%M", time.gmtime()), minutes, figures(text, proof)]


def figures(text: str, proof: Proof) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    shown = [line for line in lines if re.search(proof.figure_lines, line)] or lines[-1:]
    return "; ".join(" ".join(line.split()).replace("|", "\\|") for line in shown)[:FIGURES_SHOWN]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(PROOFS)}; none: all of them")
    parser.add_argument("--stale", action="store_true", help="say which are older than their code")
    options = parser.parse_args()
    if unknown := set(options.names) - PROOFS.keys():
        parser.error(f"no proof {', '.join(sorted(unknown))}; there are: {', '.join(PROOFS)}")
    # What is being proven ends with this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.stale:
        print(*(f"proof older than its code: {words}" for words in stale(read())), sep="\n")
        return 0
    results = []
    for name in options.names or PROOFS:
        print(f"{name}: {PROOFS[name].shows}", flush=True)
        row = run(name)
        # After each, beside what is there by now: a run that is cut short, or another one, keeps what it has.
        write(read() | {name: row})
        print(f"  {row[0]} after {row[3]} min: {row[4]}", flush=True)
        results.append(row[0])
    return 0 if set(results) == {"passed"} else 1


if __name__ == "__main__":
    sys.exit(main())
