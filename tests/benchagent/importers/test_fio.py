"""fio. The files in data/fio were made with fio 3.33; those named fio2 are written after the formats of 2.2, 2.10."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.importers import Report, SourceFile, Status, inspect

from tests.benchagent.importers.samples import report_of, reports, sample, values

TOOL = "fio"


def test_it_reads_json_of_version_3_in_nanoseconds() -> None:
    report = report_of(TOOL, "randrw.json")
    assert (report.status, report.tool_version) == (Status.COMPLETE, "3.33")
    assert report.parameters == {
        "read_write": "randrw", "io_engine": "psync", "io_depth": 4, "read_mix_percent": 70,
        "block_size_bytes": 8192, "size_bytes": 33554432, "duration_s": 3.0, "filename": "fio.dat",
    }  # fmt: skip
    found = values(report)
    assert found["read_iops"] == 15615.128291
    assert found["write_mb_per_s"] == 54.709784
    assert found["read_latency_avg_ms"] == 0.056394125
    assert found["read_latency_p999_ms"] == 0.59392
    assert found["read_latency_p99_99_ms"] == 3.391488


def test_it_reads_json_of_version_2_in_microseconds_and_kib() -> None:
    report = report_of(TOOL, "fio2.json")
    found = values(report)
    assert found["read_mb_per_s"] == pytest.approx(2976 * 1024 / 1e6)
    assert (found["read_latency_avg_ms"], found["read_latency_p99_ms"]) == (0.62602, 1.8)
    assert "write_iops" not in found
    assert "converted" in " ".join(report.warnings)
    assert report.parameters["direct"] is True
    assert report.parameters["ramp_up_s"] == 5.0


def test_it_reads_json_plus_between_other_output_once() -> None:
    report = report_of(TOOL, "fdatasync_both.txt")
    found = values(report)
    assert found["write_iops"] == 5213.393303
    assert (found["fsyncs"], found["fsync_latency_p99_ms"]) == (10432, 1.564672)
    assert report.parameters["fdatasync_every"] == 1


def test_it_takes_the_last_of_interim_reports_and_repeats_as_runs() -> None:
    text = sample(TOOL, "randrw.json").decode()
    moment = int(text.split('"timestamp_ms" : ')[1].split(",")[0])
    earlier = text.replace('"elapsed" : 4', '"elapsed" : 2').replace(str(moment), str(moment - 2000))
    assert earlier != text
    assert len(reports("x", (earlier + text).encode())) == 1
    repeat = text.replace(str(moment), str(moment + 9000))
    assert len(reports("x", (text + repeat).encode())) == 2
    normal = sample(TOOL, "seqwrite.txt").decode()
    again = normal[normal.index("seqw: (groupid") :].replace("IOPS=1600", "IOPS=1601")
    (report,) = reports("x", (normal + again).encode())
    assert values(report)["write_iops"] == 1601


def test_it_reads_group_reporting() -> None:
    report = report_of(TOOL, "group_both.txt")
    assert report.parameters["jobs"] == 3
    assert values(report)["read_iops"] == 74194.902549


def test_it_reads_the_normal_output_with_decimal_megabytes() -> None:
    found = values(report_of(TOOL, "seqwrite.txt"))
    assert (found["write_iops"], found["write_mb_per_s"]) == (1600, 1678)
    assert (found["write_latency_avg_ms"], found["fsync_latency_avg_ms"]) == (0.12542, 3.95878)
    assert found["write_latency_p99_ms"] == 0.212
    assert found["fsync_latency_max_ms"] == 4.854


def test_it_reads_the_normal_output_of_version_2() -> None:
    report = report_of(TOOL, "fio2_normal.txt")
    found = values(report)
    assert (report.tool_version, found["read_iops"]) == ("2.2.10", 1584)
    assert found["read_mb_per_s"] == pytest.approx(6336 * 1024 / 1e6)
    assert found["read_latency_p95_ms"] == 23.68
    assert report.parameters == {
        "read_write": "randread", "io_engine": "libaio", "io_depth": 16, "jobs": 1, "direct": True,
        "block_size_bytes": 4096, "size_bytes": 1024**3, "duration_s": 60.0,
    }  # fmt: skip
    assert report.command_lines[0].startswith("fio --name=randread")


def test_it_reads_thousands_of_microseconds_and_rates_without_their_unit() -> None:
    text = sample(TOOL, "fio2_normal.txt").decode()
    large = text.replace("max=201554", "max=4068.8K").replace("max=201560", "max=4069.1K")
    assert values(reports("x", large.encode())[0])["read_latency_max_ms"] == 4069.1
    normal = sample(TOOL, "seqwrite.txt").decode()
    bare = normal.replace("BW=1600MiB/s (1678MB/s)", "BW=1600Mi (1678M)")
    assert bare != normal
    assert values(reports("x", bare.encode())[0])["write_mb_per_s"] == 1678


def test_it_adds_up_jobs_that_ran_side_by_side_and_keeps_each() -> None:
    report = report_of(TOOL, "two_jobs.txt")
    found = values(report)
    assert found["read_iops"] == 27400 + 26800
    assert found["read_mb_per_s"] == 112 + 110
    assert found["writers_write_iops"] == 54000
    assert found["readers_2_read_latency_avg_ms"] == 0.03623563
    assert "read_latency_avg_ms" not in found
    assert any("sums of 3 jobs" in warning for warning in report.warnings)


def test_it_makes_a_report_of_every_group() -> None:
    text = sample(TOOL, "randrw.json").decode()
    job = text[text.index('    {\n      "jobname"') : text.index('\n  ],\n  "disk_util"')]
    second = job.replace('"groupid" : 0', '"groupid" : 1').replace('"jobname" : "randrw"', '"jobname" : "again"')
    found = reports("x", text.replace(job, f"{job},\n{second}").encode())
    assert [report.status for report in found] == [Status.COMPLETE] * 2
    assert values(found[0]) == values(found[1])


@pytest.mark.parametrize("name", ["enospc.json", "enospc.txt"])
def test_it_calls_a_job_with_an_error_failed(name: str) -> None:
    report = report_of(TOOL, name)
    assert (report.status, report.metrics) == (Status.FAILED, ())
    assert "error 28" in report.reason


@pytest.mark.parametrize("name", ["interrupted.json", "interrupted.txt"])
def test_it_calls_an_interrupted_run_aborted(name: str) -> None:
    report = report_of(TOOL, name)
    assert report.status is Status.ABORTED
    assert report.reason == "fio was ended by signal 2"
    assert "the figures are those of the part that ran" in report.warnings


def test_it_says_when_a_run_was_shorter_than_told() -> None:
    data = sample(TOOL, "interrupted.json").replace(b"fio: terminating on signal 2", b"")
    (report,) = reports("x", data)
    assert report.status is Status.COMPLETE
    assert "ran 2.747 s of the 20 s" in report.warnings[0]


def test_it_calls_output_without_its_end_aborted_and_gives_no_rate() -> None:
    data = sample(TOOL, "seqwrite.txt")
    (report,) = reports("x", data[: data.index(b"     issued rwts")])
    assert (report.status, report.metrics) == (Status.ABORTED, ())


def group(*names: str) -> list[Report]:
    found = inspect([SourceFile(name, sample(TOOL, Path(name).name)) for name in names])
    return [report for _, of_file in found for report in of_file]


def test_it_puts_the_logs_of_a_run_to_its_report() -> None:
    run, bandwidth, latency, _ = group("r/logs.txt", "r/logs_bw.1.log", "r/logs_lat.1.log", "r/logs_clat.1.log")
    series = {series.name: series for series in run.series}
    assert {*series} == {"read_mb_per_s", "write_mb_per_s", "read_latency_avg_ms", "write_latency_avg_ms"}
    assert (series["read_mb_per_s"].points, series["read_mb_per_s"].interval_s) == (7, 0.5)
    assert series["read_mb_per_s"].values[0] == pytest.approx(102480 * 1024 / 1e6)
    assert series["read_latency_avg_ms"].values[0] == pytest.approx(0.064501)
    assert (bandwidth.part_of, bandwidth.series) == ("r/logs.txt", ())
    assert latency.part_of == "r/logs.txt"


def test_it_adds_up_a_log_of_single_operations_second_by_second() -> None:
    rows = "".join(f"{at * 10}, {60000 + at}, 0, 8192, 0, 0x0000\n" for at in range(1, 250))
    found = [of_file[0] for _, of_file in inspect([
        SourceFile("logs.txt", sample(TOOL, "logs.txt").replace(b"IOPS=12.7k, BW=99.5MiB/s (104MB/s)(398MiB/4001msec)",
            b"IOPS=100, BW=800KiB/s (819kB/s)(3200KiB/4001msec)").replace(b"total=50945", b"total=400")
            .replace(b"READ: bw=99.5MiB/s (104MB/s)", b"READ: bw=800KiB/s (819kB/s)")),
        SourceFile("logs_bw.1.log", rows.encode()), SourceFile("logs_lat.1.log", rows.encode()),
    ])]  # fmt: skip
    series = {series.name: series for series in found[0].series}
    assert series["read_mb_per_s"].values == (99 * 8192 / 1e6, 100 * 8192 / 1e6)
    assert series["read_latency_avg_ms"].values[0] == pytest.approx(0.06005)


def test_it_keeps_windows_that_drift_on_their_grid() -> None:
    rows = "".join(f"{507 * at}, {1000 + at}, 0, 0\n" for at in range(1, 400) if at != 200)
    (report,) = inspect([SourceFile("a_iops.1.log", rows.encode())])[0][1]
    (series,) = report.series
    assert (series.points, series.interval_s, series.values[199]) == (399, 0.507, None)


def test_it_leaves_out_a_log_that_does_not_fit_its_run() -> None:
    run, *_ = group("r/seqwrite.txt", "r/logs_bw.1.log")
    assert not any(one.name == "write_mb_per_s" for one in run.series)
    assert any("does not fit" in warning for warning in run.warnings)


def test_it_reads_a_log_alone_as_series_without_totals() -> None:
    (report,) = group("logs_iops.1.log")
    assert (report.metrics, [one.name for one in report.series]) == ((), ["read_iops", "write_iops"])
    assert "totals" in report.warnings[0]
    (latency,) = group("logs_lat.1.log")
    assert latency.series == ()


def test_it_does_not_guess_what_a_log_without_its_name_holds() -> None:
    (report,) = inspect([SourceFile("data.csv", sample(TOOL, "logs_bw.1.log"))])[0][1]
    assert report.status is Status.NOT_UNDERSTOOD


def test_it_refuses_terse_output_with_a_way_out() -> None:
    report = report_of(TOOL, "minimal.txt")
    assert report.status is Status.NOT_UNDERSTOOD
    assert "--output-format=json" in report.reason


OLD_JOB = """\
{name}: (groupid={group}, jobs=1): err= 0: pid={pid}
  write: io=10240KB, bw=2048.0KB/s, iops=256 , runt=  5000msec
    clat (usec): min=67 , max=9411.7K, avg=645.32, stdev=4647.69
     lat (usec): min=67 , max=9411.7K, avg=645.46, stdev=4647.69
     issued r/w/d: total=0/1280/0, short=0/0/0

