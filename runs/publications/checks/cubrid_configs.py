"""cubrid-mysql-ssd-2011: rows and the two configuration files against what the text says of them."""

from __future__ import annotations

from runs.publications.checks.model import (
    Check,
    Computed,
    Input,
    MissingInputError,
    Result,
    Shape,
    Stated,
    all_of,
    compute,
    judge,
)
from runs.publications.checks.rows import Rows, Rule, number_of

TOPIC = "Data and configurations"
CUBRID, MYSQL = "cfg-cubrid-cubrid", "cfg-cubrid-mysql"
INSERT, SELECT_CPU, SELECT_IO = "wl-cubrid-insert", "wl-cubrid-select-cpu", "wl-cubrid-select-io"
_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


def row_counts(rows: Rows) -> Check:
    computed, verdicts = [], []
    for workload in (INSERT, SELECT_IO):
        total, tables = rows.of_workload(workload, "rows_total"), rows.of_workload(workload, "tables")
        each = compute("rows / tables", Shape("", 0, label=f"{_short(workload)}: rows a table"), rows=total,
                       tables=tables)  # fmt: skip
        computed.append(each)
        verdicts.append(
            judge(number_of(rows.workload(workload).get("rows_per_table_about"), "rows a table"), each.value)
        )
    first, last = _ends(str(rows.workload(INSERT).get("table_names", "")))
    named = compute(
        "last − first + 1", Shape("", 0, label="tables by their names"), last=Input("number of the last table", last),
        first=Input("number of the first table", first),
    )  # fmt: skip
    verdicts.append(judge(number_of(rows.workload(INSERT).get("tables"), "tables"), named.value))
    stated = [
        Stated(f"about {number_of(rows.workload(one).get('rows_per_table_about'), 'rows'):,.0f} rows a table", "text")
        for one in (INSERT, SELECT_IO)
    ]
    return Check(
        "Rows and tables", all_of(*verdicts), "Totals, rows a table and table names agree.",
        [*stated, Stated(str(rows.workload(INSERT).get("table_names")), "text")], [*computed, named],
    )  # fmt: skip


def _short(workload: str) -> str:
    return workload.removeprefix("wl-cubrid-").partition("-")[0].upper()


def _ends(names: str) -> tuple[float, float]:
    numbers = [float(part) for part in names.replace("~", " ").replace("_", " ").split() if part.isdigit()]
    if len(numbers) != 2:
        raise MissingInputError("the names of the tables")
    return numbers[0], numbers[1]


def buffers(rows: Rows) -> Check:
    """The last value is the one in force; its bytes hang on a page size that is not printed."""
    stated = rows.stated("buffer")
    pages = Input("data_buffer_pages, the last one", float(rows.parameters(CUBRID, "data_buffer_pages")[-1]), "pages")
    mysql = _bytes(rows.parameters(MYSQL, "innodb_buffer_pool_size")[-1])
    defaults = rows.fact("Meaning and defaults of CUBRID").details
    sizes = [
        _kilobytes(defaults.get(f"page_size_default_{when}"), when) for when in ("before_R4.0", "from_R4.0")
    ]  # fmt: skip
    cubrid = [
        compute(
            "pages × page / 1024 ^ 2", Shape("GB", 0, label=f"CUBRID with {size:g} KB pages"), pages=pages,
            page=Input("page size", size, "KB", "recovered"),
        )
        for size in sizes
    ]  # fmt: skip
    pool = compute(
        "pool / 1024 ^ 3", Shape("GB", 0, label="MySQL"), pool=Input("innodb_buffer_pool_size", mysql, "bytes")
    )
    fits = [judge(stated.number, one.value) == Result.AGREES for one in cubrid]
    result = Result.AGREES if all(fits) else Result.UNCLEAR if any(fits) else Result.DISAGREES
    return Check(
        "The data buffer of both", result,
        f"The page size is not printed; with that version's default, {sizes[0]:g} KB, the buffer of CUBRID is smaller "
        "than that of MySQL. That cannot be excluded.", [stated], [pool, *cubrid],
    )  # fmt: skip


def _bytes(text: str) -> float:
    """16M, 4G, 300."""
    number, unit = text[:-1], text[-1:].upper()
    if unit in _UNITS and number.isdigit():
        return float(number) * _UNITS[unit]
    if text.isdigit():
        return float(text)
    raise MissingInputError(f"a size in {text!r}")


def _kilobytes(text: object, name: str) -> float:
    number = str(text or "").partition(" ")[0]
    if not number.isdigit():
        raise MissingInputError(f"the default page size {name}")
    return float(number)


def twice(rows: Rows) -> Check:
    values = rows.parameters(CUBRID, "data_buffer_pages")
    given = Input("values of data_buffer_pages", [float(one) for one in values], "pages")
    return Check(
        "A parameter given twice", Result.DISAGREES if len(set(values)) > 1 else Result.AGREES,
        "The file contradicts itself; the last value must be meant, as only it comes near the stated buffer."
        if len(set(values)) > 1 else "All lines say the same.",
        [Stated(f"data_buffer_pages = {one}", "cubrid.conf", float(one), "pages") for one in values],
        [compute("count(values)", Shape("", 0, label="lines"), values=given)],
    )  # fmt: skip


