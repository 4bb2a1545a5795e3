from __future__ import annotations

import pytest
from benchagent.configfiles.refusals import refused_setting, refused_words
from benchagent.dbms.base import ConfigurationRefused
from benchagent.dbms.private_server import failure


@pytest.mark.parametrize(("words", "refused"), [
    ('LOG:  unrecognized configuration parameter "no_such" in file "/x" line 8', ("no_such", None)),
    ('LOG:  invalid value for parameter "shared_buffers": "12GX"', ("shared_buffers", "12GX")),
    ('LOG:  -3 is outside the valid range for parameter "max_connections" (1 .. 262143)', ("max_connections", "-3")),
    ('LOG:  8 8kB is outside the valid range for parameter "shared_buffers" (16 .. 1073)', ("shared_buffers", "8")),
    ("[ERROR] mariadbd: unknown variable 'innodb_cash_size=1'", ("innodb_cash_size", None)),
    ("[ERROR] mysqld: unknown option '--no-such'", ("no-such", None)),
    ("mariadbd: Error while setting value 'foo' to 'innodb-flush-method'", ("innodb-flush-method", "foo")),
    ('Unsupported connection setting "NO_SUCH" [90113-252]', ("NO_SUCH", None)),
    ("FATAL:  could not map anonymous shared memory: Cannot allocate memory", None),
    ("the port is taken", None),
])  # fmt: skip
def test_which_setting_a_server_refuses_is_read_from_its_words(words, refused):
    assert refused_setting(words) == refused
    assert isinstance(failure(f"it did not start: {words}"), ConfigurationRefused) == (refused is not None)


def test_a_refused_setting_is_named_and_read_again_from_that_name():
    assert refused_words('invalid value for parameter "work_mem": "12 GX"') == "work_mem=12 GX was refused"
    assert refused_setting("not started: work_mem=12 GX was refused") == ("work_mem", "12 GX")
    assert refused_setting("not started: no_such was refused") == ("no_such", None)
    assert refused_words("the connection was refused") == ""
