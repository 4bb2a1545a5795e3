"""Pages of configurations: list, detail, files, differences, form with preview, revisions."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import SimpleUploadedFile

from runs import configs
from runs.configs import Content, FileText
from runs.listing.filters import dbms_choices
from runs.models import Config, DbmsVersion, Run
from tests.runs.builders import scheduled
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db

# Far more versions than one page shows.
MANY = 250
MY_CNF = "[mysqld]\r\ninnodb_buffer_pool_size = 4G # most\r\nskip-name-resolve\r\nserver_id=1\r\nserver_id=2\r\n"
POSTGRESQL = "shared_buffers = 4GB\nfsync = on\n"


def page(response) -> str:
    """Text of a page without tags, blanks as one."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", response.content.decode())).split())


def made(text: str = MY_CNF, *, by=None, **given) -> Config:
    return configs.create_config(Content(files=[FileText("my.cnf", text)], **given), by=by)


def kept_of(response) -> list[str]:
    return re.findall(r'name="kept" value="([^"]+)"', response.content.decode())


def test_it_says_what_to_do_when_there_is_none(client):
    text = page(client.get("/configs/"))
    assert "No configuration yet" in text
    assert "paste or upload your postgresql.conf" in text


def test_it_lists_and_filters_by_words_parameters_and_dbms(client, published):
    everything = page(client.get("/configs/"))
    assert "my.cnf of the CUBRID test" in everything
    assert "cubrid.conf of the CUBRID test" in everything
    by_parameter = page(client.get("/configs/", {"q": "innodb_thread_concurrency"}))
    assert "my.cnf of the CUBRID test" in by_parameter
    assert "cubrid.conf of the CUBRID test" not in by_parameter
    by_dbms = page(client.get("/configs/", {"dbms": "cubrid"}))
    assert "cubrid.conf of the CUBRID test" in by_dbms
    assert "my.cnf of the CUBRID test" not in by_dbms
    assert "No configuration matches" in page(client.get("/configs/", {"q": "nowhere"}))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/configs/?q=%00a", 200), ("/configs/?dbms=%00", 200), ("/configs/?page=x", 200), ("/dbms/?q=%00", 200),
        ("/hardware/diff/?machine=a%00b", 404), ("/configs/diff/?config=a%00b", 200),
    ],
)  # fmt: skip
def test_it_bears_odd_addresses(client, path, status):
    made()
    assert client.get(path).status_code == status


def test_what_is_there_already_is_said_to_be_with_the_name_that_was_dropped(client, contributor):
    client.force_login(contributor)
    given = {"pasted": POSTGRESQL, "pasted_name": "postgresql.conf", "store": "1"}
    assert "Alpha is stored." in page(client.post("/configs/new/", given | {"name": "Alpha"}, follow=True))
    text = page(client.post("/configs/new/", given | {"name": "Gamma"}, follow=True))
    assert "Nothing was stored: Alpha is there already with the same content. The name Gamma was dropped." in text
    assert "Rename it, or give yours" in text
    assert Config.objects.count() == 1


def test_it_lists_in_pages(client):
    for number in range(51):
        made(f"[mysqld]\nport={number}\n", name=f"No {number:02}")
    text = page(client.get("/configs/"))
    assert "Page 1 of 2, 51 configurations" in text
    assert "No 50" not in text
    assert "No 50" in page(client.get("/configs/", {"page": "2"}))


def test_it_shows_the_file_of_the_article_with_duplicates_flags_and_pages(client, published):
    text = page(client.get("/configs/cfg-cubrid-cubrid/"))
    assert "262,144 pages" in text
    assert "1 GiB with" in text and "4 GiB with" in text
    assert "given 2 times, which one counts is not documented" in text
    assert "this one counts" not in text
    twice = page(client.get(f"/configs/{made().slug}/"))
    assert "given again below" in twice
    assert "given 2 times, this one counts" in twice
    assert "about a second may be lost" in text
    assert "written from the parameters above" in text
    stated = page(client.get("/configs/cfg-tpcb-default/"))
    assert "no setting is stated" in stated
    assert "a transaction is on disk before COMMIT returns" in stated
    flags = page(client.get("/configs/cfg-cubrid-mysql/"))
    assert "not read by the server" in flags  # [client]
    assert "4 GiB" in flags
    assert client.get("/configs/nowhere/").status_code == 404


def test_it_gives_a_file_back_byte_for_byte(client):
    config = made()
    response = client.get(f"/configs/{config.slug}/files/1/")
    assert response.content == MY_CNF.encode()
    assert response["Content-Disposition"] == 'attachment; filename="my.cnf"'
    assert response["Content-Type"].startswith("text/plain")
    assert client.get(f"/configs/{config.slug}/files/2/").status_code == 404


def test_it_lists_the_runs_that_used_it_and_leads_to_all(client):
    config = made()
    run = scheduled()
    Run.objects.filter(pk=run.pk).update(config=config)
    response = client.get(f"/configs/{config.slug}/")
    assert f"/runs/?config={config.slug}" in response.content.decode()
    assert "All 1 run" in page(response)


