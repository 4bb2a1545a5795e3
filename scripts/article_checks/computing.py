from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.models import Publication
from runs.publications.check import stored
from runs.publications.folder import Folder
from runs.publications.importer import import_folders
from runs.publications.material import Material
from scripts.article_checks.rows import FormulasFile, compute_checks


def computed(files: Mapping[str, bytes], formulas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of checks.json. Of the files only the numbers are imported: a page may name checks that are not yet."""
    article = Folder.of({"results.json": files["results.json"]})
    import_folders(article)
    publication = Publication.objects.get(slug=article.slug)
    rows = stored(compute_checks(FormulasFile.model_validate(formulas), Material(publication)))
    for row in rows:
        for figure in row["computed"]:
            del figure["rounded"]  # follows from value and digits
    return rows
