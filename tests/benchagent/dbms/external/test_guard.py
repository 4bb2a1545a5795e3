from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.dbms.base import JobError
from benchagent.dbms.external.guard import check, created
from benchagent.dbms.external.instance import Guard
from benchagent.dbms.external.server import external_server, reachable
from benchagent.job.dryrun import TOOL, PaperBench
from benchagent.workloads import workload as workload_of

from tests.benchagent.dbms.stand_in import SMALL

# What the run has made before.
OWN = frozenset(
    ("a", "accounts", "copied", "new_order", "own", "p", "parent", "stock", "t", "u", "v", "w", "audit_log", "mon_1")
)
ALLOWED = [
    "SELECT * FROM public.x",
    "SELECT a.v, b.w FROM t a JOIN u b ON b.id = a.id WHERE a.v > 1.5 FOR UPDATE OF a",
    "SELECT REPLACE(a.v, 'x', 'y'), TRUNCATE(a.n, 2), INSERT(a.v, 1, 2, 'z') FROM a",
    "SELECT v FROM t WITH RS USE AND KEEP UPDATE LOCKS",
    "SELECT 'it''s; DROP TABLE public.x', \"odd name\" FROM t -- public.x",
    "INSERT INTO accounts (a) VALUES ('DROP TABLE public.x')",
    "INSERT INTO t (a) SELECT x.a FROM public.x AS x",
    "INSERT INTO t AS old (a, n) VALUES (?, 1) ON CONFLICT (a) DO UPDATE SET n = old.n + excluded.n",
    "INSERT IGNORE INTO t VALUES (1.5, -2.25e-3)",
    "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE n = t.n + 1",
    "UPDATE OR INSERT INTO t (a) VALUES (?) MATCHING (a) RETURNING t.a",
    "REPLACE INTO t VALUES (1)",
    "UPDATE stock SET s = s.q",
    "UPDATE t AS a SET n = a.n + 1 FROM public.u AS u WHERE u.id = a.id RETURNING a.n",
    "UPDATE ONLY t SET n = (SELECT MAX(x.n) FROM public.x AS x)",
    "DELETE FROM new_order WHERE a = 1",
    "DELETE FROM t AS a WHERE a.n = 1 AND EXISTS (SELECT 1 FROM public.x WHERE x.id = a.id)",
    "MERGE INTO t USING (SELECT x.a FROM public.x) s ON (t.a = s.a) WHEN MATCHED THEN UPDATE SET t.n = s.n "
    "WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT gone.a FROM gone",
    "WITH x AS (SELECT 1) SELECT * FROM x;",
    "EXPLAIN ANALYZE UPDATE t SET a = t.a",
    "TRUNCATE TABLE t",
    "CREATE UNIQUE INDEX i ON t (a)",
    "CREATE CACHED TABLE t (a INTEGER)",
    "CREATE TABLE t (a INTEGER DEFAULT 1, p INTEGER REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE t (n NUMERIC(4, 2) NOT NULL)",
    "CREATE TABLE t (id INTEGER GENERATED ALWAYS AS IDENTITY)",
    "CREATE TABLE t AS SELECT x.a FROM public.x AS x",
    "CREATE OR REPLACE VIEW v (a) AS SELECT x.a FROM t AS x",
    "CREATE VIEW v AS SELECT a.x, MAX(b.y) FROM t AS a JOIN u b ON b.id = a.id, w WHERE a.x = w.x AND b.y IN (1, a.y)",
    "CREATE VIEW v AS SELECT d.a FROM (SELECT x.a FROM t AS x) AS d WHERE d.a > 0 UNION SELECT a.x, a.y FROM a",
    "ALTER TABLE t ADD CONSTRAINT t_pk PRIMARY KEY (a)",
    "ALTER TABLE ONLY t ADD COLUMN b INTEGER",
    "DROP TABLE t",
    "DROP TABLE IF EXISTS t, u",
    "UPDATE `accounts` SET a = 1",
    "UPDATE t, u SET a = 1",
    "DELETE t FROM t JOIN u WHERE t.a = u.a",
    "CREATE TABLE customers (a INTEGER PRIMARY KEY, b INTEGER REFERENCES customers (a))",
    "CREATE INDEX i ON ONLY t (a)",
    "INSERT INTO audit_log (a) VALUES (1)",
    "CREATE INDEX i ON audit_log (a)",
    "CREATE TABLE mon_2 (a INTEGER REFERENCES mon_1 (a))",
    "SELECT b.x FROM theirs.b, c WHERE b.id = c.id (+) AND b.x IN (1, 2)",
    "WITH x (b) AS (SELECT a FROM t), y AS (SELECT b FROM x) SELECT y.b FROM y, t FOR UPDATE OF t",
    "CREATE VIEW v AS WITH RECURSIVE x AS (SELECT a FROM t UNION ALL SELECT a FROM x) SELECT a FROM x",
    "SELECT a FROM t WITH RR",
    "WITH rr AS (SELECT 1 AS n), rs AS (SELECT n FROM rr) SELECT n FROM rs, theirs.x",
    "SELECT COUNT(*), SLEEP(1), CURRVAL('t_id_seq'), next_value FROM t WHERE v @> ARRAY_AGG(v)",
]
# To some engines these are public synonyms or aliases of what others have made.
NOT_MADE = [
    "UPDATE customers SET a = 1",
    'UPDATE "accounts" SET a = 1',
    "UPDATE own, customers SET a = 1",
    "UPDATE own JOIN customers USING (a) SET b = 1",
    "INSERT INTO customers VALUES (1)",
    "INSERT INTO customers SELECT a FROM own",
    "REPLACE INTO customers VALUES (1)",
    "MERGE INTO customers own USING own x ON (a = 1) WHEN MATCHED THEN UPDATE SET b = 1",
    "DELETE FROM customers",
    "DELETE customers WHERE a = 1",
    "DELETE customers FROM own",
    "DELETE own FROM customers own",
    "DELETE FROM own USING own JOIN customers",
    "WITH gone AS (DELETE FROM customers RETURNING *) SELECT * FROM gone",
    "SELECT a FROM FINAL TABLE (UPDATE customers SET a = 1)",
    "EXPLAIN ANALYZE UPDATE customers SET a = 1",
    "TRUNCATE TABLE customers",
    "TRUNCATE own, customers",
    "CREATE INDEX i ON customers (a)",
    "CREATE INDEX customers ON customers (a)",
    "CREATE VIEW seen AS SELECT a FROM customers",
    "CREATE VIEW seen AS SELECT o.a FROM own o JOIN customers c ON c.a = o.a",
    "CREATE TABLE child (a INTEGER REFERENCES customers (a))",
    "ALTER TABLE customers DROP COLUMN a",
    "DROP TABLE customers",
    "DROP TABLE IF EXISTS own, customers",
    "DROP INDEX i ON customers",
    "SELECT a FROM customers FOR UPDATE",
    "SELECT o.a FROM own o JOIN public.x ON x.a = o.a FOR NO KEY UPDATE OF o",
    "SELECT a FROM customers WITH LOCK",
    "SELECT a FROM own, customers LOCK IN SHARE MODE",
    "SELECT a FROM theirs.x WITH RR",
    "INSERT INTO own SELECT a FROM customers WITH RS",
    "SELECT a FROM own.x FOR UPDATE",
    "WITH x AS (SELECT 1 AS a) SELECT a FROM x.y FOR UPDATE",
    "WITH customers AS (SELECT a FROM customers) SELECT a FROM customers WITH RR",
    "SELECT a FROM customers WHERE a IN (WITH customers AS (SELECT 1 AS a) SELECT a FROM customers) FOR UPDATE",
]
SIDE_EFFECTS = [
    "SELECT NEXT VALUE FOR theirs.numbers",
    "SELECT theirs.numbers.NEXTVAL FROM dual",
    "SELECT numbers.nextval FROM dual",
    "VALUES NEXTVAL FOR theirs.numbers",
    "SELECT nextval('theirs.numbers')",
    "SELECT \"nextval\"('theirs.' || 'numbers')",
    "SELECT setval('theirs.numbers', 1)",
    "SELECT GEN_ID(numbers, 1) FROM RDB$DATABASE",
    "SELECT numbers.NEXT_VALUE",
    "CREATE TABLE made (a INTEGER DEFAULT nextval('theirs.numbers'))",
    "INSERT INTO t VALUES (NEXT VALUE FOR numbers)",
    "SELECT theirs.wipe()",
    "SELECT theirs.tools.wipe(1) FROM dual",
    "SELECT wipe@elsewhere(1) FROM dual",
    'SELECT "java.lang.System.exit"(0)',
    "SELECT a FROM t JOIN u ON pg_reload_conf()",
    "SELECT pg_terminate_backend(a) FROM theirs.sessions",
    "SELECT pg_catalog.pg_advisory_lock(1)",
    "SELECT set_config('search_path', 'theirs', false)",
    "SELECT lo_import('/etc/passwd'), lo_unlink(1)",
    "SELECT * FROM dblink_exec('x', 'y')",
    "SELECT query_to_xml('DELETE FROM theirs.x', true, true, '')",
    "SELECT GET_LOCK('theirs', 1)",
    "SELECT LOAD_FILE('/etc/passwd')",
    "SELECT RDB$SET_CONTEXT('USER_SESSION', 'a', 'b') FROM RDB$DATABASE",
    "SELECT FILE_WRITE('x', 'y')",
    "SELECT INCR(seen) FROM theirs.boards",
    "SELECT a FROM theirs.boards WITH INCREMENT FOR seen",
    "SELECT MQSEND('x') FROM t",
]
OF_OTHERS = [
    "DROP TABLE public.x",
    'DROP TABLE IF EXISTS "public"."x"',
    "DROP TABLE own, public.precious",
    "DROP VIEW own /* , */ , public /* */ . v",
    "TRUNCATE public.x",
    "TRUNCATE TABLE `theirs`.`x`",
    "TRUNCATE own, public.x",
    "TRUNCATE ONLY public.x",
    "UPDATE public.x SET a = 1",
    "UPDATE ONLY public.x SET a = 1",
    "UPDATE own, theirs.x SET x.a = 1",
    "UPDATE own JOIN theirs.x ON own.a = x.a SET x.a = 1",
    "UPDATE IGNORE theirs.x SET a = 1",
    "UPDATE LOW_PRIORITY theirs.5x SET a = 1",
    "UPDATE (SELECT a FROM own) SET a = 1",
    "UPDATE x@elsewhere SET a = 1",
    "UPDATE pg_class SET relname = 'x'",
    "UPDATE OR INSERT INTO theirs.x (a) VALUES (1)",
    "DELETE FROM theirs.x",
    "DELETE FROM ONLY theirs.x",
    "DELETE t FROM theirs.t",
    "DELETE theirs.t FROM theirs.t",
    "DELETE own, x FROM own PARTITION (p) JOIN theirs.x",
    "DELETE FROM own, x USING own JOIN theirs.x",
    "DELETE FROM RDB$RELATIONS",
    "EXPLAIN ANALYZE DELETE FROM theirs.x",
    "INSERT INTO theirs . x VALUES (1)",
    "INSERT theirs.x VALUES (1)",
    "INSERT HIGH_PRIORITY IGNORE theirs.x VALUES (1)",
    "INSERT INTO (SELECT a FROM theirs.x) VALUES (1)",
    "REPLACE theirs.x VALUES (1)",
    "REPLACE DELAYED INTO theirs.x VALUES (1)",
    "WITH gone AS (DELETE FROM public.x RETURNING *) SELECT * FROM gone",
    "WITH new AS (INSERT INTO public.x VALUES (1) RETURNING *) SELECT * FROM new",
    "CREATE INDEX i ON public.x (a)",
    "CREATE TABLE public.x (a INTEGER)",
    "CREATE TABLE own (a INTEGER REFERENCES public.x)",
    "CREATE TABLE own PARTITION OF public.x DEFAULT",
    "CREATE VIEW public.v AS SELECT 1",
    "CREATE TABLE own AS WITH gone AS (DELETE FROM public.x RETURNING *) SELECT * FROM gone",
    "ALTER TABLE public.x DROP COLUMN a",
    "ALTER TABLE ONLY public.x DROP COLUMN a",
    "ALTER TABLE IF EXISTS public.x DROP COLUMN a",
    "MERGE INTO theirs.x USING y ON 1 = 1 WHEN MATCHED THEN DELETE",
    "MERGE theirs.x USING y ON 1 = 1 WHEN MATCHED THEN DELETE",
    "/* SELECT */ TRUNCATE public.x",
]
FURTHER = [
    "SELECT 1; DROP TABLE x",
    "DROP SCHEMA public CASCADE",
    "DROP DATABASE theirs",
    "DROP TABLE own CASCADE",
    "TRUNCATE own CASCADE",
    "ALTER TABLE own SET SCHEMA public",
    "ALTER TABLE own RENAME TO other",
    "ALTER TABLE ALL IN TABLESPACE pg_default SET TABLESPACE fast",
    "ALTER TABLE own ADD FOREIGN KEY (p) REFERENCES parent (id)",
    "CREATE USER eve",
    "CREATE GLOBAL TEMPORARY TABLE t (a INTEGER)",
    "CREATE TEMP TABLE t (a INTEGER)",
    "CREATE MATERIALIZED VIEW v AS SELECT 1",
    "CREATE SEQUENCE s",
    'CREATE TABLE "Mixed" (a INTEGER)',
    "CREATE TABLE `order` (a INTEGER)",
    "CREATE TABLE t (a INTEGER) ENGINE=FEDERATED CONNECTION='mysql://elsewhere/x'",
    "CREATE OR REPLACE FUNCTION f() RETURNS INT AS 'x'",
    "ALTER SYSTEM SET fsync = off",
    "GRANT ALL ON x TO eve",
    "SET search_path TO public",
    "USE theirs",
    "DO 'BEGIN END'",
    "CALL wipe()",
    "VACUUM",
    "COPY x FROM '/etc/passwd'",
    "SELECT 1 INTO theirs.x",
    "SELECT a INTO copied FROM t",
    "SELECT a FROM t INTO OUTFILE '/tmp/x'",
    "INSERT ALL INTO theirs.x VALUES (1) SELECT 1 FROM dual",
    "CREATE TABLE t (a INTEGER) ENGINE='federated'",
    "ALTER TABLE own ENGINE=FEDERATED",
    "CREATE VIEW v AS SELECT * FROM public.x",
    "CREATE VIEW v AS SELECT * FROM ONLY (public.x)",
    "CREATE VIEW v AS TABLE public.x",
    "CREATE VIEW v AS SELECT o.a FROM own AS o, public.x",
    "CREATE VIEW v AS SELECT o.a FROM (own AS o, theirs.x)",
    "CREATE VIEW v AS SELECT o.a FROM own o STRAIGHT_JOIN theirs.x ON o.a = x.a",
    "CREATE OR REPLACE VIEW v AS SELECT * FROM (SELECT a FROM own WHERE a > 1) AS o JOIN public.x ON TRUE",
    "CREATE VIEW v AS SELECT o.a FROM own o USE INDEX FOR ORDER BY (i), theirs.x",
    "CREATE VIEW v AS SELECT * FROM pg_class",
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "INSERT INTO benchagent_owner VALUES ('me', 'precious')",
    "UPDATE \"BENCHAGENT_OWNER\" SET made = 'x'",
]
READ_DIFFERENTLY = [
    "/*! DROP TABLE theirs.x */",
    "SELECT 1 /*!50000 INTO OUTFILE '/tmp/x' */",
    "SELECT 1 /*M!100000 INTO OUTFILE '/tmp/x' */",
    "SELECT 1 /* /* */ ' */ INTO x -- '",
    "SELECT 1 # '\n INTO OUTFILE '/tmp/x'",
    "SELECT 1--'\n INTO OUTFILE '/tmp/x'",
    "SELECT 1 -- x\r INTO x",
    "SELECT '\\', 1 INTO OUTFILE '/tmp/x' -- '",
    "SELECT $$'$$ INTO x -- '",
    "SELECT q'[']' INTO x FROM dual -- '",
    "SELECT 1 FROM U&\"benchagent!005fowner\" UESCAPE '!'",
    "SELECT 'x",
]