def test_it_counts_unlisted_runs_for_nobody_else(client, operator):
    config = made()
    run = scheduled()
    Run.objects.filter(pk=run.pk).update(config=config, visibility="unlisted", owner=operator)
    text = page(client.get(f"/configs/{config.slug}/"))
    assert "No run has used it yet" in text


# Differences


def test_it_compares_engines_by_meaning_and_says_what_cannot_be_told(client, published):
    response = client.get("/configs/diff/?config=cfg-cubrid-cubrid&config=cfg-cubrid-mysql")
    text = page(response)
    assert "By meaning" in text
    assert "Buffer pool" in text
    assert "cannot be told" in text
    assert "no such setting" in text
    assert 'aria-current="page"' in response.content.decode()


def test_it_compares_by_name_and_shows_only_differences_unless_asked(client):
    one, two = made(), made("[mysqld]\ninnodb_buffer_pool_size=4096M\nport=1\n")
    address = f"/configs/diff/?config={one.slug}&config={two.slug}"
    short, everything = client.get(address).content.decode(), client.get(f"{address}&show=all").content.decode()
    assert "innodb_buffer_pool_size" not in short
    assert "server_id" in short
    assert "innodb_buffer_pool_size" in everything
    assert "1 equal" in page(client.get(address))


@pytest.mark.parametrize("query", ["", "?config=", "?config=nowhere&config=x", "?by=sideways&show=nothing&config=%00"])
def test_it_refuses_no_comparison_and_marks_what_is_unknown(client, query):
    response = client.get(f"/configs/diff/{query}")
    assert response.status_code == 200
    assert "Choose two configurations" in page(response)
    assert ("There is no configuration" in page(response)) == ("nowhere" in query)


# The form


def test_it_previews_without_storing_and_keeps_the_files(client, contributor):
    client.force_login(contributor)
    upload = SimpleUploadedFile("my.cnf", MY_CNF.encode() + b"password=hunter2\r\nnonsense = \r\n=x\r\n")
    response = client.post("/configs/new/", {"files": [upload], "preview": "1"})
    text = page(response)
    assert "my.cnf (MySQL, MariaDB), recognised by its content" in text
    assert "6 parameters" in text
    assert "a value without a name" in text
    assert "hunter2" not in response.content.decode()
    assert not Config.objects.exists()
    (kept,) = kept_of(response)
    assert "hunter2" not in str(__import__("base64").b64decode(kept))


def test_a_unit_that_no_server_reads_is_said_before_and_after_it_is_stored(client, contributor):
    client.force_login(contributor)
    text = POSTGRESQL.replace("4GB", "12GX") + "max_connections = many\n"
    preview = page(client.post("/configs/new/", {"pasted": text, "pasted_name": "postgresql.conf", "preview": "1"}))
    config = made(text)
    assert "line 1: shared_buffers=12GX" in preview and "max_connections=many: not a number" in preview
    assert "unit GX" in page(client.get(f"/configs/{config.slug}/"))
    assert "unit" not in page(client.get(f"/configs/{made(POSTGRESQL).slug}/"))


def test_it_stores_what_was_previewed_byte_for_byte(client, contributor):
    client.force_login(contributor)
    first = client.post("/configs/new/", {"files": [SimpleUploadedFile("a.cnf", MY_CNF.encode())], "preview": "1"})
    kept = kept_of(first)
    again = {"kept": kept, "format": [""], "file_name": ["a.cnf"], "text": [MY_CNF], "name": "Shop", "store": "1"}
    response = client.post("/configs/new/", again)
    config = Config.objects.get()
    assert response.status_code == 302
    assert response["Location"] == f"/configs/{config.slug}/"
    assert (config.name, config.created_by, config.files.get().text) == ("Shop", contributor, MY_CNF)


def test_it_takes_a_pasted_file_with_plain_line_ends(client, contributor):
    client.force_login(contributor)
    client.post("/configs/new/", {"pasted": "shared_buffers = 4GB\r\nfsync = on", "pasted_name": "postgresql.conf"})
    file = Config.objects.get().files.get()
    assert (file.name, file.text) == ("postgresql.conf", "shared_buffers = 4GB\nfsync = on\n")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Give a file, or paste one."),
        ({"pasted": "hello"}, "cannot be told from its content"),
        ({"pasted": POSTGRESQL, "dbms": "mysql"}, "is no file of mysql"),
        ({"pasted": POSTGRESQL, "dbms": "nosql"}, "Select a valid choice"),
        ({"pasted": POSTGRESQL, "page_size_bytes": "many"}, "many"),
        ({"kept": "%%%"}, "A file got lost on the way"),
        ({"files": SimpleUploadedFile("a.bin", b"\xff\xfe\x00")}, "not text in UTF-8"),
    ],
)
def test_it_says_what_is_wrong_and_stores_nothing(client, contributor, given, words):
    client.force_login(contributor)
    response = client.post("/configs/new/", given | {"store": "1"})
    assert response.status_code == 422
    assert words in page(response)
    assert not Config.objects.exists()


