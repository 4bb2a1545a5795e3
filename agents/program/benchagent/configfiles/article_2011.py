"""The my.cnf of the 2011 article on solid-state disks, as MySQL 5.5 takes it, and the same one tuned for such disks.

Printed were 52 lines for MySQL 5.1.47. What differs here, line by line:

- `default-character-set`, `default_table_type` and `log_slow_queries` have the names that 5.5 knows:
  `character_set_server`, `default_storage_engine`, `slow_query_log`;
- `log_long_format` and `myisam_max_extra_sort_file_size` are left out: 5.5 no longer has them;
- user, port, basedir, datadir, tmpdir and socket are left out: they are the agent's;
- the buffer pool (printed: 4 GB) is as large as asked for, and the log files (printed: three of 256 MB) keep their
  proportion to it, so that checkpoints come as often.
"""

from __future__ import annotations

from collections.abc import Mapping

PRINTED_BUFFER_MB, PRINTED_LOG_FILE_MB = 4096, 256
# InnoDB's two log files of 5.5 are 5 MB at least by default; less makes it wait all the time.
SMALLEST_LOG_FILE_MB = 8
Lines = tuple[tuple[str, str], ...]

PRINTED_MY_CNF: Lines = (
    ("character_set_server", "utf8"),
    ("default_storage_engine", "InnoDB"),
    ("skip_name_resolve", ""),
    ("back_log", "100"),
    ("max_connections", "500"),
    ("max_connect_errors", "999999"),
    ("max_allowed_packet", "16M"),
    ("max_heap_table_size", "64M"),
    ("tmp_table_size", "64M"),
    ("binlog_cache_size", "1M"),
    ("thread_cache_size", "128"),
    ("table_cache", "1024"),
    ("sort_buffer_size", "8M"),
    ("join_buffer_size", "8M"),
    ("read_buffer_size", "2M"),
    ("read_rnd_buffer_size", "16M"),
    ("query_cache_size", "64M"),
    ("query_cache_limit", "2M"),
    ("key_buffer_size", "32M"),
    ("bulk_insert_buffer_size", "64M"),
    ("myisam_sort_buffer_size", "128M"),
    ("myisam_max_sort_file_size", "10G"),
    ("myisam_repair_threads", "1"),
    ("myisam_recover", ""),
    ("ft_min_word_len", "4"),
    ("innodb_buffer_pool_size", "4G"),
    ("innodb_log_buffer_size", "8M"),
    ("innodb_additional_mem_pool_size", "16M"),
    ("innodb_data_file_path", "ibdata1:100M:autoextend"),
    ("innodb_file_per_table", ""),
    ("innodb_log_file_size", "256M"),
    ("innodb_log_files_in_group", "3"),
    ("innodb_support_xa", "0"),
    ("innodb_thread_concurrency", "16"),
    ("innodb_lock_wait_timeout", "60"),
    ("innodb_flush_log_at_trx_commit", "0"),
    ("log_bin", "mysql-bin"),
    ("expire_logs_days", "5"),
    ("log_warnings", ""),
    ("slow_query_log", "ON"),
    ("log_slow_admin_statements", ""),
    ("long_query_time", "2"),
    ("server_id", "1"),
)
# A commit promises the same as with the printed file: the log is flushed once a second.
TUNED: Mapping[str, str] = {
    # Its one lock is taken by every statement; each INSERT throws away what it holds of the table.
    "query_cache_size": "0",
    "query_cache_type": "OFF",
    # No second copy of pages in the file system's cache.
    "innodb_flush_method": "O_DIRECT",
    # A disk without moving parts takes more than the 200 operations a second that are the default.
    "innodb_io_capacity": "2000",
    "innodb_read_io_threads": "8",
    "innodb_write_io_threads": "8",
    # 40 terminals need not queue for 16 tickets.
    "innodb_thread_concurrency": "0",
}
TUNED_MY_CNF: Lines = (*((name, value) for name, value in PRINTED_MY_CNF if name not in TUNED), *TUNED.items())


def scaled(lines: Lines, buffer_mb: int) -> Lines:
    """The lines with a buffer pool of this size and log files in proportion."""
    log_file_mb = max(SMALLEST_LOG_FILE_MB, buffer_mb * PRINTED_LOG_FILE_MB // PRINTED_BUFFER_MB)
    sizes = {"innodb_buffer_pool_size": f"{buffer_mb}M", "innodb_log_file_size": f"{log_file_mb}M"}
    return tuple((name, sizes.get(name, value)) for name, value in lines)
