"""What a route is handed: the house it serves, and whose memory it may touch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import Depends, Request

from souvenance.app.kit import Kit
from souvenance.domain.ids import OwnerId

Report = Callable[[], Awaitable[Mapping[str, object]]]
"""Answers what `souvenance doctor` says, as JSON values."""


class House(Protocol):
    """An opened installation, as `wiring` hands it over."""

    @property
    def kit(self) -> Kit: ...
    @property
    def owner_id(self) -> OwnerId: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: in local use always the one account, since there is no login (I8).

    `time_zone` is the IANA name that new conversations get where the request names none.
    """

    kit: Kit
    owner_id: OwnerId
    time_zone: str = "UTC"


async def _caller(request: Request) -> Caller:
    house: House = request.app.state.house
    return Caller(kit=house.kit, owner_id=house.owner_id, time_zone=request.app.state.time_zone)


Here = Annotated[Caller, Depends(_caller)]
