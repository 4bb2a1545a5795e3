"""What was stored by older rules is judged by today's: fairness, steadiness, stalls, windows, errors, percentiles."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchagent.catalog import too_many_failed
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from runs.access.changes import history
from runs.models import Run
from runs.models.choices import RunState
from runs.results.copies import mark_stored
from runs.results.live import add_computed, judge_run, percentiles_ms
from runs.results.upload import OF_HISTOGRAM, SQL_ENDING
from runs.run import agreement, artefacts, durability
from runs.run.quality import RunFacts

CHUNK = 200
NO_COPY = "their place back, as no copies by today's rules"
# The version of these rules. It is raised whenever a stored run would be judged otherwise than before.
RULES = "5"
# So many take 20 s of CPU time: of more a person says when.
MOST_AT_START = 1_000


def judge_upgraded() -> str:
    """Once after an upgrade, where few runs are stored. -> what was done, or what is to be done, in words."""
    if not (count := runs_not_judged()):
        note_judged()
        return ""
    if count > MOST_AT_START:
        return f"{count:,} stored runs wait to be judged by today's rules: manage.py judge does it while the site runs"
    judged = judge_stored()
    note_judged()
    return f"judged {count:,} stored runs by today's rules: {sum(judged.values()):,} changes"


def runs_not_judged() -> int:
    """How many runs were not judged by today's rules, as far as this STATE knows."""
    stamp = _stamp()
    return 0 if stamp.exists() and stamp.read_text() == RULES else _stored().count()


def note_judged() -> None:
    _stamp().write_text(RULES)


def forget_judged() -> None:
    _stamp().unlink(missing_ok=True)


def _stamp() -> Path:
    return Path(settings.STATE.path) / "judged.stamp"


def _stored() -> QuerySet[Run]:
    """Articles print numbers without terminals and seconds: there is nothing to judge."""
    return Run.objects.filter(state=RunState.FINISHED, publication=None)


def judge_stored(*, is_trial: bool = False) -> Counter[str]:
    """Each run that has finished, one transaction a run. -> how many got what. `is_trial`: only count."""
    counts: Counter[str] = Counter()
    runs = _stored().select_related("workload", "upload").order_by("pk")
    for run in runs.iterator(chunk_size=CHUNK):
        with transaction.atomic():
            counts.update(_judge(run))
            if is_trial:
                transaction.set_rollback(True)
    counts.update(_mark_copies(is_trial=is_trial))
    return +counts


def _mark_copies(*, is_trial: bool) -> Counter[str]:
    """Mark copies among what people sent, in the order in which it came. What somebody let count again stays."""
    counts: Counter[str] = Counter()
    sent = Run.objects.present().filter(state=RunState.FINISHED, publication=None).exclude(upload=None)
    marked = sent.filter(Q(invalid_at=None) | Q(copy_of__isnull=False, invalid_by=None))
    for run in marked.order_by("created_at", "pk").iterator(chunk_size=CHUNK):
        with transaction.atomic():
            if not history(run).filter(field="invalid").exists() and mark_stored(run, earlier_only=True):
                counts["the mark of a copy" if run.copy_of_id else NO_COPY] += 1
                judge_run(run)  # which says nothing of a copy
            if is_trial:
                transaction.set_rollback(True)
    return counts


def _judge(run: Run) -> list[str]:
    changes = _read_settings(run)
    changes += ["metrics from its histogram"] if add_computed(run, percentiles_ms(run), OF_HISTOGRAM) else []
    if judge_run(run):
        changes.append("checks and warnings")
    if why := too_many_failed(agreement.counted(RunFacts.of(run, []))):
        Run.objects.filter(pk=run.pk, state=RunState.FINISHED).update(state=RunState.FAILED, message=run.message or why)
        changes.append("the state failed: too many transactions failed")
    return changes


def _read_settings(run: Run) -> list[str]:
    """Judge what an upload's commits are worth by the settings that came with it, its scripts' included."""
    if run.upload is None:
        return []
    stated = run.upload.document.get("durability") or ""
    texts = [factor.text for factor in run.factors.all() if factor.text]
    files = [file for file in run.upload.artefacts.all() if file.name.lower().endswith(SQL_ENDING)]
    texts += [artefacts.content(file).decode("utf-8", "replace") for file in files]
    devices = {use.role: use.device for use in run.storage.all()}
    configured = run.config.given if run.config else []
    judged = durability.of_sent(run, stated, devices, "\n".join(texts), configured)
    columns = durability.columns_of(judged)
    if columns == {name: getattr(run, name) for name in columns}:
        return []
    statistics = {**run.statistics, durability.KEY: durability.kept(judged)}
    Run.objects.filter(pk=run.pk).update(**columns, statistics=statistics)
    run.refresh_from_db(fields=[*columns, "statistics"])
    return ["durability by the settings that were given"]
