from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = (
    (r"""(?P<matched>from "(?P<url>\./[^"]+)")""", 'from "%(url)s"'),
    (r"""(?P<matched>import\("(?P<url>\./[^"]+)"\))""", 'import("%(url)s")'),
)


class StaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Hashed and compressed names; the imports between our ES modules are rewritten to the hashed names as well.

    Only ours (static/js): a module that django-htmx brings imports a name that is no file.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", IMPORTS))


class ArtefactStorage(FileSystemStorage):
    """A file that was saved is whole and on the disk, before the row that names it is: or it is not there at all."""

    def _save(self, name: str, content: Any) -> str:
        path = Path(self.path(name))
        new_folders = [folder for folder in path.parents if not folder.exists()]
        try:
            saved: str = super()._save(name, content)  # type: ignore[misc]
            for written in (Path(self.path(saved)), path.parent, *(folder.parent for folder in new_folders)):
                synchronise(written)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return saved


def synchronise(path: Path) -> None:
    """Wait until the file, or the names in the folder, would survive a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
