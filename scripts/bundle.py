"""`make bundle`: one file with all that `make up BUNDLE=FILE` needs on a machine without a network.

    make bundle [TO=benchsite-bundle.tar]

The locked packages as wheels, the jars of the load generator and of the engines that come with it. It is for machines
with the same system, processor and Python as this one: `bundle.json` in it says which.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from benchagent.java import JavaToolchain
from benchagent.java.jars import tool_jars
from bootstrap import ROOT, bundle_facts

TO = Path(os.environ.get("TO") or ROOT / "benchsite-bundle.tar").absolute()
STATE = Path(os.environ.get("STATE") or ROOT / "var").absolute()


def main() -> None:
    with tempfile.TemporaryDirectory(dir=STATE / "tmp") as scratch:
        wheels = Path(scratch) / "wheels"
        download = ["download", "--no-cache-dir", "--disable-pip-version-check", "--quiet"]
        locked = ["--require-hashes", "--requirement", str(ROOT / "requirements.txt"), "--dest", str(wheels)]
        print("fetching the packages", flush=True)
        subprocess.run([sys.executable, "-m", "pip", *download, *locked], check=True)
        toolchain = JavaToolchain(STATE / "agent" / "cache")
        groups = [group.jars for group in toolchain.engine_groups() if group.default]
        jars = toolchain.store.files(
            [jar for group in (tool_jars("loadgen"), tool_jars("compiler"), *groups) for jar in group], print
        )
        facts = Path(scratch) / "bundle.json"
        facts.write_text(json.dumps(bundle_facts()))
        draft = TO.with_name(f".{TO.name}.draft")
        with tarfile.open(draft, "w") as tar:
            tar.add(facts, "bundle.json")
            for wheel in sorted(wheels.iterdir()):
                tar.add(wheel, f"wheels/{wheel.name}")
            for jar in sorted(set(jars)):
                tar.add(jar, f"jars/{jar.relative_to(toolchain.folder / 'jars')}")
        draft.replace(TO)
    print(f"{TO}: {TO.stat().st_size / 1e6:.0f} MB; on the other machine: make up BUNDLE={TO.name}")


if __name__ == "__main__":
    main()
