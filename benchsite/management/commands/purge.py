"""`manage.py purge upload ID --by NAME`: gone for good, with a record."""

from __future__ import annotations

import argparse
import json
from typing import Any
from uuid import UUID

from benchagent.arguments import refuse_repeated
from django.core.management.base import BaseCommand, CommandError

from runs.access.rules import Target, may_manage_people
from runs.models import Experiment, Report, Run, Upload, User
from runs.results.purge import CannotPurge, purge

MODELS: dict[str, type[Target]] = {"upload": Upload, "run": Run, "experiment": Experiment, "report": Report}


class Command(BaseCommand):
    help = "Delete an upload, a run, an experiment or a report for good, with its files. It cannot be brought back."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        refuse_repeated(parser)
        parser.add_argument("kind", choices=MODELS)
        parser.add_argument("id", help="of an upload or a run; the name in the address of an experiment or report")
        parser.add_argument("--by", required=True, help="user name of the administrator who does it")
        parser.add_argument("--reason", default="", help="kept in the record")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["by"]).first()
        if person is None or not may_manage_people(person):
            raise CommandError(f"--by: {options['by']} is no active administrator")
        model, key = MODELS[options["kind"]], options["id"]
        try:
            wanted = {"pk": UUID(key)} if model in (Upload, Run) else {"slug": key}
            target = model._default_manager.get(**wanted)
            note = purge(target, by=person, reason=options["reason"])
        except (ValueError, model.DoesNotExist) as error:
            words = str(error) if isinstance(error, CannotPurge) else f"there is no {options['kind']} {key}"
            raise CommandError(words) from None
        self.stdout.write(f"purged {note.target_type} {note.target_id}: {json.dumps(note.old)}")
