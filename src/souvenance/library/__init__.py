"""The Python door: open a memory, chat with it, ask what it knows (I1)."""

from __future__ import annotations

from souvenance.library.opening import open_memory
from souvenance.library.pieces import Piece, Reply
from souvenance.library.souvenance import Souvenance

__all__ = ["Piece", "Reply", "Souvenance", "open_memory"]
