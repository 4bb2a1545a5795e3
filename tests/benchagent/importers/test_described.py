"""Tools that are described in YAML: those that come along, and what a stranger may and may not write.

py-tpcc, cassandra-stress, DBT-2 and YCSB-cpp are in no package registry: their files are written by hand after the
output that is published of them.
"""

from __future__ import annotations

import json
import re
import time

import pytest
from benchagent.importers import SourceFile, Status, as_json, inspect
from benchagent.importers.described import BadDescription, described, shipped, tried
from benchagent.importers.report import missing_details
from benchagent.redaction import redact_text

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "described"
FILES = sorted((DATA / TOOL).iterdir())
MINIBENCH = """
tool: minibench
dbms: postgres
lines:
  - minibench {version:token}
  - "clients: {terminals:int}"
  - maybe: "isolation: {isolation:rest}"
  - each: "{operation:word} {operations:int} times, {latency_us:num} us"
  - "{transactions:int} transactions ({tps:num} per sec.) in {elapsed_s:num} s"
metrics:
  tps:
  latency_us: {name: latency_avg_ms, times: 0.001}
  operations:
  pages: {unit: pages, better: lower}
parameters: [terminals, isolation]
checks: [transactions / elapsed_s = tps]
""".replace("  pages: {unit: pages, better: lower}\n", "")
EXAMPLE = """$ ./minibench -c 8
minibench 2.1
clients: 8
isolation: read committed
read 90 times, 1250.5 us
write 30 times, 2000 us
120 transactions (12.0 per sec.) in 10.0 s
done
"""


def refused(text: str, example: str = EXAMPLE) -> str:
    with pytest.raises(BadDescription) as error:
        tried(text, example)
    return str(error.value)


def test_it_reads_by_a_description():
    _, (report,) = tried(MINIBENCH, EXAMPLE)
    assert (report.tool, report.tool_version, report.status) == ("minibench", "2.1", Status.COMPLETE)
    assert values(report) == {
        "tps": 12.0, "read_latency_avg_ms": 1.2505, "write_latency_avg_ms": 2.0, "read_operations": 90,
        "write_operations": 30,
    }  # fmt: skip
    assert report.parameters == {"terminals": 8, "isolation": "read committed"}
    assert (report.subject.dbms, report.subject.workload) == ("postgresql", "minibench")


def test_it_reads_descriptions_with_the_letters_of_before():
    letters = (
        MINIBENCH.replace(":int}", ":N}").replace(":num}", ":X}").replace(":word}", ":W}").replace(":rest}", ":T}")
    )
    assert "{operation:W} {operations:N}" in letters
    assert tried(letters, EXAMPLE)[1] == tried(MINIBENCH, EXAMPLE)[1]


def test_what_somebody_described_is_asked_before_all_others():
    ((_, (report,)),) = inspect([SourceFile("x", EXAMPLE.encode())], own_tools=[described(MINIBENCH)])
    assert report.tool == "minibench"
    assert reports("x", EXAMPLE.encode())[0].status is Status.NOT_UNDERSTOOD


