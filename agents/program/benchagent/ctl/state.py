"""Which files were uploaded to which server, by content, so that a broken import goes on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from benchagent.ctl.settings import config_path


class Uploaded:
    """One line a file: server, SHA-256. Appended at once; a line that is cut is forgotten."""

    def __init__(self, server: str, path: Path | None = None) -> None:
        self._server = server
        self._path = path or config_path().with_name("benchctl-uploaded.txt")
        self._known: set[str] = set()
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except OSError:
            lines = []
        for line in lines:
            words = line.split(" ")
            if len(words) == 2 and words[0] == server and len(words[1]) == 64:
                self._known.add(words[1])

    def has(self, digest: str) -> bool:
        return digest in self._known

    def add(self, digests: Iterable[str]) -> None:
        new = [digest for digest in digests if digest not in self._known]
        if not new:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(f"{self._server} {digest}\n" for digest in new)
        self._known.update(new)
