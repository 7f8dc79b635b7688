"""The caller sent something that cannot be taken."""

from __future__ import annotations

from souvenance.errors.root import SouvenanceError


class InputError(SouvenanceError):
    """What was sent cannot be taken; `details["field"]` names the field."""

    code = "invalid_input"


class EmptyText(InputError):
    """A text without a visible character."""

    code = "empty_text"

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} is empty: write at least one visible character.", field=field)


class TextTooLong(InputError):
    """A text past its limit; both figures are told."""

    code = "text_too_long"

    def __init__(self, field: str, *, size: int, limit: int, unit: str = "characters") -> None:
        super().__init__(
            f"{field} has {size} {unit}; the limit is {limit}. Nothing was stored.",
            field=field,
            size=size,
            limit=limit,
            unit=unit,
        )


class UnusableText(InputError):
    """A text with a character that cannot be kept: NUL, half a surrogate pair, a line break in a name."""

    code = "unusable_text"

    def __init__(self, field: str, *, problem: str) -> None:
        super().__init__(f"{field} cannot be stored: it holds {problem}.", field=field, problem=problem)


class BadValue(InputError):
    """A value that this field does not take."""

    code = "bad_value"

    def __init__(self, field: str, *, value: object, expected: str) -> None:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "…"
        super().__init__(f"{field} is {shown}; expected {expected}.", field=field, expected=expected)


class TooMany(InputError):
    """A list past its limit; both figures are told."""

    code = "too_many"

    def __init__(self, field: str, *, size: int, limit: int) -> None:
        super().__init__(
            f"{field} has {size} items; the limit is {limit}. Nothing was stored.", field=field, size=size, limit=limit
        )


class PromptTooLarge(SouvenanceError):
    """What must be sent does not fit the model (W5)."""

    code = "prompt_too_large"

    def __init__(self, *, needed: int, available: int, context: int) -> None:
        super().__init__(
            f"The message and the system prompt take about {needed} tokens; the model has room for {available} "
            f"(context {context}, less the reply's room). Nothing was stored.",
            needed=needed,
            available=available,
            context=context,
        )
