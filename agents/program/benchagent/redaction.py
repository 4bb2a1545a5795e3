"""Secrets taken out of text before it is stored, shown or sent. Shared by agent, `benchctl` and server.

A secret is known by the class of its name (`pg_superuserpass`, `"db.passwd"`, `API_KEY`), by the option of a known
client (`mysql -pX`, `redis-cli -a X`), by its place in an address (`user:X@host`), or by its own shape (`ghp_…`).
What only looks like one stays: `password_encryption = md5`, `using password: YES`, `--password=$PGPASSWORD`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

REDACTED = "[redacted]"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The words of a name: pg_superuserpass, db.passwd, keyStorePassword, X-Api-Key.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TELLING_WORD = re.compile(
    r".*passw(?:or)?d?t?s?|.*passphrase|passcode|.*pass|.*pwd|(?:admin|bind|db|pg|root|user)?pw|.*secret|.+secrets"
    r"|.*token|.*credentials?|(?:api|access|private|secret|auth|file)key"
)
# Only after one of these is a key secret; `primary_key` and `key_buffer_size` are none.
_SECRET_KEYS = _words(
    "access account admin api auth authorization client crypt encrypt encryption license licence master private root "
    "secret service session shared signing ssh storage webhook"
)
# Words that end in `pass`, or make a pass, a token, a credential out of what follows or precedes.
_NO_SECRETS = _words("bypass compass encompass surpass trespass multipass onepass twopass singlepass nopass")
_HARMLESS_BEFORE = {
    "pass": _words(
        "st nd rd th all by each final first full hash last merge next no num number of one partial per read scan "
        "second single sort test third this two write"
    ),
    "token": _words(
        "avg bad completion input invalid max min near next num number output prompt syntax total unexpected unknown"
    ),
}
_HARMLESS_AFTER = _words(
    "age algorithm attempts auto bucket cache case changed check checks column command count counts current "
    "dictionary dir directory disabled enabled encoding encryption expiration expire expired expires expiry failures "
    "file files filename format generate history id index interval length len lifetime limit location lock locking "
    "max min mode name names number path per plugin policy provider proxy rate required require reuse rotation rounds "
    "rsa size sizes source stats stdin store supported supports table timeout ttl type types user users validation "
    "validity verify version words"
)
# A file has its name, and what stands in it: PASSWORD_FILE, PASSWORD_FILE_CONTENT.
_SECRET_AFTER_ALL = _words("content contents")
_FOLDERS = ("PWD", "OLDPWD")
# Settings that hold no secret, whatever their names say.
_HARMLESS_NAME = re.compile(
    r"old_?passwords?|(?:mysql_)?native_password|(?:caching_)?sha(?:256|2)_password.*"
    r"|disconnect_on_expired_password|(?:[\w.]*[.])?validate_password.*|remote_login_passwordfile|.*expired_password"
    r"|passwords?_.*(?:lifetime|history|reuse).*"
)
_HARMLESS_VALUE = re.compile(
    r"\"\"|''|(?:yes|no|on|off|true|false|null|none|nil|undefined|default|required|optional|disabled|enabled|unset"
    r"|empty|not|set|n/?a|prompt|hidden|masked)[\"')\]}.,]{0,3}"
    r"|[|>][+-]?\d?|[\"']?(?:\*+|x{3,}|\.{3,}|-+|<[^<>]*>?|\$\{?\w+\}?|\$\(.*|%\w+%|\{\{.*|\[?redacted\]?)[\"')\]]*",
    re.IGNORECASE,
)

_TELLING = re.compile(r"pass|pwd?|secret|token|credential|derby\.user\.|key|(?:sst|neo4j)[_-]auth", re.IGNORECASE)
# Whatever its words say: the password of a user of Derby, name and password of a client.
_SECRET_NAME = re.compile(r"derby\.user\..*|.*(?:sst|neo4j)[_-]auth", re.IGNORECASE)
# A count of passes or of tests: `pass=1 of 3`, `pass=2/3`, `pass = 12.5 s`, `pass=3 fail=0`. A number alone may be a
# PIN.
_COUNT_OF_PASSES = re.compile(
    r"\d{1,6}(?:\.\d+)?(?: of \d|/\d{1,6}(?![\w/])| m?s\b|,? [\"']?fail(?:ed|ures?|s)?[\"']?\s?[=:]\s?\d)",
    re.IGNORECASE,
)
_REST_OF_NAME = re.compile(r"[\w.-]{0,200}")
# `"db.passwd"="x"`, `[pass]: x`, `pass => x`; a blank alone assigns to options only, since prose has it, too.
_SEPARATOR = re.compile(r"\\{0,3}[\"'\])]{0,2}[ \t]*(?:=>|:=|==?|:)[ \t]*(?:[EN](?='))?|[ \t]+")
_QUOTED = r"\"(?:[^\"\\\n]|\\.|\"\")*\"?|'(?:[^'\\\n]|\\.|'')*'?"
# Also of JSON within JSON: \"x\"; of a connection: {a;b}.
_VALUE = re.compile(
    rf"{_QUOTED}|\\+[\"'][^\"'\n]*[\"']?|\{{[^{{}}\"\n]*\}}|[^\s;&,<>\"'](?:[^\s;&,<>\"']|[\"'](?=\w))*"
)
_ARGUMENT = rf"(?:{_QUOTED}|[^\s\"']\S*)"
_MAX_NAME = 200
# Up to the last character that a name does not have.
_BEFORE_NAME = re.compile(r"(?s:.*)[^\w.:-]")
_SECRET_IN_NAME = r"(?=[\w.:-]{0,100}(?:pass|pwd|secret|token|credential))"


@dataclass(frozen=True)
class _Pattern:
    """Looked for in lines that hold one of `words`. What its group `hidden` takes goes, unless its group `name` names
    no secret; the quotes round it stay.

    Compiled with the first such line: most programs meet few of the hundred, and all of them start with this module.
    """

    words: frozenset[str]
    text: str
    flags: int

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)


def _hide(match: re.Match[str]) -> str:
    hidden, line, begin = match["hidden"], match.string, match.start("hidden")
    name = match.groupdict().get("name")
    is_none = _HARMLESS_VALUE.fullmatch(hidden) or (name is not None and not names_a_secret(name))
    kept = hidden if is_none else _in_quotes(hidden) + "\n" * hidden.count("\n")
    return line[match.start() : begin] + kept + line[match.end("hidden") : match.end()]


def _after(words: str, head: str, hidden: str = r"\S+", *, flags: int = re.IGNORECASE) -> _Pattern:
    return _Pattern(frozenset(words.split("|")), f"{head}(?P<hidden>{hidden})", flags | re.DOTALL)


_TELLS = "pass|pwd|secret|token|credential"
# Each of these holds within one line, or within the lines of one command.
_PATTERNS = (
    # postgresql://user:secret@host, jdbc:…//user:secret@, redis://:secret@; user:secret@host, user:secret@tcp(host);
    # but no mail address behind a name, and no image by its digest
    _after("://", r"(?<![\w+.-])[a-z][\w+.-]{0,40}://[^\s:/@\[]{0,200}:",
           r"(?:[^\s@/]{1,200}|(?!\d*/)[^\s@\"',;<>]{1,200})(?:@[^\s@/\"',;<>]{1,200})*(?=@)"),
    _after("@",
           r"(?<![\w.:/@-])(?!(?:mailto|e?mail|author|contact|from|to|cc|by):)[A-Za-z_][\w.-]{0,63}:",
           r"[^\s:@/,;\"'()]{1,200}"
           r"(?=@(?!sha\d+:)(?:[A-Za-z][\w.-]{0,200}|(?:\d+\.){3}\d+|\[[\da-f:]+\])(?:[\s:/(\"',;]|$))"),
    # sqlplus scott/tiger@db, scott/tiger as sysdba, scott/tiger@db1:1521/x, jdbc:oracle:thin:scott/tiger@
    _after("sqlplus|impdp|expdp|sqlldr|userid=|rman",
           r"\b(?:(?:sqlplus|impdp|expdp|sqlldr)\s+(?:-\w+\s+)*|userid=|rman\s+target\s+)[\"']?[\w$#]+/",
           r"[^\s@\"']+"),
    _after(" as sys", r"\b[A-Za-z][\w$#]*/", r"[^\s@/:\"']+(?=\s+as\s+sys(?:dba|oper)\b)"),
    _after("@", r"(?:^|SQL>)\s*conn(?:ect)?\s+[A-Za-z][\w$#]*/", r"[^\s@/:]+(?=@\w)"),
    _after("@", r"(?<![\w/.:@-])[A-Za-z][\w$#]*/", r"[^\s@/:\"']+(?=@(?://)?[\w.-]+:\d+/)"),
    _after("oracle:", r"oracle:(?:thin|oci):[\w$#]+/", r"[^\s@]+"),
    # HammerDB's `diset tpcc mysql_pass secret` and its answers
    _after(_TELLS, rf"\b(?:di?|gi)set\s+\w+\s+{_SECRET_IN_NAME}\w+\s+"),
    _after(_TELLS, rf"\b(?:setenv|setx|set\s+-g?x|configure\s+set)\s+{_SECRET_IN_NAME}\w+\s+", _ARGUMENT),
    _after(_TELLS, rf"\bValue\s+(?=\S+\s+for\s+{_SECRET_IN_NAME}\w+:)"),
    _after(_TELLS, rf"\bValue\s+\S+\s+for\s+{_SECRET_IN_NAME}\w+:\w+\s+", r".+"),
    _after(_TELLS, rf"\bChanged\s+{_SECRET_IN_NAME}\w+:\w+\s+", r".+"),
    # tpcc-mysql
    _after("option p", r"\boption p with value\s+", _ARGUMENT),
    _after("tpcc_", r"\btpcc_(?:load|start)(?:\s+(?!-)\S+){3}\s+", r"(?!-)\S+(?=\s+\d)"),
    # <password>secret</password>, <property name="password" value="secret"/>, <entry key="password">secret<
    _after(_TELLS, rf"<{_SECRET_IN_NAME}[\w.:-]{{1,200}}+(?:\s[^<>]{{0,200}})?>", r"[^<]+(?=</)"),
    _after(
        _TELLS,
        rf"\b(?:name|key|id)=[\"']{_SECRET_IN_NAME}[\w.:-]{{1,200}}+[\"'](?:\s+value\s?=\s?|\s?>)",
        r"(?:\"[^\"]*\"|'[^']*'|[^\s<>]+)",
    ),
    # The options of clients
    _after("mysql|maria|tpcc_|pt-|xtrabackup|mydumper|myloader|mycli|obclient|go-tpc|sshpass",
           r"\b(?:mysql\w*|mariadb[\w-]*|tpcc_\w+|pt-[\w-]+|xtrabackup|mydumper|myloader|mycli|obclient|go-tpc|sshpass)\b"
           r".{0,500}?\s-p(?!ort\b)",
           _ARGUMENT, flags=0),
    _after("tpcc_|csql|mongo|cqlsh|dsbulk|isql|go-tpc|tiup|sshpass|mydumper|myloader|hdbsql|exaplus|cypher-shell|charbench"
           "|wizard|maxctrl|cbworkloadgen| login ",
           r"\b(?:tpcc_(?:start|load)|csql|mongo(?:sh|dump|restore|import|export|stat|top)?|cqlsh|dsbulk|isql(?:-fb)?"
           r"|go-tpc|tiup|sshpass|mydumper|myloader|hdbsql|exaplus|cypher-shell|charbench|\w+wizard|maxctrl|cbworkloadgen"
           r"|(?:docker|podman|oc|nerdctl)\s+login)\b.{0,500}?\s-(?:p|dbap)\s+",
           rf"(?![-\\]){_ARGUMENT}", flags=0),
    _after("sqlcmd|bcp|isql|osql|tsql|nbackup|-stress|pillowfight|asbench",
           r"\b(?:sqlcmd|(?:free)?bcp|[oit]sql|nbackup|[a-z]+-stress|cbc-\w+|asbench)\b.{0,500}?\s-P\s*",
           rf"(?!-){_ARGUMENT}", flags=0),
    _after("vsql|gsql", r"\b(?:vsql\b.{0,500}?\s-w|gsql\b.{0,500}?\s-W)\s*", rf"(?!-){_ARGUMENT}", flags=0),
    # unixODBC's: a data source, a user, a password
    _after("isql", r"(?:^|[$#>+/]\s*)isql(?:\s+-[a-z]\d?)*\s+[^\s-]\S*\s+[^\s-]\S*\s+",
           r"[^\s<|;-]\S*(?=\s*(?:$|[<|;]|\s-))"),
    _after("pass", r"\bfbsvcmgr\b.{0,500}?\spassword\s+", _ARGUMENT),
    _after("pt-", r"\bpt-[\w-]+\b.{0,500}?[\s,]p=", r"[^\s,]+", flags=0),
    _after(" login ", r"\bvault\s+login\s+", r"(?!-)\S{8,}"),
    _after("redis-|valkey-|keydb-|memtier",
           r"\b(?:redis-\w+|valkey-\w+|memtier_benchmark|keydb-\w+)\b.{0,500}?\s(?:-a|--auth|--authenticate)[ =]",
           _ARGUMENT),
    _after("auth", r"\"authenticate\"\s*:\s*", r"\"[^\"]+\""),
    _after("curl", r"\bcurl\b.{0,500}?\s(?:-\w*u ?|--user[ =])[\"']?[^\s:\"']{1,200}:", r"[^\s\"']+"),
    _after("curl", r"\bcurl\b.{0,500}?\s(?:-b|--cookie)[ =]?[\"']?[^\s=\"']+=", r"[^\"']+?(?=[\"']|\s|$)"),
    # What a shell hands over: as a command that prints it, or from the left of a pipe
    _after("echo|printf",
           rf"(?<![\w.-]){_SECRET_IN_NAME}[\w.-]{{1,200}}+\s*[=:]?\s*(?:[\"']|<\()?\s*(?:/\S{{0,100}}/)?"
           r"(?:echo|printf)\s+(?:-n\s+)?[\"']?",
           r"[^\"'|;)]+"),
    _after("pass|sudo", r"\b(?:echo|printf)\s+(?:-n\s+)?(?:[\w.-]+:)?",
           rf"(?:{_QUOTED}|[^\s|]+)(?=\s?\|\s?(?:sudo\s+)?(?:sudo\s+-S|chpasswd|\w+\s.{{0,200}}--(?:password-)?stdin)\b)"),
    _after("-p", r"(?<!\S)-(?:pas|pass|pw|passw|passwo|passwor|password)\s+", rf"(?!-){_ARGUMENT}"),
    # … as lists of arguments
    _after("-p", r"[\"'](?:\S*/)?(?:mysql\w*|mariadb[\w-]*)[\"']\s*,.{0,500}?[\"']-p(?!ort\b)", r"[^\s\"',]+", flags=0),
    _after("-p", r"[\"'](?:\S*/)?(?:mysql\w*|mariadb[\w-]*)[\"']\s*,.{0,500}?[\"']-p[\"']\s*,\s*", _QUOTED, flags=0),
    _after("redis-|valkey-",
           r"[\"'](?:\S*/)?(?:redis|valkey)-\w+[\"']\s*,.{0,500}?[\"'](?:-a|--pass)[\"']\s*,\s*", _QUOTED, flags=0),
    _after(_TELLS, rf"(?<![\w-])--?{_SECRET_IN_NAME}(?P<name>[\w-]{{1,100}}+)(?:[\"']\s*,\s*|,\s+)",
           rf"(?:{_QUOTED}|[^\s,\]\"']+)"),
    _after("mysqladmin", r"\bmysqladmin\b.{0,500}?\s(?:new-)?password\s+", _ARGUMENT),
    _after("requirepass|masterauth", r"\b(?:requirepass|masterauth)\s+", _ARGUMENT),
    # Redis: typed, as a line of a script or a log, as MONITOR prints it, within other commands; an access list
    _after("auth", r"(?:\d> ?|\bredis-cli\b.{0,200}?\s)auth\s+(?:\w+\s+(?=\S))?", _ARGUMENT),
    _after("auth", r"^[\s\[\]\d:.TZ,+-]*AUTH\s+(?:\w+\s+(?=\S+\s*$))?",
           r"(?!(?:failed|required|error|ok|done|command|succeeded|called|enabled|disabled)\b)\S+(?=\s*$)", flags=0),
    _after("auth",
           r"\b(?:HELLO\s+[23]\s+AUTH\s+\S+|MIGRATE\s.{1,300}?\sAUTH|MIGRATE\s.{1,300}?\sAUTH2\s+\S+)\s+"),
    _after("auth", r"\"AUTH\"\s+(?:\"[^\"]*\"\s+(?=\"))?", _QUOTED),
    _after("auth", r"\.auth\(\s*(?:\"[^\"]*\"\s*,\s*|'[^']*'\s*,\s*)?", r"\"[^\"]*\"|'[^']*'"),
    _after("auth", r"\bREDISCLI_AUTH\s*=\s*", _ARGUMENT),
    _after("setuser| on >| on #", r"\b(?:ACL\s+SETUSER|user)\s.{1,300}?\s(?:>|#(?=[\da-f]{64}\b))"),
    _after("auth-pass", r"\bauth-pass\s+\S+\s+"),
    # A setting beside its value, as Redis, HAProxy, keepalived and LDAP have it
    _after(f"{_TELLS}|pw",
           rf"^\s*(?:sentinel\s+)?(?P<name>{_SECRET_IN_NAME}\w+(?:-\w+)+|auth_pass|bindpw|rootpw)\s+",
           r"(?!\d+\s*$)\S+(?=\s*$)"),
    _after("password", r"^\s*user\s+\S+\s+(?:insecure-)?password\s+", r"\S+(?=\s*$)"),
    _after("stats auth", r"\bstats auth\s+\S+?:"),
    _after("password(|passwd(", r"passw(?:or)?d\(\s*", _QUOTED),
    _after("%3d", r"(?:pass|passw(?:or)?d|pwd|secret|token)%3D", r"[^\s&%]+"),
    _after("signature=|sig=", r"(?:[?&]sig|X-(?:Amz|Goog)-Signature)=", r"[^\s&\"']+"),
    _after("connect to|attach to", r"\b(?:connect|attach)\s+to\s+\S+\s+user\s+\S+\s+using\s+", _ARGUMENT),
    # SQL, .netrc, a line of .pgpass
    _after("identified", r"\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:(?:password|values)\s+)?", _QUOTED),
    _after("identified", r"\b(?:create|alter|grant|administer)\b.{0,300}\bidentified\s+by\s+(?!(?:password|values)\b)",
           r"[^\s;'\"]+"),
    _after("password", r"\bpassword\s+(?:to\s+)?(?:[EN]|U&)?(?=['\"])", _QUOTED),
    _after("secret", r"\bsecret(?:_access_key)?\s+(?=')", _QUOTED),
    _after("secret", r"\bSecret Access Key \[[^\]\s]*\]:\s*"),
    _after("pragma|attach", r"\b(?:PRAGMA\s+(?:hex)?(?:re)?key\s*=\s*|ATTACH\b.{0,300}?\sKEY\s+)", _QUOTED),
    # the second of several arguments, the value of a name and a value
    _after("pgp_sym_|sp_addlogin|changeuserpassword",
           r"\b(?:pgp_sym_\w+|sp_addlogin|changeUserPassword)\b.{0,300}?,\s*", _QUOTED),
    _after(_TELLS, rf"\(\s*[\"']{_SECRET_IN_NAME}(?P<name>[\w.-]{{1,100}}+)[\"']\s*,\s*", rf"(?:{_QUOTED})(?=\s*\))"),
    _after("password", r"\bset\s+password\b[^=]{0,200}=\s*", _ARGUMENT),
    _after("identified", r"\bidentified\b.{1,300}?\breplace\s+", _ARGUMENT),
    _after("password",
           r"\b(?:create|alter)\s+(?:or\s+alter\s+)?(?:user|role|login)\b.{1,200}?\bpassword\s+",
           r"(?!(?:null|expire|history|reuse|require|lock|unlock|never|default|interval|optional|E|N|U)\b)[^\s;'\"=,]+"),
    # MySQL tells so of its first start: "A temporary password is generated for root@localhost: …"
    _after("password", r"\bpassword (?:is|was)\b[^:]{0,80}:\s+", _ARGUMENT),
    _after(":*:|:543|:6432|:26257", r"^[\s#]*[\w./*-]+:(?:\d+|\*):[\w*-][\w.*-]*:[A-Za-z*][\w.*-]*:", r"\S[^\r\n]*"),
    # The working directory is a path; what is none is the password of an ODBC connection
    _after("pwd", r"\bPWD\s?=\s?", r"(?![/~.]|[A-Z]:\\)(?:\{[^{}]*\}|[^\s;\"'{}]+)(?=[;\"']|\s*$)"),
    # A connection within a quoted setting: primary_conninfo = 'user=rep password=''x'' host=h'
    _after("password", r"\bpassword\s?=\s?''", r"[^']+(?='')"),
    # A column beside its name; a number alone may be a count, but of passwords
    _after(_TELLS, rf"^\s*(?=\S*passw|\S+\t+(?![\d.]+\s*$))(?P<name>{_SECRET_IN_NAME}[\w.-]{{1,100}}+)\t+",
           r"(?!\d+/)\S+(?=\s*$)"),
    _after("psk", r"(?:(?<![\w.])psk[\"']?\s?[=:]\s?|^\s*wpa-psk\s+|(?<!\S)--psk\s+)", rf"(?!<){_ARGUMENT}"),
    _after("--auth| -a ", r"\bhttps?\s.{0,500}?(?<!\S)(?:--auth|-a)[ =][\"']?[^\s:\"']{1,200}:", r"[^\s\"']+"),
    _after("--auth-type|-a bearer",
           r"\bhttps?\s(?=.{0,500}?(?:--auth-type|-A)[ =](?:bearer|jwt)\b).{0,500}?\s(?:--auth|-a)[ =]", _ARGUMENT,
           flags=0),
    _after("ldap", r"\bldap\w+\b.{0,500}?\s-w\s*", rf"(?!-){_ARGUMENT}", flags=0),
    _after("snowsql", r"\bsnowsql\b.{0,500}?\s-p\s*", rf"(?!-){_ARGUMENT}", flags=0),
    # Headers
    _after("auth", r"[\"']Authorization[\"']\s*:\s*[\"'](?:(?:Bearer|Basic|Token)\s+)?",
           r"(?!(?:Bearer|Basic|Token)\b)[^\"']+"),
    _after("sessionid", r"\bJ?sessionid=", r"[\w.%:-]{16,}"),
    _after("hooks", r"(?:hooks\.slack\.com/\w+/|/api/webhooks/\d+/)", r"[\w/.-]+"),
    _after("auth", r"\bAuthorization\s*[=:]\s*\"?(?:(?:Bearer|Basic|Token|Digest)\s+)?",
           r"(?!(?:Bearer|Basic|Token)\b)[^\s\"']+.*"),
    _after("cookie", r"\b(?:Set-)?Cookie\s*:\s*", r".+"),
    _after("bearer", r"\bBearer\s+", r"[\w.~+/=-]{8,}"),
    # Tokens that are known by their shape; what PostgreSQL keeps of a password
    _after("scram-sha-|\"md5", r"(?:SCRAM-SHA-\d+\$\d+:|\"md5(?=[\da-f]{32}\"))", r"[^\s\"']+"),
    _after("ghp_|gho_|ghu_|ghs_|ghr_", r"\b", r"gh[pousr]_[A-Za-z0-9]{20,}", flags=0),
    _after("github_pat|glpat-|dckr_pat", r"\b", r"(?:github_pat_|glpat-|dckr_pat_)[\w-]{16,}", flags=0),
    _after("xoxa-|xoxb-|xoxp-|xoxr-|xoxs-", r"\b", r"xox[abprs]-[\w-]{10,}", flags=0),
    _after("akia|asia", r"\b", r"(?:AKIA|ASIA)[0-9A-Z]{16}\b", flags=0),
    _after("aiza", r"\b", r"AIza[\w-]{30,}", flags=0),
    _after("sk-|hf_|npm_|pypi-|hvs.|dop_v1", r"\b", r"(?:sk-|hf_|npm_|pypi-|hvs\.|dop_v1_)[\w-]{20,}", flags=0),
    _after("sg.", r"\b", r"SG\.[\w-]{16,}\.[\w-]{16,}", flags=0),
    _after("eyj", r"\b", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+", flags=0),
    # Benchsite's own: of people, agents, jobs, observations; codes
    _after("bs_|bsc_|bst_|bsa_|bsj_|bso_", r"\b", r"bs[catjo]?_[\w-]{32,}", flags=0),
)  # fmt: skip
_ASSIGNED = frozenset([*_TELLS.split("|"), "pw", "derby.user", "key", "sst_auth", "sst-auth", "neo4j"])
_WORDS = _ASSIGNED.union(*(pattern.words for pattern in _PATTERNS))
# The fewest that tell: none that holds another.
_HINTS = frozenset(word for word in _WORDS if not any(other in word for other in _WORDS - {word}))
# Tools print " @ ", too.
_HINT_ALONE = {"@": r"(?<=\S)@(?=\S)"}
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# What stands on several lines.
_PRIVATE_KEY = re.compile(r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)((?:(?!-----)[\s\S]){0,20000})")
_NAME_AND_VALUE = re.compile(
    rf"(<name>\s*{_SECRET_IN_NAME}[\w.:-]{{1,200}}+\s*</name>\s*<value>)([^<]+)", re.IGNORECASE
)

# A pair as Kubernetes and Compose have it, in YAML on two lines.
_NAMED_VALUE = re.compile(
    rf"[\"']?\bname[\"']?\s{{0,9}}:\s{{0,9}}[\"']?{_SECRET_IN_NAME}(?P<name>[\w.:-]{{1,200}}+)[\"']?\s{{0,9}},?\s{{0,60}}"
    rf"[\"']?value[\"']?\s{{0,9}}:[ \t]{{0,9}}(?P<hidden>{_QUOTED}|[^\s,}}\"']+)",
    re.IGNORECASE,
)
# A value that is the next item of a list, as of arguments or of what Redis answers; of a file .netrc on the next line.
_NEXT_ITEM = re.compile(
    rf"^[ \t]*(?:-[ \t]+[\"']?--?|\d+\)[ \t]+[\"']|(?=requirepass|masterauth)){_SECRET_IN_NAME}"
    rf"(?P<name>[\w.-]{{1,200}}+)[\"']?[ \t]*\r?\n[ \t]*(?:-[ \t]+|\d+\)[ \t]+)?(?P<hidden>{_QUOTED}|[^\s\"'-]\S*)",
    re.IGNORECASE | re.MULTILINE,
)
_LOGIN = re.compile(r"\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+(?P<hidden>[^\s;'\"]+)", re.IGNORECASE)
# A value on the line after its name: quoted, or further in as YAML has it; after | or > all lines that stand so.
_VALUE_BELOW = re.compile(
    r"^(?P<indent>[ \t]*)(?:- |\{[ \t]*)?[\"']?(?=[\w.-]{0,100}(?:pass|pwd|secret|token|credential|key))"
    r"(?P<name>[\w.-]{1,200}+)[\"']?[ \t]*[:=][ \t]*(?P<block>[|>][+-]?\d?[ \t]*)?\r?\n"
    rf"(?=[ \t]*[\"']|(?P=indent)[ \t])[ \t]*(?P<hidden>{_QUOTED}"
    r"|(?(block)|(?![#<\[{&*!|>-]|[\w.\"'-]+[ \t]?[:=]))[^\s\"'][^\r\n]*"
    r"(?(block)(?:\r?\n(?P=indent)[ \t]+\S[^\r\n]*)*))",
    re.IGNORECASE | re.MULTILINE,
)


def names_a_secret(name: str) -> bool:
    """Whether a name's words name a secret: the telling one, what stands before it and what after it."""
    if _SECRET_NAME.fullmatch(name):
        return True
    if name in _FOLDERS or _HARMLESS_NAME.fullmatch(name.lower()):
        return False
    words = [word.lower() for word in _WORD.findall(name)]
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if _is_telling(word, before):
            after = words[at + 1 :]
            return not _HARMLESS_AFTER.intersection(after) or bool(_SECRET_AFTER_ALL.intersection(after))
    return False


