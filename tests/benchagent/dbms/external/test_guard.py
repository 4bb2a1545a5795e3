from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.dbms.base import JobError
from benchagent.dbms.external.guard import check, created_table, created_view, statements
from benchagent.dbms.external.instance import asked_by_agent, own_words
from benchagent.dbms.external.side import reachable, side_of
from benchagent.dryrun import PaperBench
from benchagent.workloads import workload as workload_of

from tests.benchagent.dbms.stand_in import SMALL

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
def test_it_lets_through_what_works_on_names_without_a_schema(sql: str):
    check(sql)


@pytest.mark.parametrize("sql", OF_OTHERS)
def test_it_stops_what_names_the_schema_of_what_it_changes(sql: str):
    with pytest.raises(JobError, match="names the schema of what it changes is not sent"):
        check(sql)


@pytest.mark.parametrize("sql", FURTHER)
def test_it_stops_what_could_reach_what_is_not_the_agents(sql: str):
    with pytest.raises(JobError, match="not sent"):
        check(sql)


@pytest.mark.parametrize("sql", READ_DIFFERENTLY)
def test_it_stops_what_one_engine_reads_as_code_and_another_as_none(sql: str):
    with pytest.raises(JobError, match="engines differ in how they read"):
        check(sql)


def test_it_makes_no_table_where_it_would_not_be_noted():
    check("CREATE INDEX i ON t (a)", may_create=False)
    with pytest.raises(JobError, match="a table is made before the load"):
        check("CREATE TABLE t (a INTEGER)", may_create=False)


def test_it_sees_what_a_statement_makes():
    assert created_table("CREATE TABLE accounts (a INTEGER)") == "accounts"
    assert created_table("/* x */ CREATE /* y */ CACHED TABLE IF NOT EXISTS T1 (a INTEGER)") == "T1"
    assert created_table("CREATE INDEX i ON t (a)") is None
    assert created_table("DROP TABLE t") is None
    assert created_view("CREATE OR REPLACE VIEW v AS SELECT 1") == "v"
    assert created_view("CREATE TABLE t (a INTEGER)") is None


@pytest.mark.parametrize("dbms", [slug for slug in DBMSS if reachable(slug)])
def test_it_lets_through_every_statement_of_every_workload(dbms: str, tmp_path: Path):
    side, some_tool = side_of(dbms, "19.3", "own"), side_of("oracle", "19.3", "own").shown_backups
    trusted, checked = own_words(side), 0
    for slug, factors in SMALL:
        workload = workload_of(slug, WORKLOADS[slug].version)
        given = workload.factors(factors, dbms)
        bench = PaperBench(workload, side, given, backups=lambda: some_tool, folder=tmp_path / slug)
        (tmp_path / slug).mkdir(exist_ok=True)
        workload.perform(bench)
        for step in bench.steps:
            for sql in () if asked_by_agent(step) else statements(step):
                if not trusted.match(sql):
                    check(sql, may_create=step["op"] == "execute")
                    checked += 1
    assert checked > 300
