"""The agent protocol: life cycle, messages and error rules. Imports nothing of ours.

Life cycle, agent -> server, JSON over HTTPS (plain http only to a loopback address):

1. ``POST {API_ROOT}/register/`` with `Registration` -> `Registered`: the agent's id and its token, shown once.
   With a valid one-time code an agent that confines its jobs is approved at once; others wait on the agents page.
   Without one it is refused with 403, unless the server's OPEN_REGISTRATION lets it wait.
2. ``POST {API_ROOT}/poll/`` (``Authorization: Bearer <agent token>``) with `Poll` -> `PollAnswer`. The server sets
   the tempo (``poll_after_s``). ``job`` names the run assigned to this agent, if any. A protocol version the server
   does not speak is refused with 426 and both versions in words.
3. ``POST {API_ROOT}/jobs/<run_id>/claim/`` -> `Claimed`: the job, its own token, the lease. 409 when the run is not
   assigned to this agent any more. Claiming is a conditional update on the server: it succeeds once.
4. ``POST {API_ROOT}/jobs/<run_id>/heartbeat/`` (job token) -> `Lease`, at a third of the lease. ``cancel`` asks the
   agent to stop, clean up and send what it has. A lapsed lease marks the run ``lost``; the late result is still taken.
5. ``POST {API_ROOT}/jobs/<run_id>/batch/`` (job token) with `Batch` -> `Ack`. Batches are numbered from 1 without
   gaps. One already applied is acknowledged again and changes nothing; one ahead of the next is refused with 409
   and ``expected``. The agent keeps every batch in its spool until it is acknowledged.
6. The item ``finish`` ends the job; afterwards the job token opens nothing but repeats of the same batches.

Beside runs the server may ask something of the machine itself. ``errands`` of a poll tells which commands the agent
does; ``errand`` of the answer names one, with each poll until the agent's own ``errand`` (`ErrandReport`) has told of
its end. While there is one, no run is handed out. An agent that does not tell ``errands`` is asked for none.

A second agent observes: it samples the machine of a server that the first one did not start. ``observe`` of its poll
names the run. ``POST {API_ROOT}/observations/<run_id>/claim/`` -> `Ordered`, once, with a token for this order alone;
``…/heartbeat/`` -> `Watch`; ``…/batch/`` with `ObservedBatch` -> `Ack`, numbered as above, until the item ``observed``.

Every answer has the header ``Benchsite-Clock``: the server's time in seconds since 1970, when the request had come and
when the answer was made. From it each agent knows its clock against the server's (`ClockFacts`).

Answers: 2xx done; 400 names the wrong field; 401 unknown token; 403 not approved; 404 no such run; 409 conflict of
state or sequence; 426 protocol version; 5xx and network errors are tried again with back-off and jitter, for ever.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

PROTOCOL_VERSION = 1
API_ROOT = "/api/agent/v1"

# A benchmark starves its own machine: the lease is long and renewed at a third of it.
LEASE_S = 600
# Of 50 idle agents 95 % have claimed a run within 2 s of the form so, which is measured by `make bench-fleet`.
POLL_IDLE_S = 1.75

# States that the agent reports while it works; the whole table is in runs/models/runs.py.
AGENT_STATES = ("preparing", "loading", "warming_up", "measuring", "collecting")
# In these the seconds of a run are counted; its second 0 is the begin of the first of them.
COUNTED_STATES = ("warming_up", "measuring")
OUTCOMES = ("finished", "failed", "cancelled", "lost")
# The kind of a failure that other runs with the same settings would have as well: a setting is not taken.
CONFIGURATION = "configuration"
STORAGE_ROLES = ("data", "log", "temp", "backup")
CLOCK_HEADER = "Benchsite-Clock"
NOT_SAMPLED = "server not sampled"


class StorageFacts(TypedDict):
    """One storage device as the agent found it; None where the machine does not tell."""

    name: str
    medium: str | None
    model: str | None
    bus: str | None
    capacity_bytes: int | None
    file_system: str | None
    mount_point: str | None
    mount_options: str | None
    scheduler: str | None
    write_cache: str | None
    raid: str | None
    emulated: bool


class HardwareFacts(TypedDict):
    hostname: str
    os: str | None
    kernel: str | None
    cpu_model: str | None
    cpu_cores: int | None
    cpu_threads: int | None
    ram_bytes: int | None
    motherboard: str | None
    virtualisation: str | None
    storage: list[StorageFacts]
    # Tells the installation, whatever its name (hashed); absent where the system has no such id.
    machine_id: NotRequired[str]
    # Parts that tell the machine from one with a copy of its disk (hashed): board, network cards.
    made_of: NotRequired[list[str]]


class EngineFacts(TypedDict):
    """One installed version of a DBMS. `available` false carries `reason` in words for the form.

    `pending`: what it lacks is being fetched, or tried again; it becomes available by itself.
    `connection`: name of a connection of this machine to a server that the agent did not start; `observed_by`: who
    samples that server, as "agent/observation".
    """

    dbms: str
    version: str
    available: bool
    reason: str
    path: str
    pending: NotRequired[bool]
    connection: NotRequired[str]
    observed_by: NotRequired[str]


class ObservationFacts(TypedDict):
    """Processes of this machine that the agent can sample for runs of others.

    `what` in words; `device` holds the data, empty where none was named; `problem` is empty when they are there.
    """

    name: str
    what: str
    device: str
    problem: str


class ClockFacts(TypedDict):
    """`offset_s`: what has to be added to the agent's clock for the server's; `uncertainty_s`: either way."""

    offset_s: float
    uncertainty_s: float


class NamedStorageFacts(TypedDict):
    """One storage as the form and the run page show it.

    `device` is a `StorageFacts.name`; `disks` are the physical disks beneath it. `emulated` is empty or says the
    rates ("emulated: read 60 MB/s; write 60 MB/s, 120 IOPS"). `problem` is empty when the storage can be used.
    """

    name: str
    device: str
    disks: list[str]
    medium: str | None
    model: str | None
    bus: str | None
    emulated: str
    capacity_bytes: int | None
    free_bytes: int | None
    problem: str


class ConfinementFacts(TypedDict):
    """What the processes of a job may reach, in words; `confined` false: whatever the agent's own user may."""

    confined: bool
    words: str


