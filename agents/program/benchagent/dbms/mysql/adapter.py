"""The adapter for MySQL and MariaDB: instances, and the knobs that they have."""

from __future__ import annotations

from benchagent.dbms.base import Adapter, EngineContext, JobError, ProvisionRequest, Settings
from benchagent.dbms.embedded import driver_folder, jars
from benchagent.dbms.mysql import configuration, discovery, folders
from benchagent.dbms.mysql.backup import methods
from benchagent.dbms.mysql.instance import MysqlFamilyInstance
from benchagent.dbms.mysql.product import MARIADB, MYSQL, Product
from benchagent.dbms.mysql.server import OPTION_FILE, Server
from benchagent.machine.process import ProcessFailed
from benchagent.machine.users import ServiceUser, first_blocked
from benchagent.protocol import EngineFacts

DRIVERS = {MYSQL: "5.1.49", MARIADB: "3.5.11"}
# How long a commit waits for others in its group, unless enough of them have come.
GROUP_WAIT_US = 10_000


class MysqlFamilyAdapter(Adapter):
    def __init__(self, slug: str) -> None:
        self.slug = slug

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        return discovery.discover(self.slug, context)

    def provision(self, request: ProvisionRequest) -> MysqlFamilyInstance:
        product = Product(self.slug, request.version)
        installation = discovery.installations(self.slug, request.engines_dir).get(request.version)
        if installation is None:
            raise JobError(f"{product} is no longer on this machine")
        given = configuration.given(request.settings)
        class_path = jars(request.toolchain, self.slug, DRIVERS[self.slug])
        user = _user()
        where = folders.folders_of(request.placement, request.job_dir)
        folders.make(where, user)
        _check_way(user, where, installation)
        server = Server(request, installation, where, user)
        try:
            password = _open(server, given, request)
            folders.write_private(where.client_file, _client_options(server, password), user)
        except ProcessFailed as error:
            server.stop()
            raise JobError(f"{product.name}: {error}") from error
        except BaseException:
            server.stop()
            raise
        request.log(f"{product} answers on port {server.port}")
        instance = MysqlFamilyInstance(
            server,
            password,
            given,
            class_path=class_path,
            driver_dir=driver_folder(request),
            methods=methods(server, installation, user, request, given),
            user=user,
        )
        instance.ignored_settings = configuration.locked(given)
        return instance

    def knob(self, name: str, value: str, version: str) -> Settings:
        product = Product(self.slug, version)
        return _group_commit(product, value) if name == "group_commit" else _maintenance(product, value)


def _group_commit(product: Product, value: str) -> Settings:
    """Groups are those of the binary log, which is therefore on in every cell, also "off", and synced each time."""
    if not product.since((5, 7, 5), (10, 0, 5)):
        raise JobError(f"{product} has no setting for group commit: it came with 5.7 (MariaDB 10.0)")
    count, wait_us = ("0", "0") if value == "off" else (value, str(GROUP_WAIT_US))
    names = ("binlog_commit_wait_count", "binlog_commit_wait_usec")
    if product.slug != MARIADB:
        names = ("binlog_group_commit_sync_no_delay_count", "binlog_group_commit_sync_delay")
    waiting = zip(names, (count, wait_us), strict=True)
    return [("log_bin", configuration.LOG_BIN_NAME), ("server_id", "1"), ("sync_binlog", "1"), *waiting]


def _maintenance(product: Product, value: str) -> Settings:
    """Statistics and events; purge is part of the storage engine and cannot be turned off."""
    if not product.since((5, 6, 6), (10, 0)):
        raise JobError(f"{product} has no setting for background maintenance: statistics and purge are always on")
    return [("innodb_stats_auto_recalc", value.upper()), ("event_scheduler", value.upper())]


def _user() -> ServiceUser | None:
    try:
        return discovery.run_user()
    except LookupError as error:
        raise JobError(str(error)) from error


def _check_way(user: ServiceUser | None, where: folders.Folders, installation: discovery.Installation) -> None:
    for folder in (where.home, where.work, installation.base) if user else ():
        blocked = first_blocked(user, folder) if user else None
        if user and blocked:
            raise JobError(f"user {user.name!r} may not enter {blocked}")


def _open(server: Server, given: Settings, request: ProvisionRequest) -> str:
    """Make the data, or open what is there; returns the password."""
    server.configure(given)
    if request.restored:
        try:
            password = folders.read_password(server.folders)
        except OSError as error:
            raise JobError(f"the copy of the data cannot be opened: {error}") from error
        server.start()
        return password
    password = folders.make_password(server.folders)
    server.create(given)
    request.log(f"data directory made in {server.folders.data}")
    server.start_first(password)
    return password


def _client_options(server: Server, password: str) -> str:
    """For the tools: the password is in a file that only their user can read. One of them reads the server's too."""
    server_options = (server.folders.work / OPTION_FILE).read_text()
    lines = [
        server_options,
        "[client]",
        f"host={configuration.HOST}",
        f"port={server.port}",
        "protocol=tcp",
        "user=bench",
    ]
    return "\n".join([*lines, f'password="{password}"', ""])
