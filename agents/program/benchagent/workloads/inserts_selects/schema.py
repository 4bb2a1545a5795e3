"""The 40 tables of the 2011 article: 15 columns, a primary key, a unique and a secondary index."""

from __future__ import annotations

from benchagent.dbms.dialect import Dialect
from benchagent.dbms.questions import Step

TABLES = tuple(f"tbl_{number}" for number in range(200, 240))
PRIMARY_KEY = ("id", "seq")
UNIQUE = ("id", "col3", "col4", "col5")
SECONDARY = ("id", "col9 DESC", "col14")
DEFAULT_TIME = "2010-07-30 16:25:44"

# Keys of loaded rows lie so far apart that new ones find room between them. varchar(20) holds prefix and digits.
KEY_PREFIX, KEY_WIDTH, KEY_STEP = "u", 17, 1_000_000
# The same in every row: a search by the unique index needs them, and the key's first column tells rows apart.
SEQ, COL3, COL4, COL5 = 1, "group-0000000001", "code1", "the unique index holds these fifty characters, too"
COL14 = "N"

COLUMNS = (
    "id", "seq", "col3", "col4", "col5", "col6", "col7", "col8", "col9", "col10", "col11", "col12", "col13", "col14",
    "col15",
)  # fmt: skip
# The others have defaults.
INSERTED = tuple(column for column in COLUMNS if column not in ("col10", "col15"))


def create(dialect: Dialect) -> list[str]:
    rules = {"col6": "", "col8": "", "col10": " DEFAULT 0 NOT NULL"}
    rules["col15"] = f" DEFAULT {dialect.timestamp_value(DEFAULT_TIME)} NOT NULL"
    columns = [f"{name} {kind}{rules.get(name, ' NOT NULL')}" for name, kind in types(dialect).items()]
    return [dialect.table(table, columns, PRIMARY_KEY) for table in TABLES]


def types(dialect: Dialect) -> dict[str, str]:
    """Of all columns."""
    text, time, letter = dialect.varchar, dialect.timestamp, dialect.char(1)
    return {
        "id": text(20), "seq": dialect.integer, "col3": text(16), "col4": text(5), "col5": text(50), "col6": text(1000),
        "col7": text(300), "col8": text(150), "col9": time, "col10": dialect.smallint, "col11": time, "col12": text(15),
        "col13": letter, "col14": letter, "col15": time,
    }  # fmt: skip


def indexes(dialect: Dialect) -> list[str]:
    """After the load, all of one table together."""
    statements = []
    for table in TABLES:
        number = table.removeprefix("tbl_")
        statements += [
            dialect.primary_key(table, PRIMARY_KEY),
            dialect.index(f"iuk_{number}", table, UNIQUE, unique=True),
            dialect.index(f"ink1_{number}", table, SECONDARY),
        ]
    return statements


def values() -> dict[str, Step]:
    """How each column but the key is filled, of loaded rows and of inserted ones. About 350 bytes a row."""
    return {
        "seq": {"kind": "constant", "value": SEQ},
        "col3": {"kind": "constant", "value": COL3},
        "col4": {"kind": "constant", "value": COL4},
        "col5": {"kind": "constant", "value": COL5},
        "col6": {"kind": "text", "min_length": 50, "max_length": 150},
        "col7": {"kind": "text", "min_length": 50, "max_length": 100},
        "col8": {"kind": "text", "min_length": 20, "max_length": 60},
        "col12": {"kind": "text", "min_length": 15},
        "col13": {"kind": "choice", "values": ["Y", "N"]},
        "col14": {"kind": "constant", "value": COL14},
    }


def key(**more: int) -> Step:
    return {"prefix": KEY_PREFIX, "width": KEY_WIDTH, "step": KEY_STEP, **more}


def highest_of_first_slot(table: str) -> str:
    """SQL for the highest key between the first two loaded rows. Each round of inserts begins there, one key higher."""
    low, high = (f"{KEY_PREFIX}{number:0{KEY_WIDTH}}" for number in (KEY_STEP, 2 * KEY_STEP))
    return f"SELECT MAX(id) FROM {table} WHERE id > '{low}' AND id < '{high}'"  # noqa: S608


def round_of(key: str) -> int:
    """The round, from 0, that has made a key of the first slot."""
    return int(key.strip().removeprefix(KEY_PREFIX)) - KEY_STEP - 1
