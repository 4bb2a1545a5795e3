"""Questions as a person asks them."""

from __future__ import annotations

from benchagent.catalog import Role, factor_role

from runs.answers.answer import Answer
from runs.answers.places import from_to
from runs.answers.words import gaps
from runs.answers.words.history import baseline_words
from runs.compare import asked
from runs.compare.levels import equal_words
from runs.compare.panels import CLIENT, SIZE
from runs.formatting import is_plural, mid_sentence
from runs.run.facets import FACTOR


def question_words(answer: Answer) -> str:
    question, metric = answer.question, mid_sentence(answer.metric_label)
    does, is_, has = ("do", "are", "Have") if is_plural(metric) else ("does", "is", "Has")
    extreme = "lowest" if answer.better == "lower" else "highest"
    over = f" over {mid_sentence(answer.x_label)}" if answer.x_label else ""
    if question.kind == asked.LOSS:
        if question.start is not None and question.end is not None:
            over = f" from {from_to(question.start, question.end, answer.x)}"
        # The same before and after it is answered; nobody loses by more workers.
        is_loss = answer.x_kind in ("", SIZE) and not answer.is_gain
        begin = "What is lost" if is_loss else f"How {does} {metric or 'it'} change"
        return f"{begin}{over}?"
    if question.kind == asked.NEWER:
        return f"Is the newest batch worse than {baseline_words(question.than)}?"
    scales = f"How far does it scale{over or ' over terminals'}?"
    if answer.x_label and answer.x_kind != CLIENT:
        scales = f"At which {mid_sentence(answer.x_label)} {is_} {metric or 'it'} {extreme}?"
    words = {
        asked.FALLS_OFF: f"Where does it fall off{over}?",
        asked.SCALES: scales,
        asked.EFFECTS: "What did each setting do?",
        asked.LOAD: f"Which {gaps.thing_words('dbms', answer.versions_of)} loads fastest?",
        asked.SINCE: f"{has} {f'the {metric}' if metric else answer.first or 'it'} changed, and since when?",
        asked.PUBLISHED: "How does it compare with what is published?",
        asked.CHANGED: "What differs between these two?",
        asked.A_B: f"How does {answer.first} compare with {answer.second}?" if answer.first else "How do two compare?",
    }
    if question.kind in words:
        return words[question.kind]
    # Best and rank. Nobody asks which size of a value is best: each is a question of its own.
    asks = question.fact.startswith(FACTOR) and factor_role(question.fact.removeprefix(FACTOR)) == Role.QUESTION
    if metric and (answer.better == "none" or (asks and any(missing.kind == "order" for missing in answer.lacking))):
        return f"How do they differ in {metric}?"
    is_best = f"has the {extreme} {metric}" if metric else "is best"
    at_equal = equal_words(answer.held or "levels")
    where = {"": "", "best": " at its best", "equal_levels": f" {at_equal}"}[answer.ranked_at]
    return f"Which {gaps.thing_words(question.fact, answer.versions_of)} {is_best}{where}, and is it sure?"