class ErrandOrder(TypedDict):
    """A command of the agent's own program, as "engines install", and the words after it."""

    id: str
    command: str
    words: list[str]


class ErrandReport(TypedDict):
    """How far an errand is; `log` is the end of what it said so far."""

    id: str
    state: Literal["running", "done", "failed"]
    log: str


class Registration(TypedDict):
    protocol: int
    agent_version: str
    name: str
    code: NotRequired[str]
    hardware: HardwareFacts
    engines: list[EngineFacts]
    places: NotRequired[list[NamedStorageFacts]]
    observations: NotRequired[list[ObservationFacts]]
    confinement: NotRequired[ConfinementFacts]


class Registered(TypedDict):
    agent_id: str
    token: str
    status: Literal["pending", "approved"]


class Poll(TypedDict):
    protocol: int
    agent_version: str
    engines: NotRequired[list[EngineFacts]]
    hardware: NotRequired[HardwareFacts]
    places: NotRequired[list[NamedStorageFacts]]
    observations: NotRequired[list[ObservationFacts]]
    confinement: NotRequired[ConfinementFacts]
    # Commands that the server may ask for, with the names that each takes; none listed: any.
    errands: NotRequired[dict[str, list[str]]]
    errand: NotRequired[ErrandReport]
    # It is about to end: it is given nothing more.
    leaving: NotRequired[bool]


class PollAnswer(TypedDict):
    status: Literal["pending", "approved", "disabled"]
    poll_after_s: float
    job: str | None
    message: str
    # A run of another agent that this one is to observe.
    observe: NotRequired[str]
    errand: NotRequired[ErrandOrder]


class JobSpec(TypedDict):
    """What to run. `settings` is the DBMS configuration: ordered, duplicates kept."""

    run_id: str
    workload: str
    workload_version: str
    dbms: str
    dbms_version: str
    settings: list[tuple[str, str]]
    factors: dict[str, int | float | str]
    seed: int
    # Name of the agent's connection to work on, instead of a server that it starts.
    connection: NotRequired[str]
    # Which repeat of its cell it is, from 1.
    repeat: NotRequired[int]
    # The repeat of the same cell whose backup was restored and found right; absent until there is one.
    verified_in_repeat: NotRequired[int]


class Claimed(TypedDict):
    job: JobSpec
    job_token: str
    lease_s: int


class Lease(TypedDict):
    lease_s: int
    cancel: bool


class StateItem(TypedDict):
    kind: Literal["state"]
    state: str
    at: float
    # The agent's clock when the run began.
    clock: NotRequired[ClockFacts]


class SamplesItem(TypedDict):
    """Consecutive samples of one metric; None is a gap (no transaction ended).

    `t0_s` counts from the start of the warm-up; `chunk` numbers from 0.
    """

    kind: Literal["samples"]
    metric: str
    chunk: int
    t0_s: float
    interval_s: float
    values: list[float | None]


class LogItem(TypedDict):
    """A piece of the job's log; `offset` is its byte position in the whole log (UTF-8)."""

    kind: Literal["log"]
    offset: int
    text: str


