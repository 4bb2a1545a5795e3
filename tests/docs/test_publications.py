"""docs/use/publications.md lists every key of results.json and every option of a part of page.json."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from pydantic import BaseModel

from runs.publications.document import Results
from runs.publications.page.page import AnyPart, Plain
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "use" / "publications.md").read_text()


def models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in models_in(inner)]


def keys(model: type[BaseModel], but: str = "") -> str:
    """Those that must be there are bold."""
    named = [(name, field.is_required()) for name, field in model.model_fields.items() if name != but]
    return ", ".join(f"**`{name}`**" if required else f"`{name}`" for name, required in named)


def rows() -> list[str]:
    """A row for each kind of row, also for those inside others."""
    lines, left = [], [(name, model) for name, field in Results.model_fields.items() for model in models_in(
        field.annotation
    )]  # fmt: skip
    for name, model in left:
        lines.append(f"| `{name}` | {keys(model)} |")
        inner = [
            (f"{name}.{key}", each) for key, field in model.model_fields.items() for each in models_in(field.annotation)
        ]
        left += [each for each in inner if each not in left]
    return lines


def parts() -> list[str]:
    kinds = [model for model in models_in(get_args(AnyPart)[0]) if model is not Plain]
    return [f"| `{model.model_fields['part'].default}` | {keys(model, 'part')} |" for model in kinds]


@pytest.mark.parametrize("row", [*rows(), *parts()])
def test_it_lists_every_key(row: str):
    assert row in PAGE.splitlines()


def test_it_lists_no_other_key():
    listed = [line for line in PAGE.splitlines() if re.match(r"\| `[\w.-]+` \| .*`", line)]
    assert set(listed) == {*rows(), *parts()}
