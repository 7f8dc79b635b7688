from __future__ import annotations

import pytest

from souvenance.domain.commands import (
    CommandProblem,
    ForgetCommand,
    MemoriesCommand,
    RememberCommand,
    RememberPairs,
    parse_command,
)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("/remember I like tea", "I like tea"),
        ("  /REMEMBER\tI like tea \n", "I like tea"),
        ("/remember　我喜欢喝茶", "我喜欢喝茶"),
        ("／remember J'aime = le thé", "J'aime = le thé"),
        ("/remember two\n\nparagraphs", "two\n\nparagraphs"),
    ],
)
def test_a_fact_is_remembered(message: str, text: str) -> None:
    assert parse_command(message, notebook=False) == RememberCommand(text=text)


@pytest.mark.parametrize(
    ("message", "pair"),
    [
        ("/remember name = Alice", ("name", "Alice")),
        ("/remember name=Alice", ("name", "Alice")),
        ("/remember a=b = c = d", ("a=b", "c = d")),
        ("/remember formula =x=y", ("formula", "x=y")),
        ("/Remember　城市 ＝ 上海", ("城市", "上海")),
        ("/remember name=\nAlice\nB", ("name", "Alice\nB")),
    ],
)
def test_a_notebook_remembers_a_pair(message: str, pair: tuple[str, str]) -> None:
    assert parse_command(message, notebook=True) == RememberPairs(pairs=(pair,))


@pytest.mark.parametrize("message", ["/remember", "/remember I like tea", "/remember = Alice", "/remember name = "])
def test_a_notebook_is_told_the_form_of_a_pair(message: str) -> None:
    problem = parse_command(message, notebook=True)
    assert isinstance(problem, CommandProblem)
    assert "/remember key = value" in problem.message


@pytest.mark.parametrize(
    ("message", "form"),
    [
        ("/remember", "/remember some fact"),
        ("/forget \u3000", "/forget id, key or words"),
        ("/memories all", "/memories"),
    ],
)
def test_a_command_without_what_it_needs_tells_its_form(message: str, form: str) -> None:
    problem = parse_command(message, notebook=False)
    assert isinstance(problem, CommandProblem)
    assert form in problem.message


@pytest.mark.parametrize("notebook", [True, False])
def test_what_to_forget_is_taken_as_written(notebook: bool) -> None:
    assert parse_command("/forget  user name ", notebook=notebook) == ForgetCommand(target="user name")


def test_memories_are_listed() -> None:
    assert parse_command(" /Memories\n", notebook=False) == MemoriesCommand()


@pytest.mark.parametrize("notebook", [True, False])
@pytest.mark.parametrize(
    ("message", "pairs"),
    [
        ('bcz_remember("k", "v")', (("k", "v"),)),
        (" bcz_remember('k', 'v');\n\nbcz_remember(\"l\", \"w\") \n", (("k", "v"), ("l", "w"))),
        ('bcz_remember("k", "1")bcz_remember("l", "2")bcz_remember("k", "3")', (("k", "3"), ("l", "2"))),
    ],
)
def test_a_message_of_calls_only_remembers_their_pairs(
    message: str, pairs: tuple[tuple[str, str], ...], notebook: bool
) -> None:
    assert parse_command(message, notebook=notebook) == RememberPairs(pairs=pairs)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "/rememberx tea",
        "/remember, please",
        "please /remember tea",
        "/memory",
        "// remember",
        "I remember",
        'I wrote bcz_remember("k", "v")',
        'bcz_remember("k")',
        'bcz_remember("k", "v") bcz_remember("k"',
        '```\nbcz_remember("k", "v")\n```',
    ],
)
def test_anything_else_is_an_ordinary_message(message: str) -> None:
    assert parse_command(message, notebook=False) is None
    assert parse_command(message, notebook=True) is None
