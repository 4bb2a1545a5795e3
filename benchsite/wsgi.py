from __future__ import annotations

import codecs
import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.db import DatabaseError, connection
from django.utils.http import parse_header_parameters

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

logger = logging.getLogger(__name__)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
django.setup(set_prefix=False)

from benchsite.errors import server_error  # noqa: E402  its models need Django to be set up


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

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Any:
        """Django looks after its connections before it catches what is raised: a database that goes away just then is
        answered as one that is away, anything else in words, too.
        """
        try:
            return super().__call__(environ, start_response)
        except Exception as error:
            logger.exception("raised outside of Django's reach")
            if isinstance(error, DatabaseError):
                connection.connection = None  # who asks next makes another
            response = server_error(self.request_class(environ))
            start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
            return response


application = Handler()
