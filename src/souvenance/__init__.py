"""A memory for chats, characters and agents that stays with its owner.

    async with souvenance.open("my-memory") as memory:
        async for piece in memory.chat("Hello", bot="Ada"):
            print(piece.text, end="")

Names are loaded when they are first used, so that `import souvenance` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from souvenance.domain.bot import Bot, Preset
    from souvenance.domain.conversation import Conversation, Message
    from souvenance.domain.limits import Level, Limits
    from souvenance.domain.memory import Memory
    from souvenance.errors import SouvenanceError
    from souvenance.library import Piece, Reply, Souvenance
    from souvenance.library import open_memory as open  # noqa: A004 - `souvenance.open` is the name people read

__version__ = "0.1.0"

__all__ = [
    "Bot",
    "Conversation",
    "Level",
    "Limits",
    "Memory",
    "Message",
    "Piece",
    "Preset",
    "Reply",
    "Souvenance",
    "SouvenanceError",
    "__version__",
    "open",
]

_HOMES = {
    "Bot": "souvenance.domain.bot",
    "Conversation": "souvenance.domain.conversation",
    "Level": "souvenance.domain.limits",
    "Limits": "souvenance.domain.limits",
    "Memory": "souvenance.domain.memory",
    "Message": "souvenance.domain.conversation",
    "Piece": "souvenance.library",
    "Preset": "souvenance.domain.bot",
    "Reply": "souvenance.library",
    "Souvenance": "souvenance.library",
    "SouvenanceError": "souvenance.errors",
    "open": "souvenance.library",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), "open_memory" if name == "open" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
