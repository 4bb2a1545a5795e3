from __future__ import annotations

import time
from decimal import Decimal

import pytest
from benchagent.dbms.base import JobError
from benchagent.workloads.script.model import Expectation, ScriptError, Transaction
from benchagent.workloads.script.parse import parse

from tests.benchagent.workloads.script.scripts import BANK

LOOK = "[transaction look]\nSELECT 1;\n"


def transaction(body: str) -> Transaction:
    (found,) = parse(f"[transaction t]\n{body}\n").transactions
    return found


def statement(sql: str, *, names: str = "abcx") -> tuple[str, tuple[str, ...], bool]:
    sets = "".join(f"\\set {name} random(1, 2)\n" for name in names)
    (found,) = transaction(sets + sql).statements
    return found.sql, tuple(found.binds), found.fetch


def test_it_reads_every_section():
    script = parse(BANK)
    assert [sql.split()[2] for sql in script.setup] == ["account", "ledger"]
    assert [(load.table, load.rows, list(load.columns)) for load in script.loads] == [
        ("account", 1000, ["id", "balance", "note"])
    ]
    assert script.index == ["CREATE INDEX ledger_id ON ledger (id)"]
    assert [(found.name, found.weight, list(found.variables)) for found in script.transactions] == [
        ("transfer", 3, ["id", "delta", "now"]),
        ("look", 1, ["id"]),
    ]
    assert [(question.name, question.expected) for question in script.questions] == [
        ("booked", Expectation(committed="transfer")),
        ("accounts", Expectation(value="1000")),
        ("balance", Expectation(value="0")),
    ]


def test_it_binds_variables_in_the_order_of_their_places():
    update, insert = parse(BANK).transactions[0].statements
    assert update.sql == "UPDATE account SET balance = balance + ? WHERE id = ?"
    assert (update.binds, update.rows, update.line) == (("delta", "id"), 1, 18)
    assert (insert.binds, insert.rows) == (("id", "delta", "now"), None)


@pytest.mark.parametrize(
    ("sql", "kept", "binds"),
    [
        ("SELECT ':a', :b;", "SELECT ':a', ?", ("b",)),
        ("SELECT 'it''s :a' || :b;", "SELECT 'it''s :a' || ?", ("b",)),
        ('SELECT ":a", `:b` FROM t WHERE x=:c;', 'SELECT ":a", `:b` FROM t WHERE x=?', ("c",)),
        ("SELECT x::text, :a::int;", "SELECT x::text, ?::int", ("a",)),
        ("SELECT 1 -- :a; ? '\n + :b;", "SELECT 1 \n + ?", ("b",)),
        ("SELECT /*+ :a; ? */ :b;", "SELECT /*+ :a; ? */ ?", ("b",)),
        ("SELECT $$ :a; $$, $q$ $$ ; $q$, :b;", "SELECT $$ :a; $$, $q$ $$ ; $q$, ?", ("b",)),
        ("SELECT v$x$y, a[1:2], @v := 3, :a;", "SELECT v$x$y, a[1:2], @v := 3, ?", ("a",)),
    ],
)
def test_it_looks_for_variables_outside_of_quotes_and_comments(sql, kept, binds):
    assert statement(sql)[:2] == (kept, binds)


@pytest.mark.parametrize(
    ("sql", "fetch"),
    [
        ("select 1;", True),
        ("(SELECT 1) UNION (SELECT 2);", True),
        ("VALUES (1);", True),
        ("INSERT INTO t SELECT * FROM u;", False),
        ("INSERT INTO t VALUES (1) RETURNING id;", True),
        ("UPDATE t SET a = (SELECT 1);", False),
        ("WITH r AS (SELECT 1) SELECT * FROM r;", True),
        ("WITH r AS (SELECT 1) DELETE FROM t;", False),
        ("WITH r AS (DELETE FROM t RETURNING a) SELECT a FROM r;", True),
        ("/* select */ DELETE FROM t;", False),
        ("DELETE FROM t WHERE a = 'RETURNING';", False),
    ],
)
def test_it_knows_which_statements_return_rows(sql, fetch):
    assert statement(sql)[2] is fetch


def test_what_stands_outside_of_transactions_is_left_as_it_is():
    script = parse("[setup]\nCREATE TRIGGER t AS x = :y ? 1;\n" + LOOK)
    assert script.setup == ["CREATE TRIGGER t AS x = :y ? 1"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("= 12.50", Expectation(value="12.50")),
        ("= 'it''s'", Expectation(value="it's")),
        ("= null", Expectation(value="null")),
        ("+ 3", Expectation(growth=Decimal(3))),
        ("+ -1.5", Expectation(growth=Decimal("-1.5"))),
        ("+ committed", Expectation(committed="")),
        ("+committed( look )", Expectation(committed="look")),
    ],
)
def test_it_reads_what_is_expected(line, expected):
    assert parse(f"{LOOK}[check c]\nSELECT 1;\n{line}\n").questions[0].expected == expected


def test_lines_may_end_as_windows_ends_them():
    windows = parse("\ufeff" + BANK.replace("\n", "\r\n"))
    assert [load.columns for load in windows.loads] == [load.columns for load in parse(BANK).loads]
    assert windows.transactions[0].statements == parse(BANK).transactions[0].statements


