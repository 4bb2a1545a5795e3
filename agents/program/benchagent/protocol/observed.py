"""What the server and an observing agent say to each other; the life cycle is in `benchagent.protocol`."""

from __future__ import annotations

from typing import Literal, TypedDict

from benchagent.protocol import ClockFacts, SamplesItem

# Of the device with the data.
DISK_MEANS = ("disk_read_mb_per_s", "disk_write_mb_per_s", "disk_read_iops", "disk_write_iops", "disk_util_percent")
# What an observer may send: mean of the measured seconds as a metric of the run, or their maximum.
OBSERVED_MEANS = ("server_machine_cpu_percent", "server_cpu_cores", *DISK_MEANS)
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
