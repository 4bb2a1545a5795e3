"""The four articles as their pages tell them. Facts and figures in our own words; the text stays with its authors."""

from __future__ import annotations

from collections.abc import Mapping

from runs.publications.articles import cubrid, firebird, gbak, tpcb
from runs.publications.articles.structure import Article

ARTICLES: Mapping[str, Article] = {
    one.slug: one for one in (gbak.ARTICLE, tpcb.ARTICLE, firebird.ARTICLE, cubrid.ARTICLE)
}