# Settings that the text would call default and the file sets: (config, name).
NAMED_CHANGES = (
    (MYSQL, "innodb_log_file_size"), (MYSQL, "innodb_log_files_in_group"), (MYSQL, "innodb_flush_log_at_trx_commit"),
    (MYSQL, "innodb_support_xa"), (MYSQL, "query_cache_size"), (MYSQL, "log-bin"), (MYSQL, "innodb_thread_concurrency"),
    (CUBRID, "async_commit"), (CUBRID, "group_commit_interval_in_msecs"), (CUBRID, "checkpoint_every_npages"),
    (CUBRID, "num_LRU_chains"),
)  # fmt: skip
BUFFERS = ("data_buffer_pages", "innodb_buffer_pool_size")


def defaults(rows: Rows) -> Check:
    counts = [
        _lines(rows, config, f"lines of {rows.config(config).file_name} beside the buffer")
        for config in (MYSQL, CUBRID)
    ]
    found = [f"{name} {rows.parameters(config, name)[-1]}" for config, name in NAMED_CHANGES]
    more = any(one.value for one in counts)
    return Check(
        "All else default", Result.DISAGREES if more else Result.AGREES,
        f"Both files set much more, among it: {', '.join(found)}.", [rows.stated("all_else")], counts,
    )  # fmt: skip


def _lines(rows: Rows, config: str, label: str) -> Computed:
    names = [one.name for one in rows.config(config).parameters.all()]
    buffers = sum(name in BUFFERS for name in names)
    return compute(
        "lines − buffers", Shape("", 0, label=label), lines=Input("lines", float(len(names))),
        buffers=Input("lines of the buffer", float(buffers)),
    )  # fmt: skip


def durability(rows: Rows) -> Check:
    classes = [
        next((run.durability for run in rows.material.runs if run.config and run.config.source_id == config), "")
        for config in (MYSQL, CUBRID)
    ]
    logs = bool(rows.parameters(MYSQL, "log-bin"))
    replication = rows.parameters(CUBRID, "replication")[-1]
    name = "group_commit_interval_in_msecs"
    interval = compute(
        "interval / 1000", Shape("s", 0, label="CUBRID: between two group commits"),
        interval=Input(name, float(rows.parameters(CUBRID, name)[-1]), "ms"),
    )  # fmt: skip
    same = len(set(classes)) == 1
    unequal = logs and replication == "no"
    return Check(
        "What a commit promises", Result.UNCLEAR if same and unequal else Result.DERIVED,
        "Both may lose about a second in a crash, so they compare, but neither is durable; and MySQL writes a binary "
        "log where CUBRID has replication off." if same else "The two files promise different things at a commit.",
        [
            Stated("innodb_flush_log_at_trx_commit = "
                   f"{rows.parameters(MYSQL, 'innodb_flush_log_at_trx_commit')[-1]}", "my.cnf"),
            Stated(f"async_commit = {rows.parameters(CUBRID, 'async_commit')[-1]}", "cubrid.conf"),
        ], [interval],
    )  # fmt: skip


def checkpoints(rows: Rows) -> Check:
    minutes = Input(
        "checkpoint_interval_in_mins", float(rows.parameters(CUBRID, "checkpoint_interval_in_mins")[-1]), "min"
    )
    runs = [
        Input(f"{_short(one)} run", rows.of_workload(one, "duration_minutes").value, "min")
        for one in (INSERT, SELECT_IO)
    ]
    computed = [
        compute("run / interval", Shape("", 3, label=f"intervals in the {run.what}"), run=run, interval=minutes)
        for run in runs
    ]
    none = all(one.value < 1 for one in computed)
    pages = rows.parameters(CUBRID, "checkpoint_every_npages")[-1]
    return Check(
        "Checkpoints of CUBRID", Result.DERIVED,
        f"{'No run is' if none else 'A run is'} long enough for a checkpoint by time, and the limit by pages is far "
        "away. Our remark, not the article's.",
        [Stated(f"checkpoint_every_npages = {pages}", "cubrid.conf")], computed,
    )  # fmt: skip


def concurrency(rows: Rows) -> Check:
    limit = Input("innodb_thread_concurrency", float(rows.parameters(MYSQL, "innodb_thread_concurrency")[-1]))
    threads = rows.of_workload(SELECT_CPU, "threads")
    share = compute("limit / threads", Shape("%", 0, label="threads that may enter InnoDB at once"), limit=limit,
                    threads=threads)  # fmt: skip
    return Check(
        "Fewer InnoDB threads than clients", Result.DERIVED if share.value < 100 else Result.AGREES,
        "With the query cache on, this may explain why MySQL leaves resources unused and distort the CPU-bound SELECT. "
        "Our remark.", [rows.stated("unused")], [share],
    )  # fmt: skip


CHECKS = {
    "3.1": Rule(row_counts, Result.AGREES),
    "3.2": Rule(buffers, Result.UNCLEAR),
    "3.3": Rule(twice),
    "3.4": Rule(defaults, Result.DISAGREES),
    "3.5": Rule(durability, Result.UNCLEAR),
    "3.6": Rule(checkpoints),
    "3.7": Rule(concurrency, Result.DERIVED),
}