def test_it_reads_several_runs_and_an_aborted_one():
    tool = described(MINIBENCH)
    again = EXAMPLE.replace("12.0 per", "24.0 per").replace("120 tr", "240 tr")
    told = tool.read(SourceFile("x", (EXAMPLE + again + EXAMPLE.partition("120 tr")[0]).encode()))
    assert [(report.status, values(report).get("tps")) for report in told] == [
        (Status.COMPLETE, 12.0), (Status.COMPLETE, 24.0), (Status.ABORTED, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("(12.0 per", "(22.0 per", "tps = 22, but the other figures make 12"),
        ("clients: 8\n", "", "the line of terminals is missing"),
        ("clients: 8", "clients: eight", "not a wording or number that minibench prints"),
        ("write 30", "read 30", "stands there twice"),
    ],
)
def test_it_refuses_output_that_contradicts_its_description(old: str, new: str, why: str):
    assert why in refused(MINIBENCH, EXAMPLE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("tool: minibench", "tool: {a: b}", "tool: a name of letters"),
        ("lines:", "lines: 5\nmore:", "an object with checks, command, computed, dbms, interim, json, lines"),
        ("clients: {terminals:int}", "clients: {terminals:N", ""),
        ("clients: {terminals:int}", "clients: [{terminals:int}", "brackets [ ] and braces { } do not match"),
        ("{isolation:rest}", "{isolation:rest} and more", "takes the rest of the line"),
        ("  tps:\n", "  tpx:\n", "no line has a value 'tpx'"),
        ("{name: latency_avg_ms, times: 0.001}", "{name: latency}", "say its unit"),
        ("times: 0.001", "times: -1", "times is a number above 0"),
        ("elapsed_s = tps", "elapsed_s", "is not as transactions / elapsed_s = tps"),
        ("tool: minibench", "tool: &a minibench\nworkload: *a", "aliases (*name) and what is nested deeply"),
        ("tool: minibench", "tool: !!python/object/apply:os.system ['true']", "YAML: could not determine"),
        ("tool: minibench", "tool: minibench\nworkload: " + "[" * 5000, "nested deeply"),
        ("tool: minibench", "tool: minibench #" + "x" * 20_000, "at most 20,000 bytes"),
    ],
)
def test_it_says_what_is_wrong_with_a_description(old: str, new: str, why: str):
    assert old in MINIBENCH
    assert why in refused(MINIBENCH.replace(old, new, 1))


def test_parts_in_double_brackets_stand_in_any_order():
    text = MINIBENCH.replace(
        "({tps:num} per sec.) in {elapsed_s:num} s", "done:[[ tps={tps:num}][ in {elapsed_s:num} s]]"
    )
    for end in ("tps=12.0 in 10.0 s", "in 10.0 s tps=12.0", "tps=12.0"):
        _, (report,) = tried(text, EXAMPLE.replace("(12.0 per sec.) in 10.0 s", f"done: {end}"))
        assert values(report)["tps"] == 12.0
    assert "no figure" in refused(text, EXAMPLE.replace("(12.0 per sec.) in 10.0 s", "done: tps=12.0 at 10.0 s"))


JSONBENCH = """
tool: jsonbench
dbms: postgres
json:
  - {at: [/run, /report/run], version: version, elapsed_s: seconds, retries: "[retries]"}
  - {at: /operations/*, operations: sum count, busy_ms: sum busy, latency_p95_ms: p95 times, timed: count times}
  - maybe: {at: /settings/name=fsync, fsync: value}
  - each: {at: /operations/*, operation: name, operations: count, busy_ms: busy}
computed:
  - operations / elapsed_s = tps
  - busy_ms / operations = latency_avg_ms
metrics: [tps, latency_avg_ms, latency_p95_ms, operations, retries]
parameters: [fsync]
checks: [timed + 0 = operations]
"""
READ = {"name": "read", "count": 90, "busy": 180, "times": {"1": 45, "2.0": 45}}
WRITE = {"name": "write", "count": 10, "busy": 70.0, "times": {"7": 10}}
DOCUMENT = {
    "run": {"version": "2.1", "seconds": 10}, "operations": [READ, WRITE],
    "settings": [{"name": "wal", "value": "lz4"}, {"name": "fsync", "value": False}],
}  # fmt: skip


def test_it_reads_json_by_a_description():
    for document in (DOCUMENT, DOCUMENT | {"run": None, "report": {"run": DOCUMENT["run"]}}):
        _, (report,) = tried(JSONBENCH, json.dumps(document))
        assert (report.tool_version, report.subject.dbms, report.status) == ("2.1", "postgresql", Status.COMPLETE)
        assert values(report) == {
            "tps": 10.0, "latency_avg_ms": 2.5, "latency_p95_ms": 7.0, "operations": 100,
            "read_tps": 9.0, "read_latency_avg_ms": 2.0, "read_operations": 90,
            "write_tps": 1.0, "write_latency_avg_ms": 7.0, "write_operations": 10,
        }  # fmt: skip
        assert report.parameters == {"fsync": False}


