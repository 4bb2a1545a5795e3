from __future__ import annotations

import codecs
import os
from contextlib import suppress
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")


class Request(WSGIRequest):
    """Django's own reads the address by the charset of the body while the request is made, where nobody catches that a
    charset cannot be used or that the fields are too many. Here they are read when a view asks: the answer is 400.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        charset = self.content_params.get("charset", "utf-8")
        with suppress(LookupError, ValueError):
            codecs.lookup(charset)
            self._encoding = charset


class Handler(WSGIHandler):
    request_class = Request


django.setup(set_prefix=False)
application = Handler()
