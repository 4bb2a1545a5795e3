from __future__ import annotations

import pytest
from benchagent.dbms.base import JobError
from benchagent.dbms.external.guard import check, created_table


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM public.x",
        "INSERT INTO accounts (a) VALUES ('DROP TABLE public.x')",
        "UPDATE stock SET s = s.q",
        "DELETE FROM new_order WHERE a = 1",
        "CREATE UNIQUE INDEX i ON t (a)",
        "ALTER TABLE t ADD CONSTRAINT t_pk PRIMARY KEY (a)",
        "CREATE CACHED TABLE t (a INTEGER)",
        "DROP TABLE t",
        "WITH x AS (SELECT 1) SELECT * FROM x;",
    ],
)
def test_it_lets_through_what_works_on_names_without_a_schema(sql: str):
    check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE public.x",
        'DROP TABLE IF EXISTS "public"."x"',
        "TRUNCATE public.x",
        "TRUNCATE TABLE `theirs`.`x`",
        "UPDATE public.x SET a = 1",
        "UPDATE ONLY public.x SET a = 1",
        "DELETE FROM theirs.x",
        "INSERT INTO theirs . x VALUES (1)",
        "SELECT 1 INTO theirs.x",
        "WITH gone AS (DELETE FROM public.x RETURNING *) SELECT * FROM gone",
        "CREATE INDEX i ON public.x (a)",
        "ALTER TABLE public.x DROP COLUMN a",
        "MERGE INTO theirs.x USING y ON 1 = 1 WHEN MATCHED THEN DELETE",
        "SELECT 1; DROP TABLE x",
        "DROP SCHEMA public CASCADE",
        "DROP DATABASE theirs",
        "CREATE USER eve",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT AS 'x'",
        "ALTER SYSTEM SET fsync = off",
        "GRANT ALL ON x TO eve",
        "SET search_path TO public",
        "USE theirs",
        "DO $$ BEGIN END $$",
        "CALL wipe()",
        "VACUUM",
        "COPY x FROM '/etc/passwd'",
        "/* SELECT */ TRUNCATE public.x",
    ],
)
def test_it_stops_what_could_reach_what_is_not_the_agents(sql: str):
    with pytest.raises(JobError, match="not sent"):
        check(sql)


def test_it_sees_which_table_a_statement_makes():
    assert created_table("CREATE TABLE accounts (a INTEGER)") == "accounts"
    assert created_table("CREATE CACHED TABLE t (a INTEGER)") == "t"
    assert created_table("CREATE INDEX i ON t (a)") is None
