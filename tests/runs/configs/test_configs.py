"""Configurations: taken from files byte for byte, revised, never changed, compared by name and by meaning."""

from __future__ import annotations

import pytest
from benchagent.catalog import DBMSS, Durability
from benchagent.redaction import REDACTED

from runs import configs
from runs.access import changes
from runs.configs import ConfigError, Content, FileText, Parameter
from runs.configs.diff import across_engines
from runs.models import Config, ConfigFile, ConfigParameter, Run
from tests.benchagent.configfiles.samples import SAMPLES
from tests.benchagent.importers.mutations import mutations
from tests.runs.builders import SQLITE_SETTINGS, scheduled

pytestmark = pytest.mark.django_db

MY_CNF = "[mysqld]\ninnodb_buffer_pool_size = 4G\t# most of it\ninnodb-flush-log-at-trx-commit=2\nskip-name-resolve\n"
POSTGRESQL = "shared_buffers = 4GB\nwork_mem=8MB\nwork_mem = 16MB # twice\r\n"


def of(text: str, **given) -> Config:
    """A configuration of one file, as pages read it."""
    by = given.pop("by", None)
    name = given.pop("file_name", "a.conf")
    made = configs.create_config(Content(files=[FileText(name, text)], **given), by=by)
    return fresh(made)


def fresh(config: Config) -> Config:
    return configs.for_pages(Config.objects.all()).get(pk=config.pk)


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "plain"])
def test_it_keeps_a_file_byte_for_byte_but_for_its_secrets(sample):
    config = of(SAMPLES[sample])
    (file,) = configs.files_of(config)
    assert file.text.replace(REDACTED, "hunter2") == SAMPLES[sample]
    assert (file.format, file.written) == (sample, False)
    assert "hunter2" not in str(list(ConfigParameter.objects.values_list("value", "comment")))


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "plain"])
def test_it_stores_damaged_files_as_they_are_or_says_what_is_wrong(sample):
    dbms = {"my_cnf": "mysql", "init_ora": "oracle"}.get(sample, sample)
    stored = 0
    for _, data in mutations(SAMPLES[sample].encode(), seed=7, count=42):
        text = data.decode("latin-1")
        try:
            config = of(text, dbms=dbms)
        except ConfigError as refused:
            assert all(refused.errors.values())
            continue
        stored += 1
        (file,) = configs.files_of(config)
        assert file.text == text or REDACTED in file.text
        assert [row.parameter.position for row in configs.parameter_rows(config)] == list(
            range(1, config.parameters.count() + 1)
        )
        configs.meanings_of(config)
        configs.durability_of(config)
    assert stored > 20


def test_it_keeps_order_duplicates_flags_comments_and_lines():
    config = of(MY_CNF)
    found = [(one.line, one.section, one.name, one.value, one.comment) for one in config.parameters.all()]
    assert found == [
        (2, "mysqld", "innodb_buffer_pool_size", "4G", "most of it"),
        (3, "mysqld", "innodb-flush-log-at-trx-commit", "2", ""),
        (4, "mysqld", "skip-name-resolve", None, ""),
    ]
    assert config.dbms.slug == "mysql"
    rows = configs.parameter_rows(of(POSTGRESQL))
    assert [(row.parameter.name, row.duplicate, row.overridden) for row in rows] == [
        ("shared_buffers", False, False), ("work_mem", True, True), ("work_mem", True, False)
    ]  # fmt: skip
    assert [row.quantity.words for row in rows if row.quantity] == ["4 GiB", "8 MiB", "16 MiB"]


def test_it_makes_one_row_of_equal_files_and_another_of_any_other_byte():
    first = of(MY_CNF)
    assert of(MY_CNF).pk == first.pk
    second = of(MY_CNF + "\n")
    assert second.pk != first.pk
    # Was: both were called after the name of the file, and two series of results with them.
    assert second.name != first.name
    assert of(MY_CNF, file_name="b.cnf").pk != first.pk
    assert of(MY_CNF, dbms="mariadb").pk != first.pk


