"""Count the code by room: `count_lines.py [COMMIT]`; without a commit what is checked in here.

Lines of Python, Java, JavaScript, CSS and templates without tests, migrations, benchmarks, vendored files and data;
of Python also types that only hold fields, modules under 40 lines, and functions that are named once elsewhere.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter

CODE = re.compile(r"\.(py|java|js|css|html)$")
LEFT_OUT = re.compile(r"(^|/)(tests?|migrations|benchmarks|vendor|data|samples)/")
COLUMNS = ("room", "lines", "types", "short modules", "named once")
SHORT = 40


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def is_fields_only(node: ast.AST) -> bool:
    if not isinstance(node, ast.ClassDef):
        return False
    body = [each for each in node.body if not isinstance(each, ast.Expr | ast.Pass)]
    return any(isinstance(each, ast.AnnAssign) for each in body) and not any(
        isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for each in body
    )


def main(commit: str = "HEAD") -> None:
    paths = git("ls-tree", "-r", "--name-only", commit).splitlines()
    texts = {path: git("show", f"{commit}:{path}") for path in paths if CODE.search(path) and not LEFT_OUT.search(path)}
    words = Counter(word for text in texts.values() for word in re.findall(r"\w+", text))
    counts: dict[str, Counter[str]] = {}
    for path, text in texts.items():
        depth = 4 if path.startswith("agents/program/") else 2  # runs/compare, agents/program/benchagent/job
        room = "/".join(path.split("/")[:-1][:depth]) or "."
        lines, of_room = text.count("\n"), counts.setdefault(room, Counter())
        of_room["lines"] += lines
        if path.endswith(".py"):
            nodes = list(ast.walk(ast.parse(text)))
            names = [node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
            of_room["types"] += sum(map(is_fields_only, nodes))
            of_room["short modules"] += 0 < lines < SHORT and not path.endswith("__init__.py")
            of_room["named once"] += sum(words[name] == 2 and names.count(name) == 1 for name in names)
    counts["all"] = sum(counts.values(), Counter())
    print("{:<42}{:>8}{:>8}{:>15}{:>12}".format(*COLUMNS))
    for room, numbers in sorted(counts.items(), key=lambda item: (item[0] == "all", item[0])):
        print("{:<42}{:>8}{:>8}{:>15}{:>12}".format(room, *(numbers[name] for name in COLUMNS[1:])))


if __name__ == "__main__":
    main(*sys.argv[1:2])
