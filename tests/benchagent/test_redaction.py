"""Lines that hold a secret lose it and nothing else; lines that only look so stay as they are."""

from __future__ import annotations

import time

import pytest
from benchagent.redaction import REDACTED, names_a_secret, redact_json, redact_text, redact_value

# `hunter2` is the secret, and all that goes.
SECRETS = r"""
healthcheck: ["CMD", "redis-cli", "-a", "hunter2", "ping"]
AUTH hunter2
AUTH default hunter2
[12:00:01] AUTH hunter2
1700000000.123456 [0 127.0.0.1:5000] "AUTH" "hunter2"
1700000000.123456 [0 127.0.0.1:5000] "auth" "default" "hunter2"
HELLO 3 AUTH default hunter2 SETNAME bench
MIGRATE db2 6379 k 0 1000 AUTH hunter2
MIGRATE db2 6379 k 0 1000 AUTH2 bench hunter2
ACL SETUSER bench on >hunter2 ~* +@all
user default on >hunter2 ~* &* +@all
REDISCLI_AUTH=hunter2 redis-cli ping
db.auth("bench", "hunter2")
r.auth('hunter2')
ssl_passphrase_command = 'echo hunter2'
ssl_passphrase_command='/bin/echo -n "hunter2"'
rsync --password-file=<(echo hunter2) x db1::y
echo hunter2 | passwd --stdin bench
echo bench:hunter2 | chpasswd
echo "hunter2" | sudo -S systemctl restart postgresql
echo hunter2 | docker login --username bench --password-stdin r.example.org
PASSWORD_FILE_CONTENT=hunter2
SECRET_FILE_CONTENTS: hunter2
user=root:hunter2@db1
dsn=root:hunter2@127.0.0.1:3306/bench
sa:hunter2@db1.example.org/bench
mysqlsh root:hunter2@db1:3306 --sql
mysqlsh --uri 'root:hunter2@[::1]:3306'
DRIVER={PostgreSQL Unicode};SERVER=db1;UID=bench;PWD=hunter2;
"Driver=x;UID=sa;PWD=hunter2"
machine db1 login bench account x password hunter2
localhost:5433:bench:bench:hunter2
docker login -u bench -p hunter2 registry.example.org
mydumper -u root -p hunter2 -B bench
tiup bench tpcc -H db1 -U root -p hunter2 prepare
nbackup -U SYSDBA -P hunter2 -B 0 x
fbsvcmgr service_mgr user sysdba password hunter2 action_backup
$ isql -v bench sa hunter2
isql bench sa hunter2 < q.sql
pt-query-digest h=db1,u=root,p=hunter2
pt-table-checksum h=db1,u=root,p=hunter2,P=3306
vault login hunter2hunter2
aws configure set aws_secret_access_key hunter2
setx PGPASSWORD hunter2
set -gx PGPASSWORD hunter2
curl -ubench:hunter2 https://example.org/
curl -sS -u 'bench:hunter2' https://example.org/
curl -b "sid=hunter2" https://example.org/
curl --cookie sid=hunter2 https://example.org/
"Authorization": "Basic hunter2",
{"headers": {"Authorization": "Bearer hunter2hunter2", "Accept": "*/*"}}
https://hooks.slack.com/services/hunter2
https://discord.com/api/webhooks/123/hunter2
CREATE USER SYSDBA PASSWORD hunter2;
ALTER USER bench WITH PASSWORD hunter2 VALID UNTIL 'infinity';
CREATE LOGIN bench WITH PASSWORD = N'hunter2', CHECK_POLICY = OFF;
ALTER USER bench IDENTIFIED BY "hunter2" REPLACE "hunter2";
A temporary password is generated for root@localhost: hunter2
The password was: hunter2
SQL> connect system/hunter2@orcl as sysdba
rman target sys/hunter2@orcl
impdp userid=system/hunter2@orcl
DB_PW=hunter2
dbpw: hunter2
"pw": "hunter2"
clickhouse://default:hunter2@db1:9000/bench
mssql+pyodbc://sa:hunter2@db1/bench?driver=ODBC+Driver+18
rediss://default:hunter2@db1:6380/0
sqlcmd -S db1 -U sa -Phunter2 -Q "select 1"
bcp bench.dbo.t in f.csv -S db1 -U sa -P hunter2 -c
CREATE USER MAPPING FOR bench SERVER s OPTIONS (user 'bench', password 'hunter2');
CREATE SUBSCRIPTION s CONNECTION 'host=db1 user=rep password=hunter2' PUBLICATION p;
CHANGE REPLICATION SOURCE TO SOURCE_HOST='db1', SOURCE_PASSWORD='hunter2';
db.createUser({user: "bench", pwd: "hunter2", roles: []})
helm install db --set auth.rootPassword=hunter2,auth.database=bench
openssl rsa -passin pass:hunter2 -in k
keytool -storepass hunter2 -keypass hunter2 -list
AZURE_CLIENT_SECRET=hunter2
npm config set //r.example.org/:_authToken=hunter2
- {name: MYSQL_PASSWORD, value: hunter2}
{"name": "PGPASSWORD", "value": "hunter2"},
{\"password\":\"hunter2\",\"user\":\"a\"}
"{\"password\": \"hunter2\"}"
sshpass -p hunter2 ssh db1
sshpass -phunter2 ssh db1
tpcc_load db1 tpcc root hunter2 10
go-tpc tpcc -p hunter2 -U root run
go-tpc tpcc -p'hunter2' run
setenv PGPASSWORD hunter2
giset commandline password hunter2
requirepass hunter2
masterauth hunter2
127.0.0.1:6379> AUTH hunter2
db1:6379> AUTH default hunter2
redis-cli AUTH hunter2
db.setPassword("hunter2")
.password("hunter2")
PASSWORD%3Dhunter2
command: ["mysql", "-phunter2", "-e", "x"]
command: ["mysql", "-p", "hunter2"]
["--password", "hunter2"]
args: [--password, hunter2]
subprocess.run(['mysql', '-uroot', '-phunter2'])
X-Amz-Signature=hunter2hunter2
https://b.example.org/x?sig=hunter2&sv=2020
mysqladmin -u root password hunter2
sh -c 'mysql -uroot -phunter2 -e "select 1"'
bash -lc "mysqlslap -u root -phunter2 --concurrency=8"
docker exec db mysql -uroot -phunter2 bench
kubectl create secret generic db --from-literal=password=hunter2
jdbc:sqlserver://db1:1433;databaseName=b;user=sa;password=hunter2;encrypt=false
password=hunter2
password = hunter2
password: hunter2
Password: hunter2
PASSWORD=hunter2
passwd=hunter2
passwort = hunter2
pass=hunter2
[pass]: hunter2
(pass): hunter2
pass => hunter2
pwd = hunter2
userpass=hunter2
pg_pass = hunter2
pg_superuserpass = hunter2
pg_tpch_superuserpass = hunter2
pg_tpch_pass     = hunter2
pg_oratpcc_pass  = hunter2
mysql_pass = hunter2
maria_pass    = hunter2
mssqls_pass = hunter2
db2_tpch_pass = hunter2
oracle system_password = hunter2
tpcc_pass = hunter2
ora_superpass := hunter2
"mysql.password"="hunter2"
"pg.password"="hunter2"
"tikv.token"="hunter2"
'db.passwd': 'hunter2'
{'user': 'bench', 'password': 'hunter2', 'port': 5432}
{user=bench, password=hunter2, port=5432}
{"user": "bench", "password": "hunter2", "port": 5432}
{"mysql_pass":"hunter2","mysql_port":3306}
{"auth":{"token":"hunter2"}}
"api_key": "hunter2",
"apiKey" : "hunter2",
"clientSecret": "hunter2"
{"Password":"hunter2"}
db.passwd=hunter2
db.password=hunter2
-p db.passwd=hunter2 -p db.user=root
ycsb load jdbc -P workloads/workloada -p db.passwd=hunter2 -threads 8
javax.net.ssl.keyStorePassword=hunter2
javax.net.ssl.trustStorePassword: hunter2
keyStorePass=hunter2
spring.datasource.password=hunter2
S3_SECRET_ACCESS_KEY=hunter2
AWS_SECRET_ACCESS_KEY=hunter2
export PGPASSWORD=hunter2
+ PGPASSWORD=hunter2 pgbench -c 4 bench
PGPASSWORD='hunter2' psql -h db1
PGPASSWORD="hunter2" psql -h db1
MYSQL_PWD=hunter2 mysqldump bench
MYSQL_ROOT_PASSWORD: hunter2
POSTGRES_PASSWORD: "hunter2"
ISC_PASSWORD=hunter2 gbak -b bench.fdb bench.fbk
REDISCLI_AUTH_TOKEN=hunter2
VAULT_TOKEN=hunter2
GITHUB_TOKEN=hunter2
api-key: hunter2
API key: hunter2
X-Api-Key: hunter2
access key = hunter2
access_key = hunter2
secret_key=hunter2
private_key = hunter2
encryption_key = 'hunter2'
AccountKey=hunter2
SharedKey=hunter2;EndpointSuffix=core
master_key: hunter2
client_secret=hunter2&grant_type=x
https://example.org/?token=hunter2&page=2
credential=hunter2
credentials: hunter2
session_token='hunter2'
--password hunter2
--password=hunter2
--passwd=hunter2 --user=root
--mysql-password=hunter2 --threads=4
--pgsql-password=hunter2 --pgsql-db=bench
sysbench oltp_read_write --mysql-user=root --mysql-password=hunter2 --tables=10 run
pgbench "host=db1 password=hunter2 dbname=bench" -c 4
--redis-password hunter2
--auth-token hunter2
--secret "hunter2"
-pass hunter2
-pas hunter2 -user SYSDBA
gbak -b -user SYSDBA -pas hunter2 employee.fdb x.fbk
isql-fb -u SYSDBA -p hunter2 employee
gfix -user SYSDBA -password hunter2 -sweep x.fdb
mysql -uroot -phunter2 bench
mysql -h db1 -u root -p'hunter2' bench < schema.sql
mysqlslap --concurrency=50 -uroot -phunter2 --query=q.sql
mysqldump -phunter2 --all-databases
mariadb-dump -u root -phunter2 bench
mysqladmin -uroot -phunter2 shutdown
tpcc_start -h127.0.0.1 -P3306 -dtpcc -uroot -phunter2 -w10 -c8
./tpcc_start -h 127.0.0.1 -d tpcc -u root -p "hunter2" -w 10
./tpcc_load -h 127.0.0.1 -d tpcc -u root -p hunter2 -w 10
option p with value 'hunter2'
option p with value 'hunter2', option w with value '10'
redis-benchmark -h db1 -a hunter2 -n 100000
redis-cli -a hunter2 ping
memtier_benchmark -s db1 -a hunter2 --threads=4
memtier_benchmark -s db1 --authenticate=hunter2 --threads=4
sqlcmd -S db1 -U sa -P hunter2 -i x.sql
mongosh -u root -p hunter2 bench
cqlsh db1 -u cassandra -p hunter2
cassandra-stress write n=1 -mode native cql3 user=u password=hunter2
csql -u dba -p hunter2 demodb
curl -u bench:hunter2 https://example.org/
db2 connect to tpcc user db2inst1 using hunter2
sqlplus system/hunter2@orcl
jdbc:oracle:thin:system/hunter2@db1:1521/orcl
postgresql://bench:hunter2@db1:5432/bench
postgres://bench:hunter2@[::1]/bench?sslmode=disable
jdbc:postgresql://db1/bench?user=bench&password=hunter2
jdbc:mysql://root:hunter2@db1:3306/bench
jdbc:h2:tcp://db1/bench;USER=sa;PASSWORD=hunter2
mongodb+srv://bench:hunter2@cluster0.example.org/bench
redis://:hunter2@db1:6379/0
amqp://guest:hunter2@broker//
Server=db1;Database=bench;User Id=sa;Password=hunter2;Encrypt=true
root:hunter2@tcp(127.0.0.1:4000)/test
bench:hunter2@unix(/run/mysqld.sock)/bench
CREATE USER bench IDENTIFIED BY 'hunter2';
ALTER USER root@localhost IDENTIFIED WITH mysql_native_password BY 'hunter2';
GRANT ALL ON *.* TO bench@localhost IDENTIFIED BY PASSWORD 'hunter2'
ALTER ROLE bench PASSWORD 'hunter2';
CREATE ROLE bench LOGIN ENCRYPTED PASSWORD 'hunter2';
SET PASSWORD FOR 'bench'@'%' = 'hunter2'
machine db1 login bench password hunter2
db1:5432:bench:postgres:hunter2
*:*:*:bench:hunter2
Authorization: Bearer hunter2hunter2
Authorization: Basic hunter2
authorization: hunter2
Cookie: hunter2
Set-Cookie: hunter2
<password>hunter2</password>
<db.password type="x">hunter2</db.password>
<property name="password" value="hunter2"/>
<entry key="db.password">hunter2</entry>
<connection user="sa" password="hunter2" />
diset tpcc mysql_pass hunter2
diset connection pg_superuserpass hunter2
dset tpcc pg_pass hunter2
derby.user.app=hunter2
connecting with password = "hunter2" to db1
primary_conninfo = 'host=h password=hunter2 sslmode=x'
sql_mode=x # password: hunter2
report_password = hunter2
master_password=hunter2
dba_password="hunter2"
wallet_password=hunter2 processes=10
CryptPluginPassword = hunter2
error: could not log in with password='hunter2'
FATAL: bad connection string "dbname=x password=hunter2 user=y"
passphrase: hunter2
ssl_passphrase = hunter2
db1:6432:bench:postgres:hunter2
# db1:5432:bench:postgres:hunter2
db1.example.org:5432:*:postgres:hunter2
/var/run/postgresql:5432:*:bench:hunter2
host all all 0.0.0.0/0 radius radiusservers="s1" radiussecrets="hunter2"
rootpw hunter2
bindpw hunter2
adminpw=hunter2
auth_pass hunter2
user admin insecure-password hunter2
stats auth admin:hunter2
sentinel auth-pass mymaster hunter2
sentinel sentinel-pass hunter2
tls-key-file-pass hunter2
wsrep_sst_auth = hunter2
NEO4J_AUTH=hunter2
file_key_management_filekey = hunter2
ALTER USER b IDENTIFIED BY VALUES 'hunter2'
ADMINISTER KEY MANAGEMENT SET KEYSTORE OPEN IDENTIFIED BY hunter2
PRAGMA key = 'hunter2';
ATTACH DATABASE 'x.db' AS e KEY 'hunter2';
CREATE SECRET s (TYPE s3, KEY_ID 'AK', SECRET 'hunter2');
COPY t FROM 's3://b' ACCESS_KEY_ID 'a' SECRET_ACCESS_KEY 'hunter2'
SELECT pgp_sym_encrypt('data', 'hunter2');
EXEC sp_addlogin 'bench', 'hunter2', 'db'
CREATE USER b PASSWORD E'hunter2';
ALTER ROLE b PASSWORD U&'hunter2';
SET PASSWORD TO 'hunter2';
connect system/hunter2 as sysdba
sqlldr control=x userid=scott/hunter2
rman target sys/hunter2
sql scott/hunter2@db1:1521/x
sqlcl scott/hunter2@//db1:1521/x
db2 attach to n user u using hunter2
charbench -c x.xml -u soe -p hunter2 -cs //db1/orcl
obclient -h h -uroot@sys -phunter2
hdbsql -n h:30015 -u SYSTEM -p hunter2
cypher-shell -u neo4j -p hunter2
tlp-stress run KeyValue -U cassandra -P hunter2
isql -S db1 -U sa -P hunter2
cbc-pillowfight -U couchbase://h/b -u A -P hunter2
asbench -h h -U admin -Phunter2
vsql -U u -w hunter2
gsql -d postgres -U u -W hunter2
AWS Secret Access Key [None]: hunter2
curl -sSu bench:hunter2 https://h/
props.setProperty("db.password", "hunter2");
define('DB_PASSWORD', 'hunter2');
"bench" "SCRAM-SHA-256$4096:hunter2"
""".strip().splitlines()