def _is_telling(word: str, before: str) -> bool:
    if word == "key":
        return before in _SECRET_KEYS
    harmless = _HARMLESS_BEFORE.get(word, frozenset())
    return bool(_TELLING_WORD.fullmatch(word)) and word not in _NO_SECRETS and before not in harmless


def redact_value(name: str, value: str | None) -> str | None:
    """The value of a setting without its secrets; nothing of it where its name says that it is one."""
    if value and names_a_secret(name):
        return value if _HARMLESS_VALUE.fullmatch(value) else REDACTED
    if not value:
        return value
    # Some are known by what stands before them: user default on >x
    value = redact_text(value)
    head, redacted = f"{name} ", redact_text(f"{name} {value}")
    return redacted.removeprefix(head) if redacted.startswith(head) else value


def is_suspicious(text: str) -> bool:
    """Whether there may be something to take out: a cheap look at much."""
    lowered = text.translate(_ASCII_LOWER)
    return any(map(lowered.__contains__, _HINTS))


def redact_json(value: Any, name: str = "") -> Any:
    """A copy without secrets: neither under a key or in a pair whose name tells, nor within a text."""
    if isinstance(value, str):
        return redact_value(name, value)
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(each, str) for each in value):
            return [redact_json(value[0]), redact_json(value[1], value[0])]
        # A value stands behind its option in a list of arguments.
        options = (each if isinstance(each, str) and each.startswith("-") else "" for each in ["", *value])
        return [redact_json(each, option) for option, each in zip(options, value, strict=False)]
    if not isinstance(value, dict):
        return value
    kept = {key: redact_json(inner, key) for key, inner in value.items()}
    pair = kept.get("name"), kept.get("value")
    if isinstance(pair[0], str) and pair[1] is not None and (isinstance(pair[1], str) or names_a_secret(pair[0])):
        kept["value"] = redact_value(pair[0], str(pair[1]))
    return kept


