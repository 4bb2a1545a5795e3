"""`manage.py judge [--trial | --upgraded]`: stored runs are judged by today's rules."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand

from runs.results.checking import judge_stored, judge_upgraded, note_judged


class Command(BaseCommand):
    help = (
        "Judge what is stored by today's rules: fairness, steadiness, stalls, windows, errors, percentiles, "
        "numbers that contradict each other, durability by the settings that were given, directions of metrics, copies."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--trial", action="store_true", help="change nothing, say what would be")
        how.add_argument("--upgraded", action="store_true", help="as make up does: once after an upgrade, of few runs")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["upgraded"]:
            self.stdout.write(judge_upgraded() or "Every run that is stored is judged by today's rules.")
            return
        counts = judge_stored(is_trial=options["trial"])
        if not options["trial"]:
            note_judged()
        verb = "would get" if options["trial"] else "got"
        for what, count in sorted(counts.items()):
            self.stdout.write(f"{count} runs {verb} {what}")
        if not counts:
            self.stdout.write("Every run that is stored is judged by today's rules.")