@pytest.mark.parametrize("sql", ALLOWED)
def test_it_lets_through_what_changes_only_what_the_run_has_made(sql: str):
    check(sql, own=OWN)


@pytest.mark.parametrize("sql", NOT_MADE)
def test_it_stops_what_changes_what_the_run_has_not_made(sql: str):
    with pytest.raises(JobError, match="was not made by this run"):
        check(sql, own=OWN)


@pytest.mark.parametrize("sql", SIDE_EFFECTS)
def test_it_stops_what_counts_a_sequence_or_calls_what_may_change_something(sql: str):
    with pytest.raises(JobError, match="not sent to a server of others"):
        check(sql, own=OWN)


@pytest.mark.parametrize("dbms", ["mysql", "mariadb"])
def test_a_change_locks_no_rows_of_others_by_reading_them(dbms: str):
    guard = Guard(external_server(dbms, "10.11", "own"))

    def admit(sql: str) -> None:
        guard.admit({"op": "execute", "statements": [sql]})

    admit("CREATE TABLE t (a INTEGER)")
    admit("INSERT INTO t SELECT a FROM (SELECT u.a FROM t AS u) AS made WHERE EXTRACT(YEAR FROM a) = 1")
    admit("SELECT a FROM theirs.x")
    for sql in (
        "INSERT INTO t SELECT a FROM theirs.x",
        "REPLACE INTO t SELECT u.a FROM t AS u JOIN `theirs`.x ON x.a = u.a",
        "CREATE TABLE copied AS SELECT a FROM theirs . x",
        "UPDATE t SET a = (SELECT MAX(a) FROM theirs.x)",
        "DELETE FROM t WHERE a IN (SELECT a FROM t.x)",
    ):
        with pytest.raises(JobError, match="a change locks what it reads here"):
            admit(sql)


