"""Configurations over REST: add, revise, correct, list, compare."""

from __future__ import annotations

import pytest

from runs.access import changes
from runs.dbms import version_of
from runs.models import Config, ConfigParameter, Dbms

pytestmark = pytest.mark.django_db

URL = "/api/v1/configs/"
MY_CNF = "[mysqld]\r\ninnodb_buffer_pool_size = 4G # most\r\nskip-name-resolve\r\nserver_id=1\r\nserver_id=2\r\n"


@pytest.fixture
def send(client, bearer):
    headers = bearer("read", "upload")

    def call(body, path=URL, method="post"):
        return getattr(client, method)(path, body, content_type="application/json", headers=headers)

    return call


@pytest.fixture
def config(send) -> dict:
    return send({"files": [{"name": "my.cnf", "text": MY_CNF}], "name": "Shop"}).json()


def test_it_takes_files_and_says_what_they_mean(send, operator):
    response = send({"files": [{"name": "my.cnf", "text": MY_CNF + "password=hunter2\r\n"}], "name": "Shop"})
    assert response.status_code == 201
    answer = response.json()
    assert (answer["slug"], answer["dbms"]["slug"], answer["revision"]) == ("shop", "mysql", 1)
    pool, flag, first, second, secret = answer["parameters"]
    assert (pool["value"], pool["normalised"]["value"], pool["normalised"]["words"]) == ("4G", 4 * 1024**3, "4 GiB")
    assert (pool["meaning"], pool["comment"], pool["line"], pool["file"]) == ("Buffer pool", "most", 2, "my.cnf")
    assert flag["value"] is None
    assert (first["overridden"], second["overridden"]) == (True, False)
    assert secret["value"] == "[redacted]"
    assert answer["files"][0]["text"] == MY_CNF + "password=[redacted]\r\n"
    assert answer["durability"]["durability"] == "power_loss"
    assert "default 1" in answer["durability"]["reason"]
    assert Config.objects.get().created_by == operator


def test_it_answers_the_same_with_200_for_an_equal_one(send, config):
    response = send({"files": [{"name": "my.cnf", "text": MY_CNF}]})
    assert (response.status_code, response.json()["slug"]) == (200, config["slug"])
    assert Config.objects.count() == 1