@pytest.mark.parametrize(
    ("script", "line", "reason"),
    [
        ("", 1, "empty"),
        ("  \n\n", 1, "empty"),
        ("[setup]\nCREATE TABLE t (a INT);\n", 3, "no \\[transaction NAME\\]"),
        ("[transaction t weight 0]\nSELECT 1;", 2, "weight above 0"),
        ("SELECT 1;\n" + LOOK, 1, "before the first section"),
        ("\n[transactoin t]\nSELECT 1;", 2, "not a section: \\[transactoin t\\]"),
        ("[transaction t", 1, "not a section"),
        ("[load t]\na = sequence\n", 1, "not a section"),
        ("[transaction a]\nSELECT 1;\n[transaction A]\nSELECT 1;", 3, "two sections"),
        ("[transaction t]\n\n", 1, "no statements"),
        ("[transaction t]\nSELECT 1;\nSELECT 2\n", 3, "no semicolon at its end: SELECT 2"),
        ("[transaction t]\nSELECT 1;;", 2, "without a statement"),
        ("[transaction t]\n((1));", 2, "not a statement"),
        ("[transaction t]\nSELECT 1,\n 'open;\n", 3, "' is not closed"),
        ("[transaction t]\nSELECT 1\n/* ;", 3, "/\\* is not closed"),
        ("[transaction t]\nSELECT $q$ ;", 2, "\\$q\\$ is not closed"),
        ("[transaction t]\nSELECT\n ?;", 3, "written :name, not \\?"),
        ("[transaction t]\n\nSELECT :b;", 3, "variable :b is not set"),
        ("[transaction t]\nSELECT 1;\nCOMMIT;", 3, "the load generator's part"),
        ("[transaction t]\nBEGIN; SELECT 1;", 2, "the load generator's part"),
        ("[transaction t]\n\\set a random(1)\nSELECT 1;", 2, "random\\(min, max\\)"),
        ("[transaction t]\n\\set a zipf(1, 2)\nSELECT 1;", 2, "no kind of value is called zipf"),
        ("[transaction t]\n\\set a group(3)\nSELECT 1;", 2, "no kind of value is called group"),
        ("[transaction t]\n\\set a now()\n\\set a now()\nSELECT 1;", 3, "set twice"),
        ("[transaction t]\n\\sleep 5\nSELECT 1;", 2, "neither"),
        ("[transaction t]\n\\rows 1\nSELECT 1;", 2, "follows the statement"),
        ("[transaction t]\nSELECT\n\\rows 1\n1;", 2, "no semicolon"),
        ("[load t 5]\n" + LOOK, 1, "no columns"),
        ("[load t 5]\na = sequence\nA = sequence\n" + LOOK, 3, "two columns A"),
        ("[load t 5]\na sequence\n" + LOOK, 2, "column = kind"),
        ("[load t 5]\na = now()\n" + LOOK, 2, "no kind of value is called now"),
        ("[load t 5]\na = sequence null 1.5\n" + LOOK, 2, "share of nulls"),
        ("[load t 9999999999999]\na = sequence\n" + LOOK, 1, "rows"),
        ("[load t; 5]\na = sequence\n" + LOOK, 1, "not a section"),
        (LOOK + "[check c]\nSELECT 1;\n", 3, "what is expected"),
        (LOOK + "[check c]\nSELECT 1;\n= 1\n= 2\n", 3, "one line"),
        (LOOK + "[check c]\nDELETE FROM t;\n= 1\n", 3, "one query"),
        (LOOK + "[check c]\nSELECT 1; SELECT 2;\n= 1\n", 3, "one query"),
        (LOOK + "[check c]\nSELECT 1;\n=\n", 5, "missing"),
        (LOOK + "[check c]\nSELECT 1;\n+ committed(other)\n", 5, "no transaction other"),
        (LOOK + "[check c]\nSELECT 1;\n+ many\n", 5, "neither a number"),
        (LOOK + "[check c]\nSELECT 1;\n+ NaN\n", 5, "neither a number"),
        (LOOK + "\0", 3, "NUL"),
        ("[transaction t weight 2000000]\nSELECT 1;", 1, "weight"),
        ("[transaction t]\n" + "SELECT 1;\n" * 1_001, 1_002, "more than 1,000"),
        ("[setup]\n" * 201, 201, "more than 200 sections"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(script, line, reason):
    with pytest.raises(ScriptError, match=reason) as told:
        parse(script)
    assert told.value.line == line
    assert str(told.value).startswith(f"script, line {line}: ")
    assert isinstance(told.value, JobError)


@pytest.mark.parametrize(
    "body",
    [
        "'" * 99_999,
        "$a$" * 33_001,
        "/*" * 49_000,
        "a" * 50_000 + ":" * 45_000,
        "\\set a " + " " * 90_000 + "x",
        "\\set a choice(" + "''," * 30_000 + ")",
        "\\set a text(" + "'" * 90_001 + ")",
        "\\set a random(" + "9" * 90_000 + ", 1)",
        "\\set " + "a" * 90_000 + " now()",
        "(" * 90_000 + ";",
        "\n[" * 45_000,
        "a;\n" * 33_000,
    ],
    ids=lambda body: body[:16].strip(),
)
def test_hostile_input_is_refused_in_little_time(body):
    begun = time.process_time()
    with pytest.raises(ScriptError) as told:
        parse("[transaction t]\n" + body)
    assert time.process_time() - begun < 2
    assert len(str(told.value)) < 400
