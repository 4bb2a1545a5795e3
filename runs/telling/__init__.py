"""Telling people of alerts: rules choose, messages are made, deliveries are tried until they arrive."""