def test_it_takes_parameters(send):
    body = {
        "dbms": "sqlite",
        "parameters": [{"name": "synchronous", "value": "NORMAL"}, {"name": "shared_cache", "value": None}],
    }
    response = send(body)
    assert response.status_code == 201
    answer = response.json()
    assert answer["durability"]["durability"] == "dbms_crash"
    assert answer["files"][0]["written"] is True
    assert answer["files"][0]["text"] == "synchronous = NORMAL\nshared_cache\n"
    assert send(body).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "files"),
        ({"files": []}, "files"),
        ({"files": [{"name": "a", "text": "hello"}]}, "files[0].format"),
        ({"files": [{"name": "a", "text": "x=1", "format": "ini"}]}, "files[0].format"),
        ({"files": [{"name": "a", "text": "work_mem=1MB\n"}], "dbms": "mysql"}, "files[0].format"),
        ({"files": [{"name": "a", "text": "work_mem=1MB\n"}], "parameters": [{"name": "a", "value": "b"}]}, "files"),
        ({"files": [{"name": "a", "text": "a\u0000b"}]}, "files[0].text"),
        ({"parameters": [{"name": "a", "value": "b"}]}, "dbms"),
        ({"parameters": [{"name": "a", "value": "b"}], "dbms": "nosql"}, "dbms"),
        ({"parameters": [{"name": "", "value": "b"}], "dbms": "mysql"}, "parameters[0].name"),
        ({"parameters": [{"value": "b"}], "dbms": "mysql"}, "parameters[0].name"),
        ({"parameters": "all", "dbms": "mysql"}, "parameters"),
        ({"parameters": [{"name": "a", "value": "b", "x": 1}], "dbms": "mysql"}, "parameters[0].x"),
        ({"parameters": [{"name": "a", "value": "b"}], "dbms": "mysql", "versions": ["mysql-9"]}, "versions"),
        ({"parameters": [{"name": "a", "value": "b"}], "dbms": "mysql", "page_size_bytes": 0}, "page_size_bytes"),
        ({"parameters": [{"name": "a", "value": "b"}], "dbms": "mysql", "revises": "nowhere"}, "revises"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_it_names_the_field_that_is_wrong_and_stores_nothing(send, body, field):
    response = send(body)
    assert response.status_code == 400, response.content
    assert field in response.json()
    assert not Config.objects.exists()


def test_it_makes_the_next_revision(send, config):
    body = {"files": [{"name": "my.cnf", "text": MY_CNF + "port=1\r\n"}], "revises": config["slug"], "reason": "a port"}
    response = send(body)
    assert response.status_code == 201
    answer = response.json()
    assert (answer["revision"], answer["revision_of"], answer["name"]) == (2, config["slug"], "Shop")
    assert answer["revisions"] == [config["slug"], answer["slug"]]
    assert send({**body, "files": [{"name": "my.cnf", "text": MY_CNF}]}).status_code == 400


def test_it_corrects_facts_and_keeps_the_old_ones(send, config, operator):
    path = f"{URL}{config['slug']}/"
    response = send({"name": "Big shop", "page_size_bytes": 16384}, path, "patch")
    assert response.status_code == 200
    answer = response.json()
    assert (answer["slug"], answer["name"], answer["page_size_bytes"]) == (config["slug"], "Big shop", 16384)
    found = {one.field: (one.old, one.new, one.by) for one in changes.history(Config.objects.get())}
    assert found == {"name": ("Shop", "Big shop", operator), "page_size_bytes": (None, 16384, operator)}
    assert send({"parameters": []}, path, "patch").status_code == 400
    assert send({"name": " "}, path, "patch").status_code == 400


def test_it_is_told_for_which_version_it_was_written(send, config):
    version = version_of(Dbms.objects.get(slug="mysql"), "5.5.34")
    path = f"{URL}{config['slug']}/"
    answer = send({"versions": [version.slug]}, path, "patch").json()
    assert [one["slug"] for one in answer["versions"]] == ["mysql-5-5-34"]
    found = {one["label"]: one["normalised"] for one in answer["meanings"]}
    assert found["Log until a checkpoint"]["words"] == "10 MiB"  # 2 × 5M before 5.6.8
    (change,) = changes.history(Config.objects.get())
    assert (change.field, change.old, change.new) == ("versions", [], ["mysql-5-5-34"])
    assert send({"versions": ["postgresql-15"]}, path, "patch").status_code == 400


def test_it_takes_secrets_out_of_everything(send):
    body = {
        "dbms": "postgresql", "name": "Shop password=hunter2", "note": "token: hunter2",
        "parameters": [
            {"name": "primary_conninfo", "value": "'host=a password=hunter2'", "comment": "password=hunter2"},
            {"name": "admin_password", "value": "hunter2"},
        ],
    }  # fmt: skip
    assert "hunter2" not in send(body).content.decode()
    assert "hunter2" not in str(list(Config.objects.values()) + list(ConfigParameter.objects.values()))


def test_it_keeps_published_configurations_as_they_were_printed(send, publish):
    publish()
    assert send({"name": "x"}, f"{URL}cfg-cubrid-mysql/", "patch").status_code == 403
    body = {"dbms": "mysql", "parameters": [{"name": "a", "value": "b"}], "revises": "cfg-cubrid-mysql"}
    assert send(body).status_code == 403


def listed(client, **query) -> list[str]:
    return [one["slug"] for one in client.get(URL, query).json()["results"]]


def test_it_lists_and_filters(published, client, config):
    assert len(listed(client)) == Config.objects.count()
    assert set(listed(client, dbms="mysql")) >= {config["slug"], "cfg-cubrid-mysql"}
    assert listed(client, q="async_commit") == ["cfg-cubrid-cubrid"]
    assert client.get(URL, {"surprise": "1"}).status_code == 400
    assert client.get(f"{URL}nowhere/").status_code == 404


def test_it_gives_them_in_pages(client, publish):
    publish()
    first = client.get(URL, {"page_size": 3}).json()
    assert (len(first["results"]), first["count"], first["previous"]) == (3, Config.objects.count(), None)
    second = client.get(first["next"]).json()
    assert not {one["slug"] for one in first["results"]} & {one["slug"] for one in second["results"]}
    assert client.get(URL, {"page": "99"}).status_code == 404


def test_it_compares_by_meaning_across_engines(client, publish):
    publish()
    answer = client.get(f"{URL}diff/?config=cfg-cubrid-cubrid&config=cfg-cubrid-mysql&config=nowhere").json()
    assert answer["unknown"] == ["nowhere"]
    assert answer["by"] == "meaning"
    assert [one["durability"] for one in answer["durability"]] == ["bounded_loss", "bounded_loss"]
    (pool,) = [row for row in answer["rows"] if row["key"] == "buffer_pool"]
    assert pool["status"] == "unknown"
    assert [cell["normalised"]["value"] for cell in pool["cells"]] == [262_144, 4 * 1024**3]
    assert [cell["given"] for cell in pool["cells"]] == [["25000", "262144"], ["4G"]]
    shown = client.get(f"{URL}diff/?config=cfg-cubrid-cubrid&config=cfg-cubrid-mysql&show=all&by=name").json()
    assert shown["by"] == "name"
    assert client.get(f"{URL}diff/").status_code == 400
