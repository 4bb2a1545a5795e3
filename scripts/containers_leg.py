"""The leg `containers`: the image is built, docker-compose.yml is started, used, restarted, destroyed and restored.

It uses the engine that answers, else, as root, starts a dockerd of its own, which is gone afterwards. Where that
reaches no registry, images made of Debian's packages stand in for those that docker-compose.yml names, and the leg says
so.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import requests

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from private import works  # noqa: E402
from steps import Steps  # noqa: E402

from tests.ops.site import free_port, wait_until  # noqa: E402
from tests.ops.uploads import Uploader  # noqa: E402

CACHE = Path(os.environ.get("BENCHSITE_TEST_CACHE") or ROOT / "var" / "test-cache") / "containers"
STARTS_WITHIN_S = 300
SERVICES = ("postgres", "redis", "web", "web-2", "worker", "beat", "tls", "agent")
FACTORS = {"scale_factor": 1, "terminals": 2, "warm_up_s": 1, "duration_s": 5}

# What stands in: Debian packages of two file systems, then what each image adds to them.
PACKAGES = {
    "python": "ca-certificates,python3,python3-venv",
    "servers": "caddy,libcap2-bin,postgresql,redis-server,wget",
}
NO_CLUSTER = (
    "mkdir -p $1/etc/postgresql-common && echo create_main_cluster=false > $1/etc/postgresql-common/createcluster.conf"
)
STAND_INS = {
    "python:3.13-slim": """
FROM benchsite-leg/python
COPY authorities.crt /etc/ssl/certs/ca-certificates.crt
COPY pip.conf /etc/pip.conf
RUN ln -s python3 /usr/bin/python
""",
    "postgres:16": """
FROM benchsite-leg/servers
COPY postgres-entrypoint /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
RUN ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/ \\
    && install -d -o postgres -g postgres -m 1777 $PGDATA /var/run/postgresql
VOLUME $PGDATA
STOPSIGNAL SIGINT
ENTRYPOINT ["postgres-entrypoint"]
CMD ["postgres", "-c", "listen_addresses=*"]
""",
    "redis:7": """
FROM benchsite-leg/servers
RUN install -d -o redis -g redis /data
VOLUME /data
WORKDIR /data
CMD ["redis-server"]
""",
    "caddy:2": """
FROM benchsite-leg/servers
RUN setcap cap_net_bind_service=+ep /usr/bin/caddy && mkdir -p /config/caddy /data/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
""",
}
POSTGRES_ENTRYPOINT = """#!/bin/sh
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    initdb -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -w -o "-c listen_addresses=''" start
    createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl -w -m fast stop
fi
exec "$@"
"""
WORDS_OF_STAND_INS = """\
        No registry is within reach: python:3.13-slim, postgres:16, redis:7 and caddy:2 are stood in for by Debian's
        packages. Shown are the files, commands, users, rights, networks, volumes, health checks and order; not shown
        are the real images: their versions, entry points, and the owners of their folders."""


def main() -> int:
    if why := impossible():
        print(f"containers: skipped, {why}\ncontainers: 0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory(prefix="benchsite-containers-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(scratch / "checkout")], check=True)
        with engine(scratch) as own:
            return Containers(scratch, own=own).run()


# Docker


def impossible() -> str:
    """Why nothing can be started here; empty when it can."""
    if works("docker", "info"):
        return ""
    return "" if os.geteuid() == 0 and shutil.which("dockerd") else "no Docker engine answers, and none can be started"


@contextmanager
def engine(scratch: Path) -> Iterator[bool]:
    """One that answers. -> whether it is ours alone; then nothing of it stays, nor its rules for packets."""
    if works("docker", "info"):
        yield False
        return
    address = os.environ["DOCKER_HOST"] = f"unix://{scratch}/docker.sock"
    options = {"data-root": scratch / "docker", "exec-root": scratch / "exec", "pidfile": scratch / "docker.pid"}
    rules = subprocess.run(["iptables-save"], check=True, capture_output=True).stdout
    with (scratch / "docker.log").open("wb") as log:
        command = ["dockerd", "--host", address, *(f"--{name}={path}" for name, path in options.items())]
        daemon = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        if not wait_until(partial(works, "docker", "info"), 120, every_s=1):
            raise OSError(f"dockerd does not answer: {(scratch / 'docker.log').read_text()[-2000:]}")
        yield True
    finally:
        daemon.terminate()
        daemon.wait(timeout=120)
        works("ip", "link", "delete", "docker0")
        subprocess.run(["iptables-restore"], input=rules, check=False)


def output_of(command: Sequence[str], **more: Any) -> str:
    """Raises OSError with what it complained about."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(command, check=False, timeout=1800, **(pipes | more))
    output, complained = (str(pipe or b"", errors="replace") for pipe in (done.stdout, done.stderr))
    if done.returncode:
        raise OSError(f"{' '.join(command)} ended with {done.returncode}: {(output + complained)[-4000:]}")
    return output


