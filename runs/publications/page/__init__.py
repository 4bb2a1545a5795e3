"""Publication pages: what each article's page shows, built from its rows. No number is written here."""

from __future__ import annotations