# Nothing of these goes.
HARMLESS = r"""
pass=1 of 3
pass=2/3 rows=1000
pass = 12.5 s
pass=38 fail=0
{"pass": 12, "fail": 0}
AUTH failed for user bench
AUTH required
client authentication: AUTH required
NOAUTH Authentication required.
auth_method: md5
auth = scram-sha-256
authenticated=true
authors: 3
ssl_passphrase_command = ''
ssl_passphrase_command = '/usr/local/bin/passphrase.sh %p'
PASSWORD_FILE=/run/secrets/pg
user=root@db1
root@db1:3306
tpm @ Mon Nov 23 10:11:12
at 12:30:05@node1
2026-11-22T10:00:00@db1
image: postgres:16@sha256:0a1b
mailto:bench@example.org
Author:bench@example.org
scp x.txt bench@db1:results/x.txt
ssh -p 2222 bench@db1
docker run -p 5432:5432 postgres
docker run --user bench postgres
curl -u bench https://example.org/
curl -b cookies.txt https://example.org/
mongosh --port 27017
ycsb run mongodb -s -P workloads/workloada -p recordcount=1000 -p operationcount=100
go-ycsb load mongodb -p threadcount=16
isql -v bench
isql employee.fdb -i x.sql
isql: command not found
connect timeout 10/20
connect localhost/3050:employee
1:2:3:4:5
cpu:0:1:2:3
PWD = /home/bench
pw_stats=1
pwrite=12
pwritev2 = 3
token_bucket=100
token_type: bearer
pass_count=3
pass_rate=0.98
passthrough=1
passive=true
hot_key_ratio=0.2
key_chooser=zipfian
shard_key=w_id
distribution_key=c_id
access_pattern=random
sessions=100
session_id=1234
sessionid=12
cookie_cutter=1
user bench identified by certificate
CREATE TABLE users (id int, password text)
SELECT password FROM users WHERE id = 1
UPDATE users SET password_changed = now()
ALTER USER bench PASSWORD EXPIRE NEVER;
ALTER ROLE bench PASSWORD NULL
ALTER ROLE bench SET work_mem = '64MB'
u=3,p=0.01
hello 3 authors
echo done | sudo tee log
replace "a" by "b"
token ring
keyspace = ycsb
row key distribution: zipfian
Key Size (bytes): 10
first pass took 3 s
tokens per second: 123.4
secretary: 4
access keys per op: 3
ycsb run basic -p fieldcount=10 -p requestdistribution=zipfian
--key-pattern=P:P
memtier_benchmark -p 6379 -t 4
2026:01:02:03:04
credential_validity: 0
authorization: enabled
key_block_size=8
{name: POSTGRES_PASSWORD_FILE, value: /run/secrets/pg}
{"name": "keyspace", "value": "ycsb"}
AUTH failed
args: [--passes, 3]
go-tpc tpcc -P 4000 -T 8 run
["mysql", "-P", "3306"]
password authentication failed for user "bench"
FATAL:  password authentication failed for user "postgres"
Access denied for user 'root'@'localhost' (using password: YES)
Access denied for user 'root'@'localhost' (using password: NO)
mysql: [Warning] Using a password on the command line interface can be insecure.
Password for user postgres:
Enter password:
fe_sendauth: no password supplied
The password is read from ~/.pgpass
no password was given
password_encryption = scram-sha-256
password_encryption=md5
default_password_lifetime = 0
password_history=5
password_reuse_interval = 365
password_require_current = OFF
disconnect_on_expired_password = ON
generated_random_password_length = 20
validate_password.length = 8
validate_password.policy=MEDIUM
validate_password_number_count = 1
caching_sha2_password_digest_rounds = 5000
caching_sha2_password_auto_generate_rsa_keys = ON
sha256_password_proxy_users = OFF
default_authentication_plugin=mysql_native_password
default_authentication_plugin = caching_sha2_password
mysql_native_password=ON
old_passwords = 0
remote_login_passwordfile = EXCLUSIVE
ssl_passphrase_command_supports_reload = off
passwordcheck.level = true
innodb_ft_max_token_size = 84
innodb_ft_min_token_size=3
ngram_token_size=2
max_tokens: 4096
total_tokens = 81920
token_count: 17
tokens: 93
token_bucket_size=100
tokens per second: 12.5
token_limit = 512
unexpected token: SELECT
syntax error: invalid token: ")"
completion_tokens=55
key_buffer_size = 8388608
key_cache_block_size=1024
key: 42
key = value
primary_key = id
PRIMARY KEY (id)
foreign_key_checks = 0
unique_key=true
partition_key: warehouse
partitioning_key_column = w_id
sort_key=ts
keyspace = ycsb
key size: 24
keysize=16 valuesize=100
key_distribution = uniform
keys: 1000000
insertorder=hashed
requestdistribution=zipfian
fieldcount=10
--key-pattern=R:R
--key-maximum=10000000
--key-prefix=memtier-
memtier_benchmark --ratio=1:10 --key-pattern=G:G -n 10000
redis-benchmark -h 127.0.0.1 -p 6379 -n 100000 -c 50 -d 3
pgbench -h 127.0.0.1 -p 5432 -U postgres -c 8 -j 2 -T 60 bench
psql -p 5433 -d bench
sysbench --mysql-port=3306 --mysql-user=root --threads=8 run
mysqld --port=3306 --datadir=/var/lib/mysql
mysql -uroot -p bench
mysqlslap --concurrency=50 --iterations=3 --create-schema=x
tpcc_start -h127.0.0.1 -P3306 -dtpcc -w10 -c8 -r10 -l60
option h with value '127.0.0.1'
option w with value '10'
ssl_key_file = server.key
ssl_key_path=/etc/ssl/server.key
private_key_path: /etc/ssl/private/server.pem
private_key_file = server.key
credentials_file = /etc/bench/credentials.json
password_file = /run/secrets/db
POSTGRES_PASSWORD_FILE=/run/secrets/db
PGPASSFILE=/home/bench/.pgpass
secret_name: bench-db
token_file=/var/run/token
passfile = /home/bench/.pgpass
PWD=/home/bench
OLDPWD=/home/bench/runs
password=$PGPASSWORD
--password=${DB_PASSWORD}
--mysql-password="$MYSQL_PWD"
password: {{ vault_password }}
password = %PASSWORD%
password=<password>
password: ********
Password: xxxxxxxx
password=
password = ""
password: ''
password: null
"password": null,
"password": "",
password=[redacted]
postgresql://bench@db1:5432/bench
http://127.0.0.1:8000/runs/
jdbc:postgresql://db1:5432/bench
https://example.org:8443/a@b
user@host:~$ ./run.sh
root@db1:/var/lib/mysql# ls
git@example.org:bench/bench.git
Pass 1 of 3 finished in 12.3 s
first pass: 12.5 s
2nd pass: 8 s
merge_pass = 3
sort_merge_passes = 0
Sort_merge_passes: 120
number of passes = 4
passed: 17, failed: 0
all checks passed: yes
bypass = 1
bypass_cache=true
compass: 3
single-pass = yes
tests passed=38 failed=0
secretary_count = 3
The secret of good throughput is group commit
statement latencies in milliseconds and failures:
Authorization took 3 ms
bearer of good news
cookies are not used
identified by its name
latency average = 5.000 ms
progress: 10.0 s, 800.0 tps, lat 5.000 ms stddev 0.100, 0 failed
[ 10s ] thds: 4 tps: 812.30 qps: 16246.00 (r/w/o: 11372.20/3249.20/1624.60) lat (ms,95%): 7.30 err/s: 0.00
READ - Takes(s): 10.0, Count: 8000, OPS: 800.1, Avg(us): 1200, Min(us): 200, Max(us): 9000
TEST RESULT : System achieved 12345 NOPM from 28765 PostgreSQL TPM
10.0.0.1:5432 accepting connections
2026-11-22 10:11:12.345 UTC [123] LOG:  checkpoint complete: wrote 123 buffers
12:34:56:789 step done
connect localhost/employee
docker run -u root -p8080:80 postgres
https://[::1]:8443/a@b
"threads" "tps"
two-pass 3
("password", "text", "int")
PRAGMA key_x = 1
CREATE TABLE t (k TEXT, PRIMARY KEY ('a'))
sentinel down-after-milliseconds mymaster 5000
max-password-length twelve
src/x.c:5432:10: error: x
mongosh -u bench -p \
user bench on #3 of 4
""".strip().splitlines()