def test_it_takes_several_files():
    files = [
        FileText("my.cnf", "!include b.cnf\n!includedir /etc/x\n" + MY_CNF),
        FileText("b.cnf", "[mysqld]\nport=1\n"),
    ]
    config = fresh(configs.create_config(Content(files=files), by=None))
    assert [file.name for file in configs.files_of(config)] == ["my.cnf", "b.cnf"]
    assert [one.position for one in config.parameters.all()] == [1, 2, 3, 4]
    assert config.details["includes_missing"] == ["/etc/x"]
    settings = configs.settings_of(config)
    assert settings.words("innodb_doublewrite") == "innodb_doublewrite not stated"


@pytest.mark.parametrize(
    ("files", "given", "field", "words"),
    [
        ([], {}, "files", "Give a file"),
        ([FileText("a", "hello world\n")], {}, "files[0].format", "cannot be told"),
        ([FileText("", MY_CNF)], {}, "files[0].name", "1 to 200"),
        ([FileText("a", "x\x00y")], {}, "files[0].text", "NUL"),
        ([FileText("a", "x\ud800y")], {}, "files[0].text", "halves"),
        ([FileText("a", "x" * 1_000_001)], {}, "files[0].text", "1,000,000"),
        ([FileText("a", "x\n" * 20_001)], {}, "files[0].text", "20,000"),
        ([FileText("a", MY_CNF, "ini")], {}, "files[0].format", "No such format"),
        ([FileText("a", MY_CNF), FileText("b", POSTGRESQL)], {}, "dbms", "different"),
        ([FileText("a", MY_CNF)], {"dbms": "postgresql"}, "files[0].format", "no file of postgresql"),
        ([FileText("a", "x=1\n", "plain")], {}, "dbms", "Choose one"),
        ([FileText("a", "x=1\n", "plain")], {"dbms": "nosql"}, "dbms", "No DBMS"),
        ([FileText("a", MY_CNF)], {"name": "x" * 201}, "name", "200"),
        ([FileText("a", MY_CNF)], {"versions": ["mysql-9"]}, "versions", "No version"),
        ([FileText("a", "[mysqld]\n" + "a=1\n" * 5001)], {}, "files", "5,000"),
        ([FileText("a", MY_CNF)] * 51, {}, "files", "50"),
    ],
)
def test_it_names_the_field_that_is_wrong_and_stores_nothing(files, given, field, words):
    with pytest.raises(ConfigError) as refused:
        configs.create_config(Content(files=files, **given), by=None)
    assert words in refused.value.errors[field][0]
    assert not ConfigFile.objects.exists()
    assert not Config.objects.exists()


def test_it_reads_a_file_that_tells_nothing_by_the_dbms_that_was_chosen():
    config = of("my.thing = 1\n", dbms="postgresql")
    assert configs.files_of(config)[0].format == "postgresql"


def test_it_makes_a_revision_and_leaves_what_runs_have_used(operator):
    first = of(MY_CNF, name="Shop", by=operator)
    run = scheduled()
    Run.objects.filter(pk=run.pk).update(config=first)

    second = configs.revise(first, Content(files=[FileText("a.conf", MY_CNF + "port=1\n")]), by=operator, note="port")
    third = configs.revise(second, Content(files=[FileText("a.conf", MY_CNF + "port=2\n")]), by=operator)

    assert [(one.revision, one.revision_of, one.name) for one in (first, second, third)] == [
        (1, None, "Shop"), (2, first, "Shop"), (3, first, "Shop")
    ]  # fmt: skip
    assert configs.files_of(fresh(first))[0].text == MY_CNF
    assert Run.objects.get(pk=run.pk).config == first
    assert [one.pk for one in configs.family_of(second, operator)] == [first.pk, second.pk, third.pk]
    change = changes.history(second).get()
    assert (change.old, change.reason, change.by) == (first.slug, "port", operator)


