from __future__ import annotations

import gc

# In every process, before it loads anything. What is loaded stays, and what requests make is garbage after more of
# it: a comparison of 1,000 runs makes some 100,000 objects that live until its page is written. Python would look
# through them each time that 700 more are there: a sixth of the time of a start, 30 % of that of such a comparison.
gc.set_threshold(20_000, 20, 20)

from benchsite.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
