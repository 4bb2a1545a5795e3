"""The lines of pgbench's final report, in the order in which it prints them, through all its versions.

9.0–9.5 write "latency average: 1.2 ms" and "tps = … (including connections establishing)", 9.6 to 13
"latency average = …", 14 and later "(without initial connection time)"; failures and retries came with 15.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchagent.importers.commands import Commands
from benchagent.importers.report import Scalar, as_factors
from benchagent.importers.source import Line
from benchagent.importers.tables import Table

# What the report says of the run, and behind a dash of each of several scripts.
_RESULTS = (
    ("failed", "number of failed transactions: {failed_transactions:int} ({failed_transactions_share:num?}[ ]%)"),
    (
        "serialization_failures",
        "number of serialization failures: {serialization_failures:int} ({serialization_failures_share:num?}[ ]%)",
    ),
    ("deadlock_failures", "number of deadlock failures: {deadlock_failures:int} ({deadlock_failures_share:num?}[ ]%)"),
    ("other_failures", "number of other failures: {other_failures:int} ({other_failures_share:num?}[ ]%)"),
    ("retried", "number of transactions retried: {retried_transactions:int} ({retried_transactions_share:num?}[ ]%)"),
    ("retries", "total number of retries: {retries:int}"),
    ("skipped", "number of transactions skipped: {skipped_transactions:int} ({skipped_transactions_share:num?}[ ]%)"),
    (
        "late",
        "number of transactions above the {latency_limit_ms:signed} ms latency limit: "
        "{late_transactions:int}[/{:int}] ({:num?}[ ]%)",
    ),
    ("latency_avg", "latency average{ =|:} {latency_avg_ms:signed} ms[ {of_failures:(including failures)}]"),
    ("latency_stddev", "latency stddev{ =|:} {latency_stddev_ms:signed} ms"),
)
REPORT = Table(
    "pgbench",
    # Web pages swallow `<builtin: …>` for a tag.
    ("script", "transaction type:[ {script:rest}]"),
    ("scale_factor", "scaling factor: {scale_factor:int}"),
    ("partition_method", "partition method: {partition_method:word}"),
    ("partitions", "partitions: {partitions:int}"),
    ("query_mode", "query mode: {query_mode:simple|extended|prepared}"),
    ("terminals", "number of clients: {terminals:int}"),
    ("threads", "number of threads: {threads:int}"),
    ("max_tries", "maximum number of tries: {max_tries:int}"),
    ("duration_s", "duration: {duration_s:int} s"),
    ("transactions_per_client", "number of transactions per client: {transactions_per_client:int}"),
    ("transactions", "number of transactions actually processed: {transactions:int}[/{asked:int}]"),
    *_RESULTS,
    ("lag", "rate limit schedule lag: avg {lag_avg_ms:num?} (max {lag_max_ms:num?}) ms", "rate limit schedule lag:"),
    ("initial_connect", "initial connection time = {connect_ms:signed} ms"),
    ("average_connect", "average connection time = {connect_avg_ms:signed} ms"),
    (
        "tps_including",
        "tps = {tps_with_connections:signed} (including connections establishing)",
        r"tps = \S+ \(including c",
    ),
    (
        "tps",
        "tps = {tps:signed} ({kind:excluding connections establishing|without initial connection time"
        "|including reconnection times})",
        r"tps\s*=",
    ),
)
PROGRESS = Table(
    "pgbench",
    (
        "progress",
        "progress: {time_s:num} s[,] {tps:num} tps[, lat {latency_avg_ms:num?} ms stddev {latency_stddev_ms:num?}]"
        "[, {failed_transactions:int} failed][, lag {lag_avg_ms:num?} ms][, {skipped_transactions:int} skipped]"
        "[, {retried_transactions:int} retried, {retries:int} retries]",
    ),
)
# The section of one of several scripts.
SCRIPT = Table(
    "pgbench",
    ("script", "SQL script {number:int}:[ {script:rest}]"),
    ("weight", "- weight: {weight:int}[ (targets {target_percent:signed}% of total)]"),
    (
        "share",
        "- {counted:int} transactions ({share_percent:signed}% of total[, tps = {share_tps:signed}])",
        r"- \d+ transactions",
    ),
    ("processed", "- number of transactions actually processed: {transactions:int} (tps = {tps:signed})"),
    *((key, f"- {template}") for key, template in _RESULTS),
)
# pgbench prints numbers as the locale has them, without marks of thousands: in all lines of a report or in none.
_RATE = re.compile(r"tps = \d+([.,])\d{6} \(")
_OF_NUMBERS = re.compile(
    r"(?:progress: |tps = |latency |number of |initial conn|average conn|rate limit|- |\d+[.,]\d{3} )"
)
_POINT = re.compile(r"^\d+\.\d|(?<![\w.,])\d+\.\d+ (?:s|ms|tps)\b|\(\d+\.\d+%|= \d+\.\d")


def has_commas(lines: Iterable[Line]) -> bool:
    """Whether every rate of the file, printed with six decimals, has a decimal comma, and no figure a point."""
    if {rate[1] for line in lines if (rate := _RATE.match(line.text))} != {","}:
        return False
    return not any(_OF_NUMBERS.match(line.text) and _POINT.search(line.text) for line in lines)


def with_points(line: Line) -> Line:
    text = line.text
    if not _OF_NUMBERS.match(text):
        return line
    # Behind the latency of a statement stands its text.
    count = 1 if text[0].isdigit() else 0
    return line._replace(text=re.sub(r"(?<=\d),(?=\d)", ".", text, count=count))


COMMANDS = Commands(
    ("pgbench",),
    follows=r"(?:[^\s$#>%(:]\S*\s+)*?-{1,2}[A-Za-z]",
    numbers={
        "-c --client": "terminals", "-j --jobs": "threads", "-T --time": "duration_s",
        "-t --transactions": "transactions_per_client", "-s --scale": "scale_factor", "-R --rate": "rate_limit_tps",
        "-L --latency-limit": "latency_limit_ms", "--max-tries": "max_tries", "-F --fillfactor": "fillfactor",
        "--partitions": "partitions", "--sampling-rate": "sampling_rate", "--random-seed": "random_seed",
    },
    texts={
        "-M --protocol": "query_mode", "-b --builtin -f --file": "script", "--tablespace": "tablespace",
        "--index-tablespace": "index_tablespace", "--partition-method": "partition_method",
        "-I --init-steps": "init_steps", "-D --define": "variable",
        # Where the server is, and how pgbench tells of the run.
        "-h --host -p --port -U --username -d --dbname -V": "",
        "-P --progress --aggregate-interval --log-prefix --show-script": "",
    },
    switches={
        "-C --connect": "connect_per_transaction", "-S --select-only": "script=select-only",
        "-N --skip-some-updates": "script=simple-update", "--foreign-keys": "foreign_keys",
        "--unlogged-tables": "unlogged_tables",
        "-i --initialize -n --no-vacuum -v --vacuum-all -q --quiet -l --log -r --report-latencies --report-per-command "
        "--failures-detailed --verbose-errors --debug --progress-timestamp --exit-on-abort": "",
    },
)  # fmt: skip


def options_of_command(commands: Sequence[str]) -> dict[str, Scalar]:
    """What the options say; a variable of the script (`-D name=value`) is a factor of its own."""
    parameters: dict[str, Scalar] = {}
    for option, value in (pair for command in commands for pair in COMMANDS.options(command)):
        if option in ("-D", "--define"):
            variable, _, text = value.partition("=")
            parameters |= {f"variable_{key}": given for key, given in as_factors({variable: text}).items() if text}
        else:
            parameters |= COMMANDS.factors(option, value)
    return parameters
