"""Checks of the CUBRID test of a company's blog: INSERT and SELECT on SSD and HDD, CUBRID and MySQL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchagent.configfiles.units import BINARY

from runs.publications.check import Check, Result, Stated
from scripts.article_checks.article import Article, agrees, all_of, check, first_number, judge
from scripts.article_checks.quantities import constant, given, listed, over, plain

CUBRID, MYSQL = "cfg-cubrid-cubrid", "cfg-cubrid-mysql"
INSERT, SELECT, SELECT_IN_CPU = "wl-cubrid-insert", "wl-cubrid-select-io", "wl-cubrid-select-cpu"
# Both files set much more than the buffer.
ALSO_SET = {
    MYSQL: (
        "innodb_log_file_size", "innodb_log_files_in_group", "innodb_flush_log_at_trx_commit", "innodb_support_xa",
        "query_cache_size", "log-bin", "innodb_thread_concurrency",
    ),
    CUBRID: (
        "async_commit", "group_commit_interval_in_msecs", "checkpoint_every_npages", "num_LRU_chains",
    ),
}  # fmt: skip


def setting(article: Article, config: str, name: str) -> float:
    return float(article.parameter(config, name))


def size_in_bytes(text: str) -> float:
    """16M, 4G, 300."""
    number, unit = re.findall(r"^(\d+)([kmg]?)$", text.strip().lower())[0]
    return float(number) * BINARY.get(unit, 1)


def rows_and_tables(article: Article) -> Iterator[Check]:
    insert, select = article.details(INSERT), article.details(SELECT)
    rows = [
        (given("rows", of["rows_total"], "rows total") / given("tables", of["tables"], "tables"))
        .shown(f"{name}: rows a table", digits=0)
        for name, of in (("INSERT", insert), ("SELECT", select))
    ]  # fmt: skip
    ends = zip(("first", "last"), re.findall(r"\d+", insert["table_names"]), strict=True)
    first, last = (given(name, float(number), f"number of the {name} table") for name, number in ends)
    named = (last - first + 1).shown("tables by their names", digits=0)
    yield check(
        "3.1", "Rows and tables",
        all_of(
            *(judge(of["rows_per_table_about"], row.value) for of, row in zip((insert, select), rows, strict=True)),
            judge(insert["tables"], named.value),
        ),
        {"agrees": "Totals, rows a table and table names agree."}, computed=[*rows, named],
        stated=[
            *(Stated(f"about {of['rows_per_table_about']:,.0f} rows a table", "text") for of in (insert, select)),
            Stated(insert["table_names"], "text"),
        ],
    )  # fmt: skip


def buffers(article: Article) -> Iterator[Check]:
    defaults = article.fact("Meaning and defaults of CUBRID").details
    sizes = [first_number(str(defaults[f"page_size_default_{version}"])) for version in ("before_R4.0", "from_R4.0")]
    pool = size_in_bytes(article.parameter(MYSQL, "innodb_buffer_pool_size"))
    of_mysql = given("pool", pool, "innodb_buffer_pool_size", "bytes") / constant(1024) ** 3
    given_twice = [float(text) for text in article.parameters(CUBRID, "data_buffer_pages")]
    pages = given("pages", given_twice[-1], "data_buffer_pages, the last one", "pages")
    of_cubrid = [
        (pages * given("page", size, "page size", "KB", "recovered") / constant(1024) ** 2)
        .shown(f"CUBRID with {plain(size)} KB pages", unit="GB", digits=0)
        for size in sizes
    ]  # fmt: skip
    fits = [judge(article.number("buffer"), row.value) == Result.AGREES for row in of_cubrid]
    yield check(
        "3.2", "The data buffer of both",
        Result.AGREES if all(fits) else Result.UNCLEAR if any(fits) else Result.DISAGREES,
        {"unclear": f"The page size is not printed; with that version's default, {sizes[0]:g} KB, the buffer of CUBRID "
                    "is smaller than that of MySQL. That cannot be excluded."},
        computed=[of_mysql.shown("MySQL", unit="GB", digits=0), *of_cubrid], stated=[article.stated("buffer")],
    )  # fmt: skip
    lines = listed("values", given_twice, "values of data_buffer_pages", "pages")
    yield check(
        "3.3", "A parameter given twice", agrees(len(set(given_twice)) == 1),
        {"disagrees": "The file contradicts itself; the last value must be meant, as only it comes near the stated "
                      "buffer.",
         "agrees": "All lines say the same."},
        computed=[over("count", lines).shown("lines", digits=0)],
        stated=[Stated(f"data_buffer_pages = {plain(value)}", "cubrid.conf", value, "pages") for value in given_twice],
    )  # fmt: skip


def all_else_default(article: Article) -> Iterator[Check]:
    left = []
    for config, file, buffer in (
        (MYSQL, "my.cnf", "innodb_buffer_pool_size"), (CUBRID, "cubrid.conf", "data_buffer_pages"),
    ):  # fmt: skip
        lines = given("lines", len(article.parameters(config)), "lines")
        of_buffer = given("buffers", len(article.parameters(config, buffer)), "lines of the buffer")
        left.append((lines - of_buffer).shown(f"lines of {file} beside the buffer", digits=0))
    also = [f"{name} {article.parameter(config, name)}" for config, names in ALSO_SET.items() for name in names]
    yield check(
        "3.4", "All else default", agrees(all(row.value == 0 for row in left)),
        {"disagrees": f"Both files set much more, among it: {', '.join(also)}."},
        computed=left, stated=[article.stated("all_else")],
    )  # fmt: skip


def commits(article: Article) -> Iterator[Check]:
    promises = {row.durability for row in article.results.configs}
    logs = article.parameters(MYSQL, "log-bin") and article.parameter(CUBRID, "replication") == "no"
    flush = "innodb_flush_log_at_trx_commit"
    interval = given(
        "interval", setting(article, CUBRID, "group_commit_interval_in_msecs"), "group_commit_interval_in_msecs", "ms"
    )
    yield check(
        "3.5", "What a commit promises", Result.UNCLEAR if logs and len(promises) == 1 else Result.DERIVED,
        {"unclear": "Both may lose about a second in a crash, so they compare, but neither is durable; and MySQL "
                    "writes a binary log where CUBRID has replication off."},
        computed=[(interval / 1000).shown("CUBRID: between two group commits", unit="s", digits=0)],
        stated=[
            Stated(f"{flush} = {article.parameter(MYSQL, flush)}", "my.cnf"),
            Stated(f"async_commit = {article.parameter(CUBRID, 'async_commit')}", "cubrid.conf"),
        ],
    )  # fmt: skip
    every = "checkpoint_interval_in_mins"
    limit = given("interval", setting(article, CUBRID, every), every, "min")
    counts = [
        (given("run", article.details(workload)["duration_minutes"], what, "min") / limit)
        .shown(f"intervals in the {what}", digits=3)
        for workload, what in ((INSERT, "INSERT run"), (SELECT, "SELECT run"))
    ]  # fmt: skip
    runs = "No run is" if all(row.value < 1 for row in counts) else "A run is"
    yield check(
        "3.6", "Checkpoints of CUBRID", Result.DERIVED,
        f"{runs} long enough for a checkpoint by time, and the limit by pages is far away. Our remark, not the "
        "article's.",
        computed=counts,
        stated=[Stated(f"checkpoint_every_npages = {article.parameter(CUBRID, 'checkpoint_every_npages')}",
                       "cubrid.conf")],
    )  # fmt: skip


def threads_in_innodb(article: Article) -> Iterator[Check]:
    name = "innodb_thread_concurrency"
    limit = given("limit", setting(article, MYSQL, name), name)
    threads = given("threads", article.details(SELECT_IN_CPU)["threads"], "threads")
    share = (limit / threads).shown("threads that may enter InnoDB at once", unit="%", digits=0)
    yield check(
        "3.7", "Fewer InnoDB threads than clients", Result.DERIVED if share.value < 100 else Result.AGREES,
        {"derived": "With the query cache on, this may explain why MySQL leaves resources unused and distort the "
                    "CPU-bound SELECT. Our remark."},
        computed=[share], stated=[article.stated("unused")],
    )  # fmt: skip


def stated_ratios(article: Article) -> dict[str, Stated]:
    return {
        claim: article.claimed(claim, of)
        for claim, of in (
            ("cubrid-select-io-cubrid", "CUBRID, SELECT I/O-bound"), ("cubrid-insert-cubrid", "CUBRID, INSERT"),
            ("cubrid-select-io-mysql", "MySQL, SELECT I/O-bound"), ("cubrid-insert-mysql", "MySQL, INSERT"),
        )
    }  # fmt: skip


def meant_by_the_conclusion(article: Article) -> Iterator[Check]:
    stated = stated_ratios(article)
    ratios = [
        (given("insert", article.ratio(f"cubrid-insert-{dbms.lower()}"), "stated ratio, INSERT", "×")
         / given("select", article.ratio(f"cubrid-select-io-{dbms.lower()}"), "stated ratio, SELECT I/O-bound", "×"))
        .shown(f"{dbms}: INSERT against SELECT", unit="×")
        for dbms in ("CUBRID", "MySQL")
    ]  # fmt: skip
    yield check(
        "3.8", "Which test the conclusion means",
        Result.AGREES if all(row.rounded == 1 for row in ratios) else Result.UNCLEAR,
        {"unclear": "The conclusion's I/O-bound gain is that of the SELECT test alone; INSERT, called I/O-bound too, "
                    "had others."},
        computed=ratios, stated=list(stated.values()), claims=list(stated),
    )  # fmt: skip


def machines_divided_out(article: Article) -> Iterator[Check]:
    computed, stated = [], []
    for dbms in ("CUBRID", "MySQL"):
        in_cpu, in_io = f"cubrid-select-cpu-{dbms.lower()}", f"cubrid-select-io-{dbms.lower()}"
        change = given("change", article.percent(in_cpu), "CPU-bound, SSD machine against HDD machine", "%")
        gain = given("gain", article.ratio(in_io), "I/O-bound, stated", "×")
        computed += [
            (1 + change / 100).shown(f"{dbms}: CPU-bound", unit="×"),
            (gain / (1 + change / 100)).shown(f"{dbms}: I/O-bound without it", unit="×"),
        ]
        stated.append(article.claimed(in_cpu, f"{dbms}, SELECT CPU-bound"))
    yield check(
        "3.9", "The difference of the machines divided out", Result.DERIVED,
        "Not in the article: it shows why both disks belong into the same machine.", computed=computed, stated=stated,
        claims=[f"cubrid-select-{load}-{dbms}" for load in ("cpu", "io") for dbms in ("cubrid", "mysql")],
    )  # fmt: skip
    claim = "cubrid-select-cpu-cubrid"
    lower = given("change", article.percent(claim), "CPU-bound, SSD machine against HDD machine", "%")
    in_buffer = "stay in the buffer" in article.details(SELECT_IN_CPU)["search_range"]
    yield check(
        "3.10", "Lower because of the SSD?", Result.DISAGREES if in_buffer else Result.UNCLEAR,
        {"disagrees": "The wording blames the disk; the same text says that this test measures everything else."},
        computed=[(lower / 100).shown(unit="%", digits=0, signed=True)], stated=[article.stated("io_blame")],
        claims=[claim],
    )  # fmt: skip


def text(article: Article) -> Iterator[Check]:
    announced = float(article.results.publication.details["comments"])
    counted = given("counted", article.number("comments_counted"), "comments in the text at hand, counted")
    yield check(
        "3.11", "Number of comments", judge(announced, counted.value),
        {"agrees": "As many are there as are announced."}, computed=[counted.shown("counted", digits=0)],
        stated=[Stated(f"{announced:g} comments", "head of the comments", announced)],
    )  # fmt: skip
    engine, comment, corrected = (article.stated(f"engine{part}") for part in ("", "_comment", "_corrected"))
    himself = "A comment of the translator says otherwise; he corrects it himself."
    yield check(
        "3.12", "InnoDB or MyISAM?", agrees(engine.printed == comment.printed),
        {"disagrees": himself if corrected.printed == engine.printed else "It stays open."},
        stated=[engine, comment, corrected],
    )  # fmt: skip
    alias = article.stated("version_alias")
    known = any(
        alias.printed in f"{row.version} {row.note} {' '.join(row.aliases)}"
        for row in article.results.versions
        if row.dbms == "cubrid"
    )
    yield check(
        "3.13", "One version, two names", Result.AGREES if known else Result.UNCLEAR,
        {"agrees": "Both names stand for one version here.", "unclear": "The second name is not known here."},
        stated=[alias],
    )  # fmt: skip


def ratios_without_values(article: Article) -> Iterator[Check]:
    rough = [claim for claim in article.results.claims if claim.approximate and claim.ratio is not None]
    ratios = listed("ratios", [claim.ratio for claim in rough if claim.ratio], "stated ratios", "×")
    stated = stated_ratios(article)
    yield check(
        "3.14", "Ratios without values", Result.AGREES if article.runs("tps") else Result.GAP,
        {"gap": "All ratios are approximate, and no absolute value is left to check them against."},
        computed=[over("count", ratios).shown("ratios that are about", digits=0)],
        stated=[stated[claim.id] for claim in rough], claims=[claim.id for claim in rough],
    )  # fmt: skip


TOPICS = {
    "Data and configurations": [rows_and_tables, buffers, all_else_default, commits, threads_in_innodb],
    "Ratios and text": [
        meant_by_the_conclusion, machines_divided_out, text, ratios_without_values,
    ],
}  # fmt: skip
