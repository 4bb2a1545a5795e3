"""Guards of pages, as those of runs."""

from __future__ import annotations

from runs.views.access import operator_required, page_before

__all__ = ["operator_required", "page_before"]
