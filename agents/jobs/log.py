"""A job's log, kept in pieces by byte offset (UTF-8), so that a piece sent twice is stored once."""

from __future__ import annotations

from agents.models import Job, JobLogChunk

MAX_LOG_BYTES = 8 * 1024 * 1024
TRUNCATED = "\n[the log is longer than 8 MB; the rest is on the agent's machine]\n"


def append(*, job: Job, offset: int, text: str) -> None:
    """Add the part of `text` that is not there yet and note the new length on `job`, which the caller saves.

    A piece that begins beyond the end is stored at its offset: what is missing between was lost on the agent.
    """
    data = text.encode()
    known = max(0, job.log_bytes - offset)
    if known >= len(data) or job.log_bytes >= MAX_LOG_BYTES:
        return
    at = offset + known
    fresh = data[known:].decode("utf-8", "replace")
    end = offset + len(data)
    if end >= MAX_LOG_BYTES:
        fresh = fresh[: max(0, MAX_LOG_BYTES - at)] + TRUNCATED
    JobLogChunk.objects.create(job=job, offset=at, text=fresh)
    job.log_bytes = end


def tail(job: Job, *, max_chars: int = 4_000) -> str:
    """The last lines, at most `max_chars`; whole lines where the log has them."""
    parts: list[str] = []
    length = 0
    for text in job.log_chunks.order_by("-offset").values_list("text", flat=True)[:200]:
        parts.append(text)
        length += len(text)
        if length >= max_chars:
            break
    joined = "".join(reversed(parts))
    if len(joined) <= max_chars:
        return joined
    cut = joined[-max_chars:]
    return cut.split("\n", 1)[1] if "\n" in cut.rstrip("\n") else cut
