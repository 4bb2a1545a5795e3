from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ops.site import Site

NewSite = Callable[..., Site]


@pytest.fixture(scope="module")
def new_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewSite]:
    """`new_site()` -> a Site with a fresh STATE and an empty HOME; stopped at the end whatever happened."""
    sites: list[Site] = []

    def make(name: str = "state", **environment: str) -> Site:
        folder: Path = tmp_path_factory.mktemp("site")
        folder.joinpath("home").mkdir()
        sites.append(Site(folder / name, folder / "home", **environment))
        return sites[-1]

    yield make
    for site in sites:
        site.stop()
