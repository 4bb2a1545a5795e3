"""Accounts: the login, one's own account, and the people of this server."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from runs.views import account, people

urlpatterns = [
    path("login/", account.Login.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("account/", account.account, name="account"),
    path("account/tokens/", account.create_token, name="tokens"),
    path("account/tokens/<uuid:token_id>/revoke/", account.revoke_token, name="token-revoke"),
    path("account/password/", account.change_password, name="password"),
    path("account/set-password/<str:uid>/<str:token>/", account.set_password, name="set-password"),
    path("people/", people.people, name="people"),
    path("people/<uuid:person_id>/role/", people.change_role, name="person-role"),
    path("people/<uuid:person_id>/active/", people.set_active, name="person-active"),
    path("people/<uuid:person_id>/link/", people.new_link, name="person-link"),
]
