"""Posting to an address that somebody gave, never to one that only this server reaches.

The name is resolved once, every address of it is looked at, and the connection goes to one that was looked at: a name
that means another address a moment later changes nothing. Redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

import certifi
import urllib3
from django.conf import settings

TIMEOUT_S = 10.0


class NotReached(Exception):
    """Why nothing was posted, or how the other side refused it; in words for the log of deliveries."""


def post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    """Raises NotReached unless it is answered with 2xx."""
    parts = checked(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = _address(parts, port)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        with _pool(parts, address, port) as pool:
            answer = pool.urlopen(
                "POST", path, body=body, headers={"Host": parts.netloc.rpartition("@")[2], **headers},
                redirect=False, retries=False, preload_content=False,
            )  # fmt: skip
            status = answer.status
            answer.close()
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise NotReached(f"{parts.hostname} cannot be reached: {type(error).__name__}") from error
    if not 200 <= status < 300:
        raise NotReached(f"{parts.hostname} answered {status}")


def checked(url: str) -> SplitResult:
    """Raises NotReached for what is no https address, or one of a private network in figures; what a name means is
    looked at when it is called. http goes to networks that an operator allows.
    """
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise NotReached("An address of the form https://… is required.")
    if parts.username is not None:
        raise NotReached("The address must hold no user name.")
    if parts.scheme == "http" and not settings.TELL_NETWORKS:
        raise NotReached("Only https is called.")
    with suppress(ValueError):
        _check_address(str(parts.hostname), parts)
    return parts


def _address(parts: SplitResult, port: int) -> str:
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotReached(f"There is no host {parts.hostname}.") from error
    addresses = [str(where[0]).partition("%")[0] for *_, where in found]
    for address in addresses:
        _check_address(address, parts)
    return addresses[0]


def _check_address(text: str, parts: SplitResult) -> None:
    """Raises NotReached for one that may not be called, ValueError for what is none."""
    address = ipaddress.ip_address(text)
    # An IPv4 address may be written as IPv6.
    plain = getattr(address, "ipv4_mapped", None) or address
    is_allowed = any(plain in network for network in settings.TELL_NETWORKS)
    if not is_allowed and (not plain.is_global or plain.is_multicast or parts.scheme == "http"):
        raise NotReached(f"{parts.hostname} is an address of a private network, which TELL_NETWORKS does not allow.")


def _pool(parts: SplitResult, address: str, port: int) -> urllib3.HTTPConnectionPool:
    if parts.scheme == "http":
        return urllib3.HTTPConnectionPool(address, port, timeout=TIMEOUT_S)
    trusted = ssl.create_default_context()
    trusted.load_verify_locations(certifi.where())
    return urllib3.HTTPSConnectionPool(
        address, port, timeout=TIMEOUT_S, ssl_context=trusted, server_hostname=parts.hostname,
        assert_hostname=parts.hostname,
    )  # fmt: skip
