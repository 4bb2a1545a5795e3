"""The my.cnf of the 2011 article on solid-state disks, as MySQL 5.5 takes it, and the same one tuned for such disks.

The buffer pool (printed: 4 GB) is as large as asked for, and the log files (printed: three of 256 MB) keep their
proportion to it, so that checkpoints come as often. What else differs from the printed lines stands in the files.
"""

from __future__ import annotations

from importlib.resources import files

from benchagent.configfiles import parse

PRINTED_BUFFER_MB, PRINTED_LOG_FILE_MB = 4096, 256
# InnoDB's two log files of 5.5 are 5 MB at least by default; less makes it wait all the time.
SMALLEST_LOG_FILE_MB = 8
Lines = tuple[tuple[str, str], ...]


def _lines(name: str) -> Lines:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return tuple((entry.name, entry.given or "") for entry in parse(text, "my_cnf").entries)


PRINTED_MY_CNF, _TUNED = _lines("article_2011.cnf"), _lines("article_2011_tuned.cnf")
TUNED_MY_CNF: Lines = (*(line for line in PRINTED_MY_CNF if line[0] not in dict(_TUNED)), *_TUNED)


def scaled(lines: Lines, buffer_mb: int) -> Lines:
    """The lines with a buffer pool of this size and log files in proportion."""
    log_file_mb = max(SMALLEST_LOG_FILE_MB, buffer_mb * PRINTED_LOG_FILE_MB // PRINTED_BUFFER_MB)
    sizes = {"innodb_buffer_pool_size": f"{buffer_mb}M", "innodb_log_file_size": f"{log_file_mb}M"}
    return tuple((name, sizes.get(name, value)) for name, value in lines)
