"""What every page is told."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from runs.space import shortage


def context(request: HttpRequest) -> dict[str, Any]:
    return {"disk_shortage": shortage(), "plain_http": settings.PLAIN_HTTP}
