"""What an author's files hold."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Spec(BaseModel):
    """Refuses keys that it does not know; made ready when it is first used."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
