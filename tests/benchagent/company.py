"""A company's network: an authority of its own, made with `openssl`, and a mirror of Maven's repository behind it."""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlsplit

# What a person's machine or this one may say of authorities, proxies and repositories.
TOLD_BY_ENVIRONMENT = (
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "MAVEN_HOME",
    "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY",
)  # fmt: skip


class Authority:
    """`certificate` is what a machine of the company has in its store; `of_localhost` a server's, signed by it."""

    def __init__(self, folder: Path) -> None:
        self.certificate, key = folder / "authority.pem", folder / "authority.key"
        self.of_localhost = folder / "localhost.pem"
        new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        ours = ["-CA", self.certificate, "-CAkey", key]
        names = [
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ]
        uses = ["-addext", "keyUsage=critical,keyCertSign"]
        _openssl(*new, *uses, "-subj", "/CN=Example Company", "-keyout", key, "-out", self.certificate)
        made = folder / "localhost.key"
        _openssl(*new, *ours, *names, "-subj", "/CN=localhost", "-keyout", made, "-out", self.of_localhost)
        self.of_localhost.write_text(self.of_localhost.read_text() + made.read_text())

    def protect(self, server: ThreadingHTTPServer) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.of_localhost)
        server.socket = context.wrap_socket(server.socket, server_side=True)


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Mirror:
    """Serves a folder laid out as a Maven repository to who gives name and password; a proxy for its own name too."""

    user, password = "reader", "p@ss/word:1"

    def __init__(self, folder: Path, authority: Authority | None = None) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.closed = False
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.scheme = "http"
        if authority:
            self.scheme = "https"
            authority.protect(self._http)
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url_with_login(self) -> str:
        return self.url.replace("//", f"//{self.user}:{quote(self.password, safe='')}@")

    @property
    def url(self) -> str:
        return f"{self.scheme}://localhost:{self._http.server_address[1]}"

    def settings(self, home: Path, url: str = "", password: str = "${env.MIRROR_PASSWORD}") -> None:
        """As a company gives it to its people, into a HOME."""
        (home / ".m2").mkdir(parents=True, exist_ok=True)
        (home / ".m2" / "settings.xml").write_text(
            '<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0">'
            f"<servers><server><id>ours</id><username>{self.user}</username><password>{password}</password></server>"
            "</servers><mirrors>"
            "<mirror><id>not-this</id><mirrorOf>*,!central</mirrorOf><url>http://localhost:1</url></mirror>"
            f"<mirror><id>ours</id><mirrorOf>external:*</mirrorOf><url>{url or self.url}/</url></mirror>"
            "</mirrors></settings>"
        )

    def environment(self, home: Path, **more: str) -> dict[str, str]:
        """Of a person of the company on a machine that knows nothing else."""
        kept = {name: value for name, value in os.environ.items() if name not in TOLD_BY_ENVIRONMENT}
        return {**kept, "HOME": str(home), "MIRROR_PASSWORD": self.password, **more}

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def _handler(mirror: Mirror) -> type[BaseHTTPRequestHandler]:
    login = "Basic " + base64.b64encode(f"{mirror.user}:{mirror.password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            mirror.asked.append(self.path)
            file = mirror.folder / urlsplit(self.path).path.lstrip("/")
            if self.headers.get("Authorization") != login:
                self._send(401)
            elif mirror.closed or not file.is_file():
                self._send(503 if mirror.closed else 404)
            else:
                self._send(200, file.read_bytes())

        do_HEAD = do_GET

        def _send(self, status: int, body: bytes = b"") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "text/html" if self.path.endswith(".html") else "application/octet-stream")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