class MetricValue(TypedDict):
    name: str
    value: float
    phase: str


class StatementFact(TypedDict):
    """`durability` is empty where nothing is known; the reason says what is."""

    durability: str
    reason: str


class DurabilityFact(TypedDict):
    """The class that ranks, and why. From 2.1 on an agent sends what it follows from (`catalog.durability.judge`)."""

    durability: str
    reason: str
    promised: NotRequired[StatementFact]
    storage: NotRequired[StatementFact]
    observed: NotRequired[StatementFact]


class StorageUse(TypedDict):
    """Which device held what in this run: `device` is a `StorageFacts.name`."""

    role: str
    device: str
    path: str


class Check(TypedDict):
    name: str
    ok: bool
    detail: str


class EngineReport(TypedDict, total=False):
    """What the engine told about itself. Names as in ``benchagent/dbms/counters.py``.

    It travels and is stored under the name `statistics`.

    `counters`: increase over the measured window; `none`: what the engine does not tell, and why; `waits`: event ->
    mean number of sessions in it; `maintenance`: age of statistics, vacuum and purge when the run began;
    `transaction_types`: type -> counts and latencies; `queries`: single statements with plan, time and effort;
    `consistency`: each condition of the data, when it was checked and how often it was violated; `marks`: moments of a
    phase that have a name; `warm_up_queries`: what was asked before the run and the DBMS's memory meanwhile;
    `conditions`: circumstances in words; `latency_map`: how many transactions took how long, interval by interval of
    the run (`benchagent.latency_map`).
    """

    counters: dict[str, float]
    none: dict[str, str]
    waits: dict[str, float]
    tables: list[dict[str, Any]]
    indexes: list[dict[str, Any]]
    maintenance: list[dict[str, Any]]
    queries: list[dict[str, Any]]
    consistency: list[dict[str, Any]]
    marks: list[dict[str, Any]]
    transaction_types: dict[str, dict[str, Any]]
    warm_up_queries: dict[str, Any]
    conditions: dict[str, str]
    latency_map: dict[str, Any]


class JobResult(TypedDict):
    """Everything about the run that is not a sample. Partial for failed and cancelled runs."""

    metrics: list[MetricValue]
    durability: DurabilityFact | None
    effective_settings: list[tuple[str, str]]
    ignored_settings: list[str]
    storage: list[StorageUse]
    product: str
    driver: dict[str, str]
    dataset: dict[str, Any]
    command_lines: list[str]
    checks: list[Check]
    warnings: list[str]
    per_terminal: list[int]
    histogram: str | None
    statistics: NotRequired[EngineReport]


class FinishItem(TypedDict):
    kind: Literal["finish"]
    outcome: str
    message: str
    at: float
    result: JobResult
    # Of a failed run, where its kind is known: `CONFIGURATION`. One that the server does not know tells it nothing.
    failure: NotRequired[str]


Item = StateItem | SamplesItem | LogItem | FinishItem


class Batch(TypedDict):
    seq: int
    items: list[Item]


class Ack(TypedDict):
    seq: int
    cancel: bool


# What the server and an observing agent say to each other; the life cycle is above.

# Means of the device with the data.
DISK_MEANS = ("disk_read_mb_per_s", "disk_write_mb_per_s", "disk_read_iops", "disk_write_iops", "disk_util_percent")
# Who asked for writes, by process and whatever the disk; where the agent may read it. The most that they wrote: some
# may wait in memory yet, and Linux counts a whole page of its cache, up to 1 MiB, where a part of it is written.
DISK_SHARES = ("own_disk_write_mb_per_s", "others_disk_write_mb_per_s")
# What an observer may send: mean of the measured seconds as a metric of the run, or their maximum.
OBSERVED_MEANS = ("server_machine_cpu_percent", "server_cpu_cores", *DISK_MEANS, *DISK_SHARES)
OBSERVED_MAXIMA = ("server_rss_bytes",)


class ObservationSpec(TypedDict):
    """What to observe. `window_s`: so long the run's seconds are, None where the run does not say so before."""

    run_id: str
    observation: str
    window_s: float | None


class Ordered(TypedDict):
    job: ObservationSpec
    job_token: str
    lease_s: int


class Watch(TypedDict):
    """`begun_at`: second 0 of the run by the server's clock, None until it has begun; `over`: stop sampling."""

    begun_at: float | None
    over: bool


class ObservedItem(TypedDict):
    """Ends an observation. `problem` in words, empty when it went as it should."""

    kind: Literal["observed"]
    problem: str
    clock: ClockFacts | None


class ObservedBatch(TypedDict):
    seq: int
    items: list[SamplesItem | ObservedItem]
