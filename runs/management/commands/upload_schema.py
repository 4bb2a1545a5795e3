from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand

from runs.results.document import json_schema


class Command(BaseCommand):
    help = "Print the JSON Schema of the upload document: docs/reference/upload-v1.schema.json is its output."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(json_schema(), indent=1))
