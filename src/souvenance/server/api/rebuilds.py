"""Write a conversation's summary anew: what it costs, begin, progress, pause, resume, start over, cancel (S7, S8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from souvenance.app.begin_rebuild import begin_rebuild, start_over
from souvenance.app.estimate_rebuild import estimate_rebuild
from souvenance.app.look_at_summary import is_rebuilding
from souvenance.app.steer_rebuild import cancel_rebuild, pause_rebuild, read_rebuild, resume_rebuild
from souvenance.domain.limits import Level
from souvenance.domain.summary import Rebuild
from souvenance.errors import NotFound, StoreUnavailable
from souvenance.server.api.conversations import conversation_id_of
from souvenance.server.caller import Caller, Here
from souvenance.server.event_line import hang_up, named_event, open_line
from souvenance.server.forms import Form
from souvenance.server.hang_up import ClientLeft, while_connected
from souvenance.server.pace import Pace
from souvenance.server.views.rebuilds import EstimateJson, RebuildJson

router = APIRouter(prefix="/conversations/{conversation_id}/rebuild", tags=["summaries"])


class RebuildForm(Form):
    """The level to write at; the conversation's own when it is not named, or that of the one started over."""

    level: Level | None = None


_AS_IT_IS = RebuildForm()


@router.get("/estimate")
async def estimate(here: Here, conversation_id: str, level: Level | None = None) -> EstimateJson:
    """What a rebuild would cost; nothing is sent to a model. 409 when nothing is summarised yet."""
    where = conversation_id_of(conversation_id)
    return EstimateJson.of(await estimate_rebuild(here.kit, here.owner_id, where, level=level))


@router.get("")
async def read(here: Here, conversation_id: str) -> RebuildJson:
    """The last one, in whatever state; 404 when there was none."""
    return RebuildJson.of(await read_rebuild(here.kit, here.owner_id, conversation_id_of(conversation_id)))


@router.post("", status_code=201)
async def begin(here: Here, conversation_id: str, form: RebuildForm = _AS_IT_IS) -> RebuildJson:
    """The old summary serves until the new one is whole. 409 while one is on its way, 403 without credit."""
    where = conversation_id_of(conversation_id)
    return RebuildJson.of(await begin_rebuild(here.kit, here.owner_id, where, level=form.level))


@router.post("/pause")
async def pause(here: Here, conversation_id: str) -> RebuildJson:
    """What is being written is still kept; nothing more is begun."""
    return RebuildJson.of(await pause_rebuild(here.kit, here.owner_id, conversation_id_of(conversation_id)))


@router.post("/resume")
async def resume(here: Here, conversation_id: str) -> RebuildJson:
    """Goes on where it was paused or failed; nothing that stands is paid for again."""
    return RebuildJson.of(await resume_rebuild(here.kit, here.owner_id, conversation_id_of(conversation_id)))


@router.post("/start-over", status_code=201)
async def over(here: Here, conversation_id: str, form: RebuildForm = _AS_IT_IS) -> RebuildJson:
    """A new one from nothing instead of the one on its way."""
    where = conversation_id_of(conversation_id)
    return RebuildJson.of(await start_over(here.kit, here.owner_id, where, level=form.level))


@router.delete("")
async def cancel(here: Here, conversation_id: str) -> RebuildJson:
    """The old summary stays."""
    return RebuildJson.of(await cancel_rebuild(here.kit, here.owner_id, conversation_id_of(conversation_id)))


@router.get("/stream", response_class=Response)
async def stream(request: Request, here: Here, conversation_id: str) -> Response:
    """`rebuild` events: the last one as it is now, then each change, until it is done or cancelled."""
    where = conversation_id_of(conversation_id)
    return RebuildStream(here, request, await read_rebuild(here.kit, here.owner_id, where))


class RebuildStream(Response):
    """Looks into the store at most once in five seconds, until the rebuild ends or the client or the server leaves."""

    def __init__(self, here: Caller, request: Request, rebuild: Rebuild) -> None:
        super().__init__(media_type="text/event-stream")
        self._here = here
        self._rebuild = rebuild
        self._stopping: asyncio.Event = request.app.state.stopping
        self._pace: Pace = request.app.state.pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientLeft):
            await while_connected(receive, self._speak(send))

    async def _speak(self, send: Send) -> None:
        async with open_line(send, {}, self._pace.quiet) as line:
            async for rebuild in self._changes():
                await line.say(named_event("rebuild", RebuildJson.of(rebuild).model_dump(mode="json")))
        await hang_up(send)

    async def _changes(self) -> AsyncIterator[Rebuild]:
        seen = self._rebuild
        yield seen
        while is_rebuilding(seen) and not self._stopping.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.poll):
                    await self._stopping.wait()
            newest = await self._newest(seen)
            if newest is None:
                return
            if newest != seen:
                yield newest
            seen = newest

    async def _newest(self, seen: Rebuild) -> Rebuild | None:
        """None when its conversation was deleted; the same as before while the store cannot be used."""
        try:
            return await read_rebuild(self._here.kit, self._here.owner_id, seen.conversation_id)
        except StoreUnavailable:
            return seen
        except NotFound:
            return None
