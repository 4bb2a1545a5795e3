"""Long proofs: `make test` holds a small fixed seed of each, the leg `whole` of `make proofs` runs the rest."""

from __future__ import annotations

from typing import Any

import pytest


def whole(*cases: Any) -> list[Any]:
    """Cases of `parametrize` that `make test` leaves to `make proofs`."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.whole) for case in cases]


def whole_but(held: tuple[Any, ...], cases: Any) -> list[Any]:
    """All cases in their order, of which `make test` runs those of `held`."""
    return [case if case in held else whole(case)[0] for case in cases]
