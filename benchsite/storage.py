from __future__ import annotations

from django.contrib.staticfiles.storage import HashedFilesMixin
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = HashedFilesMixin._js_module_import_aggregation_patterns[1]  # type: ignore[attr-defined]


class StaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Hashed and compressed names; the imports between our ES modules are rewritten to the hashed names as well.

    Only ours (static/js): a module that django-htmx brings imports a name that is no file.
    """

    patterns = (*HashedFilesMixin.patterns, ("js/*.js", IMPORTS))
