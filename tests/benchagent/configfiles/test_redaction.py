"""Secrets leave a configuration file; nothing else does."""

from __future__ import annotations

import pytest
from benchagent.configfiles import parse, redacted
from benchagent.redaction import REDACTED

from tests.benchagent.configfiles.samples import SAMPLES


@pytest.mark.parametrize("sample", SAMPLES)
def test_it_takes_the_secrets_out_and_leaves_the_rest(sample):
    text = SAMPLES[sample]
    hidden = redacted(parse(text, sample)).render()
    assert "hunter2" not in hidden
    assert hidden.replace(REDACTED, "hunter2") == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("my_cnf", "[client]\npassword='sEcret1 x'  # mine\r\n"),
        ("my_cnf", "#password=sEcret1\n"),
        ("my_cnf", "[mysqld]\nport=1 # password: sEcret1\n"),
        ("postgresql", "primary_conninfo = 'host=h password=sEcret1 sslmode=x'\n"),
        ("postgresql", "dblink.url = 'postgresql://u:sEcret1@host/db'\n"),
        ("postgresql", "password sEcret1 and more\n"),
        ("derby", "derby.user.app=sEcret1\n"),
        ("derby", "#derby.user.app=sEcret1\n"),
        ("derby", "javax.net.ssl.keyStorePassword=sEc\\\n  ret1\n"),
        ("firebird", "CryptPluginPassword = sEcret1\n"),
        ("cubrid", '[common]\ndba_password="sEcret1"\n'),
        ("init_ora", "wallet_password=sEcret1 processes=10\n"),
        ("plain", "PASSWORD = sEcret1\n"),
    ],
)
def test_it_hides(name, text):
    hidden = redacted(parse(text, name)).render()
    assert "sEc" not in hidden
    assert "ret1" not in hidden
    assert REDACTED in hidden
    assert hidden.count("\n") == text.count("\n") or "\\" in text


@pytest.mark.parametrize(
    "text",
    [
        "password_encryption = scram-sha-256\n",
        "[mysqld]\nold_passwords = 1\ninnodb_ft_max_token_size=84\n",
        "remote_login_passwordfile = EXCLUSIVE\n",
        "ssl_passphrase_command_supports_reload = off\n",
    ],
)
def test_it_keeps_settings_that_only_sound_like_secrets(text):
    name = "my_cnf" if text.startswith("[") else "postgresql"
    assert redacted(parse(text, name)).render() == text