def test_each_document_of_a_file_is_a_run_and_so_is_each_object_where_the_description_says_so():
    twice = json.dumps(DOCUMENT) + "\n" + json.dumps(DOCUMENT | {"run": {"version": "2.1", "seconds": 20}})
    assert [values(report)["tps"] for report in tried(JSONBENCH, twice)[1]] == [10.0, 5.0]
    runs = "tool: j\njson:\n  - run: {at: /tests/*, test: name, tps: rate}\nmetrics: [tps]\nparameters: [test]\n"
    content = {"tests": {"a": {"name": "insert", "rate": 5}, "b": {"name": "scan", "rate": 7}}}
    assert [(report.parameters["test"], values(report)["tps"]) for report in tried(runs, json.dumps(content))[1]] == [
        ("insert", 5), ("scan", 7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"run": {"version": "2.1"}}, "'seconds' is missing"),
        ({"operations": [READ]}, ""),
        ({"operations": [READ, WRITE | {"count": "10"}]}, "'count' is no number"),
        ({"operations": [READ, WRITE | {"count": 12}]}, "operations = 102, but the other figures make 100"),
        ({"operations": [READ, WRITE | {"times": {"fast": 10}}]}, "counts of values"),
        ({"operations": [READ, WRITE | {"name": ["write"]}]}, "'name' is no single value"),
        ({"run": {"version": "2.1", "seconds": 10, "retries": "few"}}, "retries is no number"),
    ],
)
def test_it_refuses_json_that_contradicts_its_description(change, why: str):
    example = json.dumps(DOCUMENT | change)
    assert why in refused(JSONBENCH, example) if why else tried(JSONBENCH, example)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("at: /operations/*, operations: sum count", "at: /operations/*, operations: count", "their sum, min, max"),
        ("at: [/run, /report/run]", "at: run", "at is a path"),
        ("maybe: {at", "heading: {at", "'heading' is none of"),
        ("operations: sum count", "operations: 5", "the member that holds a value"),
        ("computed:", "computed: 5\nversion:", "computed: a list of texts"),
        ("operations / elapsed_s = tps", "operations = tps", "is not as"),
        ("operations / elapsed_s = tps", "operations / seconds = tps", "no line has a value 'seconds'"),
    ],
)
def test_it_says_what_is_wrong_with_a_description_of_json(old: str, new: str, why: str):
    assert old in JSONBENCH
    assert why in refused(JSONBENCH.replace(old, new, 1), json.dumps(DOCUMENT))


@pytest.mark.parametrize("name", ["k6_summary_export.json", "k6_handle_summary.json", "k6_machine_readable.json"])
def test_the_json_of_k6_says_what_its_summary_says(name):
    text, document = report_of(TOOL, "k6.txt"), report_of(TOOL, name)
    assert (document.parameters, document.subject) == (text.parameters, text.subject)
    assert values(document) == pytest.approx(values(text), rel=0.005)


def test_the_json_of_locust_says_what_its_tables_say():
    told = values(report_of(TOOL, "locust.json"))
    assert (told["requests"], told["errors"], told["latency_max_ms"]) == (284, 2, pytest.approx(166.82, abs=0.01))
    assert told["requests_per_s"] == pytest.approx(60.4, abs=0.1)
    assert {*values(report_of(TOOL, "locust.txt"))} <= {*told}


def test_thresholds_and_other_statistics_of_k6_are_read():
    text = sample(TOOL, "k6.txt").decode()
    shown = text.replace(
        "  █ TOTAL RESULTS", "  █ THRESHOLDS\n\n    http_req_duration\n    ✓ 'p(95)<500' p(95)=7.45ms\n\n  █ TOTAL"
    )
    shown = re.sub(r"(max=\S+) +(p\(90\)=\S+) (p\(95\)=\S+)", r"\3 p(99.99)=9ms \1 count=6640", shown)
    (report,) = reports("x", shown.encode())
    kept = {name: value for name, value in values(report_of(TOOL, "k6.txt")).items() if "p90" not in name}
    assert values(report) == kept


def test_a_description_is_checked_against_an_example():
    assert (
        refused(MINIBENCH, "something else\n")
        == "the example has not the first line that is always there, and another one"
    )
    assert "no figure of the example is read" in refused(MINIBENCH, EXAMPLE.partition("120 tr")[0])


