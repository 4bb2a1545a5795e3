"""Names, units and defaults of the settings of MySQL and MariaDB, see `benchagent.configfiles.engines.mysql`."""

from __future__ import annotations

from benchagent.configfiles.units import changed, count, flag, size, text, time

SPECS = {
    "innodb_buffer_pool_size": size(changed("8M", ("5.5", "128M"))),
    "innodb_buffer_pool_instances": count(),
    "innodb_page_size": size("16K"),
    "innodb_log_buffer_size": size(changed("1M", ("5.5", "8M"), ("5.7.6", "16M"))),
    "innodb_log_file_size": size(changed("5M", ("5.6.8", "48M"))),
    "innodb_log_files_in_group": count("2"),
    "innodb_redo_log_capacity": size(changed(None, ("8.0.30", "100M"))),
    "innodb_flush_log_at_trx_commit": text("1"),
    "innodb_flush_log_at_timeout": time("1"),
    "innodb_doublewrite": text("ON"),
    "innodb_flush_method": text(changed("fsync", ("8.4", "O_DIRECT"))),
    "innodb_file_per_table": flag(changed("OFF", ("5.6.6", "ON"))),
    "innodb_data_file_path": text(),
    "innodb_data_home_dir": text(),
    "innodb_log_group_home_dir": text(),
    "innodb_support_xa": flag("1"),
    "innodb_thread_concurrency": count(changed("8", ("5.5", "0")), is_0="no limit"),
    "innodb_lock_wait_timeout": time("50"),
    "innodb_deadlock_detect": flag(),
    "innodb_io_capacity": count(),
    "innodb_purge_threads": count(changed("0", ("5.6.5", "1"), ("5.7.8", "4"))),
    "innodb_page_cleaners": count(),
    "innodb_additional_mem_pool_size": size(),
    "innodb_sort_buffer_size": size(changed(None, ("5.6.4", "1M"))),
    "innodb_max_dirty_pages_pct": count(),
    "innodb_adaptive_hash_index": flag(),
    "log_bin": text(changed("OFF", ("8.0", "ON"))),
    "sync_binlog": count(changed("0", ("5.7.7", "1"))),
    "binlog_group_commit_sync_delay": time(changed(None, ("5.7.5", "0")), 0.000_001, is_0="none"),
    "binlog_cache_size": size("32K"),
    "binlog_format": text(),
    "max_connections": count(changed("100", ("5.1.15", "151"))),
    "max_allowed_packet": size(),
    "sort_buffer_size": size(changed("2M", ("5.6.4", "256K"))),
    "join_buffer_size": size(changed("128K", ("5.6.6", "256K"))),
    "read_buffer_size": size("128K"),
    "read_rnd_buffer_size": size("256K"),
    "tmp_table_size": size(changed("32M", ("5.1.2", "16M"))),
    "max_heap_table_size": size("16M"),
    "bulk_insert_buffer_size": size("8M"),
    "key_buffer_size": size("8M"),
    "myisam_sort_buffer_size": size("8M"),
    "myisam_max_sort_file_size": size(),
    "myisam_max_extra_sort_file_size": size(),
    "query_cache_size": size(changed("0", ("5.6.8", "1M"), ("8.0", None))),
    "query_cache_type": text(changed("1", ("5.6.8", "0"), ("8.0", None))),
    "query_cache_limit": size(),
    "default_storage_engine": text(changed("MyISAM", ("5.5.5", "InnoDB"))),
    "transaction_isolation": text("REPEATABLE-READ"),
    "thread_cache_size": count(),
    "table_open_cache": count(),
    "long_query_time": time("10"),
    "expire_logs_days": time(None, 86_400),
    "back_log": count(),
    "large_pages": flag("OFF"),
    "datadir": text(),
    "tmpdir": text(),
}
MORE_NAMES = """user port basedir socket pid_file bind_address character_set_server collation_server
default_character_set
skip_name_resolve skip_networking skip_external_locking max_connect_errors table_definition_cache thread_stack
net_buffer_length ft_min_word_len myisam_repair_threads myisam_recover myisam_recover_options log_error slow_query_log
slow_query_log_file general_log log_warnings log_slow_queries log_slow_admin_statements log_long_format log_output
server_id relay_log log_slave_updates gtid_mode enforce_gtid_consistency read_only skip_slave_start
lower_case_table_names sql_mode open_files_limit performance_schema wait_timeout interactive_timeout connect_timeout
lc_messages lc_messages_dir explicit_defaults_for_timestamp innodb_autoinc_lock_mode innodb_read_io_threads
innodb_write_io_threads innodb_stats_on_metadata innodb_open_files innodb_autoextend_increment innodb_old_blocks_time
innodb_change_buffering innodb_flush_neighbors innodb_lru_scan_depth innodb_concurrency_tickets max_binlog_size
binlog_expire_logs_seconds local_infile secure_file_priv event_scheduler default_authentication_plugin table_cache
default_table_type storage_engine prompt auto_rehash quick quote_names no_auto_rehash wsrep_on wsrep_provider"""

OLD_NAMES = {
    "default_table_type": "default_storage_engine",
    "storage_engine": "default_storage_engine",
    "table_type": "default_storage_engine",
    "table_cache": "table_open_cache",
    "tx_isolation": "transaction_isolation",
    "key_buffer": "key_buffer_size",
    "sort_buffer": "sort_buffer_size",
    "join_buffer": "join_buffer_size",
    "innodb_file_io_threads": "innodb_read_io_threads",
    "binlog_commit_wait_usec": "binlog_group_commit_sync_delay",
}
NEGATED = {
    "skip_innodb_doublewrite": "innodb_doublewrite",
    "skip_log_bin": "log_bin",
    "disable_log_bin": "log_bin",
    "skip_innodb_file_per_table": "innodb_file_per_table",
}
MARIADB_SPECS = SPECS | {
    "innodb_buffer_pool_size": size("128M"),
    "innodb_log_buffer_size": size(changed("8M", ("10.1", "16M"))),
    "innodb_log_file_size": size(changed("48M", ("10.5", "96M"))),
    "innodb_log_files_in_group": count(changed("2", ("10.5", "1"))),
    "innodb_redo_log_capacity": size(None),
    "innodb_flush_method": text(changed("fsync", ("10.6", "O_DIRECT"))),
    "innodb_file_per_table": flag("ON"),
    "innodb_purge_threads": count(changed("1", ("10.2", "4"))),
    "log_bin": text("OFF"),
    "sync_binlog": count("0"),
    "sort_buffer_size": size("2M"),
    "tmp_table_size": size("16M"),
    "query_cache_size": size("1M"),
    "query_cache_type": text(changed("ON", ("10.1.7", "OFF"))),
    "default_storage_engine": text("InnoDB"),
    "max_connections": count("151"),
    "innodb_thread_concurrency": count("0", is_0="no limit"),
    "join_buffer_size": size("256K"),
    "innodb_sort_buffer_size": size("1M"),
}
