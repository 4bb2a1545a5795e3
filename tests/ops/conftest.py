from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ops.site import Site

NewSite = Callable[..., Site]


@pytest.fixture(scope="module")
def new_site(prepared: Path) -> Iterator[NewSite]:
    """`new_site()` -> a Site with a fresh STATE and an empty HOME; stopped at the end whatever happened.

    With `empty`, its first start has everything to make.
    """
    sites: list[Site] = []
    # Not below pytest's own 0700 folder: PostgreSQL's service user must be able to pass through.
    root = Path(tempfile.mkdtemp(prefix="benchsite-ops-"))
    root.chmod(0o711)

    def make(name: str = "state", *, empty: bool = False, **environment: str) -> Site:
        folder = root / str(len(sites))
        folder.joinpath("home").mkdir(parents=True)
        site = Site(folder / name, folder / "home", **environment)
        site.prepared = None if empty else prepared
        sites.append(site)
        return site

    yield make
    for site in sites:
        site.stop()
    shutil.rmtree(root, ignore_errors=True)