def test_it_names_the_dbms_of_scheduled_and_uploaded_configurations_and_keeps_their_digest():
    run = scheduled()
    assert run.config.dbms == run.dbms_version.dbms
    same = configs.resolve_config("sqlite", SQLITE_SETTINGS)
    assert same == run.config
    # The digest of a list of settings is what it was before files could be given.
    assert same.digest == "82dc8d78adba998c8d74916dba333a90ebe258b5536fbdf2db8bff0c0056d316"


def test_two_configurations_never_have_the_same_name():
    long = [(f"a_rather_long_setting_name_{place}", "value") for place in range(20)]
    two = [[*long, ("last", value)] for value in ("1", "2")]
    orders = [[("a", "1"), ("b", "2"), *SQLITE_SETTINGS], [*SQLITE_SETTINGS, ("b", "2"), ("a", "1")]]
    twins = [[("a", "1"), ("a", "1")], [("a", "1")]]
    made = [configs.resolve_config("sqlite", one) for one in (*two, *orders, *twins)]
    assert len({config.name for config in made}) == len({config.pk for config in made}) == len(made)
    assert all(len(config.name) <= 200 for config in made)


def test_settings_that_people_have_a_name_for_are_called_by_it():
    made = configs.resolve_config("sqlite", [("cache_size", "7")])
    assert made.name.startswith("SQLite: cache_size=7")
    assert configs.resolve_config("sqlite", [("cache_size", "7")], called="tuned").name == "SQLite, tuned"
    assert configs.resolve_config("sqlite", [("cache_size", "7")]).name == "SQLite, tuned"
    other = configs.resolve_config("sqlite", [("cache_size", "8")], called="tuned")
    assert other.name == f"SQLite, tuned ({other.digest[:8]})"
    assert configs.resolve_config("sqlite", SQLITE_SETTINGS, called="tuned").name == "SQLite, standard"
    (name, value), *others = SQLITE_SETTINGS
    assert configs.resolve_config("sqlite", [*others, (name, value)]).name == f"SQLite: {name}={value}"


def test_settings_in_another_order_are_one_configuration_unless_they_are_commands():
    """Seen: "PostgreSQL, standard" beside "PostgreSQL: synchronous_commit=on", of the same three settings."""
    (first, *others), more = DBMSS["postgresql"].settings, ("work_mem", "8MB")
    standard = configs.resolve_config("postgresql", [first, *others])
    assert configs.resolve_config("postgresql", [*others, first]) == standard
    typed = configs.resolve_config("postgresql", [more, ("jit", "off"), first, *others])
    assert configs.resolve_config("postgresql", [*others, ("jit", "off"), first, more]) == typed != standard
    # The last value of one counts.
    twice = [configs.resolve_config("postgresql", [("jit", one), ("jit", two)]) for one, two in ("01", "10")]
    assert len({standard, typed, *twice}) == 4
    # SQLite takes no page size after WAL.
    (wal, *_), size = SQLITE_SETTINGS, ("page_size", "8192")
    assert configs.resolve_config("sqlite", [wal, size]) != configs.resolve_config("sqlite", [size, wal])


# Literature


def literature(slug: str) -> Config:
    return configs.for_pages(Config.objects.all()).get(slug=slug)


@pytest.mark.parametrize(("slug", "format"), [("cfg-cubrid-cubrid", "cubrid"), ("cfg-cubrid-mysql", "my_cnf")])
def test_it_writes_the_files_of_the_cubrid_article_and_reads_the_same(published, slug, format):
    config = literature(slug)
    (file,) = configs.files_of(config)
    assert (file.format, file.written, file.name) == (format, True, config.file_name)
    assert config.dbms is not None

    again = of(file.text, file_name=file.name)

    columns = ("position", "section", "name", "value", "comment")
    assert list(again.parameters.values_list(*columns)) == list(config.parameters.values_list(*columns))
    assert configs.files_of(again)[0].text == file.text


