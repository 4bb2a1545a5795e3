"""Checks of what publications state against their own numbers: rows of checks.json, computed at the import."""
