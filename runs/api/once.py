"""`Idempotency-Key`: a request that is sent again, because its answer was lost, makes nothing more."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from runs.models import AnsweredRequest, User

KEPT = timedelta(days=1)
HEADER = "Idempotency-Key"
LONGEST = 200
KEY = OpenApiParameter(
    HEADER, str, OpenApiParameter.HEADER,
    description="Any text of the client's own. The same request with the same key within a day makes nothing more.",
)  # fmt: skip


def once(post: Callable[..., Response]) -> Callable[..., Response]:
    """Wrap a view's `post`. What it makes and the note of its answer are one transaction; a refusal notes nothing."""

    @wraps(post)
    def guarded(view: Any, request: Request, **path: Any) -> Response:
        key = request.headers.get(HEADER, "")
        if not key or not isinstance(request.user, User):
            return post(view, request, **path)
        if len(key) > LONGEST:
            raise ValidationError({HEADER: [f"At most {LONGEST} characters."]})
        digest = hashlib.sha256(json.dumps([request.path, request.data], sort_keys=True).encode()).hexdigest()
        with transaction.atomic():
            # Who comes at the same moment waits, and then finds it.
            note, is_new = AnsweredRequest.objects.get_or_create(
                owner=request.user, key=key, defaults={"digest": digest}
            )
            if note.digest != digest:
                raise ValidationError({HEADER: ["This key was used for another request."]})
            if not is_new:
                return Response(note.answer, status=note.status, headers={"Idempotent-Replayed": "true"})
            response = post(view, request, **path)
            note.status, note.answer = response.status_code, response.data
            note.save()
            return response

    return guarded


def forget_old() -> None:
    AnsweredRequest.objects.filter(at__lt=timezone.now() - KEPT).delete()