def redact_text(text: str) -> str:
    """Any text (a log, a command line, a configuration file) with the values of secrets replaced; lines stay lines."""
    parts, done = [], 0
    for begin, end, lowered in _suspicious_lines(text):
        line, present = text[begin:end], {*filter(lowered.__contains__, _WORDS)}
        for pattern in _PATTERNS:
            if not present.isdisjoint(pattern.words):
                line = pattern.pattern.sub(_hide, line)
        if not present.isdisjoint(_ASSIGNED):
            line = _without_assigned(line)
        parts += [text[done:begin], line]
        done = end
    if not parts:
        return text
    text = "".join([*parts, text[done:]])
    for of_lines in (_PRIVATE_KEY, _NAME_AND_VALUE):
        text = of_lines.sub(lambda match: match[1] + REDACTED + "\n" * match[2].count("\n"), text)
    for of_lines in (_NAMED_VALUE, _NEXT_ITEM, _LOGIN, _VALUE_BELOW):
        text = of_lines.sub(_hide, text)
    return text


def _suspicious_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Begin, end and lower case of lines that hold a hint, with those in which a command goes on behind a backslash.

    Most of a log holds none, and is looked at once a hint.
    """
    lowered = text.translate(_ASCII_LOWER)
    if not (hints := [*filter(lowered.__contains__, _HINTS)]):
        return
    any_of_them, end = re.compile("|".join(_HINT_ALONE.get(hint, re.escape(hint)) for hint in hints)), 0
    while hint := any_of_them.search(lowered, end):
        begin = text.rfind("\n", 0, hint.start()) + 1
        while text[begin - 2 : begin] == "\\\n":
            begin = text.rfind("\n", 0, begin - 1) + 1
        end = text.find("\n", hint.end())
        while end > 0 and text[end - 1] == "\\":
            end = text.find("\n", end + 1)
        end = len(text) if end < 0 else end
        yield begin, end, lowered[begin:end]


def _without_assigned(line: str) -> str:
    """What is assigned to a name that names a secret: `password = x`, `"token": "x"`, `--password x`."""
    parts, done = [], 0
    for telling in _TELLING.finditer(line):
        if telling.start() < done:
            continue
        least = max(telling.start() - _MAX_NAME, 0)
        before = _BEFORE_NAME.match(line, least, telling.start())
        begin, rest = before.end() if before else least, _REST_OF_NAME.match(line, telling.end())
        end = rest.end() if rest else telling.end()
        name, separator = line[begin:end], _SEPARATOR.match(line, end)
        # Prose ("password authentication failed") has a blank only; what stands after = or : is a value.
        if separator is None or (not separator[0].strip() and not name.startswith("-")):
            continue
        value = _VALUE.match(line, separator.end())
        if value is None or not names_a_secret(_with_word_before(line, begin, name)):
            continue
        if _HARMLESS_VALUE.fullmatch(value[0]):
            continue
        if name.lower() == "pass" and _COUNT_OF_PASSES.match(line, separator.end()):
            continue
        parts += [line[done : separator.end()], _in_quotes(value[0])]
        done = _end_of_value(line, begin, value)
    return "".join([*parts, line[done:]])


def _with_word_before(line: str, begin: int, name: str) -> str:
    """`API key: x` and `unexpected token: x` need the word before."""
    before = re.search(r"([A-Za-z0-9]+) \Z", line[max(begin - 40, 0) : begin])
    return f"{before[1]}_{name}" if before and re.fullmatch(r"key|token|pass", name, re.IGNORECASE) else name


def _in_quotes(value: str) -> str:
    quote = re.match(r"\\*[\"']|", value)
    return f"{quote and quote[0]}{REDACTED}{quote and quote[0]}"


def _end_of_value(line: str, begin: int, value: re.Match[str]) -> int:
    """Alone on its line a value goes to the end of it: `password = a;b,c`."""
    rest = line[value.end() :]
    if value[0][0] in "\"'" or not re.fullmatch(r"[\s#;*-]*(?:export\s+|set\s+)?", line[:begin]):
        return value.end()
    return len(line.rstrip()) if re.fullmatch(r"[;&,<>][^\s=:]+\s*", rest) else value.end()
