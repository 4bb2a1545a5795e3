"""gbak-backup-2007: four ways to back up one database on five servers."""

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

METHODS = ("localhost (TCP)", "local protocol", "Services API, other disk", "Services API, same disk")
SERVERS = ("Firebird 1.5.3", "Firebird 2.1", "InterBase 7.5.1 sp1", "InterBase 2007", "Yaffil 892")
RERUN = Rerun("backup", engines=("firebird",), repeats=5)

ARTICLE = Article(
    slug="gbak-backup-2007",
    source=Source(
        Kind.ORIGINAL,
        publisher_url="https://www.ibase.ru/",
        note="Written by the person who ran the test. The text at hand has lost its pictures and one link.",
    ),
    goal="How fast gbak makes a backup by each of its methods, on five server versions; and whether reading and "
    "writing on one physical disk really costs time, and how much.",
    machine="One desktop PC with Windows XP: Athlon 64 3500+, 2 GB RAM, three separate disks, one for the system, one "
    "for "
    "the database, one for the backup. Server and gbak share the PC.",
    method=(
        "One database file of 2.7 GB for all servers: about 150 tables and 300 indexes, the largest table 14 million "
        "records and 1.9 GB; restored, never updated since, pages of 16 KB, ODS 10.1. Its backup takes 2.2 GB.",
        "A cache of 8192 pages in the configuration file of each server; each server with its own gbak and client "
        "library.",
        "Four methods: over TCP to localhost, the local protocol, the Services API (the server itself writes the "
        "file) to the other disk, and the Services API to the disk of the database. Always with -g, so no garbage is "
        "collected.",
        "At least 2 repeats per server, 3 where a result surprised; about 15 hours in all.",
        "Controls: -v against no -v; a count(*) of the largest table; a database in each server's own format.",
    ),
    caveats=(
        "It measures backup only. That Yaffil wins here says nothing about its queries: those depend on the "
        "optimizer, which Firebird 2.0 and 2.1 reworked.",
        "Two partitions of one disk may look good enough, because a disk is faster outside than inside; they are not "
        "two disks.",
        "A backup on the disk of its database dies with that disk.",
        "Where the CPU is the limit, a second disk makes no visible difference.",
        "A second CPU was first expected to help methods 1 and 2; the graphs shown later speak against it.",
        "A backup that runs inside a Firebird server can only be stopped with the server; without -se, Ctrl-C is "
        "enough.",
    ),
    conclusions=(
        "Yaffil is the fastest of the five, least so with the Services API.",
        "On this CPU Firebird 1.5 and 2.1 are faster than InterBase 7.5 and 2007.",
        "The Services API is the fastest method.",
        "In InterBase the local protocol is slower than TCP.",
        "Firebird 2.1 is about 8 % slower than 1.5, whatever the method.",
        "A CPU that is fully busy hides the effect of the disks: InterBase spends more of it on memory management.",
    ),
    disclaimer="The author limits the result to backups on this one PC, and warns against reading it as a ranking of "
    "the servers.",
    questions_are="The text at hand carries no comments. These are the questions a reader is left with.",
    questions=(
        Question(
            "How long did each backup take?",
            "any reader",
            "The times were only in two charts, which are lost.",
            (
                Answer("Backup time of every method and server", figure="gbak-fig2"),
                Answer("The same as a new experiment", rerun=True),
            ),
        ),
        Question(
            "How many repeats stand behind a cell, and how far do they spread?",
            "any reader",
            "Two or three a server; which cell has which is not said.",
            (Answer("Every repeat is a run of its own", run_field="numbers"),),
        ),
        Question(
            "Does a percentage mean time or speed?",
            "any reader",
            "Not said for any of them.",
            (Answer("Both readings of each percentage, side by side", place="readings"),),
        ),
        Question(
            "Which file system, how fragmented, and what was in the cache between repeats?",
            "any reader",
            "Not said.",
            (Answer("Storage and file system of a run", run_field="storage"),),
        ),
        Question(
            "What did each process use of the CPU, and each disk in MB/s?",
            "any reader",
            "In twelve PerfMon graphs, which are lost; some averages are in the text.",
            (
                Answer("CPU and disk of server and tool over time", figure="gbak-fig3"),
                Answer("Charts of a run", run_field="charts"),
            ),
        ),
        Question(
            "Can the backup be restored?",
            "any reader",
            "Not tested.",
            (Answer("Checks after a run", run_field="checks"),),
        ),
    ),
    figures=(
        ArticleFigure(
            "gbak-fig1", "Backup time of Firebird 1.5.3 by method", "bar chart", FigureState.LOST, "figure-gbak-fig1",
            "One bar per method, time upwards.", "TCP is the slowest of the four, the Services API to another disk "
            "the fastest.",
            Frame(Axis("method", ticks=METHODS), Axis("backup time", "min:s"), ("Firebird 1.5.3",), bars=True), RERUN,
        ),
        ArticleFigure(
            "gbak-fig2", "Backup time of all servers by method", "grouped bar chart", FigureState.LOST,
            "figure-gbak-fig2", "Four methods, a bar per server in each, time upwards.",
            "Yaffil has the shortest bars, InterBase the longest.",
            Frame(Axis("method", ticks=METHODS), Axis("backup time", "min:s"), SERVERS, bars=True), RERUN,
        ),
        ArticleFigure(
            "gbak-fig3", "Twelve PerfMon graphs", "small multiples of time graphs", FigureState.LOST,
            "figure-gbak-fig3", "CPU of server (purple) and gbak (green) on the left axis, reading and writing of the "
            "disks in MB/s at the bottom.", "Averages of some of these lines are printed: see CPU and disks.",
            Frame(
                Axis("time", "s"), Axis("CPU", "%"), ("CPU of the server", "CPU of gbak", "disk read", "disk write"),
                y_right=Axis("disk", "MB/s"), rows=("localhost", "local", "se", "se, 1 hdd"),
                columns=("Firebird 1.5", "Firebird 2.1", "InterBase 2007"), colors=(3, 2, 0, 7),
            ), RERUN,
        ),
        ArticleFigure(
            "gbak-percentages", "Percentages of the text", "statements", FigureState.PRINTED, "readings",
            "Each with its baseline, read as time and as speed.",
        ),
        ArticleFigure(
            "gbak-control", "count(*) of the largest table", "sentence", FigureState.PRINTED, "control",
            "Elapsed time, CPU and disk rate, the same on every server.",
        ),
    ),
    rerun=RERUN,
    orders=(
        Order(
            "speed of the backup, all methods",
            ("Yaffil 892", "Firebird 1.5.3 and 2.1", "InterBase 7.5.1 and 2007"), "the servers, on this CPU",
        ),
        Order(
            "speed of the backup, Firebird 1.5.3", ("Services API, other disk", "local protocol", "TCP"),
            "the methods with two disks",
        ),
    ),
)  # fmt: skip
