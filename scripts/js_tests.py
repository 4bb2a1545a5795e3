"""The leg `js`: `node --test` on the pure modules, its counts as the last line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "js").glob("*.test.mjs"))
    command = ["node", "--test", "--test-reporter=tap", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    counts = {word: int(number) for word, number in re.findall(r"^# (pass|fail|skipped) (\d+)$", done.stdout, re.M)}
    if done.returncode or not counts.get("pass"):
        print(done.stdout, done.stderr, sep="\n")
    failed = counts.get("fail", 0) or (1 if done.returncode or not counts.get("pass") else 0)
    print(f"js: {counts.get('pass', 0)} passed, {failed} failed, {counts.get('skipped', 0)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
