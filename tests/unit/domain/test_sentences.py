"""Where sentences end, in scripts with and without spaces."""

from __future__ import annotations

import pytest

from souvenance.domain.own_words import PLACEHOLDER, own_words
from souvenance.domain.sentences import sentences
from souvenance.wiring import installed_phrases


@pytest.mark.parametrize(
    "written",
    [
        "I like tea.| i live in york.| bye",
        "Dr. Ames met J. R. Olsen at 3.30 p.m. today.| Then it rained.",
        "It costs 3.50 euros, e.g. on Monday.| Fine!",
        "See https://example.org/a.b?c=d. for it.| Thanks.",
        "Well... i don't know.| What?!| No.",
        "Wait…| Really?| Yes.",
        'She said "Go."| He went.',
        "So do I.| We left.",
        "1. Never shout.\n|2. Be brief.",
        "M. Dupont habite au 3 bis.| Mme Roy aussi.",
        "Am 3. Mai kommt z. B. Frau Dr. Kern.| Um acht.",
        "Der 2. Platz ist frei.| Gut.",
        "El Sr. Gil llegó.| ¿Cuándo?| ¡Ayer!",
        "A Sra. Lima chegou.| Ótimo.",
        "Il sig. Rossi è qui.| Bene.",
        "我叫小雨。|你呢?|很好!|再见",
        "他说「走吧。」然后走了。|天黑了。",
        "3.5公里。|好的！|走",
        "「もう行く。」と言った。|雨だ。",
        "そうですか？|はい！|どうぞ。",
        "one\n|two\n\n|three",
    ],
)
def test_sentences_end_where_a_reader_ends_them(written: str) -> None:
    expected = written.split("|")
    assert [one.strip() for one in sentences(written.replace("|", ""), installed_phrases())] == [
        one.strip() for one in expected
    ]


@pytest.mark.parametrize(
    ("written", "own"),
    [
        ('He said "no way" to me.', f"He said {PLACEHOLDER * 8} to me."),
        ("Run `rm -r x` now.", f"Run {PLACEHOLDER * 9} now."),
        ("don't, it's 5'10", "don't, it's 5'10"),
        ("*waves* hi", f"{PLACEHOLDER * 7} hi"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("a\n```py\nx = 1\n```\nb", "a\n" + "\n" * 16 + "b"),
        ("a\n~~~\nopen to the end", "a\n" + "\n" * 19),
        ("> quoted\nown", "\n" * 9 + "own"),
        ("an open “ quotation\nnext", "an open “ quotation\nnext"),
    ],
)
def test_x2_quotations_and_code_are_out_of_sight_and_nothing_moves(written: str, own: str) -> None:
    assert own_words(written) == own
