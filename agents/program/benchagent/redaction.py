"""Secrets taken out of text before it is stored, shown or sent. Shared by agent, `benchctl` and server."""

from __future__ import annotations

import re

REDACTED = "[redacted]"
SECRET_NAME = re.compile(
    r"passw|passphrase|(?<![a-z])pass(?![a-z])|_pass(?![a-z])|pwd|secret|token|credential"
    r"|private[_-]?key|api[_-]?key|access[_-]?key|^derby\.user\.",
    re.IGNORECASE,
)
# Names that only sound like one: `password_encryption = md5` is a setting people compare.
_HARMLESS_NAME = re.compile(
    r"password_encryption|password_lifetime|password_history|password_reuse|token_(?:limit|count|size)"
    r"|validate_password|default_password_lifetime|max_tokens?|max_token_size|old_passwords|passwordfile"
    r"|passphrase_command_supports_reload|expired_password",
    re.IGNORECASE,
)

# A name from its telling part on; bounded, so that every look at a text costs no more than its length.
_KEY = re.compile(
    r"(?:passw(?:or)?d?|passphrase|_pass|pwd|secret|token|api[_-]?key|derby\.user\.)[\w.-]{0,200}+", re.IGNORECASE
)
_SEPARATOR = re.compile(r"\s*[=:]\s*|\s+")
_VALUE = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[^\s;&,<>\"']+")
_NAME_CHARACTERS = frozenset("_.:-")
_MAX_NAME = 200
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # postgresql://user:secret@host, jdbc:…//user:secret@
    (
        re.compile(r"(?P<head>(?<![\w+.-])[a-z][\w+.-]*://[^\s:/@]+:)[^\s@/]+(?=@)", re.IGNORECASE),
        rf"\g<head>{REDACTED}",
    ),
    # HammerDB's `diset tpcc mysql_pass secret` and its answer "Value old for tpcc:mysql_pass …"
    (
        re.compile(r"(?P<head>\bdi?set\s+\w+\s+(?=\w{0,100}pass)\w++\s+)\S+", re.IGNORECASE),
        rf"\g<head>{REDACTED}",
    ),
    (
        re.compile(r"\bValue\s+(?:\S+)(?P<tail>\s+for\s+\w+:\w*pass\w*)(?P<rest>[^\n]*)", re.IGNORECASE),
        rf"Value {REDACTED}\g<tail> {REDACTED}",
    ),
    (
        re.compile(r"\bChanged\s+\w+:\w*pass\w*(?P<rest>[^\n]*)", re.IGNORECASE),
        rf"Changed a password {REDACTED}",
    ),
    # <password>secret</password>
    (
        re.compile(r"(?P<head><(?=[\w.-]{0,100}(?:passw|pwd|secret|token))[\w.-]{1,200}+>)[^<]*(?=</)", re.IGNORECASE),
        rf"\g<head>{REDACTED}",
    ),
    # "password": "secret"
    (
        re.compile(
            r"(?P<head>\"(?=[\w.-]{0,100}(?:passw|pass\"|pwd|secret|token|api[_-]?key))[\w.-]{1,200}+\"?\s*:\s*)"
            r"\"(?:[^\"\\\n]|\\.)*\"",
            re.IGNORECASE,
        ),
        rf'\g<head>"{REDACTED}"',
    ),
    # -pSECRET of MySQL's clients, --password SECRET, gbak -pas SECRET
    (
        re.compile(r"(?P<head>(?<!\S)-(?:pas|pass|pw|passw|passwo|passwor|password)\s+)(?!-)\S+", re.IGNORECASE),
        rf"\g<head>{REDACTED}",
    ),
    (
        re.compile(
            r"(?P<head>\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|sysbench)\b[^\n]{0,500}?\s-p)(?!ort\b)\S+"
        ),
        rf"\g<head>{REDACTED}",
    ),
)
_HINT = re.compile(r"pass|pwd|derby\.user|secret|token|api[_-]?key|://|\s-p", re.IGNORECASE)


def names_a_secret(name: str) -> bool:
    return bool(SECRET_NAME.search(name)) and not _HARMLESS_NAME.search(name)


def redact_value(name: str, value: str | None) -> str | None:
    """The value of a setting, unless its name says that it is a secret."""
    return REDACTED if value and names_a_secret(name) else value


def redact_text(text: str) -> str:
    """Any text (a log, a command line, a configuration file) with the values of secrets replaced; lines stay lines."""
    # Most of a log has nothing to hide: one cheap look spares it the rest.
    if not _HINT.search(text):
        return text
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return _without_assigned(text)


def _without_assigned(text: str) -> str:
    """What is assigned to a name that names a secret: `password = x`, `token: "x"`, `--password x`."""
    parts, done = [], 0
    for key in _KEY.finditer(text):
        separator = _SEPARATOR.match(text, key.end())
        if key.start() < done or separator is None:
            continue
        name = text[_begin_of_name(text, key.start()) : key.end()]
        # Prose ("password authentication failed") has a blank only; what stands after = or : is a value.
        if _HARMLESS_NAME.search(name) or (not separator[0].strip() and not name.startswith("-")):
            continue
        value = _VALUE.match(text, separator.end())
        if value is None or REDACTED.startswith(value[0]):
            continue
        parts += [text[done : separator.end()], REDACTED]
        done = value.end()
    return "".join([*parts, text[done:]])


def _begin_of_name(text: str, start: int) -> int:
    least = max(start - _MAX_NAME, 0)
    while start > least and (text[start - 1].isalnum() or text[start - 1] in _NAME_CHARACTERS):
        start -= 1
    return start
