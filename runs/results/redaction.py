"""Uploaded documents without their secrets; configurations see to theirs themselves."""

from __future__ import annotations

import re
from typing import Any

from benchagent.redaction import redact_text, redact_value

from runs.results.document import UploadDocument

# What every pattern of `benchagent.redaction` needs; text without it has nothing to take out.
SUSPICIOUS = re.compile(r"pas|pwd|pw\b|secret|token|key|credential|derby|://|-p", re.IGNORECASE)
# What the sender says of its own, in a form of its own.
FREE = ("driver", "dataset", "context", "info")


def redacted(kept: dict[str, Any]) -> dict[str, Any]:
    """A document as it is kept, without its secrets."""
    redacted = dict(_redact_tree(kept))
    config = redacted.get("config")
    if isinstance(config, list):
        values = [setting["value"] for setting in config]
        redacted["config"] = [
            {**setting, "value": redact_value(str(setting["name"]), value if value is None else str(value))}
            for setting, value in zip(config, values, strict=True)
        ]
    return redacted


def without_secrets(data: UploadDocument) -> UploadDocument:
    """The read document with the secrets taken out of every text; configurations see to theirs themselves."""
    lines = {name: [redact_text(line) for line in getattr(data, name)] for name in ("command_lines", "warnings")}
    texts = {name: redact_text(getattr(data, name)) for name in ("note", "message")}
    free = {name: _redact_tree(getattr(data, name)) for name in FREE}
    factors = {
        name: {**factor, "value": redact_text(factor["value"])} if isinstance(factor["value"], str) else factor
        for name, factor in data.factors.items()
    }
    return data.model_copy(update={**lines, **texts, **free, "factors": factors})


def _redact_tree(value: Any) -> Any:
    """A copy without secrets: neither under a key that names one, nor within a text."""
    if isinstance(value, dict):
        return {
            key: redact_value(key, redact_text(inner)) if isinstance(inner, str) else _redact_tree(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_redact_tree(inner) for inner in value]
    return redact_text(value) if isinstance(value, str) else value
