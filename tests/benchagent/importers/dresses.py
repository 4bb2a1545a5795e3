"""What loggers, containers, mails, Markdown and terminals put around a file, for the tests of margins."""

from __future__ import annotations

import base64
import html
import json
import quopri
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

BEGAN = datetime(2026, 3, 3, 10, 0, 0, 123456, UTC)
LineOf = Callable[[str, datetime], str]


def by_line(dress: LineOf) -> Callable[[str], bytes]:
    """Of a text whose lines are dressed one by one, one every 0.25 s."""

    def dressed(text: str) -> bytes:
        lines = text.replace("\r", "\n").removesuffix("\n").split("\n")
        times = (BEGAN + timedelta(seconds=0.25 * number) for number in range(len(lines)))
        return "".join(f"{dress(line, at)}\n" for line, at in zip(lines, times, strict=True)).encode()

    return dressed


def _zulu(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}789Z"


def _journal(line: str, at: datetime) -> str:
    return json.dumps({"__REALTIME_TIMESTAMP": str(int(at.timestamp() * 1e6)), "MESSAGE": line, "_PID": "411"})


def _script(text: str) -> bytes:
    typed = "".join(f"{line}\r\n" for line in text.removesuffix("\n").split("\n"))
    return (
        'Script started on 2026-03-03 10:00:00+00:00 [TERM="xterm" COLUMNS="80" LINES="24"]\n'
        f"\x1b]0;bench@db1: ~\x07\x1b[?2004h\x1b[01;32mbench@db1\x1b[00m:~$ ./ruu\b\x1b[Kn.sh\r\n\x1b[?2004l\r{typed}"
        "\x1b]0;bench@db1: ~\x07\x1b[?2004hbench@db1:~$ exit\r\n\n"
        'Script done on 2026-03-03 11:00:00+00:00 [COMMAND_EXIT_CODE="0"]\n'
    ).encode()


def _mail(encoding: str) -> Callable[[str], bytes]:
    def mail(text: str) -> bytes:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "dba@example.com", "team@example.com", "results of tonight"
        message.set_content(text, cte=encoding)
        return bytes(message)

    return mail


def _attached(text: str) -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "dba@example.com", "results of tonight"
    message.set_content("Hello,\n\nas it was printed.\n")
    message.add_attachment(text.encode(), maintype="application", subtype="octet-stream", filename="result.log")
    return bytes(message)


def _between(before: str, after: str) -> Callable[[str], bytes]:
    return lambda text: f"{before}{text.rstrip()}\n{after}".encode()


MARGINS: dict[str, Callable[[str], bytes]] = {
    "compose": by_line(lambda line, at: f"bench-1  | {line}"),
    "compose with stamps": by_line(lambda line, at: f"bench-1  | {_zulu(at)} {line}"),
    "kubectl with stamps": by_line(lambda line, at: f"{_zulu(at)} {line}"),
    "pod": by_line(lambda line, at: f"[pod/bench-x7k2p/bench] {line}"),
    "ts": by_line(lambda line, at: f"{at:%b %d %H:%M:%S} {line}"),
    "clock": by_line(lambda line, at: f"[{at:%H:%M:%S}] {line}"),
    "journal": by_line(lambda line, at: f"{at:%b %d %H:%M:%S} db7 bench.sh[411]: {line}"),
    "journal in JSON": by_line(_journal),
    "docker": by_line(lambda line, at: json.dumps({"log": f"{line}\n", "stream": "stdout", "time": _zulu(at)})),
    "CRI": by_line(lambda line, at: f"{_zulu(at)} stdout F {line}"),
    "CRI of comments": by_line(lambda line, at: f"{_zulu(at)} stdout F # {line}"),
    "GitHub": by_line(lambda line, at: f"load\trun bench\t{_zulu(at)} {line}"),
    "log4j": by_line(lambda line, at: f"INFO [main] {line}"),
    "logback": by_line(lambda line, at: f"{at:%Y-%m-%d %H:%M:%S},123 [worker-1] INFO  com.example.Bench - {line}"),
    "GitLab": by_line(lambda line, at: f"{_zulu(at)} 01O {line}"),
    "Buildkite": by_line(lambda line, at: f"\x1b_bk;t={at.timestamp() * 1000:.0f}\x07{line}"),
    "Jenkins": by_line(lambda line, at: f"[{at:%Y-%m-%dT%H:%M:%S.%f}Z] {line}"),
    "syslog": by_line(lambda line, at: f"<134>1 {_zulu(at)} db7 bench 411 - - {line}"),
    "logfmt": by_line(lambda line, at: f'time="{_zulu(at)}" level=info msg={json.dumps(line)}'),
    "stern": by_line(lambda line, at: f"bench-7f9c4d-x2x9q workload {line}"),
    "host": by_line(lambda line, at: f"db7: {line}"),
    "wiki": lambda text: f"{{noformat}}\n{text.rstrip()}\n{{noformat}}\n".encode(),
    "mail": by_line(lambda line, at: f"> {line}"),
    "mail in a mail": by_line(lambda line, at: f"> > {line}"),
    "bold": by_line(lambda line, at: f"**{line}**" if line.strip() else line),
    "bullets": by_line(lambda line, at: f"* {line}"),
    "comment": by_line(lambda line, at: f"# {line}"),
    "indent": by_line(lambda line, at: f"    {line}"),
    "tabs": by_line(lambda line, at: f"\t{line}"),
    "fence": lambda text: f"```shell\n{text.rstrip()}\n```\n".encode(),
    "fence in a mail": lambda text: "".join(f"> {line}\n" for line in ["```", *text.splitlines(), "```"]).encode(),
    "HTML": lambda text: f"<pre>{html.escape(text)}</pre>\n".encode(),
    "JSON text": lambda text: f'{json.dumps({"rc": 0, "stdout": text, "took": 3})}\n'.encode(),
    "JSON list": by_line(lambda line, at: f"    {json.dumps(line)},"),
    "colours": by_line(lambda line, at: f"\x1b[32m{line}\x1b[0m"),
    "script(1)": _script,
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "BOM": lambda text: f"\ufeff{text}".encode(),
    "BOM twice": lambda text: f"\ufeff{text}".encode("utf-16"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without BOM": lambda text: text.encode("utf-16-le"),
    "mail in quoted-printable": _mail("quoted-printable"),
    "mail in base64": _mail("base64"),
    "attachment of a mail": _attached,
    "body in quoted-printable": lambda text: quopri.encodestring(text.encode()),
    "body in base64": lambda text: base64.encodebytes(text.encode()),
    "prose": _between("Hello,\n\nthe results of tonight are these:\n\n", "\nRegards\n"),
    "Markdown": _between("## Results\n\nWe measured it again.\n\n```\n", "```\n\nBetter than before.\n"),
    "details": _between("<details>\n<summary>Raw output</summary>\n\n```json\n", "```\n\n</details>\n"),
    "shell": _between("bench@db1:~$ cat result\n", "bench@db1:~$ \n"),
    "a mail's CRLF and quote": by_line(lambda line, at: f"> {line}\r"),
}  # fmt: skip