@pytest.mark.parametrize(
    ("slug", "expected", "words"),
    [
        ("cfg-cubrid-cubrid", Durability.BOUNDED_LOSS, "about a second may be lost"),
        ("cfg-cubrid-mysql", Durability.BOUNDED_LOSS, "innodb_flush_log_at_trx_commit=0"),
        ("cfg-firebird", None, "property of the database"),
        ("cfg-gbak", None, "property of the database"),
        ("cfg-tpcb-default", None, "no setting is stated"),
        ("cfg-tpcb-db2-cg2", Durability.POWER_LOSS, "mincommit=2"),
    ],
)
def test_it_derives_the_durability_of_published_configurations(published, slug, expected, words):
    found = configs.durability_of(literature(slug))
    assert (found.durability, words in found.reason) == (expected, True), found


def test_it_multiplies_page_buffers_by_the_page_size_that_an_article_states(published):
    found = dict(configs.meanings_of(literature("cfg-firebird")))["Buffer pool"].quantity
    assert found.value == 163_840_000
    found = dict(configs.meanings_of(literature("cfg-gbak")))["Buffer pool"].quantity
    assert found.words == "128 MiB"


# Differences


def statuses(rows):
    return {row.key: str(row.status) for row in rows}


def test_it_compares_by_name_within_one_engine_with_units_and_defaults():
    one = of("shared_buffers = 128MB\nwork_mem = 4MB\nfsync = on\nport = 5433\nrandom_page_cost=4\nx.y=1\n")
    two = of("shared_buffers = 16384\nwork_mem = 8192\nx.z = 2\n")
    assert not across_engines([one, two])
    assert statuses(configs.diff([one, two])) == {
        "shared_buffers": "equal",  # 16384 blocks of 8 kB
        "work_mem": "changed",
        "fsync": "equal",  # on is the default
        "port": "only_in",
        "random_page_cost": "equal",
        "x.y": "only_in",
        "x.z": "only_in",
    }


def test_it_compares_three_engines_by_meaning():
    three = [
        of("shared_buffers = 4GB\nmax_connections=100\n"), of(MY_CNF),
        of("derby.storage.pageCacheSize=1048576\nderby.storage.pageSize=4096\n"),
    ]  # fmt: skip
    assert across_engines(three)
    rows = {row.key: row for row in configs.diff(three)}
    assert rows["buffer_pool"].status == "equal"
    assert rows["commit_flush"].status == "changed"
    assert rows["max_connections"].cells[2].absent
    assert rows["max_connections"].status == "unknown"  # without a version MySQL's default is not known
    assert rows["deadlock_check"].status == "changed"


def test_it_takes_a_dash_for_an_underscore_and_kin_for_one_engine():
    one = of("[mysqld]\ninnodb-buffer-pool-size=1024M\nskip-name-resolve\n[client]\nport=1\n")
    two = of("[mysqld]\ninnodb_buffer_pool_size=1G\nskip_name_resolve\n", dbms="mariadb")
    assert not across_engines([one, two])
    found = statuses(configs.diff([one, two]))
    assert found == {"innodb_buffer_pool_size": "equal", "skip_name_resolve": "equal", "port": "only_in"}


def test_it_compares_configurations_of_unknown_engines_by_name():
    parameters = [[Parameter("cache", "1"), Parameter("flag", None)], [Parameter("cache", "2")]]
    two = [fresh(configs.config_of("nosql", "NoSQL", one, provenance="uploaded")[0]) for one in parameters]
    assert statuses(configs.diff(two)) == {"cache": "changed", "flag": "only_in"}


def test_it_needs_the_same_few_queries_whatever_the_size(django_assert_num_queries):
    big = of("".join(f"a.b{number} = {number}\n" for number in range(500)), dbms="postgresql")
    with django_assert_num_queries(0):
        configs.parameter_rows(big)
        configs.meanings_of(big)
        configs.durability_of(big)
        configs.files_of(big)
