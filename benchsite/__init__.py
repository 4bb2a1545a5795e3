from __future__ import annotations

import gc

# In every process, before it loads anything. What is loaded stays, and what a request makes lives until its page is
# written: some 100,000 objects of a comparison of 1,000 runs, through which Python would look again with every 700 more
# (docs/decisions/0017).
gc.set_threshold(20_000, 20, 20)

from benchsite.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