def test_what_is_dropped_is_no_longer_the_runs_own():
    guard = Guard(external_server("oracle", "19.3", "own"))
    made = ["CREATE TABLE Customers (a INTEGER)", "CREATE VIEW seen AS SELECT a FROM customers", "DROP VIEW seen"]
    guard.admit({"op": "execute", "statements": made})
    update = {"op": "prepare_all", "statements": ["UPDATE customers SET a = 1"]}
    guard.admit(update)
    guard.admit({"op": "execute", "statements": ["DROP TABLE customers"]})
    for step in (update, {"op": "load", "tables": [{"insert": "INSERT INTO seen VALUES (1)"}]}):
        with pytest.raises(JobError, match="was not made by this run"):
            guard.admit(step)


@pytest.mark.parametrize("sql", OF_OTHERS)
def test_it_stops_what_names_the_schema_of_what_it_changes(sql: str):
    with pytest.raises(JobError, match="names the schema of what it changes is not sent"):
        check(sql, own=OWN)


@pytest.mark.parametrize("sql", FURTHER)
def test_it_stops_what_could_reach_what_is_not_the_agents(sql: str):
    with pytest.raises(JobError, match="not sent"):
        check(sql, own=OWN)


@pytest.mark.parametrize("sql", READ_DIFFERENTLY)
def test_it_stops_what_one_engine_reads_as_code_and_another_as_none(sql: str):
    with pytest.raises(JobError, match="engines differ in how they read"):
        check(sql)


