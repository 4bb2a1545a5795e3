"""What ends a job with words for its reader. Imports nothing of ours."""

from __future__ import annotations


class JobError(Exception):
    """The job cannot be done, for a reason the reader of the run page can act on."""


class ConfigurationRefused(JobError):
    """A setting is not taken: no job with the same ones can be done."""
