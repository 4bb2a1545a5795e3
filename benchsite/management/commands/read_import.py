from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchsite.supervisor import die_with_parent
from runs.imports import worker
from runs.models import FileImport


class Command(BaseCommand):
    help = "Read the files of one large import. The worker starts it; it ends with the worker."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("import_id")
        parser.add_argument("attempt", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        die_with_parent(os.getppid())
        # Whoever waits for a page goes first.
        os.nice(10)
        used_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most_bytes = used_bytes + worker.MAX_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        taken = FileImport.objects.filter(pk=options["import_id"]).first()
        most_s = worker.cpu_limit_s(taken) if taken else worker.MAX_CPU_S
        resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s + 5))
        worker.read_now(options["import_id"], options["attempt"])
