"""Everything that can go wrong, as one tree.

    SouvenanceError
    ├── InputError            the caller sent something that cannot be taken
    │   ├── EmptyText · TextTooLong · UnusableText · BadValue · TooMany
    ├── NotFound              no such thing for this owner (or it is somebody else's: the same answer)
    ├── Conflict              the world has moved, or has no room
    │   ├── StaleEdit · KeyTaken · NameTaken · PinRoomFull · RequestKeyUsed · TurnSuperseded · OfferExpired
    │   ├── NotLastTurn · NothingToAnswer · NothingToContinue · ConversationBusy
    │   ├── DraftExpired · BotGone · LeaseLost · NothingToRebuild · RebuildRunning · NoRebuildRuns
    ├── Refused               a rule says no (policy, pinned, credit)
    │   ├── MemoryIsOff · PinnedMemory · LevelFixed · SpendCapReached · NoCredit
    ├── PromptTooLarge        what must be sent does not fit the model
    ├── ModelError            the model did not do its part
    │   ├── NoModel · UnknownModel · ModelUnreachable · ModelRefused · ModelTimedOut · ModelBroken
    │   └── UnusableAnswer    UnusableDrafts · UnusableSummary
    ├── StoreError            the store did not do its part
    │   ├── StoreUnavailable · StoreTooNew
    └── SettingError          the installation is not set up as it says
        └── PortBusy

Each class is one situation and writes its own message, with the ids and figures needed to act. HTTP statuses live in
one table in `server/problems.py`.
"""

from __future__ import annotations

from souvenance.errors.given import (
    BadValue,
    EmptyText,
    InputError,
    PromptTooLarge,
    TextTooLong,
    TooMany,
    UnusableText,
)
from souvenance.errors.installation import (
    PortBusy,
    SettingError,
    StoreError,
    StoreTooNew,
    StoreUnavailable,
)
from souvenance.errors.model import (
    ModelBroken,
    ModelError,
    ModelRefused,
    ModelTimedOut,
    ModelUnreachable,
    NoModel,
    UnknownModel,
    UnusableAnswer,
    UnusableDrafts,
    UnusableSummary,
)
from souvenance.errors.rebuilds import (
    NoCredit,
    NoRebuildRuns,
    NothingToRebuild,
    RebuildRunning,
)
from souvenance.errors.root import (
    SouvenanceError,
)
from souvenance.errors.standing import (
    BotGone,
    Conflict,
    ConversationBusy,
    DraftExpired,
    KeyTaken,
    LeaseLost,
    LevelFixed,
    MemoryIsOff,
    NameTaken,
    NotFound,
    NothingToAnswer,
    NothingToContinue,
    NotLastTurn,
    OfferExpired,
    PinnedMemory,
    PinRoomFull,
    Refused,
    RequestKeyUsed,
    SpendCapReached,
    StaleEdit,
    TurnSuperseded,
)

__all__ = [
    "BadValue",
    "BotGone",
    "Conflict",
    "ConversationBusy",
    "DraftExpired",
    "EmptyText",
    "InputError",
    "KeyTaken",
    "LeaseLost",
    "LevelFixed",
    "MemoryIsOff",
    "ModelBroken",
    "ModelError",
    "ModelRefused",
    "ModelTimedOut",
    "ModelUnreachable",
    "NameTaken",
    "NoCredit",
    "NoModel",
    "NoRebuildRuns",
    "NotFound",
    "NotLastTurn",
    "NothingToAnswer",
    "NothingToContinue",
    "NothingToRebuild",
    "OfferExpired",
    "PinRoomFull",
    "PinnedMemory",
    "PortBusy",
    "PromptTooLarge",
    "RebuildRunning",
    "Refused",
    "RequestKeyUsed",
    "SettingError",
    "SouvenanceError",
    "SpendCapReached",
    "StaleEdit",
    "StoreError",
    "StoreTooNew",
    "StoreUnavailable",
    "TextTooLong",
    "TooMany",
    "TurnSuperseded",
    "UnknownModel",
    "UnusableAnswer",
    "UnusableDrafts",
    "UnusableSummary",
    "UnusableText",
]
