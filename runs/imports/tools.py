"""Tools that people described themselves (docs/use/importers/own-tools.md): tried on an example, kept, then used."""

from __future__ import annotations

from collections.abc import Sequence

from benchagent.importers import Report
from benchagent.importers.described import BadDescription, Described, described, tried
from benchagent.redaction import redact_text

from runs.models import ToolDescription, User
from runs.models.choices import Visibility

MAX_EXAMPLE_BYTES = 100_000
# One person has so many at most: each is asked about every file.
MAX_TOOLS = 20


def tools_of(owner: User | None) -> list[Described]:
    """What this person described, by what can be read today."""
    kept = ToolDescription.objects.filter(owner=owner).values_list("text", flat=True) if owner else ()
    tools = []
    for text in kept:
        try:
            tools.append(described(text))
        except BadDescription:  # by an older program
            continue
    return tools


def keep(
    *, owner: User, text: str, example: str, visibility: str = Visibility.PRIVATE
) -> tuple[ToolDescription, Sequence[Report], bool]:
    """Keep a description that reads its example; it replaces one of the same name.

    -> (it, what it reads of the example, whether it is new). Raises BadDescription.
    """
    text, example = redact_text(text), redact_text(example)
    if len(example.encode()) > MAX_EXAMPLE_BYTES:
        raise BadDescription(f"an example has at most {MAX_EXAMPLE_BYTES:,} bytes")
    tool, reports = tried(text, example)
    others = ToolDescription.objects.filter(owner=owner).exclude(name=tool.TOOL)
    if others.count() >= MAX_TOOLS:
        raise BadDescription(f"you have described {MAX_TOOLS} tools, and more are not taken: remove one first")
    kept, is_new = ToolDescription.objects.update_or_create(
        owner=owner, name=tool.TOOL, defaults={"text": text, "example": example, "visibility": visibility}
    )
    return kept, reports, is_new