def test_it_makes_and_drops_no_table_in_a_transaction():
    check("CREATE INDEX i ON t (a)", own=OWN, may_create=False)
    with pytest.raises(JobError, match="a table is made before the load"):
        check("CREATE TABLE t (a INTEGER)", own=OWN, may_create=False)
    with pytest.raises(JobError, match="a view is dropped after the run"):
        check("DROP VIEW v", own=OWN, may_create=False)


def test_it_sees_what_a_statement_makes():
    assert created("CREATE TABLE accounts (a INTEGER)") == ("TABLE", "accounts")
    assert created("/* x */ CREATE /* y */ CACHED TABLE IF NOT EXISTS T1 (a INTEGER)") == ("TABLE", "T1")
    assert created("CREATE INDEX i ON t (a)") == ("", "")
    assert created("DROP TABLE t") == ("", "")
    assert created("CREATE OR REPLACE VIEW v AS SELECT 1") == ("VIEW", "v")


@pytest.mark.parametrize("dbms", [slug for slug in DBMSS if reachable(slug)])
def test_it_lets_through_every_statement_of_every_workload(dbms: str, tmp_path: Path):
    server, some_tool = (external_server(dbms, "19.3", "own"), external_server("oracle", "19.3", "own").shown_backups)
    checked = 0
    for slug, factors in SMALL:
        workload = workload_of(slug, WORKLOADS[slug].version)
        given = workload.factors(factors, dbms)
        bench = PaperBench(workload, server, given, backups=lambda: some_tool, folder=tmp_path / slug)
        (tmp_path / slug).mkdir(exist_ok=True)
        workload.perform(bench)
        guard = Guard(server)
        checked += sum(guard.admit(step) for step in bench.steps if step["op"] != TOOL)
    assert checked > 300