def shaped(prefix: str, length: int) -> str:
    """A token by its shape. Put together here, so that no one who looks for secrets finds one in this file."""
    return prefix + ("A1b2C3d4E5f6G7h8" * 8)[:length]


TOKENS = [
    shaped("ghp_", 36), shaped("github_" + "pat_", 60), shaped("glpat-", 20), shaped("xoxb-", 40),
    "AK" + "IA" + "ABCDEFGHIJKLMNOP", shaped("AI" + "za", 35), shaped("sk-", 40), shaped("npm_", 36),
    shaped("pypi-", 60),
    shaped("hvs.", 40), shaped("dckr_" + "pat_", 30), shaped("bs_", 43), shaped("bsc_", 32),
    ".".join((shaped("ey" + "J", 20), shaped("ey" + "J", 40), shaped("", 43))),
]  # fmt: skip


def test_the_corpus_is_large_and_balanced():
    assert len(SECRETS) + len(TOKENS) >= 240 and len(HARMLESS) >= 200


@pytest.mark.parametrize("line", SECRETS)
def test_it_takes_out_the_secret_and_nothing_else(line):
    assert redact_text(line) == line.replace("hunter2hunter2", REDACTED).replace("hunter2", REDACTED)


@pytest.mark.parametrize("line", HARMLESS)
def test_it_leaves_what_only_looks_like_one(line):
    assert redact_text(line) == line


