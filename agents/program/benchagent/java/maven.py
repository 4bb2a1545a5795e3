"""One artefact from a Maven repository: from which one, with whose name, and in words why it cannot be had.

As for jgo: a repository in its own settings file comes first. Else as for Maven: a mirror of Central in `settings.xml`,
with the name and password of the `<server>` of the same id. jgo knows nothing of the latter: they travel in the
address, which is therefore taken out of everything that is told.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit
from xml.etree import ElementTree

import requests

from benchagent.redaction import redact_text

CENTRAL = "central"
# Patterns of `mirrorOf` that hold for Central, which is neither on this machine nor plain http.
MIRRORS_CENTRAL = {CENTRAL, "*", "external:*"}
ENVIRONMENT = re.compile(r"\$\{env\.(\w+)\}")
TIMEOUT_S = 120


class FetchError(Exception):
    """An artefact cannot be had (now), in words that hold no secret."""


@dataclass(frozen=True)
class Repository:
    name: str
    url: str
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def url_with_login(self) -> str:
        if not self.user:
            return self.url
        parts = urlsplit(self.url)
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc}"))


def repositories() -> list[Repository]:
    """Where to ask instead of Central, in this order; empty for Central itself. Raises `FetchError`."""
    from jgo.config import GlobalSettings

    if own := GlobalSettings.load().repositories:
        return [Repository(name, url) for name, url in own.items()]
    mirror = next(filter(None, map(mirror_of_central, settings_files())), None)
    return [mirror] if mirror else []


def settings_files() -> Iterator[Path]:
    """The user's, then the installation's."""
    yield Path.home() / ".m2" / "settings.xml"
    yield (
        Path(os.environ["MAVEN_HOME"], "conf", "settings.xml")
        if "MAVEN_HOME" in os.environ
        else Path("/etc/maven/settings.xml")
    )


def mirror_of_central(settings: Path) -> Repository | None:
    """The first mirror of Central in a settings file; None where it has none or is not there. Raises `FetchError`."""
    try:
        root = ElementTree.parse(settings).getroot()  # noqa: S314 - the user's own file
    except FileNotFoundError:
        return None
    except (OSError, ElementTree.ParseError) as error:
        raise FetchError(f"{settings} cannot be read: {type(error).__name__}") from None
    logins = {_text(server, "id"): server for server in root.iterfind("{*}servers/{*}server")}
    for mirror in root.iterfind("{*}mirrors/{*}mirror"):
        patterns = {pattern.strip() for pattern in _text(mirror, "mirrorOf").split(",")}
        if patterns & MIRRORS_CENTRAL and f"!{CENTRAL}" not in patterns:
            name, url = _text(mirror, "id"), _text(mirror, "url").rstrip("/")
            login = logins.get(name)
            user, password = (_text(login, "username"), _text(login, "password")) if login is not None else ("", "")
            if re.fullmatch(r"\{.+\}", password):
                raise FetchError(
                    f"the password of server {name} in {settings} is encrypted, and only Maven can read it: "
                    f"give it as ${{env.NAME}} there"
                )
            return Repository(name, url, user, password)
    return None


def _text(element: ElementTree.Element, name: str) -> str:
    """The text of a child, with ``${env.NAME}`` replaced; empty where there is none."""
    text = (element.findtext(f"{{*}}{name}") or "").strip()
    return ENVIRONMENT.sub(lambda match: os.environ.get(match[1], ""), text)


def maven_file_name(coordinate: str) -> str:
    """The file name of group:artifact:version[:packaging[:classifier]]."""
    _, artifact, version, packaging, classifier = _parts(coordinate)
    return f"{artifact}-{version}{'-' if classifier else ''}{classifier}.{packaging}"


def _parts(coordinate: str) -> list[str]:
    given = coordinate.split(":")
    return [*given, *["jar", ""][len(given) - 3 :]]


def resolve(coordinate: str, folder: Path) -> Path:
    """Fetch group:artifact:version[:packaging[:classifier]] into `folder` (laid out as a Maven repository).

    Raises `FetchError`.
    """
    from jgo.maven import MavenContext

    asked = repositories()
    remote = {repository.name: repository.url_with_login for repository in asked} or None
    group, artifact, version, packaging, classifier = _parts(coordinate)
    try:
        context = MavenContext(repo_cache=folder, remote_repos=remote, timeout=TIMEOUT_S)
        component = context.project(group, artifact).at_version(version)
        path: Path = component.artifact(classifier, packaging).resolve()
    except Exception as error:  # jgo's own have no common class; none of them is chained: they hold the address
        words = _why(error, asked, f"{group.replace('.', '/')}/{artifact}/{version}/{maven_file_name(coordinate)}")
        raise FetchError(f"{maven_file_name(coordinate)} cannot be fetched: {words}") from None
    return path


def _why(error: BaseException, asked: list[Repository], path: str) -> str:
    if isinstance(error, requests.exceptions.SSLError):
        host = urlsplit(error.request.url or "").hostname if error.request else "the repository"
        # OpenSSL's own words, without what requests and urllib3 wrap around them.
        reason = re.search(r"certificate verify failed: ([^(']+)", str(error))
        words = reason[1].strip() if reason else "CERTIFICATE_VERIFY_FAILED"
        return (
            f"the certificate of {host} is signed by nobody whom this machine trusts ({words}): add your company's "
            "authority to the system's store, or name its file with SSL_CERT_FILE"
        )
    if not isinstance(error, requests.RequestException):
        for repository in asked:  # jgo passes over any answer but 200 without a word
            if refusal := _refusal(repository, path):
                return refusal
    words = str(error) or type(error).__name__
    for repository in asked:
        words = words.replace(repository.url_with_login, repository.url)
    return redact_text(words)


def _refusal(repository: Repository, path: str) -> str:
    try:
        answer = requests.head(f"{repository.url_with_login}/{path}", timeout=TIMEOUT_S, allow_redirects=True)
    except requests.RequestException:
        return ""
    if answer.status_code in (401, 403, 407):
        return f"repository {repository.name} ({repository.url}) refuses the login ({answer.status_code})"
    return f"repository {repository.name} ({repository.url}) answers {answer.status_code}" if not answer.ok else ""
