"""What all views for operators and their programs have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.views import APIView

from agents.refusals import FieldErrors
from runs.api.permissions import OperatorWithScope


class OperatorView(APIView):
    """Whoever sees results may read; to write takes an operator, by a token with the scope."""

    permission_classes = [OperatorWithScope]
    required_scope = "schedule"


@contextmanager
def refusals(**names: str) -> Iterator[None]:
    """What is wrong with a plan, a schedule or a machine, field by field; `names`: what the API calls them."""
    try:
        yield
    except FieldErrors as error:
        faults: dict[str, Any] = {names.get(name, name): words for name, words in error.errors.items()}
        raise ValidationError(faults) from error
