"""Checks of what publications state against their own numbers, computed anew at every request."""
