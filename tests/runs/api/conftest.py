from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.fixture
def post(client, bearer):
    """`post(document)` -> the answer to an upload; text and bytes are sent as they are, `more` are headers."""
    headers = bearer("upload")

    def send(body: Any, **more: str):
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        return client.post("/api/v1/results/", text, content_type="application/json", headers={**headers, **more})

    return send
