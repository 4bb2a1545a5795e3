"""What each tool states, line by line, and where it goes: a line of an output that nobody has thought of fails here."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from benchagent.importers import Report, importers
from benchagent.importers.pgbench.tables import options_of_command as pgbench_parameters
from benchagent.importers.sysbench.tables import options_of_command as sysbench_parameters

from tests.benchagent.importers.samples import DATA, reports, values

# Regular expression of a line -> where what it states goes: `factor NAME`, `metric NAME`, `series NAME`, `subject`,
# `version`, `status`, `check` (it must agree with others), or why nowhere. Several by commas.
STATED = {
    "pgbench/v15_tpcb_progress_statements.txt": [
        (r"pgbench \(15\.18", "version, subject"),
        (r"starting vacuum\.\.\.end\.", "status"),
        (r"progress: ", "series tps, series latency_avg_ms, series latency_stddev_ms, series failed_transactions"),
        (r"transaction type: ", "factor script, subject"),
        (r"scaling factor: ", "factor scale_factor"),
        (r"query mode: ", "factor query_mode"),
        (r"number of clients: ", "factor terminals"),
        (r"number of threads: ", "factor threads"),
        (r"maximum number of tries: ", "factor max_tries"),
        (r"duration: ", "factor duration_s"),
        (r"number of transactions actually processed: ", "metric transactions"),
        (r"number of failed transactions: ", "metric failed_transactions, check"),
        (r"latency average = ", "metric latency_avg_ms"),
        (r"latency stddev = ", "metric latency_stddev_ms"),
        (r"initial connection time = ", "metric connect_ms"),
        (r"tps = ", "metric tps"),
        (r"statement latencies in milliseconds and failures:", "heading"),
        (r" +\d+\.\d{3} +\d+ +", "metric statement_begin_latency_avg_ms"),
    ],
    "sysbench/v10_read_write.txt": [
        (r"sysbench 1\.0\.20", "version"),
        (r"Running the test with following options:|Initializing|Threads started!|SQL statistics:", "heading"),
        (r"General statistics:|Latency \(ms\):|Threads fairness:| +queries performed:", "heading"),
        (r"Number of threads: ", "factor terminals"),
        (r"Report intermediate results every", "series tps"),
        (r"\[ \d+s \] ", "series tps, series qps, series latency_p95_ms, series errors_per_s, series reconnects_per_s"),
        (r" +read: ", "metric read_queries"),
        (r" +write: ", "metric write_queries"),
        (r" +other: ", "metric other_queries"),
        (r" +total: ", "metric queries, check"),
        (r" +transactions: ", "metric transactions, metric tps"),
        (r" +queries: ", "metric qps"),
        (r" +ignored errors: ", "metric errors, metric errors_per_s"),
        (r" +reconnects: ", "metric reconnects"),
        (r" +total time: ", "metric elapsed_s"),
        (r" +total number of events: ", "check"),
        (r" +min: ", "metric latency_min_ms"),
        (r" +avg: ", "metric latency_avg_ms"),
        (r" +max: ", "metric latency_max_ms"),
        (r" +95th percentile: ", "metric latency_p95_ms"),
        (r" +sum: | +events \(avg/stddev\): | +execution time \(avg/stddev\): ", "check"),
    ],
    "gotpc/plain.txt": [
        (r".*go-tpc tpcc ", "factor warehouses, factor terminals, factor duration_s, factor driver"),
        (r".*maxprocs: ", "the load generator's own"),
        (r"\[Current\] ", "series tpm, series tpmc"),
        (r"\[Summary\] .*_ERR - ", "metric new_order_errors"),
        (r"\[Summary\] ", "metric new_order_transactions, metric new_order_tpm, metric new_order_latency_p99_ms"),
        (r"tpmC: ", "metric tpmc, metric tpm, metric efficiency_pct"),
        (r"Finished", "status"),
        (r"\[\S+ \S+\] ", "status"),
    ],
    "ycsb/run_0_17_jdbc.txt": [
        (r".*java .*Client", "factor terminals"),
        (r"Loading workload|Starting test", "heading"),
        (r"Command line: ", "factor terminals, factor table_size_rows, factor operations, subject"),
        (r"YCSB Client ", "version"),
        (r".* sec: \d+ operations", "series ops_per_s, series read_latency_avg_ms"),
        (r"\[OVERALL\], RunTime", "metric elapsed_s"),
        (r"\[OVERALL\], Throughput", "metric ops_per_s"),
        (r"\[TOTAL_GC|\[CLEANUP\]", "the load generator's own"),
        (r"\[READ\], Operations", "metric read_operations"),
        (r"\[READ\], AverageLatency", "metric read_latency_avg_ms"),
        (r"\[READ\], MinLatency", "metric read_latency_min_ms"),
        (r"\[READ\], MaxLatency", "metric read_latency_max_ms"),
        (r"\[READ\], 95thPercentileLatency", "metric read_latency_p95_ms"),
        (r"\[READ\], 99thPercentileLatency", "metric read_latency_p99_ms"),
        (r"\[READ\], Return=OK|\[UPDATE\], Return=OK", "check"),
        (r"\[UPDATE\], ", "metric update_operations, metric update_latency_p99_ms"),
    ],
    "hammerdb/run_v4_mariadb.txt": [
        (r"Vuser \d+ created|\d+ Virtual Users Created", "check"),
        (r"Logging activated|to /tmp/", "where it writes"),
        (r"Vuser \d+:RUNNING|Vuser \d+:Processing|Vuser \d+:FINISHED|ALL VIRTUAL USERS COMPLETE", "status"),
        (r"Vuser 1:Beginning rampup time|Vuser 1:Rampup", "factor ramp_up_s"),
        (r"Vuser 1:Timing test period|Vuser 1:\d+ \.\.\.|Vuser 1:Test complete", "factor duration_s"),
        (r"Vuser 1:3 Active Virtual Users", "factor terminals"),
        (r"Vuser 1:TEST RESULT", "metric nopm, metric tpm, subject"),
    ],
    "benchbase/console.log": [
        (r"\$ java ", "subject"),
        (r"\[INFO \].*(=====|Creating new|Finished creating|MEASURE|TERMINATE|Output |Workload Hist)", "heading"),
        (r"\[INFO \].*(Loading data|Finished loading)", "the load, a report of its own"),
        (r"\[INFO \].*Creating \d+ virtual terminals", "factor terminals"),
        (r"\[INFO \].*(Launching|PHASE START)", "factor duration_s"),
        (r"\[INFO \].*(Starting MonitorThread|Throughput: )", "series tps"),
        (r"\[INFO \].*Results\(", "metric tps, metric transactions, metric elapsed_s, metric goodput_per_s"),
        (r"Benchmark: |Type: ", "subject"),
        (r"Configuration: |Driver: |URL: ", "where it is"),
        (r"Isolation: ", "factor isolation"),
        (r"Batch Size: ", "factor batch_size"),
        (r"Scale Factor: ", "factor scale_factor, factor warehouses"),
        (r"New Connection Per Txn: ", "factor new_connection_per_transaction"),
        (r"Terminals: ", "factor terminals"),
        (r".*(Transactions|Errors|Aborts)[^:]*:", "heading"),
        (r"com\.oltpbenchmark\.|<EMPTY>", "metric completed_transactions, metric new_order_completed_transactions"),
    ],
    "fio/seqwrite.txt": [
        (r"seqw: \(g=0\): rw=", "factor read_write, factor block_size_bytes, factor io_engine, factor io_depth"),
        (r"fio-3", "version"),
        (r"Starting|seqw: Laying out|Run status group| *fsync/fdatasync|.*percentiles \(|Disk stats", "heading"),
        (r"seqw: \(groupid=", "status"),
        (r"  write: ", "metric write_iops, metric write_mb_per_s, metric elapsed_s"),
        (r"    clat \(|  WRITE: |     issued rwts", "check"),
        (r"     lat \(", "metric write_latency_avg_ms, metric write_latency_min_ms, metric write_latency_stddev_ms"),
        (r"     \| ", "metric write_latency_p99_ms, metric fsync_latency_p99_ms"),
        (r"    sync \(", "metric fsync_latency_avg_ms"),
        (r"  lat \(|  IO depths|     submit|     complete|     latency ", "the same in classes"),
        (r"  cpu |  vda: ", "the machine's, not the run's"),
    ],
    "mysqlslap/concurrency.txt": [
        (r"\$ mariadb-slap ", "factor iterations, factor number_of_queries, factor load_type"),
        (r"Benchmark", "heading"),
        (r"\tAverage number of seconds", "metric all_queries_s"),
        (r"\tMinimum number of seconds", "metric all_queries_min_s"),
        (r"\tMaximum number of seconds", "metric all_queries_max_s"),
        (r"\tNumber of clients", "factor terminals"),
        (r"\tAverage number of queries", "factor queries_per_client"),
    ],
    "described/cassandra-stress.txt": [
        (r"Running WRITE with 200 threads", "factor operation, factor terminals"),
        (r"type +total ops,|Results:|END", "heading"),
        (r"total, +\d", "samples: the whole run's figures are below"),
        (r"Op rate ", "metric ops_per_s"),
        (r"Partition rate ", "metric partitions_per_s"),
        (r"Row rate ", "metric rows_per_s"),
        (r"Latency mean ", "metric latency_avg_ms"),
        (r"Latency median ", "metric latency_p50_ms"),
        (r"Latency 95th", "metric latency_p95_ms"),
        (r"Latency 99th", "metric latency_p99_ms"),
        (r"Latency 99\.9th", "metric latency_p999_ms"),
        (r"Latency max", "metric latency_max_ms"),
        (r"Total partitions", "metric partitions"),
        (r"Total errors", "metric errors"),
        (r"(Total|Avg|StdDev) GC ", "the load generator's own"),
        (r"Total operation time", "status"),
    ],
    "described/dbt2.txt": [
        (r"[=-]{5}| +\.\. | Transaction +%", "heading"),
        (r"    Delivery", "metric delivery_transactions, metric delivery_latency_p90_ms"),
        (r"   New Order", "metric new_order_transactions, metric new_order_rollbacks"),
        (r"Order Status", "metric order_status_transactions"),
        (r"     Payment", "metric payment_transactions"),
        (r" Stock Level", "metric stock_level_transactions"),
        (r"\* Throughput", "metric nopm"),
        (r"\* Duration", "factor duration_s"),
        (r"\* Unknown Errors", "metric errors"),
        (r"\* Ramp Up", "factor ramp_up_s, status"),
    ],
    "described/ycsb-cpp.txt": [
        (r"\S+ \S+ \d+ sec: ", "progress of the same figures"),
        (r"(Load|Run) runtime\(sec\): ", "metric elapsed_s, subject"),
        (r"(Load|Run) operations\(ops\): ", "metric operations"),
        (r"(Load|Run) throughput\(ops/sec\): ", "metric ops_per_s"),
    ],
    "tpccmysql/percona.txt": [
        (r"\*{3}|<|MEASURING START|STOPPING THREADS| \[(transaction percentage|response time)", "heading"),
        (r"option [hdup] with value|     \[(server|port|DBname|user|pass)\]|\s+\[(DBname|user|pass)\]", "where it is"),
        (r"option [wcrl] with value", "said once more below"),
        (r"  \[warehouse\]: ", "factor warehouses"),
        (r" \[connection\]: ", "factor terminals"),
        (r"     \[rampup\]: |RAMP-UP TIME", "factor ramp_up_s"),
        (r"    \[measure\]: | in \d+ sec\.", "factor duration_s"),
        (r"  \d+, trx: ", "series tpmc, series new_order_latency_p95_ms, series new_order_latency_p99_ms"),
        (r"  \[0\] sc:", "metric new_order_transactions, metric new_order_late_transactions, metric transactions, "
         "metric failed_transactions, metric retries"),
        (r"  \[1\] sc:", "metric payment_transactions, metric payment_late_transactions"),
        (r"  \[2\] sc:", "metric order_status_transactions, metric order_status_late_transactions"),
        (r"  \[3\] sc:", "metric delivery_transactions, metric delivery_late_transactions"),
        (r"  \[4\] sc:", "metric stock_level_transactions, metric stock_level_latency_avg_ms"),
        (r" +(New-Order|Payment|Order-Status|Delivery|Stock-Level): ", "warning"),
        (r" +\d+\.\d+ TpmC", "metric tpmc, status"),
    ],
    "tpccmysql/load.txt": [
        (r".*\./tpcc_load ", "factor warehouses"),
        (r"\*{3}|<Parameters>|TPCC Data Load Started", "heading, subject"),
        (r"option [hdup] with value|\s+\[(server|port|DBname|user|pass)\]", "where it is"),
        (r"option w with value|  \[warehouse\]: ", "factor warehouses"),
        (r"Loading |\.{5}|.*Done\.", "progress: neither rows nor a time"),
        (r"\.\.\.DATA LOADING COMPLETED", "status"),
        (r"real\t", "metric load_s"),
        (r"(user|sys)\t", "the load generator's own"),
    ],
    "redisbench/v7_report.txt": [
        (r".*====== \S+ ======$", "subject"),
        (r"\s*\S+: rps=", "progress of the same figures"),
        (r"  \d+ requests completed in", "factor requests, metric elapsed_s"),
        (r"  \d+ parallel clients", "factor terminals"),
        (r"  \d+ bytes payload", "factor payload_bytes"),
        (r"  keep alive: ", "factor keep_alive"),
        (r'  host configuration "save": ', "setting save"),
        (r'  host configuration "appendonly": ', "setting appendonly"),
        (r"  multi-thread: no", "no threads"),
        (r"Latency by percentile|Cumulative distribution|Summary:|  latency summary|  +avg +min", "heading"),
        (r"\d+\.\d+% <= ", "check"),
        (r"  throughput summary: ", "metric requests_per_s, status"),
        (r"  +\d+\.\d+ +\d+\.\d+ ", "metric latency_avg_ms, metric latency_min_ms, metric latency_p50_ms, "
         "metric latency_p95_ms, metric latency_p99_ms, metric latency_max_ms"),
    ],
    "redisbench/v7.csv": [
        (r"test$", "subject"),
        (r"rps$", "metric requests_per_s"),
        (r"avg_latency_ms$", "metric latency_avg_ms"),
        (r"min_latency_ms$", "metric latency_min_ms"),
        (r"p50_latency_ms$", "metric latency_p50_ms"),
        (r"p95_latency_ms$", "metric latency_p95_ms"),
        (r"p99_latency_ms$", "metric latency_p99_ms"),
        (r"max_latency_ms$", "metric latency_max_ms"),
    ],
    "dbt3/report.rst": [
        (r"=====|Database Test 3|Summary|Metrics|Query Times|\.\. image|   :|Power Test$|-----|\*\*These", "heading"),
        (r"\* (Date|Operating System|Notes|Seed):", "in words, or of no figure"),
        (r"\* Database Size: ", "factor scale_factor"),
        (r"\* Database Manager: ", "subject, version"),
        (r" +Composite Score", "metric composite_qphh, check"),
        (r" Load Test Time", "metric load_s"),
        (r" +Power Test Score", "metric power_qphh"),
        (r" +Throughput Test Score", "metric throughput_qphh, status"),
    ],
    "dbt3/q_time.csv": [
        (r"LOAD,", "metric load_s"),
        (r"PERF\.POWER\.Q\d+,", "metric query_1_s, metric query_22_s"),
        (r"PERF\.POWER\.RF[12],", "metric refresh_1_s, metric refresh_2_s"),
        (r"PERF\.POWER,", "metric power_elapsed_s, status"),
        (r"PERF\.THRUPUT\.QS\d\.Q\d+,", "factor streams, metric stream_1_query_1_s, metric stream_2_query_22_s"),
        (r"PERF\.THRUPUT\.QS\d\.ALL,", "metric stream_1_elapsed_s, metric stream_2_elapsed_s"),
        (r"PERF\.THRUPUT\.RFST\d\.RF[12],", "metric stream_1_refresh_1_s, metric stream_2_refresh_2_s"),
        (r"PERF\.THRUPUT,", "metric throughput_elapsed_s, status"),
    ],
    "hammerdb/tproch_throughput.txt": [
        (r"Vuser \d+ created|\d+ Virtual Users Created", "factor terminals"),
        (r"Vuser \d+:(RUNNING|FINISHED)|ALL VIRTUAL USERS COMPLETE", "status"),
        (r"Vuser \d+:Executing Query", "progress of the same figures"),
        (r"Vuser 1:query \d+ completed", "metric stream_1_query_1_s, metric stream_1_query_22_s"),
        (r"Vuser 2:query \d+ completed", "metric stream_2_query_1_s, metric stream_2_query_22_s"),
        (r"Vuser \d+:Completed \d+ query set", "metric stream_1_elapsed_s, metric stream_2_elapsed_s"),
        (r"Vuser \d+:Geometric mean", "metric stream_1_geometric_mean_s, metric stream_2_geometric_mean_s"),
    ],
    "querytimes/duckdb_streams.txt": [
        (r"DuckDB .*TPC-H, scale factor ", "subject, factor scale_factor"),
        (r"stream \d Q\d+: ", "factor streams, metric stream_1_query_1_s, metric stream_2_query_22_s, "
         "metric stream_1_queries_total_s, metric stream_2_queries_geomean_s, metric longest_stream_s"),
    ],
    "jmeter/run.jtl": [
        (r"timeStamp$", "started, series requests_per_s, metric elapsed_s"),
        (r"elapsed$", "metric latency_avg_ms, metric latency_p99_ms, series latency_avg_ms"),
        (r"label$", "metric select_requests, metric insert_small_latency_avg_ms"),
        (r"success$", "metric errors, metric error_share_percent, series errors_per_s"),
        (r"responseCode$|responseMessage$|failureMessage$", "why one failed"),
        (r"threadName$|grpThreads$|allThreads$", "factor terminals"),
        (r"Latency$|IdleTime$|Connect$", "a part of what elapsed"),
        (r"dataType$|bytes$|sentBytes$|URL$", "of one answer"),
    ],
    "jmeter/run.xml": [
        (r"testResults(@version)?$", "heading"),
        (r"testResults/sample(@ts)?$", "started, series requests_per_s, metric requests"),
        (r"testResults/sample@t$", "metric latency_avg_ms, metric latency_p99_ms, series latency_avg_ms"),
        (r"testResults/sample@lb$", "metric select_requests, metric insert_small_latency_avg_ms"),
        (r"testResults/sample@s$", "metric errors, series errors_per_s"),
        (r"testResults/sample@(rc|rm)$", "why one failed"),
        (r"testResults/sample@(tn|ng|na)$", "factor terminals"),
        (r"testResults/sample@(it|lt|ct)$", "a part of what elapsed"),
        (r"testResults/sample@(dt|by|sby)$", "of one answer"),
    ],
    "phoronix/composite.xml": [
        (r"PhoronixTestSuite|Result/Data$|Data/Entry$", "heading"),
        (r"Generated/TestClient$", "version"),
        (r"Generated/(Title|LastModified|Description)$|System/(User|Notes)$", "in words"),
        (r"System/Identifier$|Entry/Identifier$", "factor system"),
        (r"System/Hardware$", "hardware processor, hardware memory, hardware disk"),
        (r"System/Software$", "hardware os, hardware kernel, hardware file_system"),
        (r"System/TimeStamp$", "started"),
        (r"System/TestClientVersion$", "version"),
        (r"System/JSON$", "factor environment_variables, hardware disk_details, hardware cpu_scaling_governor"),
        (r"Result/Identifier$", "subject, factor test_profile"),
        (r"Result/(Title|AppVersion)$", "subject, version"),
        (r"Result/Arguments$", "the description's, as options"),
        (r"Result/Description$", "factor scale_factor, factor terminals, factor mode, factor variant"),
        (r"Result/(Scale|Proportion|DisplayFormat)$", "what the value is"),
        (r"Entry/Value$", "metric tps, metric latency_avg_ms, metric result_s"),
        (r"Entry/RawString$", "check"),
        (r"Entry/JSON$", "status"),
    ],
    "clickbench/duckdb.json": [
        (r"system$", "subject"),
        (r"date$", "started"),
        (r"machine$", "factor machine"),
        (r"cluster_size$", "factor cluster_size"),
        (r"proprietary$", "factor proprietary"),
        (r"tuned$", "factor tuned"),
        (r"tags$", "words about the system, not the run"),
        (r"load_time$", "metric load_s"),
        (r"data_size$", "metric data_size_bytes"),
        (r"result$", "metric query_0_cold_s, metric query_0_s, metric query_42_s"),
    ],
    "histories/conbench.json": [
        (r"(id|run_id|batch_id|run_reason)$", "what the other site calls it"),
        (r"timestamp$", "started"),
        (r"tags/name$", "subject"),
        (r"tags/format$", "factor format"),
        (r"stats/(data|unit)$", "metric ops_per_s"),
        (r"stats/(times|iterations|mean|stdev)$", "computed of the data"),
        (r"machine_info/name$", "factor machine"),
        (r"machine_info/cpu_count$", "what the machine is that a person names"),
        (r"github/(commit|branch)$", "tested"),
        (r"github/repository$|info/", "words about the other site"),
    ],
    "csv/runs.csv": [
        (r"DBMS$", "subject"),
        (r"version$", "version"),
        (r"scale$", "factor scale_factor"),
        (r"clients$", "factor terminals"),
        (r"repeat$", "a run of its own"),
        (r"tps$", "metric tps"),
        (r"latency avg \(ms\)$", "metric latency_avg_ms"),
        (r"p95 \(ms\)$", "metric latency_p95_ms"),
        (r"p99_ms$", "metric latency_p99_ms"),
        (r"errors$", "metric errors"),
        (r"comment$", "in words, unless the mapping says otherwise"),
    ],
    "memtier/out.json": [
        (r"configuration/(server|port|authenticate)$", "where it is"),
        (r"configuration/(clients|threads|requests)$", "said once more below"),
        (r"configuration/test_time$", "no limit"),
        (r"configuration/protocol$", "factor protocol"),
        (r"configuration/ratio$", "factor ratio"),
        (r"configuration/pipeline$", "factor pipeline"),
        (r"configuration/data_size$", "factor data_size_bytes"),
        (r"configuration/key_pattern$", "factor key_pattern"),
        (r"configuration/key_maximum$", "factor key_maximum"),
        (r"run information/Threads$", "factor client_threads, factor terminals"),
        (r"run information/Connections per thread$", "factor connections_per_thread"),
        (r"run information/Requests per client$", "factor requests_per_client"),
        (r"ALL STATS/Runtime/(Start|Finish) time$", "started"),
        (r"ALL STATS/Runtime/(Total duration|Time unit)$", "the difference of the two"),
        (r"ALL STATS/Runtime/Interrupted$", "status"),
        (r"ALL STATS/Sets/", "metric sets_ops_per_s, metric sets_latency_p99_ms, metric sets_latency_max_ms"),
        (r"ALL STATS/Gets/", "metric gets_ops_per_s, metric gets_hit_ops_per_s, metric gets_latency_p999_ms"),
        (r"ALL STATS/Waits/", "nothing was waited for"),
        (r"ALL STATS/Totals/", "metric ops_per_s, metric hit_ops_per_s, metric miss_ops_per_s, metric latency_avg_ms"),
    ],
    "benchbase/tpcc_2025-11-21_08-05-45.summary.json": [
        (r"Start timestamp|Current Timestamp", "started"),
        (r"Elapsed Time", "metric elapsed_s, factor duration_s"),
        (r"DBMS (Type|Version)", "subject, version"),
        (r"Benchmark Type", "subject"),
        (r"Final State", "status"),
        (r"Measured Requests", "metric transactions"),
        (r"isolation", "factor isolation"),
        (r"scalefactor", "factor scale_factor, factor warehouses"),
        (r"terminals", "factor terminals"),
        (r"Latency Distribution/\d+th", "metric latency_p25_ms, metric latency_p95_ms, metric latency_p99_ms"),
        (r"Latency Distribution/(Median|Average|Min|Max)", "metric latency_p50_ms, metric latency_avg_ms, "
         "metric latency_min_ms, metric latency_max_ms"),
        (r"Throughput", "metric tps, metric requests_per_s"),
        (r"Goodput", "metric goodput_per_s"),
    ],
    "ycsb/go_ycsb.txt": [
        (r"\*{10}", "heading"),
        (r'"dotransactions"', "subject"),
        (r'"threadcount"', "factor terminals"),
        (r'"recordcount"', "factor table_size_rows"),
        (r'"operationcount"', "factor operations"),
        (r'"readproportion"', "factor read_proportion"),
        (r'"mysql.password"', "nowhere"),
        (r"Run finished", "status"),
        (r"READ +- ", "metric read_operations, metric read_ops_per_s, metric read_latency_p9999_ms"),
        (r"UPDATE +- ", "metric update_operations, metric update_latency_avg_ms"),
        (r"UPDATE_ERROR +- ", "metric update_errors"),
        (r"TOTAL +- ", "metric operations, metric ops_per_s, metric latency_p99_ms"),
    ],
    "gotpc/tpch.txt": [
        (r".*go-tpc tpch run", "factor scale_factor, factor terminals, subject"),
        (r"\[Current\] Q", "progress of the same figures"),
        (r"Finished", "status"),
        (r"\[Summary\] Q", "metric query_1_s, metric query_22_s"),
    ],
    "benchmarksql/v6.txt": [
        (r".*: main, (\+-|     BenchmarkSQL v| *\(c\)|$)", "version"),
        (r".* (db|driver)=", "subject"),
        (r".* warehouses=", "factor warehouses"),
        (r".* terminals=", "factor terminals"),
        (r".* sutThreads=", "factor sut_threads"),
        (r".* rampupMins=", "factor ramp_up_s"),
        (r".* runMins=", "factor duration_s"),
        (r".* newOrderWeight=", "factor new_order_weight"),
        (r".* paymentWeight=", "factor payment_weight"),
        (r".*: result, +(_____|TransType|\+--|$)", "heading"),
        (r".*\| NEW_ORDER ", "metric new_order_transactions, metric new_order_latency_p90_ms"),
        (r".*\| PAYMENT ", "metric payment_transactions, metric payment_latency_avg_ms"),
        (r".*\| ORDER_STATUS ", "metric order_status_transactions, metric order_status_latency_max_ms"),
        (r".*\| STOCK_LEVEL ", "metric stock_level_transactions, metric stock_level_errors"),
        (r".*\| DELIVERY ", "metric delivery_transactions"),
        (r".*\| DELIVERY_BG ", "metric delivery_bg_transactions, metric delivery_bg_latency_p90_ms"),
        (r".*Overall NOPM: ", "metric nopm, metric efficiency_pct"),
        (r".*Overall TPM: ", "metric tpm, status"),
    ],
    "described/pg_test_fsync.txt": [
        (r"1 second per test", "factor duration_s"),
        (r"O_DIRECT supported|\(|open_sync sizes|descriptor", "remarks"),
        (r"Compare |Test if |Non-sync", "factor test"),
        (r" +fsync_writethrough +n/a", "not on this platform"),
        (r" +\d+ \* +\d+kB open_sync write", "factor sync_method, factor writes, factor write_size"),
        (r" +\w", "factor sync_method, metric ops_per_s, metric latency_avg_ms"),
    ],
    "described/pg_test_timing.txt": [
        (r"Testing timing overhead for", "factor duration_s"),
        (r"Per loop time", "metric loop_ns"),
        (r"Histogram|  < us", "heading"),
        (r" +1 ", "metric under_1_us_percent"),
        (r" +\d+ +\d", "the same in classes"),
    ],
    "described/db_bench.txt": [
        (r"\$ db_bench", "factor terminals"),
        (r"RocksDB: ", "version"),
        (r"Date|CPU|Set seed|Init|Integrated|Prefix|Keys per|RawSize|FileSize|Write rate|Read rate", "left out"),
        (r"Compression s|Perf Level|WARNING|-----|DB path", "left out"),
        (r"Keys: ", "factor key_size_bytes"),
        (r"Values: ", "factor value_size_bytes"),
        (r"Entries: ", "factor entries"),
        (r"Compression: ", "factor compression"),
        (r"Memtablerep: ", "factor memtable"),
        (r"\w+ +: +\d", "metric ops_per_s, metric latency_avg_ms, metric elapsed_s, metric operations, subject"),
    ],
    "described/locust.txt": [
        (r".*Starting Locust", "version"),
        (r"\[.*\] ", "status"),
        (r"Type |-----|Response time", "heading"),
        (r"GET +/ +723", "metric get_requests, metric get_errors, metric get_latency_avg_ms"),
        (r"GET +/orders/\[id\] +211", "metric get_orders_id_requests_per_s"),
        (r"GET ", "percentiles of each: of all below"),
        (r" +Aggregated +934 ", "metric requests_per_s, metric requests, metric errors, metric latency_p50_ms"),
        (r" +Aggregated ", "metric latency_p95_ms, metric latency_p99_ms, metric latency_p999_ms"),
    ],
    "described/locust_stats.csv": [
        (r"Type,Name", "heading"),
        (r"GET,/,622", "metric get_requests, metric get_latency_avg_ms, metric get_latency_p99_ms"),
        (r"GET,/orders/", "metric get_orders_id_requests_per_s, metric get_orders_id_errors"),
        (r",Aggregated", "metric requests_per_s, metric latency_p90_ms, metric latency_p999_ms, metric latency_max_ms"),
    ],
    "described/k6.txt": [
        (r" *[/|\\]|.*(█|✓ is|✗)", "heading"),
        (r" +(execution|script|output|scenarios|\*)", "heading"),
        (r"running |default ", "progress"),
        (r" +(checks_|\{ expected|data_|vus\.)", "left out"),
        (r" +(HTTP|EXECUTION|NETWORK)", "heading"),
        (r" +http_req_duration", "metric latency_avg_ms, metric latency_p95_ms, metric latency_max_ms"),
        (r" +http_req_failed", "metric errors, metric error_share_percent"),
        (r" +http_reqs", "metric requests, metric requests_per_s"),
        (r" +iteration_duration", "metric iteration_latency_avg_ms"),
        (r" +iterations", "metric iterations, metric iterations_per_s"),
        (r" +vus_max", "factor terminals"),
    ],
    "described/tsbs_queries.txt": [
        (r"After |Interval ", "progress"),
        (r"TimescaleDB ", "factor query"),
        (r"all queries ", "heading"),
        (r"min: ", "metric latency_min_ms, metric latency_p50_ms, metric latency_avg_ms, metric latency_stddev_ms"),
        (r"Run complete", "metric qps, metric queries, factor terminals"),
        (r"wall clock", "metric elapsed_s"),
    ],
    "described/tsbs_load.txt": [
        (r"time,|\d+,|Summary", "progress"),
        (r"loaded \d+ metrics", "metric metrics_per_s, metric metrics, metric load_s, factor terminals, check"),
        (r"loaded \d+ rows", "metric rows_per_s, metric rows"),
    ],
    "described/cockroach_tpcc.txt": [
        (r"\$ cockroach", "factor generator, factor warehouses, factor duration_s"),
        (r"_elapsed", "heading"),
        (r" +300\.0s .* delivery", "metric delivery_operations, metric delivery_latency_p99_ms"),
        (r" +300\.0s .* newOrder", "metric neworder_ops_per_s, metric neworder_errors"),
        (r" +300\.0s .* payment", "metric payment_latency_max_ms"),
        (r" +300\.0s +0 +1296", "metric ops_per_s, metric operations, metric latency_p95_ms, metric elapsed_s, check"),
        (r" +300\.0s .*%", "metric tpmc, metric efficiency_pct"),
        (r"Audit check", "left out"),
    ],
    "described/swingbench.xml": [
        (r".*BenchmarkName", "factor benchmark"),
        (r".*TotalRunTime", "metric elapsed_s"),
        (r".*TotalCompletedTransactions", "metric transactions"),
        (r".*TotalFailedTransactions", "metric failed_transactions"),
        (r".*AverageTransactionsPerSecond", "metric tps, check"),
        (r".*NumberOfUsers", "factor terminals"),
        (r".*(AverageResponse|MinimumResponse|MaximumResponse|TransactionCount|\}Result(@id)?$)",
         "metric browse_products_latency_avg_ms, metric customer_registration_transactions"),
        (r".*(Comment|TimeOfRun|TotalLogonTime|MaximumTransactionRate)", "left out"),
        (r".*(Results|Overview|Configuration)$", "heading"),
    ],
    "described/rally.txt": [
        (r"\[INFO\] Racing", "factor track"),
        (r"\[INFO\]|Running|----|[ /_]{4}|/_/|\| +Metric|\|--", "heading"),
        (r"\| +(Cumulative|Min cumulative|Segment)", "of the whole race"),
        (r"\| +(Min|Max) Throughput", "left out"),
        (r"\| +(Mean|Median) Throughput", "metric ops_per_s, metric mean_ops_per_s"),
        (r"\| +\d.*latency \| +index-append", "of the other run"),
        (r"\| +\d.*latency", "metric latency_p50_ms, metric latency_p99_ms, metric latency_max_ms"),
        (r"\| +\d.*service time", "metric service_latency_p50_ms, metric service_latency_max_ms"),
        (r"\| +error rate", "metric error_share_percent"),
    ],
    "described/scylla_bench.txt": [
        (r"Configuration|time |1s |Results|raw latency|c-o fixed", "heading"),
        (r"Mode:", "subject"),
        (r"Workload:", "factor workload"),
        (r"Timeout:|Max error", "left out"),
        (r"Consistency level:", "factor consistency_level"),
        (r"Partition count:", "factor partitions"),
        (r"Clustering rows:", "factor clustering_rows"),
        (r"Clustering row size:", "factor row_size"),
        (r"Rows per request:", "factor rows_per_request"),
        (r"Page size:", "factor page_size"),
        (r"Concurrency:", "factor terminals"),
        (r"Connections:", "factor connections"),
        (r"Maximum rate:", "factor rate_limit"),
        (r"Client compression:", "factor compression"),
        (r"Time \(avg\):", "metric elapsed_s"),
        (r"Total ops:", "metric operations"),
        (r"Total rows:", "metric rows"),
        (r"Operations/s:", "metric ops_per_s"),
        (r"Rows/s:", "metric rows_per_s"),
        (r"  \w", "metric latency_p99_ms, metric c_o_fixed_latency_p99_ms, metric latency_avg_ms"),
    ],
    "described/latte.txt": [
        (r"CONFIG|LOG|SUMMARY|─|CYCLE|RESPONSE| +Time +Cycles| +\[s\]", "heading"),
        (r" +(Date|Time|Cluster) ", "where it is"),
        (r" +Cass\. version", "factor cass_version"),
        (r" +Workload", "factor script"),
        (r" +Function", "factor functions"),
        (r" +Consistency", "factor consistency_level"),
        (r" +Threads", "factor threads"),
        (r" +Connections", "factor connections"),
        (r" +Concurrency +\[req\] +128", "factor terminals"),
        (r" +Max rate", "no limit"),
        (r" +Run time", "factor duration_s"),
        (r" +1\.000 ", "progress"),
        (r" +Elapsed time", "metric elapsed_s"),
        (r" +(CPU|Requests|Concurrency|└─ +\[%)", "left out"),
        (r" +Cycles ", "metric operations"),
        (r" +Errors", "metric errors"),
        (r" +Rows", "metric rows"),
        (r" +Throughput", "metric ops_per_s"),
        (r" +├─ +\[req/s", "metric requests_per_s"),
        (r" +└─ +\[row/s", "metric rows_per_s"),
        (r" +Cycle latency", "metric cycle_latency_avg_ms"),
        (r" +Request latency", "metric latency_avg_ms"),
        (r" +(Min|Max|[\d.]+) +\d", "metric latency_p99_ms, metric read_latency_p99_ms, metric latency_max_ms"),
    ],
    "described/diskspd.txt": [
        (r"Command Line", "factor block_size_bytes, factor io_depth, factor write_percent, factor random"),
        (r"Input|\t|Results|\*|CPU|-----| +\d+\||avg|proc count|thread \|", "left out"),
        (r"actual test time", "as long as it was told"),
        (r"thread count", "factor terminals"),
        (r"(Total|Read|Write) IO|total:$| +%-ile", "heading"),
        (r" +\d+ \| +\d{4}", "of each thread"),
        (r"total: ", "metric total_iops, metric read_mb_per_s, metric write_latency_avg_ms, metric total_operations"),
        (r" +(min|25th|75th|90th) ", "left out"),
        (r" +(50th|95th|99th|max) ", "metric read_latency_p50_ms, metric write_latency_p99_ms"),
    ],
    "described/iozone.txt": [
        (r"\t.*(Command line used)", "factor direct, factor with_fsync"),
        (r"\t(Iozone| +Version|\t|Run began|Include|O_DIRECT|Auto|File|Record|Time|Processor)", "left out"),
        (r"\tOutput is in", "check"),
        (r" +(random|kB)|iozone test", "heading"),
        (r" +102400 ", "factor size_bytes, factor block_size_bytes, metric write_mb_per_s, metric read_mb_per_s"),
    ],
    "described/mongo_perf.txt": [
        (r"load file|@@@", "heading"),
        (r"Insert", "factor test"),
        (r"\t\d", "factor terminals, metric ops_per_s"),
    ],
    "described/py-tpcc.txt": [
        (r".*Initializing TPC-C benchmark using", "factor driver"),
        (r"[=-]{5}| +Executed ", "heading"),
        (r"Execution Results after", "factor duration_s"),
        (r"  (DELIVERY|NEW_ORDER|ORDER_STATUS|PAYMENT|STOCK_LEVEL) ", "metric payment_busy_tps"),
        (r"  TOTAL", "metric busy_tps, metric transactions, metric busy_s"),
    ],
    "benchmarksql/v5.txt": [
        (r".*Term-00, (\+-|     BenchmarkSQL v| \(c\)|$)", "version"),
        (r".* (db|driver)=", "subject"),
        (r".* (conn|user)=", "where it is"),
        (r".* warehouses=", "factor warehouses"),
        (r".* terminals=", "factor terminals"),
        (r".* runMins=", "factor duration_s"),
        (r".* limitTxnsPerMin=0$", "no limit"),
        (r".* terminalWarehouseFixed=", "factor terminal_warehouse_fixed"),
        (r".* newOrderWeight=", "factor new_order_weight"),
        (r".* paymentWeight=", "factor payment_weight"),
        (r".* (orderStatus|delivery|stockLevel)Weight=", "factor stock_level_weight, factor delivery_weight"),
        (r".* (resultDirectory|osCollector)", "where it writes"),
        (r".* C value for C_LAST", "the load generator's own"),
        (r"Term-00, Running Average", "progress of the same figures"),
        (r".*Measured tpmC", "metric tpmc"),
        (r".*Measured tpmTOTAL", "metric tpm"),
        (r".*Session (Start|End)", "metric elapsed_s"),
        (r".*Transaction Count", "metric transactions"),
    ],
    "memtier/one_run.txt": [
        (r"\$ memtier_benchmark ", "factor ratio, factor pipeline, factor data_size_bytes"),
        (r"Writing results|\[RUN #1\] (Preparing|Launching)|ALL STATS|=====|-----|Type |Request Latency", "heading"),
        (r"\[RUN #1 \d+%", "progress of the same figures"),
        (r"\d+ +Threads", "factor client_threads, factor terminals"),
        (r"\d+ +Connections per thread", "factor connections_per_thread"),
        (r"\d+ +Requests per client", "factor requests_per_client"),
        (r"Sets  ", "metric sets_ops_per_s, metric sets_latency_p99_ms"),
        (r"Gets  ", "metric gets_ops_per_s, metric gets_hit_ops_per_s, metric gets_latency_p999_ms"),
        (r"Waits  ", "nothing was waited for"),
        (r"Totals  ", "metric ops_per_s, metric hit_ops_per_s, metric miss_ops_per_s, metric latency_avg_ms"),
        (r"(SET|GET) +[\d.]+ +[\d.]+|---", "the distribution, whose percentiles are above"),
    ],
    "nosqlbench/scenario.log": [
        (r".* nb run ", "factor driver, factor tags, factor cycles, factor terminals"),
        (r".*-- BEGIN METRICS|.*-- END METRICS", "status"),
        (r".*config\.burstrate", "factor burstrate"),
        (r".*config\.cyclerate", "factor cyclerate"),
        (r".*name=cql-keyvalue\.result, ", "metric ops_per_s, metric operations"),
        (r".*name=cql-keyvalue\.result-success, ", "metric errors"),
        (r".*type=(GAUGE|HISTOGRAM|TIMER|COUNTER|METER), ", "the load generator's own"),
    ],
    "gbak/backup_stats_z.txt": [
        (r"gbak:gbak version|gbak: +Version|.*access method", "version, subject"),
        (r"gbak: time", "heading"),
        (r"gbak: +[\d.]+ +", "metric backup_s"),
        (r"gbak:readied|gbak:closing|gbak: *total statistics|gbak:", "status"),
        (r".*", "the server's own words"),
    ],
}  # fmt: skip


# Files of several tests, of which each has figures of its own; elsewhere the last run tells.
OF_SEVERAL_TESTS = {"phoronix/composite.xml", "described/pg_test_fsync.txt"}


def stated(name: str) -> list[str]:
    """What a file states: its lines; the keys, columns or elements and attributes of what has such."""
    text = (DATA / name).read_text()
    if name.endswith(".json"):
        return [*keys_of(json.loads(text))]
    if name.endswith(".xml"):
        return [*elements_of(ElementTree.fromstring(text))]
    first = next(csv.reader([text.partition("\n")[0]]))
    if name.endswith((".csv", ".jtl")) and not any(re.search(r"\d\.\d|\d:\d", cell) for cell in first):
        return first
    return [line for line in text.splitlines() if line.strip()]


def keys_of(content: Any, prefix: str = "") -> Iterator[str]:
    if not isinstance(content, dict):
        yield prefix
        return
    for key, value in content.items():
        yield from keys_of(value, f"{prefix}/{key}" if prefix else key)


def elements_of(element: ElementTree.Element, parent: str = "") -> Iterator[str]:
    within = f"{parent}/{element.tag}" if parent else element.tag
    yield within
    yield from (f"{within}@{name}" for name in element.attrib)
    for inner in element:
        yield from elements_of(inner, element.tag)


def facts_of(report: Report) -> set[str]:
    facts = {f"factor {name}" for name in report.parameters} | {f"metric {name}" for name in values(report)}
    facts |= {f"series {series.name}" for series in report.series}
    facts |= {f"setting {name}" for name, _ in report.subject.settings}
    facts |= {f"hardware {name}" for name in report.subject.hardware}
    facts |= {"version"} if report.tool_version or report.subject.dbms_version else set()
    facts |= {"subject"} if report.subject.workload or report.subject.dbms else set()
    return facts | ({"started"} if report.started_at else set()) | ({"warning"} if report.warnings else set())


CHECKED = {"factor", "metric", "series", "setting", "hardware", "version", "subject", "started", "warning"}


@pytest.mark.parametrize("name", STATED)
def test_everything_that_an_output_states_has_its_place(name):
    told = reports(name, (DATA / name).read_bytes())
    there = set().union(*map(facts_of, told if name in OF_SEVERAL_TESTS else told[-1:]))
    for fact in stated(name):
        places = next((places for pattern, places in STATED[name] if re.match(pattern, fact)), None)
        assert places is not None, f"nobody says where this goes: {fact}"
        for place in places.split(", "):
            assert place in there or place.split(" ")[0] not in CHECKED, (fact, place)


@pytest.mark.parametrize("name", STATED)
def test_nothing_is_said_of_what_is_not_there(name):
    facts = stated(name)
    patterns = [pattern for pattern, _ in STATED[name]]
    assert [pattern for pattern in patterns if not any(re.match(pattern, fact) for fact in facts)] == []


def test_every_tool_that_is_read_says_where_its_facts_go():
    told = {report.tool for name in STATED for report in reports(name, (DATA / name).read_bytes())}
    assert {importer.TOOL for importer in importers()} - told == set()


# Factors of command lines, options and dictionaries that no table of ours names.


@pytest.mark.parametrize(
    ("parameters", "command", "told"),
    [
        (pgbench_parameters, "pgbench -D size=100 --unlogged-tables", {"variable_size": 100, "unlogged_tables": True}),
        (pgbench_parameters, "pgbench --partition-method hash -T 5", {"partition_method": "hash", "duration_s": 5}),
        (sysbench_parameters, "sysbench oltp_read_only --rand-zipfian-exp=0.8 --point_selects=5 run",
         {"rand_zipfian_exp": 0.8, "point_selects": 5}),
    ],
)  # fmt: skip
def test_options_without_a_name_of_ours_are_kept_by_their_own(parameters, command, told):
    assert told.items() <= parameters([command]).items()


@pytest.mark.parametrize(
    "command",
    ["pgbench --host=db1 --port 5432 --username=bob",
     "sysbench oltp --mysql-host=db1 --pgsql-user=bob --mysql-password=s run",
     "sysbench oltp --mysql-db=sbtest --pgsql-port=5432 run"],
)  # fmt: skip
def test_addresses_users_and_secrets_are_no_factors(command):
    told = (pgbench_parameters if command.startswith("pgbench") else sysbench_parameters)([command])
    assert set(told) <= {"script"}


def test_the_mix_of_several_scripts_is_a_factor():
    (report,) = reports("x", (DATA / "pgbench/v15_two_scripts.txt").read_bytes())
    assert re.fullmatch(r"[\w.-]+@\d+, [\w.-]+@\d+", str(report.parameters["scripts"]))


def test_settings_of_hammerdb_without_a_name_of_ours_are_kept():
    text = (DATA / "hammerdb/tproch_power.txt").read_text()
    more = "Changed tpch:maria_raise_query_error from false to true for MariaDB\n"
    more += "Changed tpch:maria_pass from a to b for MariaDB\n"
    (report,) = reports("x", text.replace("Vuser 1 created", f"{more}Vuser 1 created").encode())
    assert report.parameters["raise_query_error"] == "true"
    assert not any("pass" in name for name in report.parameters)


def test_properties_of_ycsb_and_options_of_go_tpc_are_kept():
    text = (DATA / "ycsb/run_0_17_jdbc.txt").read_text()
    more = text.replace(" -p ", " -p insertorder=ordered -p jdbc.fetchsize=10 -p db.user=bob -p ", 1)
    (report,) = reports("x", more.encode())
    assert report.parameters["insertorder"] == "ordered" and report.parameters["jdbc_fetchsize"] == 10
    assert not any("user" in name for name in report.parameters)
    (run,) = reports(
        "x", (DATA / "gotpc/plain.txt").read_bytes().replace(b" --warehouses", b" --partition-type 2 --warehouses")
    )
    assert run.parameters["partition_type"] == 2


def test_options_of_fio_are_kept():
    text = (DATA / "fio/randrw.json").read_text()
    mark = '"job options" : {'
    (report,) = reports(
        "x", text.replace(mark, mark + '"thinktime" : "100", "norandommap" : "", "eta" : "never",', 1).encode()
    )
    assert report.parameters["thinktime"] == 100 and report.parameters["norandommap"] is True
    assert "eta" not in report.parameters