def docker(*words: str) -> str:
    return output_of(["docker", *words])


def make_stand_ins(folder: Path) -> None:
    """Images of the names that docker-compose.yml asks for. What they are made of is kept in the cache."""
    suite = platform.freedesktop_os_release()["VERSION_CODENAME"]
    CACHE.mkdir(parents=True, exist_ok=True)
    for name, packages in PACKAGES.items():
        tar = CACHE / f"{suite}-{name}-{hashlib.sha256(packages.encode()).hexdigest()[:8]}.tar"
        if not tar.exists():
            draft = tar.with_name(f"draft-{tar.name}")
            options = ["--quiet", "--variant=minbase", "--dpkgopt=force-unsafe-io", f"--include={packages}"]
            output_of(["mmdebstrap", *options, f"--essential-hook={NO_CLUSTER}", suite, str(draft)])
            draft.rename(tar)
        docker("import", str(tar), f"benchsite-leg/{name}")
    folder.mkdir()
    trusted = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    (folder / "authorities.crt").write_bytes(Path(trusted).read_bytes() if trusted else b"")
    (folder / "pip.conf").write_text(pip_settings())
    (folder / "postgres-entrypoint").write_text(POSTGRES_ENTRYPOINT)
    (folder / "postgres-entrypoint").chmod(0o755)
    for name, lines in STAND_INS.items():
        (folder / "Dockerfile").write_text(lines)
        docker("build", "--tag", name, str(folder))


def pip_settings() -> str:
    """Where pip finds its packages here, for the pip of the build."""
    lines = output_of([sys.executable, "-m", "pip", "config", "list"]).splitlines()
    settings = dict(
        re.findall(r"^[\w:]+\.(index-url|extra-index-url|trusted-host|proxy)='(.*)'$", "\n".join(lines), re.M)
    )
    settings |= {"timeout": "180", "cert": "/etc/ssl/certs/ca-certificates.crt"}
    return "\n".join(["[global]", *(f"{name} = {value}" for name, value in settings.items())]) + "\n"


# What a person sees


