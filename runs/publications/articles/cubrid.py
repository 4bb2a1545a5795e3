"""cubrid-mysql-ssd-2011: two systems, each on a server with hard disks and on one with SSDs."""

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

SERIES = ("CUBRID, HDD", "CUBRID, SSD", "MySQL, HDD", "MySQL, SSD")
ENGINES = ("mysql", "mariadb", "postgresql")
RERUN = Rerun("inserts_selects", {"terminals": 40}, engines=ENGINES, repeats=3)


def _table(number: int, what: str, place: str, ratio: str) -> ArticleFigure:
    return ArticleFigure(
        f"cubrid-fig{number}", f"Results: {what}", "table as a picture", FigureState.LOST, place,
        "TPS of both systems on HDD and SSD.", ratio, rerun=RERUN,
    )  # fmt: skip


def _over_time(number: int, what: str, minutes: int) -> ArticleFigure:
    return ArticleFigure(
        f"cubrid-fig{number}", f"TPS over time: {what}", "time graph", FigureState.LOST, f"figure-cubrid-fig{number}",
        f"Four lines over {minutes} minutes.", "",
        Frame(Axis("time", "min", ("0", str(minutes))), Axis("throughput", "TPS"), SERIES), RERUN,
    )  # fmt: skip


ARTICLE = Article(
    slug="cubrid-mysql-ssd-2011",
    source=Source(
        Kind.TRANSLATION,
        publisher_url="https://habr.com/",
        of="“CUBRID vs. MySQL performance test results before and after the SSD usage”, on the site of CUBRID",
        of_url="https://www.cubrid.org/ssd_performance_test",
        note="Translated from English by the poster; the author of the original is not named. The results were "
        "pictures "
        "there too.",
    ),
    goal="How many more transactions a second CUBRID and MySQL make when the data lie on an SSD instead of a hard "
    "disk.",
    machine="Two servers of similar make, one with hard disks, one with SSDs; the table of their parts was a picture "
    "and "
    "is recovered from slides. A comment says that the system was Linux.",
    method=(
        "CUBRID 2008 R3.0 and MySQL 5.1.47 with InnoDB, each on both servers; the text gives both a data buffer of "
        "4 GB and leaves the rest at its default (the printed files change more).",
        "40 tables tbl_200 ~ tbl_239 of 15 columns each, with a primary key, a unique and a plain index; 40 threads.",
        "INSERT, I/O-bound: single INSERTs for 30 minutes, about 625,000 records a table, 25 million in all.",
        "SELECT, CPU-bound: for 10 minutes three SELECTs a transaction (primary key, unique, plain index) in a range "
        "narrow enough to stay in the buffer; 1,600,000 records a table, 64 million in all.",
        "SELECT, I/O-bound: the same over a range wider than the buffer.",
        "TPS recorded throughout.",
    ),
    caveats=(
        "The two servers are similar, not equal. The CPU-bound SELECT is there to show how much everything but the "
        "disks differs.",
        "Neither system was tuned for an SSD.",
        "On the SSD MySQL did not use its server fully, so more may be possible.",
        "The SSD is said to be very fast at random access; another one will gain another factor.",
    ),
    conclusions=(
        "An SSD raises both systems under I/O-bound load: I/O is the main reason for low throughput.",
        "CUBRID seems to use the SSD fully: CPU-bound and I/O-bound throughput hardly differ there.",
        "Better would be one server whose disk alone is exchanged, and settings tuned for both systems.",
    ),
    disclaimer="An internal test, published for education only; it does not claim that either system is the better "
    "one, "
    "and no liability is taken.",
    questions_are="19 comments stand under the article. These are what they ask.",
    questions=(
        Question(
            "Which disks, by make and model? SSDs differ widely.",
            "kuber",
            "The maker is forgotten; the factor may change with another SSD, the direction should not.",
            (Answer("Storage model of a run", run_field="storage"),),
        ),
        Question(
            "Why MyISAM on an SSD, and why not Percona Server with XtraDB?",
            "philpirj",
            "First answered that it was MyISAM, then corrected: InnoDB; the MyISAM lines of the file are defaults.",
            (
                Answer("Settings in force, engine of the tables among them", run_field="configuration"),
                Answer("Both printed configurations", place="configurations"),
            ),
        ),
        Question(
            "CREATE TABLE names no ENGINE: was it MyISAM, the default of 5.1?",
            "philpirj",
            "The script is common to both systems; for MySQL ENGINE was added.",
            (
                Answer("Data and engine of a run", run_field="origin"),
                Answer("The printed schema", place="schema"),
            ),
        ),
        Question(
            "Why MySQL 5.1 and not 5.5?",
            "SonicGD",
            "5.5 gains mainly on Windows, the test ran on Linux, and 5.5 did not exist then; a test of both was "
            "planned.",
            (
                Answer("OS and DBMS version of a run", run_field="machine"),
                Answer("Other versions in a new experiment", rerun=True),
            ),
        ),
        Question(
            "Why CUBRID at all, and what does it cost?",
            "mark_ablov, kibitzer and others",
            "Licence fees, high availability and replication are named: opinions, not data.",
            (Answer("What the ratios say", place="ratios"),),
        ),
        Question(
            "What were the absolute numbers?",
            "any reader",
            "All of them were pictures.",
            (
                Answer("TPS over time of the INSERT test", figure="cubrid-fig3"),
                Answer("The same load as a new experiment", rerun=True),
            ),
        ),
    ),
    figures=(
        ArticleFigure(
            "cubrid-fig1", "The two machines", "table as a picture", FigureState.RECOVERED, "two-machines",
            "Parts of both servers, what differs marked.", "Stated on the slides of the test.",
        ),
        _table(2, "INSERT, I/O-bound", "insert", "SSD against HDD: about 5 times (CUBRID), about 2.5 times (MySQL)."),
        _over_time(3, "INSERT, I/O-bound", 30),
        _table(4, "SELECT, CPU-bound", "select-cpu", "On SSD about 17 % lower (CUBRID), about 6 % higher (MySQL)."),
        _over_time(5, "SELECT, CPU-bound", 10),
        _table(6, "SELECT, I/O-bound", "select-io", "SSD against HDD: about 4.2 times (CUBRID), about 2.8 (MySQL)."),
        _over_time(7, "SELECT, I/O-bound", 10),
        _table(8, "both SELECT tests", "select-both", "CPU-bound is above I/O-bound in every case."),
        ArticleFigure(
            "cubrid-fig9", "CPU-bound against I/O-bound SELECT", "grouped bar chart", FigureState.LOST,
            "figure-cubrid-fig9", "Two bars each: CPU-bound on the left, I/O-bound on the right.",
            "The left bar is the higher one everywhere; for CUBRID on SSD hardly.",
            Frame(Axis("system and disk", ticks=SERIES), Axis("throughput", "TPS"), ("CPU-bound", "I/O-bound"),
                  bars=True), RERUN,
        ),
        ArticleFigure(
            "cubrid-ratios", "Ratios in the text", "statements", FigureState.PRINTED, "ratios",
            "SSD against HDD per test and system.",
        ),
        ArticleFigure(
            "cubrid-configs", "cubrid.conf and my.cnf", "text", FigureState.PRINTED, "configurations",
            "Line by line, with their difference.",
        ),
        ArticleFigure(
            "cubrid-schema", "CREATE TABLE script", "text", FigureState.PRINTED, "schema", "Columns, keys and indexes.",
        ),
    ),
    rerun=RERUN,
    orders=(Order("gain by the SSD under I/O-bound load", ("CUBRID", "MySQL"), "INSERT and SELECT alike"),),
)  # fmt: skip
