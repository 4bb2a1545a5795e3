"""A script that every engine takes."""

from __future__ import annotations

BANK = """\
-- A bank of one branch. Whole amounts: SQLite keeps decimals as floating-point numbers, which add those up exactly.
[setup]
CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, balance DECIMAL(12, 2) NOT NULL, note VARCHAR(40));
CREATE TABLE ledger (id INTEGER NOT NULL, delta DECIMAL(12, 2) NOT NULL, booked TIMESTAMP NOT NULL);

[load account 1000]
id = sequence
balance = constant(0)
note = text(5, 30) null 0.1

[index]
CREATE INDEX ledger_id ON ledger (id);

[transaction transfer weight 3]
\\set id random(1, 1000)
\\set delta decimal(-500, 500, 0)
\\set now now()
UPDATE account SET balance = balance + :delta WHERE id = :id;
\\rows 1
INSERT INTO ledger (id, delta, booked) VALUES (:id, :delta, :now);

[transaction look]
\\set id random(1, 1000)
SELECT balance, 'it''s :id; not' -- :nor; this
  FROM account
 WHERE id = :id;
\\rows 1

[check booked]
SELECT COUNT(*) FROM ledger;
+ committed(transfer)

[check accounts]
SELECT COUNT(*) FROM account;
= 1000

[check balance]
SELECT (SELECT COALESCE(SUM(balance), 0) FROM account WHERE id > 0) -
       (SELECT COALESCE(SUM(delta), 0) FROM ledger) FROM account WHERE id = 1;
= 0
"""
