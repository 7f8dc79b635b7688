from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.reference import PAGES, REFERENCE

_ROOT = Path(__file__).resolve().parents[2]
_MODULES = sorted(path for path in (_ROOT / "src").rglob("*.py") if "migrations" not in path.parts)
_ROLE_NAMES = {"utils", "helpers", "manager", "engine", "service", "common"}


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: str(path.relative_to(_ROOT / "src")))
def test_a_module_keeps_the_house_sizes_and_names(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    assert path.stem not in _ROLE_NAMES
    long = [
        f"{node.name}: {size} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (size := (node.end_lineno or node.lineno) - node.lineno + 1) > 55
    ]
    assert not long


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_reference_page_is_the_one_made_from_the_code(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"
