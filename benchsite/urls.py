"""All routes: pages of runs and agents, the API, health."""

from __future__ import annotations

from django.contrib.auth import views as auth_views
from django.urls import include, path

urlpatterns = [
    path("", include("runs.urls")),
    path("", include("agents.urls")),
    path("", include("benchsite.health_urls")),
    path("api/", include("benchsite.api_urls")),
    path("login/", auth_views.LoginView.as_view(template_name="login.html"), name="login"),
    path("logout/", auth_views.LogoutView.as_view(), name="logout"),
]
