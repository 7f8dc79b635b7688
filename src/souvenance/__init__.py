"""A memory for chats, characters and agents that stays with its owner."""

from __future__ import annotations

__version__ = "0.1.0"
