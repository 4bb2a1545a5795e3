"""Pages as a test reads them."""

from __future__ import annotations

import json
import re
from typing import Any

from django.db.models import Model
from django.shortcuts import resolve_url
from django.test import Client


def page(client: Client, of: Model | str) -> str:
    """The page at this address, or of this row."""
    response = client.get(resolve_url(of))
    assert response.status_code == 200
    return response.content.decode()


def spec(html: str, chart: str = "comparison") -> dict[str, Any]:
    """What the page draws as this chart."""
    found = re.search(rf'<script id="{chart}-data" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found is not None, re.findall(r'<script id="([^"]*)"', html)
    drawn: dict[str, Any] = json.loads(found[1])
    return drawn
