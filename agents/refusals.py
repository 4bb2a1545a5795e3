"""Answers other than 2xx, to an agent or an observer: each says why in words that the agent shows."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """`more` stands in the answer beside the words."""

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.body = {"detail": detail, **more}


class BadMessage(Refusal):
    """`field` is the path of what is wrong: `items[0].values[3]`; empty for the whole body."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(400, problem)
        self.body = {field or "body": [problem]}


class Conflict(Refusal):
    """What is asked for does not fit to how far the job is, or is another agent's."""

    def __init__(self, detail: str, **more: Any) -> None:
        super().__init__(409, detail, **more)
