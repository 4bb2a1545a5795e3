"""Chat services by Apprise: those that it reaches at an address of their own, over https alone.

Services whose address a person gives could be a machine that only this server reaches: for them there are webhooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs.telling.calling import NotReached

if TYPE_CHECKING:  # its hundred modules are imported by who is told something, not by each program that starts
    import apprise

# As Apprise's addresses begin -> what people call the service.
SERVICES = {
    "slack": "Slack", "discord": "Discord", "tgram": "Telegram", "gchat": "Google Chat", "wxteams": "Webex",
    "zulip": "Zulip", "groupme": "GroupMe", "twist": "Twist", "dingtalk": "DingTalk", "feishu": "Feishu",
    "lark": "Lark", "guilded": "Guilded", "flock": "Flock", "line": "Line", "revolt": "Revolt", "cliq": "Zoho Cliq",
    "zoom": "Zoom", "pover": "Pushover", "pagerduty": "PagerDuty", "opsgenie": "Opsgenie",
}  # fmt: skip


def service_of(url: str) -> str:
    """What people call the service of an address."""
    return SERVICES.get(url.partition("://")[0].lower(), "")


def checked(url: str) -> apprise.NotifyBase:
    """Raises NotReached for another service, and for parameters, which could turn checks of certificates off."""
    import apprise

    if not service_of(url) or "?" in url:
        raise NotReached(f"An address of Apprise without parameters is required, of {', '.join(SERVICES.values())}.")
    service = apprise.Apprise.instantiate(url, suppress_exceptions=True)
    if not isinstance(service, apprise.NotifyBase):
        raise NotReached(f"{service_of(url)} has no such address: something is missing in it.")
    return service


def post(url: str, title: str, body: str) -> None:
    """Raises NotReached where the service does not take it."""
    import apprise

    services = apprise.Apprise()
    services.add(checked(url))
    if not services.notify(body=body, title=title, body_format=apprise.NotifyFormat.TEXT):
        raise NotReached(f"{service_of(url)} did not take it.")
