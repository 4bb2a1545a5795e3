"""What all tests of runs have in common."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def light_settings(settings):
    """Quick passwords, and static files without a manifest: nothing is collected for these tests."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    backend = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": backend}
    settings.WHITENOISE_AUTOREFRESH = True
