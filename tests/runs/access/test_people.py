"""Tokens of a person, and people as administrators manage them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from benchsite.embedded import new_password
from benchsite.state import State
from runs.access import people
from runs.models import ApiToken, Change, User

pytestmark = pytest.mark.django_db
FORM = {"name": "laptop", "scopes": ["read"], "lifetime": "30"}


@pytest.fixture
def as_administrator(client, administrator):
    client.force_login(administrator)
    return client


def secret_of(response) -> str:
    return re.search(r"data-secret>(bst_[\w-]+)<", response.content.decode())[1]


def test_a_token_is_shown_once_and_works(client, contributor):
    client.force_login(contributor)
    response = client.post("/account/tokens/", FORM | {"scopes": ["read", "upload"]})
    secret = secret_of(response)
    assert "no-store" in response["Cache-Control"]
    token = ApiToken.objects.get()
    assert (token.owner, token.name, token.scopes) == (contributor, "laptop", ["read", "upload"])
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)
    page = client.get("/account/").content.decode()
    assert secret not in page
    assert secret[:10] in page
    assert Client().get("/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"}).status_code == 200


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["schedule"]}, "scopes"),
        ({"scopes": ["all"]}, "scopes"),
        ({"lifetime": "1"}, "lifetime"),
        ({"lifetime": "custom"}, "expires_on"),
        ({"lifetime": "custom", "expires_on": "2020-01-01"}, "expires_on"),
        ({"lifetime": "custom", "expires_on": "9999-12-31"}, "expires_on"),
        ({"lifetime": "custom", "expires_on": "tomorrow"}, "expires_on"),
        ({"lifetime": "90", "expires_on": "2099-01-01"}, "lifetime"),
    ],
)
def test_a_form_that_is_wrong_makes_no_token_and_names_the_field(client, contributor, changes, field):
    client.force_login(contributor)
    response = client.post("/account/tokens/", FORM | changes)
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("lifetime", ["custom", "never"])
def test_a_token_ends_on_its_day_or_never(client, viewer, lifetime):
    day = (timezone.now() + timedelta(days=3)).date()
    client.force_login(viewer)
    until = {"expires_on": day.isoformat()} if lifetime == "custom" else {}
    client.post("/account/tokens/", FORM | {"lifetime": lifetime} | until)
    ends = ApiToken.objects.get().expires_at
    assert ends is None if lifetime == "never" else ends.date() == day + timedelta(days=1)


def test_a_revoked_token_is_refused_with_the_reason(client, contributor):
    token, secret = people.issue_token(owner=contributor, name="old", scopes=["read"], expires_at=None)
    client.force_login(contributor)
    client.post(f"/account/tokens/{token.pk}/revoke/")
    answer = Client().get("/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, "was revoked on" in answer.json()["detail"]) == (401, True)


def test_an_expired_token_is_refused_with_the_reason(client, contributor):
    past = timezone.now() - timedelta(days=1)
    _, secret = people.issue_token(owner=contributor, name="old", scopes=["read"], expires_at=past)
    answer = client.get("/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, "expired on" in answer.json()["detail"]) == (401, True)


def test_nobody_revokes_somebody_elses_token(client, contributor, operator):
    token, _ = people.issue_token(owner=operator, name="x", scopes=["read"], expires_at=None)
    client.force_login(contributor)
    assert client.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    assert ApiToken.objects.live().count() == 1


def test_a_token_loses_what_its_owners_role_loses(client, operator):
    _, secret = people.issue_token(owner=operator, name="x", scopes=["agent"], expires_at=None)
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.post("/api/v1/agents/enrolment-codes/", headers=headers).status_code == 201
    User.objects.filter(pk=operator.pk).update(role="contributor")
    assert client.post("/api/v1/agents/enrolment-codes/", headers=headers).status_code == 403


def test_a_role_has_no_scope_beyond_it(viewer):
    with pytest.raises(ValueError, match="no scope upload"):
        people.issue_token(owner=viewer, name="x", scopes=["read", "upload"], expires_at=None)


def test_a_new_person_chooses_a_password_under_a_link_that_works_once(as_administrator):
    page = as_administrator.post("/people/", {"username": "nina", "role": "contributor"}).content.decode()
    link = re.search(r"data-link>http://testserver(/account/set-password/[^<]+)<", page)[1]
    stranger = Client()
    assert stranger.get(link).status_code == 200
    short = stranger.post(link, {"new_password1": "short", "new_password2": "short"})
    assert short.status_code == 422
    stranger.post(link, {"new_password1": "a longer battery", "new_password2": "a longer battery"})
    assert stranger.get(link).status_code == 410
    assert stranger.login(username="nina", password="a longer battery")
    assert User.objects.get(username="nina").role == "contributor"


@pytest.mark.parametrize("username", ["", "two words", "VERA-viewer", "x" * 151])
def test_a_name_that_is_wrong_or_taken_adds_nobody(as_administrator, viewer, username):
    before = User.objects.count()
    assert as_administrator.post("/people/", {"username": username, "role": "viewer"}).status_code == 422
    assert User.objects.count() == before


def test_a_role_changes_and_who_did_it_is_kept(as_administrator, administrator, viewer):
    as_administrator.post(f"/people/{viewer.pk}/role/", {"role": "operator"})
    viewer.refresh_from_db()
    assert viewer.role == "operator"
    noted = Change.objects.get(field="role")
    assert (noted.by, noted.old, noted.new) == (administrator, "viewer", "operator")


def test_a_role_that_does_not_exist_is_refused(as_administrator, viewer):
    assert as_administrator.post(f"/people/{viewer.pk}/role/", {"role": "king"}).status_code == 400


def test_who_is_not_active_neither_logs_in_nor_uses_tokens_nor_goes_on(as_administrator, viewer):
    _, secret = people.issue_token(owner=viewer, name="x", scopes=["read"], expires_at=None)
    theirs = Client()
    theirs.force_login(viewer)
    as_administrator.post(f"/people/{viewer.pk}/active/", {"active": "0"})
    assert theirs.get("/account/").status_code == 302
    assert not theirs.login(username=viewer.username, password="correct horse battery")
    answer = theirs.get("/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, "not active" in answer.json()["detail"]) == (401, True)
    as_administrator.post(f"/people/{viewer.pk}/active/", {"active": "1"})
    assert theirs.login(username=viewer.username, password="correct horse battery")


@pytest.mark.parametrize(("path", "form"), [("role", {"role": "viewer"}), ("active", {"active": "0"})])
def test_the_last_administrator_stays(as_administrator, administrator, path, form):
    User.objects.create(username="gone", role="admin", is_active=False)
    response = as_administrator.post(f"/people/{administrator.pk}/{path}/", form, follow=True)
    assert "last active administrator" in response.content.decode()
    administrator.refresh_from_db()
    assert (administrator.role, administrator.is_active) == ("admin", True)
    User.objects.create(username="second", role="admin")
    as_administrator.post(f"/people/{administrator.pk}/{path}/", form)
    administrator.refresh_from_db()
    assert (administrator.role, administrator.is_active) != ("admin", True)


def test_changing_the_password_logs_out_the_other_sessions(client, viewer):
    other = Client()
    for one in (client, other):
        one.login(username=viewer.username, password="correct horse battery")
    form = {
        "old_password": "correct horse battery",
        "new_password1": "another battery",
        "new_password2": "another battery",
    }
    assert client.post("/account/password/", form | {"old_password": "wrong"}).status_code == 422
    assert client.post("/account/password/", form).status_code == 302
    assert client.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 302


def test_a_first_password_makes_an_administrator_where_there_is_none(tmp_path):
    def role(username: str) -> str:
        new_password(username=username, state=State(tmp_path), url="http://x")
        return User.objects.get(username=username).role

    assert role("operator") == "admin"
    assert role("second") == "operator"
    User.objects.filter(username="operator").update(is_active=False)
    assert role("second") == "admin"
