"""Files to the server in one request where they fit, else each in parts, which go on where a connection broke.

The protocol is that of tus.io. A file is found again by its content: the same command goes on where it was killed.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchagent.ctl.api import TIMEOUT_S, UPLOAD_TIMEOUT_S, Api, Params
from benchagent.ctl.output import ProgressLine, how_far
from benchagent.link.client import ClientError, Refused

# The server takes no larger request.
MOST_BYTES = 32 * 1024 * 1024
# What stands around a file in a form: its name, the boundary, the kind of its content.
AROUND_BYTES = 2_000
PART_BYTES = 8 * 1024 * 1024
# Another offset is wanted, another part is being written, the checksum differs: the server says how far it is.
ASK_ANEW = (409, 423, 460)


def send_files(api: Api, path: str, files: Sequence[tuple[str, Path]], values: Params = ()) -> dict[str, Any]:
    """The answer to a form with these files."""
    if sum(file.stat().st_size + AROUND_BYTES for _, file in files) <= MOST_BYTES:
        return api.post_form(path, files, values)
    api.patient = True
    ids = [_in_parts(api, name, file) for name, file in files]
    answer = api.post_form(path, (), [*values, *(("parts", each) for each in ids)])
    for each in ids:
        with suppress(ClientError):  # else they expire
            api.ask("DELETE", f"/parts/{each}/", timeout=TIMEOUT_S)
    return answer


def _in_parts(api: Api, name: str, path: Path) -> str:
    """The id of the file on the server, where all of it is."""
    with path.open("rb") as file:
        mark, size = hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size
        known = [kept for kept in api.get("/parts/")["results"] if (kept["mark"], kept["name"]) == (mark, name)]
        kept = known[0] if known else _begin(api, name, size, mark)
        progress, began, first, offset = ProgressLine(), time.monotonic(), kept["received_bytes"], None
        while offset != size:
            offset = kept["received_bytes"] if offset is None else _append(api, kept["id"], offset, file)
            rate = (offset - first) / max(time.monotonic() - began, 0.001)
            progress.show(f"sending {name}: {how_far(offset, size, rate)}")
        progress.end()
    return str(kept["id"])


def _begin(api: Api, name: str, size: int, mark: str) -> dict[str, Any]:
    fields = {"filename": name, "mark": mark}
    metadata = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in fields.items())
    headers = {"Upload-Length": str(size), "Upload-Metadata": metadata}
    begun: dict[str, Any] = api.ask("POST", "/parts/", headers=headers, timeout=TIMEOUT_S).json()
    return begun


def _append(api: Api, file_id: str, offset: int, file: Any) -> int:
    """How much is there after one more part."""
    file.seek(offset)
    part = file.read(PART_BYTES)
    headers = {
        "Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset),
        "Upload-Checksum": f"sha256 {base64.b64encode(hashlib.sha256(part).digest()).decode()}",
    }  # fmt: skip
    try:
        answer = api.ask("PATCH", f"/parts/{file_id}/", data=part, headers=headers, timeout=UPLOAD_TIMEOUT_S)
        return int(answer.headers["Upload-Offset"])
    except Refused as error:
        if error.status not in ASK_ANEW:
            raise
        return int(api.get(f"/parts/{file_id}/")["received_bytes"])