ATTACKS = [
    "{:token}" * 40, "[{:int}]" * 40, "[a]" * 90, "{:token}{:word}" * 30, "[[[[{:word}]]]]" * 20, "{:a|aa|aaa}" * 25,
    "[{:cells}]" * 28,
    " ".join(["{:cells}"] * 30), "{:name} " * 30,
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_line_of_a_description_takes_long(attack: str):
    tool = described(f"tool: evil\nlines:\n  - {attack + '!'!r}\n  - 'end {{tps:num}}'\nmetrics: [tps]\n")
    lines = ("a" * 15_000, "1" * 15_000, "1 " * 7_500, "a " * 7_500)
    began = time.process_time()
    inspect([SourceFile("x", "".join(f"{line}\n" for line in (*lines, "end 1")).encode())], own_tools=[tool])
    assert time.process_time() - began < 5


def test_it_reads_py_tpcc():
    told = values(report_of(TOOL, "py-tpcc.txt"))
    assert (told["busy_tps"], told["transactions"], told["new_order_transactions"]) == (291.18, 16876, 7611)


def test_a_command_line_names_factors():
    options = "{-c: terminals, rate: , no-sync: , x: , port: , password: }"
    text = f"{MINIBENCH}command: {{program: minibench, options: {options}}}\n"
    shell = "$ sudo ./minibench -c 9 --rate=1000/s --no-sync -x=1.5 -u bench --port 5432 --password hunter2 > out.txt"
    _, (report,) = tried(text, EXAMPLE.replace("$ ./minibench -c 8", shell))
    # What a line says counts; where the server is, and who asks it, is no factor.
    assert report.parameters == {
        "terminals": 8, "isolation": "read committed", "rate": "1000/s", "no_sync": True, "x": 1.5
    }  # fmt: skip
    assert "hunter2" not in str(report)
    (command,) = report.command_lines
    assert command.startswith("minibench -c 9 --rate=1000/s")


@pytest.mark.parametrize(
    "said", ["5", "{program: minibench}", "{program: 'a b', options: {}}", "{program: ab, options: {c: A}}"]
)
def test_a_command_that_is_none_is_refused(said):
    assert refused(f"{MINIBENCH}command: {said}\n").startswith("command")


def test_it_reads_the_command_line_of_cassandra_stress():
    text = sample(TOOL, "cassandra-stress.txt").decode()
    command = "$ cassandra-stress write n=500000 cl=QUORUM no-warmup -rate threads=200 fixed=5000/s "
    command += "-mode native cql3 -node 10.0.0.7\n"
    (report,) = reports("x", (command + text).encode())
    assert report.parameters == {
        "operation": "WRITE", "terminals": 200, "operations_asked": 500000, "consistency_level": "QUORUM",
        "fixed": "5000/s", "mode": "native",
    }  # fmt: skip
    # Without the line of the threads too, and from its settings.
    (alone,) = reports("x", (command + re.sub("Running .*\n", "", text)).encode())
    assert alone.parameters["terminals"] == 200
    settings = "Command:\n  Type: write\n  Count: 500,000\n  Consistency Level: ONE\n"
    settings += "Rate:\n  Thread Count: 50\n  OpsPer Sec: 0\n"
    (told,) = reports("x", (settings + re.sub("Running .*\n", "", text)).encode())
    assert told.parameters == {
        "operation": "WRITE", "operations_asked": 500000, "consistency_level": "ONE", "terminals": 50,
        "rate_limit_ops_per_s": 0,
    }  # fmt: skip
    # Versions that print no operation beside the figures.
    bare = re.sub("Running .*\n| *\\[WRITE:.*", "", text)
    (old,) = reports("x", (command + bare).encode())
    assert old.parameters["operation"] == "write"


def test_a_row_of_dbt2_that_measured_nothing_spoils_no_other():
    text = sample(TOOL, "dbt2.txt").decode()
    row = next(line for line in text.splitlines() if "Delivery" in line)
    empty = "  Delivery      N/A      N/A :     N/A          0           0       N/A"
    (report,) = reports("x", text.replace(row, empty).encode())
    told, before = values(report), values(report_of(TOOL, "dbt2.txt"))
    assert told["delivery_transactions"] == 0
    assert {*before} - {*told} == {"delivery_latency_avg_ms", "delivery_latency_p90_ms"}


def test_it_reads_cassandra_stress():
    report = report_of(TOOL, "cassandra-stress.txt")
    assert report.parameters == {"operation": "WRITE", "terminals": 200}
    told = values(report)
    assert (told["ops_per_s"], told["latency_p999_ms"], told["partitions"], told["errors"]) == (3341, 441.2, 500000, 0)
    text = sample(TOOL, "cassandra-stress.txt").decode()
    old = text.replace("Op rate", "op rate").replace("Latency", "latency")
    assert values(reports("x", old.encode())[0])["latency_p999_ms"] == 441.2
    mixed = re.sub(r"\[WRITE: (.*?)\]", r"[READ: \1, WRITE: \1]", text)
    for running, operations in (
        ("MIXED", {"operation": "MIXED"}),
        ("[READ, WRITE]", {"operation": "READ", "second_operation": "WRITE"}),
        ("[simple1]", {"operation": "simple1"}),
    ):
        (report,) = reports("x", mixed.replace("Running WRITE", f"Running {running}").encode())
        assert report.parameters == {**operations, "terminals": 200}
        assert values(report) == told


def test_it_reads_dbt2_new_and_old():
    report = report_of(TOOL, "dbt2.txt")
    told = values(report)
    assert (told["nopm"], told["new_order_latency_p90_ms"], told["new_order_rollbacks"]) == (3491.68, 13, 2087)
    assert report.parameters == {"duration_s": 3600, "ramp_up_s": 6}
    old = """                         Response Time (s)
 Transaction      %    Average :    90th %        Total        Rollbacks      %
------------  -----  ---------------------  -----------  ---------------  -----
    Delivery   2.80      0.282 :     0.364            4                0   0.00
   New Order  47.55      0.067 :     0.148           68                4   5.88
Order Status   4.20      0.113 :     0.243            6                0   0.00
     Payment  39.16      0.023 :     0.048           56                0   0.00
 Stock Level   3.50      0.111 :     0.289            5                0   0.00
------------  -----  ---------------------  -----------  ---------------  -----

13.55 new-order transactions per minute (NOTPM)
5.0 minute duration
0 total unknown errors
0 second(s) ramping up
"""
    (report,) = reports("x", old.replace("0 second(s)", "20 second(s)").encode())
    assert values(report)["nopm"] == 13.55 and report.parameters == {"duration_s": 300, "ramp_up_s": 20}
    assert reports("x", old.encode())[0].parameters["ramp_up_s"] == 0
    # Cut before its last line it is aborted, however it ends.
    for whole in (sample(TOOL, "dbt2.txt").decode(), old):
        assert reports("x", (whole.strip().rpartition("\n")[0] + "\n\n").encode())[0].status is Status.ABORTED


def test_it_reads_cassandra_stress_before_it_printed_units():
    text = re.sub(r"\b(\d+),(\d{3})\b", r"\1\2", sample(TOOL, "cassandra-stress.txt").decode())
    old = re.sub(r"(?m)^(\w+ rate .*|Latency .*)$", lambda line: re.sub(" (op/s|pk/s|row/s|ms)", "", line[0]), text)
    assert old != text
    (first,), (second,) = reports("x", text.encode()), reports("x", old.encode())
    assert values(first) == values(second) and first.parameters == second.parameters
    with_count = old.replace("Running WRITE with", "Running with 4 threadCount\nRunning [insert] with")
    assert reports("x", with_count.encode())[0].parameters == {"operation": "insert", "terminals": 200}


def test_it_reads_the_load_and_the_run_of_ycsb_cpp():
    load, run = reports("x", sample(TOOL, "ycsb-cpp.txt"))
    assert (load.subject.workload, values(load)["ops_per_s"]) == ("ycsb-cpp-load", 62417.7)
    assert (run.subject.workload, values(run)["ops_per_s"]) == ("ycsb-cpp-run", 1440250)


def test_a_total_that_is_not_the_sum_of_its_parts_is_refused():
    text = sample(TOOL, "diskspd.txt").decode()
    (report,) = reports("x", text.encode())
    assert report.metrics[0].name == "total_iops"
    total, read, *_ = re.findall(r"(?m)^total: .*$", text)
    swapped = text.replace(total, "@").replace(read, total).replace("@", read)
    assert [each.status for each in reports("x", swapped.encode())] == [Status.NOT_UNDERSTOOD]


def test_it_tells_that_reads_and_writes_of_diskspd_were_exchanged_by_their_threads():
    text = sample(TOOL, "diskspd.txt").decode()
    _, read, write = re.findall(r"(?m)^total: .*$", text)
    exchanged = text.replace(read, "@").replace(write, read).replace("@", write)
    assert [report.status for report in reports("x", exchanged.encode())] == [Status.NOT_UNDERSTOOD]


def test_diskspd_is_read_from_tables_of_markdown():
    text = sample(TOOL, "diskspd.txt").decode()
    rows = re.sub(r"(?m)^total: (.*)$", r"| total: | \1 | |", re.sub(r"(?m)^((?!total:).*\|.*)$", r"| \1 |", text))
    marked = re.sub(r"(?m)^-{9,}$", "|---|---|---|---|---|---|---|---|", rows)
    (told,), (report,) = reports("x", text.encode()), reports("x.md", marked.encode())
    assert "| total: |" in marked and (report.status, report.metrics) == (Status.COMPLETE, told.metrics)
    (without,) = reports("x", re.sub(r"(?m)^.*\|.*$", "", text).encode())
    assert without.status is Status.ABORTED and "figures" in without.reason


def test_a_row_of_pg_test_fsync_below_another_heading_is_refused():
    text = sample(TOOL, "pg_test_fsync.txt").decode()
    for row in ("fdatasync                           272", " 2 *  8kB open_sync", "write, close, fsync"):
        (line,) = re.findall(rf"(?m)^.*{re.escape(row)}.*\n", text)
        moved = text.replace(line, "").replace("8kB write:\n", f"8kB write:\n{line}")
        assert [report.status for report in reports("x", moved.encode())] == [Status.NOT_UNDERSTOOD], row


def test_it_reads_what_benchrun_prints():
    text = (
        "db version: 4.0.3\n\nload('util/utils.js')\n\nload('testcases/simple_insert.js')\n\n"
        'mongoPerfRunTests([1, 8], 1, 1, 5, 1, "%", [], 0, {});\n\n'
        "Insert.Empty\n1\t19102.4\n8\t80312\nInsert.JustID\n1\t18877.3\n8\t79001.25\nFinished Testing.\n"
        '{\n    "errors": [],\n    "results": []\n}\n'
    )
    told = reports("x", text.encode())
    assert [values(report)["ops_per_s"] for report in told] == [19102.4, 80312, 18877.3, 79001.25]
    assert told[3].parameters == {"test": "Insert.JustID", "terminals": 8}
    assert {report.subject.dbms_version for report in told} == {"4.0.3"}


def test_it_reads_the_wordings_of_other_versions():
    db_bench = b"randomtransaction :   16.9 micros/op 59011 ops/sec;   1.3 MB/s ( transactions:100000 aborts:0)\n"
    (report,) = reports("x", db_bench)
    assert values(report)["ops_per_s"] == 59011 and values(report)["transactions"] == 100_000
    mixed = (
        b"readrandomwriterandom : 12.1 micros/op 661011 ops/sec 60.0 seconds 39662640 operations; ( reads:9 writes:1)\n"
    )
    assert values(reports("x", mixed)[0])["ops_per_s"] == 661011
    rally = sample(TOOL, "rally.txt").decode()
    old = re.sub(r"\b(50|90|99|100)th percentile", r"\1.0th percentile", rally)
    assert old != rally and list(map(values, reports("x", old.encode()))) == list(
        map(values, reports("x", rally.encode()))
    )
    locust = sample(TOOL, "locust.txt").decode()
    old = re.sub(r"(?m)^Type +Name(.* Min .*) Med ", r"Name\1 Median ", locust)
    (before,), (report,) = reports("x", locust.encode()), reports("x", old.encode())
    assert old != locust and values(report)["requests_per_s"] > 0 and values(report) == values(before)


def test_a_rate_that_is_no_number_takes_itself_only():
    text = sample(TOOL, "scylla_bench.txt").decode()
    (whole,) = reports("x", text.encode())
    (report,) = reports("x", re.sub(r"(Operations|Rows)/s:(\s+)[\d.]+", r"\1/s:\2+Inf", text).encode())
    assert values(whole).keys() - values(report).keys() == {"ops_per_s", "rows_per_s"}


def test_json_that_lost_a_line_is_refused_by_its_tool():
    lines = sample(TOOL, "k6_summary_export.json").decode().splitlines(keepends=True)
    (report,) = reports("x", "".join(lines[:2] + lines[3:]).encode())
    assert (report.tool, report.status) == ("k6", Status.NOT_UNDERSTOOD)


def test_every_shipped_description_has_a_file():
    assert {reports(file.name, file.read_bytes())[0].tool for file in FILES} == {tool.TOOL for tool in shipped()}


def test_no_secret_of_a_line_is_kept():
    report = tried(MINIBENCH, EXAMPLE.replace("read committed", "password=s3cr3tPW"))[1][0]
    assert "s3cr3tPW" not in str(report)
    assert "s3cr3tPW" not in redact_text("isolation: password=s3cr3tPW")


SHIPPED_READ = {
    "pg_test_fsync.txt": (16, "ops_per_s", 265.94, {"sync_method": "open_datasync", "duration_s": 1}),
    "pg_test_timing.txt": (1, "loop_ns", 28.9, {"duration_s": 1}),
    "db_bench.txt": (6, "ops_per_s", 281521, {"entries": 20000, "terminals": 2, "value_size_bytes": 100}),
    "locust.txt": (1, "requests_per_s", 160.55, {}),
    "locust_stats.csv": (1, "requests_per_s", 160.93148054171766, {}),
    "k6.txt": (1, "requests_per_s", 1326.507599, {"terminals": 5}),
    "k6_full.txt": (1, "latency_p999_ms", 23.76, {"terminals": 5}),
    "k6_summary_export.json": (1, "requests_per_s", 1326.507599, {"terminals": 5}),
    "k6_handle_summary.json": (1, "latency_p95_ms", 7.4501935, {"terminals": 5}),
    "k6_machine_readable.json": (1, "error_share_percent", 0.0, {"terminals": 5}),
    "locust.json": (1, "get_orders_id_errors", 2, {}),
    "tsbs_queries.txt": (1, "qps", 329.87, {"terminals": 8}),
    "tsbs_load.txt": (1, "metrics_per_s", 1200277.84, {"terminals": 4}),
    "cockroach_kv.txt": (1, "ops_per_s", 9706.6, {"generator": "kv", "read_percent": 95, "duration_s": 60}),
    "cockroach_tpcc.txt": (1, "tpmc", 122.4, {"generator": "tpcc", "warehouses": 10, "duration_s": 300}),
    "swingbench.xml": (1, "tps", 219.01, {"terminals": 16, "benchmark": "Order Entry (PLSQL) V2"}),
    "rally.txt": (2, "docs_per_s", 32815.1, {"task": "index-append", "track": "geonames"}),
    "scylla_bench.txt": (1, "latency_p99_ms", 1.900543, {"workload": "sequential", "terminals": 16}),
    "latte.txt": (1, "ops_per_s", 61718, {"terminals": 128, "script": "basic_read.rn"}),
    "diskspd.txt": (1, "total_iops", 21707.12, {"block_size_bytes": 8192, "io_depth": 32, "write_percent": 30}),
    "iozone.txt": (2, "random_read_mb_per_s", 50.536448, {"size_bytes": 104857600, "block_size_bytes": 4096}),
    "iozone_gap.txt": (2, "random_read_mb_per_s", 50.536448, {"direct": True}),
    "mongo_perf.txt": (6, "ops_per_s", 19102.441, {"test": "Insert.Empty", "terminals": 1}),
}


@pytest.mark.parametrize("name", SHIPPED_READ)
def test_it_reads_what_comes_along(name):
    runs, metric, value, factors = SHIPPED_READ[name]
    told = reports(name, sample(TOOL, name))
    assert [report.status for report in told] == [Status.COMPLETE] * runs
    assert values(told[0])[metric] == pytest.approx(value) and factors.items() <= told[0].parameters.items()
    assert not [words for report in told for words in report.warnings if "words of" in words]


def test_rows_that_are_runs_are_told_apart_by_their_factors_and_headings():
    told = reports("x", sample(TOOL, "mongo_perf.txt"))
    assert len({(report.subject.workload, report.parameters["terminals"]) for report in told}) == 6
    twice = [report.subject.workload for report in reports("x", sample(TOOL, "db_bench.txt"))]
    assert twice.count("db-bench-readrandom") == 2


def test_rows_below_no_heading_are_refused():
    text = sample(TOOL, "mongo_perf.txt").replace(b"Insert.Empty\n", b"")
    assert reports("x", text)[0].status is Status.NOT_UNDERSTOOD


def test_progress_that_looks_like_a_report_is_no_run():
    text = sample(TOOL, "locust.txt").decode()
    table = text[text.index("Type     Name") : text.index("Response time")]
    (report,) = reports("x", text.replace(table, table.replace("723", "411") + table, 1).encode())
    assert values(report)["get_requests"] == 723


def test_it_reads_what_several_processes_of_iozone_do_together():
    text = """
        Output is in kBytes/sec
        Throughput test with 4 processes
        Each process writes a 1024 kByte file in 64 kByte records

        Children see throughput for  4 initial writers \t=  812345.00 kB/sec
        Parent sees throughput for  4 initial writers \t=  801234.00 kB/sec
        Min throughput per process \t\t\t=  201234.00 kB/sec

        Children see throughput for 4 random readers \t=   41000.00 kB/sec
    """
    writers, readers = reports("x", text.encode())
    assert (values(writers)["mb_per_s"], values(readers)["mb_per_s"]) == (831.84128, 41.984)
    sizes = {"terminals": 4, "size_bytes": 1 << 20, "block_size_bytes": 1 << 16}
    assert readers.parameters == {"test": "random readers", **sizes}


def test_iozone_in_operations_a_second_is_not_taken_for_bytes():
    text = sample(TOOL, "iozone.txt").replace(b"Output is in kBytes/sec", b"Output is in operations per second.")
    assert reports("x", text)[0].status is Status.NOT_UNDERSTOOD


def test_an_older_k6_is_read():
    text = sample(TOOL, "k6.txt").decode()
    old = text.replace("0.00%  0 out of 6640", "0.00%   \u2713 0         \u2717 6640")
    (report,) = reports("x", old.encode())
    assert values(report)["errors"] == 0 and values(report)["requests"] == 6640


def test_a_storage_benchmark_is_asked_for_no_dbms():
    (report, *_) = reports("x", sample(TOOL, "diskspd.txt"))
    item = as_json(SourceFile("x", b""), report)
    assert set(missing_details([item], {"hardware": "x"})) == set()


def test_cassandra_stress_is_read_without_the_heading_of_its_results():
    text = sample(TOOL, "cassandra-stress.txt").decode()
    (plain,) = reports("x", text.encode())
    (pasted,) = reports("x", re.sub(r"(?s).*Results:\n", "", text).encode())
    assert (pasted.status, pasted.metrics) == (plain.status, plain.metrics)


def test_it_reads_cassandra_stress_that_counts_operations_only_below_a_heading():
    text = re.sub(r"(?m)^(?:Partition|Row) rate.*\n", "", sample(TOOL, "cassandra-stress.txt").decode())
    text = text.replace("Total partitions", "Total operations").replace("Running WRITE", "### Running WRITE")
    (report,) = reports("x", text.encode())
    assert (report.status, report.parameters) == (Status.COMPLETE, {"operation": "WRITE", "terminals": 200})
    assert values(report)["operations"] == 500000


@pytest.mark.parametrize("digits", [400, 5_000])
def test_it_refuses_an_example_with_a_number_that_no_tool_prints(digits):
    refused(
        MINIBENCH, EXAMPLE.replace("clients: 8", "clients: " + "9" * digits).replace("2000 us", "9" * digits + " us")
    )
