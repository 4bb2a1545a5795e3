"""firebird-terabyte-2015: one server, databases from 9 GB to 1.77 TB."""

from __future__ import annotations

from runs.publications.articles.structure import (
    Answer,
    Article,
    ArticleFigure,
    Axis,
    FigureState,
    Frame,
    Kind,
    Question,
    Rerun,
    Source,
)

RERUN = Rerun("tpcc", {"terminals": 20}, engines=("firebird",), repeats=5)

ARTICLE = Article(
    slug="firebird-terabyte-2015",
    source=Source(
        Kind.REPOST,
        publisher_url="https://www.firebase.com.br/",
        of="“Banco de Dados de um Terabyte” by Carlos H. Cantu, FIREBASE",
        of_url="https://www.firebase.com.br/",
        note="Reposted on the news page of a company; the date is that of the repost. Alexey Kovyazin published the "
        "same "
        "figures in English on ib-aid.com in 2014.",
    ),
    goal="Whether Firebird slows down as a database grows, above all where it passes the size of the RAM: the same "
    "load "
    "on the same machine with eleven databases from 9 GB to 30 GB, then one of 1.77 TB, then the eleven again on an "
    "SSD.",
    machine="One cheap server: AMD FX8350, 16 GB RAM, two SATA disks of 4 TB as a RAID; for the second series one "
    "SSD, a "
    "Plextor PX-256M M5 Pro. Windows Server 2008R2, Firebird SuperServer 2.5.2, both 64 bit.",
    method=(
        "Nine tables in the manner of TPC-C, most with one index, their primary key. Pages of 16 KB, 10,000 page "
        "buffers, more sort space (its size is not printed).",
        "Load: a loader of the author's inserts the first 70 % of the data fast and the rest slowly, between 35 and "
        "1 MB/s, alike for every size; indexes come after it.",
        "Simulation: 20 terminals create orders, take payments, count stock and ship. The score is the average number "
        "of business operations a second.",
        "On the largest database: five queries to warm up, then six ad hoc queries with plan and statistics.",
    ),
    caveats=(
        "The score is artificial: it compares with itself.",
        "The shape of the load speed comes from the loader, not from Firebird.",
        "The load is heavy OLTP with many changes and no large reads; that is why an SSD gains 8 times.",
        "The SSD series leaves out the largest database.",
        "The indexes are few, for the test only; real databases carry more.",
        "SuperServer uses one core unless told otherwise; Classic or SuperClassic would probably do better.",
        "Nothing was tuned. Nobody would grow a database this far on such a machine.",
    ),
    conclusions=(
        "No size at which performance breaks down; a slow and steady decline that tuning or hardware can offset.",
        "A database of 1.7 TB works on cheap hardware, at a loss that is large but bearable.",
        "An SSD is the cheapest way to gain OLTP speed; it cures neither bad plans nor missing indexes.",
        "Well-made queries with good indexes stay fast on a huge database; count(*) and large fetches are slow by "
        "design.",
    ),
    disclaimer="The author calls the score an artificial number, good for comparing these runs only, and the test no "
    "exercise in tuning.",
    questions_are="The text at hand carries no comments. These are the questions it does not answer.",
    questions=(
        Question(
            "How long was a run, how often was it repeated, how far do the repeats spread?",
            "any reader",
            "Not said.",
            (
                Answer("Every repeat is a run of its own", run_field="numbers"),
                Answer("Measured window and warm-up of a run", run_field="factors"),
            ),
        ),
        Question(
            "Which disks and which controller?",
            "any reader",
            "Two 4 TB drives of Seagate in a RAID1; neither model nor controller nor cache.",
            (Answer("Storage model of a run", run_field="storage"),),
        ),
        Question(
            "At which size is the SSD 8 times faster?",
            "any reader",
            "Not said, and the SSD values are lost.",
            (
                Answer("SSD against SATA by size", figure="perf11_SSD_vs_SATA_performance_Firebird"),
                Answer("The same series as a new experiment", rerun=True),
            ),
        ),
        Question(
            "How many warehouses had each database?",
            "any reader",
            "Not printed; inferred from the largest.",
            (
                Answer("The inferred warehouses", place="findings"),
                Answer("Size of the data of a run", run_field="factors"),
            ),
        ),
        Question(
            "Did the score runs start warm or cold, and what did CPU, disks and latency do?",
            "any reader",
            "Not said.",
            (Answer("Charts of a run over time", run_field="charts"),),
        ),
        Question(
            "How large was the sort space?",
            "any reader",
            "Raised, value not printed.",
            (Answer("Settings of a run, as given and in force", run_field="configuration"),),
        ),
    ),
    figures=(
        ArticleFigure(
            "firebird_databases", "The databases and their sizes", "picture", FigureState.REDRAWN,
            "database-sizes-chart", "Sizes by test number, with the RAM as a line.", rerun=RERUN,
        ),
        ArticleFigure(
            "firebird-load-table", "Load of the twelve databases", "table", FigureState.PRINTED, "load",
            "Size, time and MB/s.",
        ),
        ArticleFigure(
            "carrega_database", "Insert speed during a load", "time graph", FigureState.LOST,
            "figure-carrega_database", "A red line over the time of one load.",
            "It falls from 35 MB/s to 1 MB/s; the first 70 % of the data go in fast.",
            Frame(
                Axis("time", "s"), Axis("insert speed", "MB/s", ("1", "35")), ("insert speed (red)",), colors=(1,)
            ), RERUN,
        ),
        ArticleFigure(
            "firebird-performance-tables", "Performance of the eleven, then of the twelve databases", "tables",
            FigureState.PRINTED, "performance", "Size and operations a second; the second repeats the first.",
        ),
        ArticleFigure(
            "perf4_Firebird_SATA_RAID_performance", "Performance over the eleven databases", "chart",
            FigureState.REDRAWN, "perf4", "Operations a second by size, SATA.", rerun=RERUN,
        ),
        ArticleFigure(
            "perf5_firebird_database_size_18tb", "The size of the large database", "picture", FigureState.REDRAWN,
            "perf5", "The size as a number, and beside the others on a log axis.",
        ),
        ArticleFigure(
            "perf7_performance_with_1800Gb_Firebird_database", "Performance over all twelve databases", "chart",
            FigureState.REDRAWN, "perf7", "Operations a second by size, log axis.", rerun=RERUN,
        ),
        ArticleFigure(
            "perf10_SSD_SATA_load_speed", "Load speed, SSD against SATA", "chart", FigureState.HALF, "perf10",
            "SATA is printed, the eleven loads on the SSD are lost.", "The SSD took practically as long.", rerun=RERUN,
        ),
        ArticleFigure(
            "perf11_SSD_vs_SATA_performance_Firebird", "Performance, SSD against SATA", "chart", FigureState.HALF,
            "perf11", "SATA is printed, the eleven runs on the SSD are lost.", "The SSD was 8 times better.",
            rerun=RERUN,
        ),
        ArticleFigure(
            "firebird-table-stats", "Table statistics", "table", FigureState.PRINTED, "tables",
            "Nine tables of the largest database.",
        ),
        ArticleFigure(
            "firebird-index-stats", "Index statistics", "table", FigureState.PRINTED, "indexes",
            "Nine indexes of the largest database.",
        ),
        ArticleFigure(
            "heating", "Memory of the server while it warms up", "time graph", FigureState.LOST, "figure-heating",
            "Memory of the Firebird process over time, step by step.",
            "Five warm-up queries in this order; after them the six queries report about 167 MB.",
            Frame(
                Axis("time", "s, the five warm-up queries as steps",
                     ("ORDER_LINE", "STOCK", "customer", "ORDERS", "NEW_ORDER")),
                Axis("server memory", "MB"), ("Firebird 2.5.2 SuperServer",),
            ), RERUN,
        ),
        ArticleFigure(
            "firebird-queries", "Six queries with plan and statistics", "text", FigureState.PRINTED, "queries",
            "SQL, plan, elapsed time, reads, fetches, memory.",
        ),
    ),
    rerun=RERUN,
)  # fmt: skip
