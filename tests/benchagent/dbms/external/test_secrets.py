"""What a URL names, and that none of it is left in what a driver or a server says."""

from __future__ import annotations

import pytest
from benchagent.dbms.external.connections import Scrubber, ServerConnection, databases_of, hosts_of, is_this_machine

ORACLE_DESCRIPTION = (
    "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS_LIST=(ADDRESS=(PROTOCOL=TCP)(HOST=one.example)(PORT=1521))"
    "(ADDRESS=(PROTOCOL=TCP)(HOST = two.example)(PORT=1521)))(CONNECT_DATA=(SERVICE_NAME=shop)))"
)
TWO = ["one.example", "two.example"]
ONE = TWO[:1]


@pytest.mark.parametrize(
    ("url", "hosts", "databases"),
    [
        ("jdbc:postgresql://one.example:5432/shop", ONE, ["shop"]),
        ("jdbc:postgresql://one.example:1,two.example:2/shop?sslmode=require", TWO, ["shop"]),
        ("jdbc:postgresql:shop", [], ["shop"]),
        ("jdbc:mysql://[::1]:3306/", ["::1"], []),
        ("jdbc:mysql://address=(host=one.example)(port=1),address=(host=two.example)/shop", TWO, ["shop"]),
        ("jdbc:mariadb:loadbalance://ann@one.example,two.example:2/shop?useSSL=true", TWO, ["shop"]),
        ("jdbc:oracle:thin:@one.example:1521:shop", ONE, ["shop"]),
        ("jdbc:oracle:thin:@one.example/shop", ONE, ["shop"]),
        ("jdbc:oracle:thin:@//one.example:1521,two.example:1522/shop", TWO, ["shop"]),
        ("jdbc:oracle:thin:@tcps://one.example:2484/shop?ssl_server_cert_dn=x", ONE, ["shop"]),
        (ORACLE_DESCRIPTION, TWO, ["shop"]),
        ("jdbc:oracle:thin:@shop_alias?TNS_ADMIN=/etc", ["shop_alias"], []),
        (
            "jdbc:db2://one.example:1/shop:clientRerouteAlternateServerName=two.example;sslConnection=true;",
            TWO,
            ["shop"],
        ),
        ("jdbc:cubrid:one.example:33000:shop:::?altHosts=two.example:33000", TWO, ["shop"]),
        ("jdbc:cubrid:one.example:33000:shop:ann::", ONE, ["shop", "ann"]),
        ("jdbc:firebirdsql://one.example:3050//data/shop.fdb?encoding=UTF8", ONE, ["data/shop.fdb", "shop.fdb"]),
        ("jdbc:firebirdsql:one.example/3050:/data/shop.fdb", ONE, ["data/shop.fdb", "shop.fdb"]),
        ("jdbc:firebirdsql:native:one.example:C:\\shop.fdb", ONE, ["C:\\shop.fdb", "shop.fdb"]),
        ("jdbc:h2:tcp://one.example:99/./shop;IFEXISTS=TRUE", ONE, ["./shop", "shop"]),
        ("jdbc:hsqldb:hsql://one.example:99/shop", ONE, ["shop"]),
        ("jdbc:h2:mem:x", [], []),
    ],
)
def test_it_finds_hosts_and_databases_in_an_url_and_nothing_else(url: str, hosts: list[str], databases: list[str]):
    assert hosts_of(url) == hosts
    assert databases_of(url) == databases
    scrub = Scrubber(ServerConnection("theirs", "postgresql", url, "ann", "open-sesame", "own"))
    said = f"ann at {' and '.join(hosts)}, {url}: no {', no '.join(databases)}"
    for secret in (*hosts, *databases, "shop", "example"):
        assert secret not in scrub.text(said)


def test_it_takes_out_all_words_of_an_url_of_an_unknown_form():
    scrub = Scrubber(ServerConnection("theirs", "h2", "jdbc:new:wire:one.example~shop", "ann", "x-y", "own"))
    assert (
        scrub.text("one.example~shop is closed to ANN (x-y)")
        == "[host of theirs] is closed to [user of theirs] ([theirs])"
    )


def test_it_takes_names_and_passwords_out_of_what_a_driver_says():
    url = "jdbc:postgresql://db.example:5433/shop"
    scrub = Scrubber(ServerConnection("theirs", "postgresql", url, "ann", "open-sesame", "own"))
    said = 'Connection to db.example:5433 refused for user "ann", annual: open-sesame'
    assert scrub.text(said) == (
        'Connection to [host of theirs]:5433 refused for user "[user of theirs]", annual: [theirs]'
    )
    event = {
        "event": "summary",
        "dead_terminals": [{"terminal": 1, "error": "ann at db.example"}],
        "retried": [{"count": 1, "error": "ann waited"}],
    }
    assert scrub.event(event)["dead_terminals"] == [{"terminal": 1, "error": "[user of theirs] at [host of theirs]"}]
    assert scrub.event(event)["retried"] == [{"count": 1, "error": "[user of theirs] waited"}]


def test_a_word_that_is_user_and_database_is_said_to_be_one_of_them_and_a_password_is_never_said_to_be_one():
    scrub = Scrubber(ServerConnection("theirs", "postgresql", "jdbc:postgresql://db.example/ann", "ann", "ann", "own"))
    assert scrub.text("ann, Ann") == "[user or database of theirs], [user or database of theirs]"


def test_a_database_that_is_called_like_a_value_of_settings_changes_none():
    scrub = Scrubber(ServerConnection("theirs", "postgresql", "jdbc:postgresql://db.example/on", "5", "", "own"))
    assert scrub.text("on, off, 5") == "on, off, 5"


def test_a_password_of_digits_is_taken_out_like_any_other():
    scrub = Scrubber(ServerConnection("theirs", "postgresql", "jdbc:postgresql:x", "ann", "483920", "own"))
    assert scrub.text("not 483920") == "not [theirs]"


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("jdbc:postgresql://127.0.0.1:5432/x", True),
        ("jdbc:postgresql://127.0.0.1:5432,[::1]:5433/x", True),
        ("jdbc:postgresql://192.0.2.1:5432/x", False),
        ("jdbc:postgresql://192.0.2.1:5432,127.0.0.1:5432/x", False),
        ("jdbc:h2:mem:x", False),
    ],
)
def test_it_knows_whether_a_server_is_this_machine(url: str, ours: bool):
    assert is_this_machine(url) is ours