Run status group {group} (all jobs):
  WRITE: io=10240KB, aggrb=2048KB/s, minb=2097KB/s, maxb=2097KB/s, mint=5000msec, maxt=5000msec
"""
JOB = """\
job: (groupid=0, jobs={jobs}): err= 0: pid={pid}: Thu Sep  5 03:52:31 2024
  write: IOPS={iops}, BW={rate}MiB/s ({decimal}MB/s)({done}MiB/10000msec); 0 zone resets
    clat ({unit}): min=111, max=10110, avg=498.67, stdev=28.86
     lat (usec): min=140, max=22436, avg=503.58, stdev=173.40
    clat percentiles ({unit}):
     |  1.00th=[  222], 50.00th=[  617], 99.00th=[ 1045]
     issued rwts: total=0,{count},0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
  WRITE: bw={rate}MiB/s ({decimal}MB/s), {rate}MiB/s-{rate}MiB/s ({decimal}MB/s-{decimal}MB/s), io={done}MiB (1MB), \
run=10000-10000msec
"""
PLAIN = {
    "jobs": 1,
    "pid": 7,
    "iops": "2560",
    "rate": "10.0",
    "decimal": "10.5",
    "done": "100",
    "count": 25600,
    "unit": "usec",
}


def test_it_reads_version_1() -> None:
    (report,) = reports("x", OLD_JOB.format(name="w", group=3, pid=2462).encode())
    assert report.status is Status.COMPLETE
    assert values(report)["write_latency_max_ms"] == 9411.7
    assert values(report)["write_iops"] == 256


def test_it_reads_runs_one_after_the_other_without_their_heads() -> None:
    text = "## A\n" + JOB.format(**PLAIN) + "```\n## B\n" + JOB.format(**PLAIN | {"pid": 8, "iops": "2561"})
    assert [values(report)["write_iops"] for report in reports("x", text.encode())] == [2560, 2561]


def test_it_does_not_call_an_example_in_a_comment_a_run() -> None:
    text = "# randwrite: (groupid=0, jobs=4): err= 0: pid=1234\n#   write: IOPS=45.2k, BW=176MiB/s (185MB/s)\n"
    assert reports("x", text.encode())[0].status is Status.NOT_UNDERSTOOD
    (totals,) = reports("x", JOB.format(**PLAIN)[JOB.index("Run") :].encode())
    assert totals.status is Status.NOT_UNDERSTOOD


def test_it_leaves_out_latencies_that_contradict_each_other() -> None:
    (report,) = reports("x", JOB.format(**PLAIN | {"unit": "msec"}).encode())
    assert report.status is Status.COMPLETE
    assert {*values(report)} == {"write_iops", "write_mb_per_s", "elapsed_s"}
    assert "left out" in " ".join(report.warnings)


def test_it_finds_the_carry_that_fio_loses_when_it_rounds() -> None:
    """15.97k is printed as 15.0k: the number of operations tells; 99.96 MiB are printed as 99.0."""
    (report,) = reports("x", JOB.format(**PLAIN | {"iops": "15.0k", "count": 159_700, "done": "99.0"}).encode())
    assert values(report)["write_iops"] == 16_000
    assert "lost the carry" in " ".join(report.warnings)


def test_it_tells_jobs_of_one_name_apart() -> None:
    heads = [
        f"w: (g={at}): rw={rw}, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=2\n"
        for at, rw in enumerate(("write", "rw"))
    ]
    blocks = [OLD_JOB.format(name="w", group=at, pid=at + 1).split("\nRun status") for at in (0, 1)]
    text = "".join([*heads, *(job for job, _ in blocks), *("\nRun status" + totals for _, totals in blocks)])
    assert [report.parameters["read_write"] for report in reports("x", text.encode())] == ["write", "rw"]


def test_it_takes_of_a_group_that_reports_as_one_what_is_common() -> None:
    command = "$ fio --direct=1 --bs 8k --name=job --rw=randread --name=writer --rw=randwrite\n"
    heads = [
        f"{name}: (g=0): rw={rw}, bs=4K-4K, ioengine=sync, iodepth=2\n"
        for name, rw in (("job", "read"), ("writer", "write"))
    ]
    (report,) = reports("x", "".join([command, *heads, JOB.format(**PLAIN | {"jobs": 2})]).encode())
    assert "read_write" not in report.parameters
    assert (report.parameters["direct"], report.parameters["io_depth"]) == (True, 2)


def test_it_takes_no_options_from_the_command_of_another_run_or_from_one_job_of_several() -> None:
    command = "fio --name=sample --rw=randread --size=10g --numjobs=4\n"
    (report,) = reports("x", (command + JOB.format(**PLAIN)).encode())
    assert report.parameters == {}
    head = "job: (g=0): rw=write, bs=4K-4K, ioengine=sync, iodepth=2\n"
    block = JOB.format(**PLAIN | {"jobs": 2})
    assert reports("x", (head + block).encode())[0].parameters == {"jobs": 2}
    assert reports("x", (head + "...\n" + block).encode())[0].parameters["io_depth"] == 2


def test_it_takes_the_sum_of_all_servers() -> None:
    every = (
        JOB.format(**PLAIN).split("\nRun")[0].replace("job:", "All clients:").replace("MiB/s (10.5MB/s)", "Mi (10.5M)")
    )
    (report,) = reports("x", (JOB.format(**PLAIN | {"pid": 9}) + every.replace("2560,", "2561,")).encode())
    assert (report.status, values(report)["write_iops"]) == (Status.COMPLETE, 2561)


def test_it_does_not_call_a_run_complete_whose_job_was_killed() -> None:
    (report,) = reports("x", ("fio-3.35\nfio: pid=2, got signal=9\n" + JOB.format(**PLAIN)).encode())
    assert (report.status, report.reason) == (Status.ABORTED, "fio was ended by signal 9")


def test_it_reads_errors_that_are_negative() -> None:
    text = JOB.format(**PLAIN).replace("err= 0", "err=-17024")
    (report,) = reports("x", ("fio-3.35\n" + text).encode())
    assert (report.status, report.reason) == (Status.FAILED, "job job ended with error -17024")


def test_it_reads_options_in_every_form_of_the_command_line() -> None:
    command = "# fio -filename=/dev/x -direct=1 -iodepth 4 -thread -rw=write -bs=16k -runtime=1000 -name=job\n"
    (report,) = reports("x", (command + JOB.format(**PLAIN)).encode())
    assert report.parameters == {
        "read_write": "write", "io_depth": 4, "direct": True, "block_size_bytes": 16384, "duration_s": 1000.0,
        "filename": "/dev/x", "thread": True,
    }  # fmt: skip
    assert "ran 10 s of the 1000 s" in " ".join(report.warnings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"iops" : 15615.128291', b'"iops" : 25615.128291'),
        (b'"bw_bytes" : 127919130', b'"bw_bytes" : 227919130'),
        (b'"95.000000" : 69120', b'"95.000000" : 9120'),
        (b'"iops" : 15615.128291,', b'"iops" : 15615.128291,\n"iops" : 15615.128291,'),
    ],
)
def test_it_does_not_read_figures_that_contradict_each_other(before: bytes, after: bytes) -> None:
    data = sample(TOOL, "randrw.json")
    assert before in data
    assert [report.status for report in reports("x", data.replace(before, after))] == [Status.NOT_UNDERSTOOD]


def test_a_job_that_was_pasted_without_the_totals_of_its_run_is_whole() -> None:
    text = sample(TOOL, "seqwrite.txt").decode()
    (plain,) = reports("x", text.encode())
    job = text[text.index("(groupid=") :]
    job = text[text.rindex("\n", 0, text.index("(groupid=")) + 1 :].partition("\nRun status")[0] + "\n"
    assert "Run status" not in job
    (extract,) = reports("x", job.encode())
    assert (extract.status, extract.metrics) == (Status.COMPLETE, plain.metrics)
    # So is a run whose jobs are all there; with one that is missing, or in the midst of a job, it is cut.
    without_totals = text.partition("\nRun status")[0] + "\n"
    (announced,) = reports("x", without_totals.encode())
    assert (announced.status, announced.metrics) == (Status.COMPLETE, plain.metrics)
    (missing,) = reports("x", without_totals.replace("Starting 1 process", "Starting 2 processes").encode())
    (cut,) = reports("x", (job[: job.index("issued rwts")].rpartition("\n")[0] + "\n").encode())
    assert [missing.status, cut.status] == [Status.ABORTED, Status.ABORTED]
