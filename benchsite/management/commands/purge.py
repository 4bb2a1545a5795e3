"""`manage.py purge upload ID --by NAME`: gone for good, with a record. Of schedules those that are deleted."""

from __future__ import annotations

import argparse
import json
from typing import Any
from uuid import UUID

from benchagent.arguments import refuse_repeated
from django.core.exceptions import ObjectDoesNotExist
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model

from agents.models import Schedule
from runs.access.rules import may_manage_people
from runs.models import Experiment, Report, Run, Upload, User
from runs.results.purge import CannotPurge, purge

MODELS: dict[str, type[Model]] = {
    "upload": Upload, "run": Run, "experiment": Experiment, "report": Report, "schedule": Schedule,
}  # fmt: skip


class Command(BaseCommand):
    help = "Delete an upload, a run, an experiment, a report or a deleted schedule for good. It cannot be brought back."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        refuse_repeated(parser)
        parser.add_argument("kind", choices=MODELS)
        parser.add_argument("id", help="of an upload or a run; the name in the address of another one")
        parser.add_argument("--by", required=True, help="user name of the administrator who does it")
        parser.add_argument("--reason", default="", help="kept in the record")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["by"]).first()
        if person is None or not may_manage_people(person):
            raise CommandError(f"--by: {options['by']} is no active administrator")
        model, key = MODELS[options["kind"]], options["id"]
        try:
            wanted: dict[str, Any] = {"pk": UUID(key)} if model in (Upload, Run) else {"slug": key}
            if model is Schedule:
                wanted["deleted_at__isnull"] = False
            target: Any = model._default_manager.get(**wanted)
            note = purge(target, by=person, reason=options["reason"])
        except (ValueError, ObjectDoesNotExist) as error:
            words = (
                str(error)
                if isinstance(error, CannotPurge)
                else f"there is no {'deleted ' * (model is Schedule)}{options['kind']} {key}"
            )
            raise CommandError(words) from None
        self.stdout.write(f"purged {note.target_type} {note.target_id}: {json.dumps(note.old)}")