def test_it_knows_pairs_of_a_name_and_a_value_on_two_lines():
    pairs = "- name: PGPASSWORD\n  value: hunter2\n- name: PGUSER\n  value: bench\n"
    assert redact_text(pairs) == pairs.replace("hunter2", REDACTED)


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("around", ["{}", "cloning with {} now", '"x": "{}",', "https://{}@example.org/x.git"])
def test_it_knows_tokens_by_their_shape(token, around):
    assert redact_text(around.format(token)) == around.format(REDACTED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password = a;b,c&d\nport = 1\n", "password = [redacted]\nport = 1\n"),
        ('password=ab"cd\n', "password=[redacted]\n"),
        ('"password": "a\\"b, c"', '"password": "[redacted]"'),
        ("Server=db1;Uid=sa;Pwd={a b};Encrypt=no", "Server=db1;Uid=sa;Pwd=[redacted];Encrypt=no"),
        ("GET /x?jsessionid=A1b2C3d4E5f6G7h8 200", "GET /x?jsessionid=[redacted] 200"),
        ("Password:\nVacuuming", "Password:\nVacuuming"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nAAAA\nBBBB\n-----END RSA PRIVATE KEY-----\n",
            "-----BEGIN RSA PRIVATE KEY-----[redacted]\n\n\n-----END RSA PRIVATE KEY-----\n",
        ),
        (
            "<property>\n<name>db.passwd</name>\n<value>hunter2</value>\n</property>",
            "<property>\n<name>db.passwd</name>\n<value>[redacted]</value>\n</property>",
        ),
        (
            "Value old for tpcc:pg_superuserpass is the same\n",
            "Value [redacted] for tpcc:pg_superuserpass [redacted]\n",
        ),
        ("Changed tpcc:mysql_pass from a to b for MySQL\n", "Changed tpcc:mysql_pass [redacted]\n"),
    ],
)
def test_it_takes_out_all_of_a_value(text, expected):
    assert redact_text(text) == expected