def test_it_asks_for_a_format_that_cannot_be_told_and_takes_the_answer(client, contributor):
    client.force_login(contributor)
    asked = client.post("/configs/new/", {"pasted": "cache=1\n", "pasted_name": "x", "preview": "1"})
    assert "Choose one." in page(asked)
    answer = {"kept": kept_of(asked), "format": ["plain"], "dbms": "sqlite", "store": "1"}
    assert client.post("/configs/new/", answer).status_code == 302
    assert Config.objects.get().parameters.get().name == "cache"


def test_it_makes_a_revision_of_an_edited_file_with_its_own_line_ends(client, contributor):
    client.force_login(contributor)
    config = made(by=contributor, name="Shop")
    run = scheduled()
    Run.objects.filter(pk=run.pk).update(config=config, owner=contributor)
    form = client.get(f"/configs/{config.slug}/edit/")
    edited = MY_CNF.replace("4G", "8G")
    sent = {"kept": kept_of(form), "format": ["my_cnf"], "text": [edited], "name": "Shop", "reason": "twice the memory"}
    response = client.post(f"/configs/{config.slug}/edit/", sent)
    assert response.status_code == 302
    second = Config.objects.get(revision=2)
    assert second.files.get().text == edited
    assert config.files.get().text == MY_CNF
    text = page(client.get(response["Location"]))
    assert "revision 2 of 2" in text
    assert "twice the memory" in text
    same = client.post(
        f"/configs/{second.slug}/edit/", sent | {"kept": kept_of(client.get(f"/configs/{second.slug}/edit/"))}
    )
    assert "Nothing differs from this revision." in page(same)


def test_it_renames_and_states_the_page_size(client, contributor):
    client.force_login(contributor)
    config = made("[common]\ndata_buffer_pages=262144\n", by=contributor)
    path = f"/configs/{config.slug}/correct/"
    assert client.get(path).status_code == 200
    client.post(path, {"name": "Buffer", "page_size_bytes": "16 KiB", "note": "createdb -s 16384"})
    text = page(client.get(f"/configs/{config.slug}/"))
    assert "4 GiB" in text
    assert "262,144 pages × 16 KiB (stated for the database)" in text
    assert "Buffer" in text
    assert client.post(path, {"name": ""}).status_code == 422


def test_it_lets_nobody_change_what_an_article_prints_and_only_makers_and_operators_the_rest(
    client, published, operator, contributor
):
    config = made(by=operator)
    client.force_login(operator)
    assert client.get("/configs/cfg-cubrid-mysql/edit/").status_code == 403
    client.force_login(contributor)
    for action in ("edit", "correct"):
        assert client.post(f"/configs/{config.slug}/{action}/", {"name": "x"}).status_code == 403
    assert "New revision" not in page(client.get(f"/configs/{config.slug}/"))


# DBMSs


def test_it_shows_the_dbms_with_aliases_configurations_and_results(client, published):
    listing = page(client.get("/dbms/"))
    assert "CUBRID" in listing
    assert "Firebird" in page(client.get("/dbms/", {"q": "2.5.2"}))
    text = page(client.get("/dbms/cubrid/"))
    assert "2008 R3.0" in text
    assert "8.3.0" in text
    assert "cubrid.conf of the CUBRID test" in text
    ranked = page(client.get("/dbms/postgresql/"))
    assert "Compare these runs" in ranked
    assert "546" in ranked
    assert client.get("/dbms/nowhere/").status_code == 404


def test_the_page_of_a_dbms_and_filters_have_its_versions_in_order(client):
    in_order = ["9.6", "10.0-rc1", "10.0", "18beta1", "18.1"]
    for version in ("18.1", "10.0", "9.6", "18beta1", "10.0-rc1"):
        make_run(f"PostgreSQL {version}", 5)
    page = client.get("/dbms/postgresql/")
    assert [version.version for version, _ in page.context["versions"]] == in_order
    choices = dict(dbms_choices(AnonymousUser(), []))
    assert [name for _, name in choices["PostgreSQL"]] == [f"PostgreSQL {version}" for version in in_order]


def test_many_versions_of_a_dbms_come_in_pages_and_few_of_them_in_filters(client):
    first = make_run("PostgreSQL 17", 100)
    dbms = first.dbms_version.dbms
    versions = DbmsVersion.objects.bulk_create(
        DbmsVersion(dbms=dbms, version=f"0.{number}", name=f"PostgreSQL 0.{number}", slug=f"postgresql-0-{number}")
        for number in range(MANY)
    )
    Run.objects.bulk_create(
        Run(
            batch=first.batch, workload=first.workload, dbms_version=version, state="finished", repeat=1,
            measured_at=first.measured_at, cell_key=version.slug,
        )
        for version in versions
    )  # fmt: skip
    shown = [len(client.get(f"/dbms/{dbms.slug}/?page={number}").context["versions"]) for number in (1, 2, 3)]
    assert shown == [100, 100, 51]
    choices = dict(dbms_choices(AnonymousUser(), ["postgresql-0-3"]))["PostgreSQL"]
    assert (len(choices), choices[0][0], choices[-1][0]) == (101, "postgresql-0-3", first.dbms_version.slug)
    assert client.get("/runs/?dbms=postgresql-0-3").context["filter"].form.is_valid()
