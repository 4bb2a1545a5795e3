"""tpcb-2010: a TPC-B-like test of six systems."""

from __future__ import annotations

from runs.publications.articles.structure import (
    Answer,
    Article,
    ArticleFigure,
    Axis,
    FigureState,
    Frame,
    Kind,
    Order,
    Question,
    Rerun,
    Source,
)

RERUN = Rerun(
    "tpcb",
    {"scale_factor": 10, "terminals": 4, "duration_s": 120},
    engines=("postgresql", "mysql", "mariadb", "derby"),
    repeats=5,
)

ARTICLE = Article(
    slug="tpcb-2010",
    source=Source(
        Kind.ORIGINAL,
        publisher_url="https://www.linuxsoft.cz/",
        note="One of a series: the machine stands in the companion article of 25.10.2010.",
    ),
    goal="How many transactions a second six database versions make with the TPC-B profile on 100 MB of data. The "
    "author "
    "calls it a plain TPS test, since the scaling rules of TPC-B are not met.",
    machine="Not described here. The companion article names a Pentium Dual Core E2200 with 2 GB RAM, one SATA disk "
    "and Windows XP.",
    method=(
        "Data of scale factor 10: 1M records, 100 MB. Every system gets memory enough to keep data and indexes cached, "
        "so nothing is read from the disk.",
        "A commit returns only when the transaction is on the disk; nothing may be lost in a crash.",
        "The TPC-B transaction in 4 threads for 2 minutes; the result of a run is the average TPS.",
        "5 runs per system and their median; 3 for Derby 10.6, for no stated reason.",
        "DB2 tunes its memory by itself and needs about 20 minutes to settle; it also ran with commit groups of 2 "
        "and 3.",
        "Derby's driver calls the engine in its own process, without a hop over TCP/IP.",
    ),
    caveats=(
        "Not TPC-B, only a number of transactions a second.",
        "VACUUM ran beside PostgreSQL's test and may have cost it speed.",
        "Derby saves the hop over TCP/IP, but was not built for speed as H2 was.",
        "Commit groups changed nothing in PostgreSQL beyond the spread of its runs.",
        "Two transactions in one write are held to be safe, three may lose, four or more always lose: from the "
        "literature, not from this test.",
    ),
    conclusions=(
        "DB2 wins by a wide margin and Derby is second, which the author puts down to ARIES: no data are flushed at "
        "a checkpoint.",
        "MySQL fails, as he expected.",
        "Oracle is little better than PostgreSQL under this load; the price of its licence buys better disks.",
        "Memory that tunes itself is a large advantage of DB2.",
        "Derby 10.3, the line most in use, is fast and well tuned.",
    ),
    disclaimer="The author says that this is no TPC-B result and may not be read as one.",
    questions_are="Three comments, of which only the titles are kept: “VACUUM” by a reader, and two answers of the "
    "author, “konfigurace db” and “Re: VACUUM”.",
    questions=(
        Question(
            "Was VACUUM running, and what did it cost?",
            "Tomáš 'Heron' Crhonek",
            "The author answered, but the text of his answer is lost.",
            (
                Answer("Settings of a run, as given and in force", run_field="configuration"),
                Answer("TPS over the two minutes, where such work shows as dips", figure="tpcb-over-time"),
            ),
        ),
        Question(
            "How was each database configured?",
            "Radim Kolář, in answer to a reader",
            "Only the title of the answer is kept; the article prints no parameter.",
            (Answer("Settings of a run, as given and in force", run_field="configuration"),),
        ),
        Question(
            "On which machine?",
            "any reader",
            "Not in this article; recovered from its companion.",
            (
                Answer("The recovered machine", place="findings"),
                Answer("Machine of a run", run_field="machine"),
            ),
        ),
        Question(
            "How were the systems called, and how were they warmed up?",
            "any reader",
            "Not said, but for Derby inside the process.",
            (
                Answer("Driver, its version, warm-up and command lines of a run", run_field="origin"),
                Answer("The same load as a new experiment", rerun=True),
            ),
        ),
        Question(
            "Why are two runs of Derby 10.6 missing?",
            "any reader",
            "Not said.",
            (Answer("A run that fails stays, with its reason", run_field="state"),),
        ),
    ),
    figures=(
        ArticleFigure(
            "tpcb-table", "Results: six systems, five runs, medians", "table", FigureState.PRINTED, "systems",
            "Printed without space between the cells; their borders are reconstructed from the printed medians.",
            rerun=RERUN,
        ),
        ArticleFigure(
            "tpcb-commit-groups", "DB2 with commit groups", "numbers in a sentence", FigureState.PRINTED,
            "commit-groups", "Five values for a group of 2; none for a group of 3.", rerun=RERUN,
        ),
        ArticleFigure(
            "tpcb-ratio", "More than 4 times", "statement", FigureState.PRINTED, "ratios",
            "As a column of ratios to a baseline that can be chosen.",
        ),
        ArticleFigure(
            "tpcb-over-time", "TPS over the two minutes", "time graph", FigureState.ADDED, "figure-tpcb-over-time",
            "One line per system, checkpoints marked.", "",
            Frame(
                Axis("time", "s", ("0", "120")), Axis("throughput", "TPS"),
                ("PostgreSQL", "DB2", "MySQL", "Oracle", "Derby 10.3", "Derby 10.6"),
            ), RERUN,
        ),
    ),
    rerun=RERUN,
    orders=(
        Order("TPS, in the author's words", ("DB2", "Apache Derby", "Oracle", "PostgreSQL", "MySQL"),
              "DB2 wins, Derby is second, Oracle is little ahead of PostgreSQL, MySQL fails"),
    ),
)  # fmt: skip