def test_a_block_beneath_a_name_keeps_its_lines_and_what_follows():
    text = "db:\n  password: |\n    hunter2\n    hunter2\n  user: bench\n"
    assert redact_text(text) == f"db:\n  password: |\n    {REDACTED}\n\n  user: bench\n"


def test_a_value_loses_the_secret_that_stands_in_it():
    value = "user=rep password='hunter2' host=h"
    assert redact_value("primary_conninfo", value) == value.replace("hunter2", REDACTED)
    assert redact_value("password_encryption", "md5") == "md5" and redact_value("x", None) is None


def test_twice_is_as_once():
    once = [redact_text(line) for line in (*SECRETS, *TOKENS)]
    assert [redact_text(line) for line in once] == once


def test_lines_stay_lines():
    text = "\n".join([*SECRETS, *HARMLESS, *TOKENS])
    assert redact_text(text).split("\n") == [redact_text(line) for line in text.split("\n")]


@pytest.mark.parametrize("name", ["pg_superuserpass", "db.passwd", "API_KEY", "keyStorePassword", "auth-token"])
def test_settings_are_known_by_their_names(name):
    assert names_a_secret(name) and redact_value(name, "x1") == REDACTED and redact_value(name, "") == ""


@pytest.mark.parametrize(
    "worst",
    ["password" * 40_000, "-p " * 100_000, "mysql " * 50_000, "a.b-c_" * 50_000 + "=x", "key key " * 40_000,
     "x://" + "a" * 300_000, "a:b@" * 75_000, "echo a | b " * 30_000, "echo pass" * 30_000, "auth " * 60_000,
     "MIGRATE " * 40_000 + "AUTH", "<pass" * 60_000, "password:\n " * 30_000, "http --auth " * 25_000,
     "password=" * 30_000, "auth \\\n" * 50_000, "-----BEGIN PRIVATE KEY-----" * 12_000, "1) \"password\"\n" * 15_000,
     "a/" * 150_000 + "@", "a://b:" * 50_000 + "@", '"password"' * 30_000, "pass: '" * 40_000],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_it_takes_no_more_than_its_share_of_time(worst):
    """300 kB; a second of CPU would be quadratic."""
    begun = time.process_time()
    redact_text(worst)
    assert time.process_time() - begun < 3


@pytest.mark.parametrize(
    "text",
    [
        "primary_conninfo = 'user=rep password=''Xs3cretX'' host=h'", "PASSWORD\tXs3cretX", "psk=Xs3cretX",
        "http --auth ann:Xs3cretX GET example.org", "ldapsearch -x -w Xs3cretX", "snowsql -a x -p Xs3cretX",
        *(f"token {kind}_Xs3cretX{'a' * 35}" for kind in ("bst", "bsa", "bsj", "bso")),
        "db_password\tXs3cretX", "psk: Xs3cretX", "wpa-psk Xs3cretX", "http -a ann:Xs3cretX example.org",
        "https --auth-type bearer --auth Xs3cretX example.org",
        "password:\n  Xs3cretX\n", "db:\n  password: >-\n    Xs3cretX\n    Xs3cretX\n", '{"password":\n"Xs3cretX"}',
        "api_key: |\r\n\tXs3cretX: x\r\n", "- password:\n    'Xs3cretX'",
        "mongodb://b:a/Xs3cretX@h/db", "mongodb+srv://b:a@Xs3cretX@h/db", "jdbc:sqlserver://h;password={a;Xs3cretX};x=1",
        "ALTER ROLE b PASSWORD 'a''Xs3cretX'", "mysql \\\n  -u root \\\n  -pXs3cretX \\\n  bench",
        "machine db1\n  login bench\n  password Xs3cretX", "args:\n  - --requirepass\n  - Xs3cretX\n",
        '1) "requirepass"\n2) "Xs3cretX"', "requirepass\nXs3cretX\n", 'db.changeUserPassword("u", "Xs3cretX")',
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nXs3cretX\n-----END PGP PRIVATE KEY BLOCK-----",
        "-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-128-CBC,AB\n\nXs3cretX\n-----END RSA PRIVATE KEY-----",
    ],
)  # fmt: skip
def test_it_takes_out_secrets_of_standbys_clients_and_this_site(text):
    assert "Xs3cretX" not in redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "ldapsearch -x -b dc=x", "PASSWORD\tlogin\tuser", "bst_short", "http GET example.org", "kpasswd\t\t464/tcp",
        "tokens\t93\ntoken\t93", "all about TLS-PSK support", "no-psk (x)", "secrets:\n  - password\n",
        "secrets:\n  password:\n    file: ./x\n", "password:\n  min_length: 3\n", "Password:\nVacuuming",
        "password:\nuser: bench\n", "password:\n  # from the vault\n", "passwords:\n\n  text", "- keys:\n    - a\n",
        "primary_key:\n  id\n", "password: |\nuser: x", "secrets:\n  - password\n  - tls",
        "args:\n  - --token\n  - --x", "requirepass\n\nport\n6379",
    ],
)  # fmt: skip
def test_it_leaves_what_is_alike_and_no_secret(text):
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "document",
    [
        ["user", "default on >Xs3cretX ~* +@all"], {"name": "user", "value": "default on >Xs3cretX"},
        ["wsrep_sst_auth", "sst:Xs3cretX"], {"name": "wsrep-sst-auth", "value": "sst:Xs3cretX"},
        ["ssl_passphrase_command", "echo Xs3cretX"], {"argv": ["psql", "--password", "Xs3cretX", "bench"]},
    ],
)  # fmt: skip
def test_a_setting_loses_the_secret_that_its_name_tells_of(document):
    assert "Xs3cretX" not in str(once := redact_json(document)) and redact_json(once) == once


def test_what_stands_before_a_value_is_not_stored_with_it():
    assert redact_json({"user": "bench", "x@y:z@h": "5 s"}) == {"user": "bench", "x@y:z@h": "5 s"}
