"""What is refused, and why: to people field by field; to an agent or an observer in words that the agent shows."""

from __future__ import annotations

from typing import Any


class FieldErrors(ValueError):
    """What was asked for cannot be done; `errors` says of each wrong field why."""

    def __init__(self, **errors: str | list[str]) -> None:
        self.errors = {name: [words] if isinstance(words, str) else words for name, words in errors.items()}
        super().__init__("; ".join(f"{name}: {' '.join(words)}" for name, words in self.errors.items()))

    @property
    def words(self) -> str:
        return " ".join(words for own in self.errors.values() for words in own)


class Refusal(Exception):
    """An answer other than 2xx. `more` stands in the answer beside the words."""

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
