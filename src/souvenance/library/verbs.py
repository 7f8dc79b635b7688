"""The app's verbs by their names. A verb is loaded when it is first called: of some sixty modules the first answer of a
process needs a dozen, and would wait for all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from souvenance.app.archive_memory import archive_memory
    from souvenance.app.bots import NewBot, bot_for, change_bot, create_bot, find_bot, read_level, set_level
    from souvenance.app.bring_back import bring_back
    from souvenance.app.browse import (
        list_bots,
        list_conversations,
        list_memories,
        list_messages,
        memory_history,
        read_memory,
    )
    from souvenance.app.chat_turn import chat_turn
    from souvenance.app.clear_scope import clear_pinned, clear_scope
    from souvenance.app.conversations import NewConversation, open_conversation
    from souvenance.app.delete_bot import Memories, delete_bot
    from souvenance.app.edit_memory import edit_memory
    from souvenance.app.erase import erase_memories, undo_erasure
    from souvenance.app.find_similar import find_similar
    from souvenance.app.let_answer import LetAnswer, let_answer
    from souvenance.app.list_removed import list_removed
    from souvenance.app.pin_memory import pin_memory
    from souvenance.app.prepare_turn import prepare, record
    from souvenance.app.query_memories import Query, query_memories
    from souvenance.app.remember import NewMemory, remember
    from souvenance.app.share_bot import export_bot, import_bot, share_link
    from souvenance.app.turn import Done, InConversation, NewChat, Noted, Opened, TurnRequest, shown

__all__ = [
    "Done",
    "InConversation",
    "LetAnswer",
    "Memories",
    "NewBot",
    "NewChat",
    "NewConversation",
    "NewMemory",
    "Noted",
    "Opened",
    "Query",
    "TurnRequest",
    "archive_memory",
    "bot_for",
    "bring_back",
    "change_bot",
    "chat_turn",
    "clear_pinned",
    "clear_scope",
    "create_bot",
    "delete_bot",
    "edit_memory",
    "erase_memories",
    "export_bot",
    "find_bot",
    "find_similar",
    "import_bot",
    "let_answer",
    "list_bots",
    "list_conversations",
    "list_memories",
    "list_messages",
    "list_removed",
    "memory_history",
    "open_conversation",
    "pin_memory",
    "prepare",
    "query_memories",
    "read_level",
    "read_memory",
    "record",
    "remember",
    "set_level",
    "share_link",
    "shown",
    "undo_erasure",
]

_HOMES = {
    "archive_memory": "archive_memory",
    "bots": "NewBot bot_for change_bot create_bot find_bot read_level set_level",
    "bring_back": "bring_back",
    "browse": "list_bots list_conversations list_memories list_messages memory_history read_memory",
    "chat_turn": "chat_turn",
    "clear_scope": "clear_pinned clear_scope",
    "conversations": "NewConversation open_conversation",
    "delete_bot": "Memories delete_bot",
    "edit_memory": "edit_memory",
    "erase": "erase_memories undo_erasure",
    "find_similar": "find_similar",
    "let_answer": "LetAnswer let_answer",
    "list_removed": "list_removed",
    "pin_memory": "pin_memory",
    "prepare_turn": "prepare record",
    "query_memories": "Query query_memories",
    "remember": "NewMemory remember",
    "share_bot": "export_bot import_bot share_link",
    "turn": "Done InConversation NewChat Noted Opened TurnRequest shown",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"souvenance.app.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