class Containers(Steps):
    leg = "containers"

    def __init__(self, scratch: Path, *, own: bool) -> None:
        self.scratch, self.own, self.checkout = scratch, own, scratch / "checkout"
        self.project = f"benchsite-leg-{os.getpid()}"
        ports = {name: str(free_port()) for name in ("PORT", "HTTP_PORT", "HTTPS_PORT")}
        self.url = f"https://localhost:{ports['HTTPS_PORT']}"
        mine = {"SITE": "localhost", "VERSION": self.project, "FRONT": "172.30.251.0/28", "DOCKER_BUILDKIT": "0"}
        self.environment = os.environ | ports | mine | {"COMPOSE_PROJECT_NAME": self.project}
        self.program = ["docker", "compose"] if works("docker", "compose", "version") else ["docker-compose"]
        self.ask, self.token = requests.Session(), requests.Session()
        self.password = self.measured = ""
        self.uploads: dict[str, str] = {}
        self.backup = scratch / "backup.zip"

    def run(self) -> int:
        steps = (
            self.the_images_are_there,
            self.the_image_is_built,
            self.it_starts_and_every_service_is_healthy,
            self.nothing_in_it_can_more_than_it_must,
            self.an_operator_logs_in_over_tls,
            self.the_agent_registers_with_its_code,
            self.a_benchmark_runs,
            self.each_service_restarts_and_no_upload_is_lost,
            self.all_of_it_stops_and_starts_again,
            self.it_is_backed_up,
            self.it_is_destroyed,
            self.it_is_restored,
            self.everything_is_there_again,
        )
        try:
            self.go(steps)
        finally:
            self.compose("down", "--volumes", "--remove-orphans")
            docker("rmi", "--force", f"benchsite:{self.project}")
        return self.count()

    # Steps

    def the_images_are_there(self) -> str:
        if not self.own:
            return ""
        try:
            for name in STAND_INS:
                docker("pull", "--quiet", name)
        except OSError:
            make_stand_ins(self.scratch / "stand-ins")
            print(WORDS_OF_STAND_INS, flush=True)
        return ""

    def the_image_is_built(self) -> str:
        password = self.checkout / "secrets" / "password"
        password.parent.mkdir(mode=0o700)
        password.write_text(secrets.token_hex(24) + "\n")
        password.chmod(0o444)
        self.compose("build", "migrate")
        return ""

    def it_starts_and_every_service_is_healthy(self) -> str:
        self.compose("up", "--detach", *SERVICES[:-1])
        if wrong := self.unhealthy(SERVICES[:-1]):
            return wrong
        certificate = self.scratch / "authority.crt"
        certificate.write_text(self.inside("tls", "cat", "/data/caddy/pki/authorities/local/root.crt"))
        for session in (self.ask, self.token):
            session.verify, session.trust_env = str(certificate), False
        return "" if self.is_ready() else self.ask.get(f"{self.url}/readyz", timeout=60).text

    def nothing_in_it_can_more_than_it_must(self) -> str:
        wrong = []
        password, inner = (self.checkout / "secrets" / "password").read_text().strip(), f"{self.project}_default"
        outside = f"{self.project}_outside"
        # By the second the worker tells people.
        for network, is_internal in ((inner, True), (outside, False)):
            if json.loads(docker("network", "inspect", network))[0]["Internal"] != is_internal:
                wrong.append(f"{network} has {'a' if is_internal else 'no'} way to the outside")
        for service, facts in self.containers().items():
            host = facts["HostConfig"]
            contained = (host["ReadonlyRootfs"], host["CapDrop"] == ["ALL"], bool(host["Memory"] and host["PidsLimit"]))
            if not all(contained) or "no-new-privileges:true" not in host["SecurityOpt"]:
                wrong.append(f"{service}: {host}")
            if password in json.dumps(facts["Config"]):
                wrong.append(f"{service} shows the password")
            networks = list(facts["NetworkSettings"]["Networks"])
            if service in ("postgres", "redis", "migrate", "beat") and networks != [inner]:
                wrong.append(f"{service} is on {networks}")
            if service == "worker" and sorted(networks) != [inner, outside]:
                wrong.append(f"{service} is on {networks}")
            if service == "migrate":
                continue
            if (user := self.inside(service, "id", "-u").strip()) == "0" and service != "tls":
                wrong.append(f"{service} runs as root")
            capabilities = self.inside(service, "sed", "-n", "s/^CapBnd:\\s*0*//p", "/proc/self/status").strip()
            if capabilities != ("400" if service == "tls" else ""):
                wrong.append(f"{service} has the capabilities {capabilities}")
            if self.reaches(service, "touch", "/etc/written") or self.reaches(service, "touch", "/app/written"):
                wrong.append(f"{service} can be changed by user {user}")
        return "\n".join(wrong)

    def an_operator_logs_in_over_tls(self) -> str:
        words = self.inside("web", "python", "manage.py", "login")
        self.password = dict(re.findall(r"^(\w+)\s+(\S+)$", words, re.M))["password"]
        token = self.inside("web", "python", "manage.py", "token", "--name", "leg", "--scopes", "read,upload,schedule")
        self.token.headers["Authorization"] = f"Bearer {token.strip()}"
        # As a proxy on this host asks, and as somebody does whom no proxy has let through.
        direct, forwarded = f"http://127.0.0.1:{self.environment['PORT']}/login/", {"X-Forwarded-Proto": "https"}
        answers = [
            requests.get(direct, headers=headers, allow_redirects=False, timeout=60).status_code
            for headers in (forwarded, None)
        ]
        return self.log_in() or ("" if answers == [200, 301] else f"a proxy on this host is answered {answers}")

    def the_agent_registers_with_its_code(self) -> str:
        code = self.inside("web", "python", "manage.py", "agent_code")
        keep = ["sh", "-c", "umask 077; cat > /state/code"]
        self.compose("run", "--rm", "--no-deps", "-T", "agent", *keep, input=code.encode())
        self.compose("up", "--detach", "agent")
        if wrong := self.unhealthy(SERVICES):
            return wrong
        page = self.ask.get(f"{self.url}/agents/", timeout=60).text
        print("       ", *re.findall(r"jobs run as [^<]*", page), flush=True)
        reached = [name for name in ("postgres", "redis") if self.reaches("agent", "getent", "hosts", name)]
        return f"the agent knows {reached}" if reached else ""

    def a_benchmark_runs(self) -> str:
        def offered() -> Any:
            words = self.inside("agent", "benchagent", "engines", "--state", "/state/agent")
            version = re.search(r"^SQLite (\S+)", words, re.M)
            engines = [{"dbms": "sqlite", "version": version[1] if version else ""}]
            answer = self.token.post(
                f"{self.url}/api/v1/experiments/",
                json={"workload": "tpcb", "engines": engines, "factors": FACTORS, "repeats": 1},
                timeout=60,
            )
            answers.append(f"{answer.text}\n{words}")
            return answer.json()["runs"][0]["id"] if answer.status_code == 201 else None

        answers: list[str] = []
        self.measured = wait_until(offered, 300, every_s=3) or ""
        if not self.measured:
            return answers[-1]
        run = wait_until(self.ended_run, 300, every_s=1)
        if not run or run["status"] != "finished":
            return json.dumps(run or self.get_run(self.measured))[:3000]
        print(f"        {run['dbms']['name']}: {run['metrics']['tps']:.0f} TPS", flush=True)
        return "" if run["metrics"]["tps"] > 0 else "no throughput"

    def each_service_restarts_and_no_upload_is_lost(self) -> str:
        uploader = Uploader(self.token, self.url)
        uploader.start()
        for service in SERVICES:
            before = len(uploader.acknowledged)
            if not wait_until(lambda: len(uploader.acknowledged) > before + 3, 120):  # noqa: B023
                return f"no upload is taken before {service} is restarted"
            self.compose("restart", service)
            wrong = self.unhealthy(SERVICES)
            if wrong or not wait_until(self.is_ready, 120, every_s=1):
                return f"after the restart of {service}: {wrong or 'not ready'}"
        uploader.stopped.set()
        uploader.join()
        self.uploads = uploader.acknowledged
        print(f"        {len(self.uploads)} uploads acknowledged, {uploader.unanswered} not", flush=True)
        if not wait_until(self.agent_is_heard, 60):
            return "the agent is not heard again"
        return self.lost()

    def all_of_it_stops_and_starts_again(self) -> str:
        self.compose("stop")
        codes = {name: facts["State"]["ExitCode"] for name, facts in self.containers().items()}
        if killed := [name for name, code in codes.items() if code == 137]:
            return f"killed, as they did not end in time: {killed}"
        self.compose("up", "--detach")
        return self.unhealthy(SERVICES) or self.lost()

    def it_is_backed_up(self) -> str:
        words = self.inside("web", "python", "manage.py", "backup", "/state/backup.zip")
        print("       ", words.splitlines()[0], flush=True)
        with self.backup.open("wb") as file:
            self.compose("exec", "-T", "web", "cat", "/state/backup.zip", stdout=file)
        self.inside("web", "rm", "/state/backup.zip")
        return ""

    def it_is_destroyed(self) -> str:
        self.compose("down", "--volumes")
        return docker("volume", "ls", "--quiet", "--filter", f"label=com.docker.compose.project={self.project}")

    def it_is_restored(self) -> str:
        self.compose("up", "--detach", "postgres")
        if wrong := self.unhealthy(["postgres"]):
            return wrong
        restore = (
            "umask 077; cat > /state/backup.zip && python manage.py restore /state/backup.zip && rm /state/backup.zip"
        )
        with self.backup.open("rb") as file:
            self.compose("run", "--rm", "--no-deps", "-T", "web", "sh", "-c", restore, stdin=file)
        return ""

    def everything_is_there_again(self) -> str:
        self.compose("up", "--detach", *SERVICES[:-1])
        if wrong := self.unhealthy(SERVICES[:-1]):
            return wrong
        # The front has made itself another authority.
        certificate = Path(str(self.ask.verify))
        certificate.write_text(self.inside("tls", "cat", "/data/caddy/pki/authorities/local/root.crt"))
        self.ask.close()
        self.token.close()
        run = self.get_run(self.measured)
        wrong = "" if run["status"] == "finished" and run["metrics"]["tps"] > 0 else json.dumps(run)[:3000]
        self.ask.cookies.clear()
        return wrong or self.lost() or self.log_in()

    # Tools

    def compose(self, *words: str, **more: Any) -> str:
        command = [*self.program, "--profile", "tls", "--profile", "agent", *words]
        return output_of(command, cwd=self.checkout, env=self.environment, **more)

    def inside(self, service: str, *command: str) -> str:
        labels = {"project": self.project, "service": service}
        filters = [f"--filter=label=com.docker.compose.{name}={value}" for name, value in labels.items()]
        return docker("exec", docker("ps", "--quiet", *filters).strip(), *command)

    def reaches(self, service: str, *command: str) -> bool:
        try:
            self.inside(service, *command)
        except OSError:
            return False
        return True

    def containers(self) -> dict[str, Any]:
        """What the engine knows of each service's container."""
        ids = docker("ps", "--all", "--quiet", "--filter", f"label=com.docker.compose.project={self.project}").split()
        inspected = json.loads(docker("inspect", *ids)) if ids else []
        return {facts["Config"]["Labels"]["com.docker.compose.service"]: facts for facts in inspected}

    def unhealthy(self, services: Sequence[str]) -> str:
        """Those that do not get healthy."""

        def left() -> list[str]:
            states = {name: facts["State"] for name, facts in self.containers().items()}
            health = {name: state.get("Health", {}).get("Status", state["Status"]) for name, state in states.items()}
            return [f"{name}: {health.get(name)}" for name in services if health.get(name) != "healthy"]

        wait_until(lambda: not left(), STARTS_WITHIN_S, every_s=1)
        return ", ".join(left())

    def is_ready(self) -> bool:
        try:
            return self.ask.get(f"{self.url}/readyz", timeout=60).status_code == 200
        except requests.RequestException:
            return False

    def log_in(self) -> str:
        page = self.ask.get(f"{self.url}/login/", timeout=60)
        hidden = dict(re.findall(r'name="(csrfmiddlewaretoken)" value="(\w+)"', page.text))
        form = hidden | {"username": "operator", "password": self.password}
        self.ask.post(f"{self.url}/login/", data=form, headers={"Referer": f"{self.url}/login/"}, timeout=60)
        secure = any(cookie.secure for cookie in self.ask.cookies if cookie.name == "sessionid")
        status = self.ask.get(f"{self.url}/account/", allow_redirects=False, timeout=60).status_code
        return "" if secure and status == 200 else f"no login: {status}, {self.ask.cookies}"

    def get_run(self, run_id: str) -> Any:
        answer = self.token.get(f"{self.url}/api/v1/runs/{run_id}/", timeout=60)
        answer.raise_for_status()
        return answer.json()

    def ended_run(self) -> Any:
        run = self.get_run(self.measured)
        return run if run["status"] in ("finished", "failed", "cancelled", "lost") else None

    def agent_is_heard(self) -> bool:
        return "online" in self.ask.get(f"{self.url}/agents/", timeout=60).text

    def lost(self) -> str:
        """Acknowledged uploads that are not given out as they were sent."""
        lost = []
        for run_id, digest in self.uploads.items():
            (artefact,) = self.get_run(run_id)["artefacts"]
            content = self.token.get(artefact["url"], timeout=60).content
            if hashlib.sha256(content).hexdigest() != digest:
                lost.append(run_id)
        return f"lost: {lost}" if lost else ""

    def log_ends(self) -> str:
        return "\n".join(line[:300] for line in self.compose("logs", "--no-color", "--tail", "30").splitlines())


if __name__ == "__main__":
    sys.exit(main())
