from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from runs.incoming.reading import parse_json


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The body of the request is too large."
    default_code = "too_large"


class UnknownEncoding(APIException):
    status_code = status.HTTP_415_UNSUPPORTED_MEDIA_TYPE
    default_detail = "The Content-Encoding of the request is not known; gzip and identity are."
    default_code = "unknown_encoding"


class StrictJSONParser(BaseParser):
    """JSON in UTF-8 as the standard has it: no NaN, no Infinity. Bounded in size and depth; anything else answers 400.

    `Content-Encoding: gzip` is unpacked, and never further than the bound.
    """

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        request = (parser_context or {}).get("request")
        encoding = str(request.META.get("HTTP_CONTENT_ENCODING", "")).strip().lower() if request is not None else ""
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise UnknownEncoding
        try:
            # No more is unpacked than asked for: a bomb is noticed.
            body = (gzip.GzipFile(fileobj=stream) if "gzip" in encoding else stream).read(limit + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ParseError(f"The body is not valid gzip: {error}") from error
        if len(body) > limit:
            raise TooLarge(f"The body of the request is larger than {limit // 1024**2} MB.")
        try:
            return parse_json(body)
        except ValueError as error:
            raise ParseError(f"The body is not valid JSON: {error}") from error
