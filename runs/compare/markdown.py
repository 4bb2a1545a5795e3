"""The words of reports: Markdown as HTML that may stand in a page, whoever wrote it."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from typing import Any

from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

# The page's own title is h1, and the words stand below it.
_TAGS = {
    "p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
# Addresses of other sites, of this one, and of this page.
_ADDRESS = re.compile(r"https?://|/(?!/)|#", re.IGNORECASE)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    return parser.disable("image")


def rendered(markdown: str) -> SafeString:
    """Without HTML of its author's and without pictures; links lead to http, https and this site only."""
    parser = _parser()
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        # A style would be inline: numbers stand at the left as words do.
        token.attrs.pop("style", None)
    html = parser.renderer.render(tokens, parser.options, {})
    html = _clean(
        html, tags=_TAGS, attributes={"a": {"href"}}, link_rel="nofollow noopener",
        attribute_filter=lambda _tag, name, value: value if name != "href" or _ADDRESS.match(value) else None,
    )  # fmt: skip
    return SafeString(html)


def plain(markdown: str) -> str:
    """The words alone, for lists."""
    return unescape(_clean(rendered(markdown), tags=set(), link_rel=None))


def _clean(html: str, **allowed: Any) -> str:
    # Where words are read, and not where the site starts.
    import nh3

    return nh3.clean(html, url_schemes={"http", "https"}, **allowed)
