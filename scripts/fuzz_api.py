"""Schemathesis over the whole API: requests made from the OpenAPI description, answers held to it.

    python scripts/fuzz_api.py [--cases 40] [--seed 2026] [--only REGEX]

Starts the server on a throw-away SQLite database with the literature in it and runs schemathesis against it, first as
an administrator with a token of every scope, then as a stranger. Ends with 1 when a check fails. Needs the development
requirements.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile

from private import environment, manage, web

# Whether data that a schema allows must be taken is not asked: names must exist, ids must be free, sums must agree.
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "unsupported_method",
)  # fmt: skip
SETUP = """
from runs.models import ApiToken, SCOPES, User
from runs import results
user = User.objects.create_user(username="fuzz", role="admin")
document = {
    "schema_version": 1, "id": "7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a11", "workload": "tpcb",
    "dbms": {"name": "PostgreSQL", "version": "15.8"},
    "hardware": {"name": "Fuzz", "storage": [{"name": "sda", "medium": "ssd"}]},
    "storage": [{"role": "data", "device": "sda"}], "factors": {"scale_factor": 1},
    "artefacts": [{"name": "a.log", "text": "x"}],
    "repeats": [{"metrics": {"tps": 100}, "series": [{"name": "tps", "values": [1, None]}]}] * 3,
}
results.store_uploads(documents=[document], owner=user)
print(ApiToken.issue(owner=user, name="fuzz", scopes=SCOPES)[1])
"""


def fuzz(base: str, *, secret: str, cases: int, seed: int, only: str, where: str) -> int:
    """The exit status of schemathesis: 1 when a check failed."""
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"{base}/api/schema/?format=json", f"--seed={seed}",
        f"--max-examples={cases}", f"--checks={','.join(CHECKS)}", "--generation-deterministic",
        "--request-timeout=60", "--suppress-health-check=all", "--phases=examples,coverage,fuzzing",
    ]  # fmt: skip
    command += [f"--include-path-regex={only}"] if only else []
    command += ["--header", f"Authorization: Bearer {secret}"] if secret else []
    return subprocess.run(command, check=False, cwd=where).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=40, help="random requests to each operation")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", default="", help="paths that match this expression")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchsite-fuzz-") as state:
        env = environment(state)
        manage(env, "migrate", "--verbosity=0")
        manage(env, "import_publication")
        secret = manage(env, "shell", "--no-imports", "-c", SETUP).split()[-1]
        failed = 0
        with web(env) as (base, _):
            for words, used in (("as an administrator", secret), ("as a stranger", "")):
                print(f"--- {words}", flush=True)
                failed |= fuzz(
                    base, secret=used, cases=arguments.cases, seed=arguments.seed, only=arguments.only, where=state
                )
        return failed


if __name__ == "__main__":
    sys.exit(main())
