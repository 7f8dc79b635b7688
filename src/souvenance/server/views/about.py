"""The installation about itself, and notifications, as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from souvenance.domain.limits import Figure
from souvenance.domain.notification import Notification
from souvenance.ports.chat_model import ModelInfo
from souvenance.server.views.view import View


class NotificationJson(View):
    """`about` holds ids and figures, never the text of a memory."""

    id: str
    kind: str
    about: dict[str, str | int | float]
    created_at: datetime
    read_at: datetime | None

    @classmethod
    def of(cls, notification: Notification) -> Self:
        return cls(
            id=notification.notification_id,
            kind=notification.kind,
            about=dict(notification.about),
            created_at=notification.created_at,
            read_at=notification.read_at,
        )


class ModelJson(View):
    """`context` is in tokens, null when it is unknown (8,192 are then assumed)."""

    name: str
    provider: str
    context: int | None
    can_call_tools: bool

    @classmethod
    def of(cls, info: ModelInfo) -> Self:
        return cls(name=info.name, provider=info.provider, context=info.context, can_call_tools=info.can_call_tools)


class ModelsJson(View):
    """`default` answers where nobody names a model; null when there is none."""

    items: list[ModelJson]
    default: str | None


class LimitJson(View):
    name: str
    value: float
    rule: str
    unit: str
    says: str

    @classmethod
    def of(cls, figure: Figure) -> Self:
        return cls(name=figure.name, value=figure.value, rule=figure.rule, unit=figure.unit, says=figure.says)


class LimitsJson(View):
    items: list[LimitJson]


class HealthJson(View):
    status: str


class VersionJson(View):
    name: str
    version: str
