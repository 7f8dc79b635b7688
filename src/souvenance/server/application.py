"""The FastAPI application over an opened house: both doors, every error in its form, and the timer of purges."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from importlib.metadata import version as installed_version
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import Receive, Scope, Send

from souvenance.app.kit import Kit
from souvenance.app.purge_ended import purge_ended
from souvenance.errors import SouvenanceError
from souvenance.server.api import PREFIX
from souvenance.server.caller import House, Report
from souvenance.server.doors import Doors
from souvenance.server.equals import Equals
from souvenance.server.guard import Access, Guard
from souvenance.server.pace import USUAL, Pace
from souvenance.server.problems import Trouble, answer, invalid, malformed, own, written

log = logging.getLogger(__name__)


LOCAL = Access()


class Application(FastAPI):
    """FastAPI, with doors that open when they are first knocked at; the description of all opens all."""

    @cached_property
    def doors(self) -> Doors:
        return Doors(self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.doors.open_for(scope["path"])
        await super().__call__(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        self.doors.open_all()
        return super().openapi()


def create_app(
    house: House,
    *,
    report: Report | None = None,
    access: Access = LOCAL,
    pace: Pace = USUAL,
    time_zone: str = "UTC",
) -> Application:
    """The application; it needs no network for itself (no page of docs) and leaves `house` open when it stops.

    `report` answers `GET /api/v1/doctor`; `time_zone` is that of new conversations.
    `app.state.stopping` is set by whoever serves it, to end open streams.
    """
    app = Application(
        title="Souvenance",
        version=installed_version("souvenance"),
        summary="A memory for chats, characters and agents that stays with its owner.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lambda app: _purging(app, house.kit, pace.purge),
    )
    app.state.house = house
    app.state.report = report
    app.state.time_zone = time_zone
    app.state.stopping = asyncio.Event()
    app.state.pace = pace
    app.state.equals = Equals()
    if access.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=sorted(access.origins), allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(Guard, access=access, most=house.kit.limits.request_bytes)
    _answer_errors(app)
    _answer_the_bare_address(app)
    return app


def _answer_the_bare_address(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def where() -> dict[str, str]:
        """Where things are, for whoever opens the bare address."""
        return {
            "name": "souvenance",
            "version": installed_version("souvenance"),
            "openai_base_url": "/v1",
            "rest": PREFIX,
        }


def _answer_errors(app: FastAPI) -> None:
    app.add_exception_handler(SouvenanceError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _of_surprise)


async def _of_ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, SouvenanceError)
    return answer(request.url.path, error)


async def _of_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return written(request.url.path, invalid(request.url.path, error.errors()))


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == 404:
        trouble = own("no_such_path", f"There is nothing at {path}.")
    elif error.status_code == 405:
        message = f"{path} does not take {request.method}."
        trouble = own("method_not_allowed", message, headers=error.headers or {})
    elif error.status_code == 400:
        trouble = malformed("it cannot be read as UTF-8 text, or is nested too deeply")
    else:
        trouble = Trouble(status=error.status_code, code="http_error", message=str(error.detail))
    return written(path, trouble)


async def _of_surprise(request: Request, error: Exception) -> Response:
    """No internals leave: the log has them."""
    log.error("request_failed", extra={"path": request.url.path, "error": type(error).__name__})
    message = "Something went wrong inside Souvenance; its log says what."
    return written(request.url.path, own("internal_error", message))


@asynccontextmanager
async def _purging(app: FastAPI, kit: Kit, seconds: float) -> AsyncIterator[None]:
    """Purge what people erased, once its offer has ended, for as long as the application runs (M14)."""
    timer = asyncio.create_task(_every(seconds, lambda: purge_ended(kit)))
    try:
        yield
    finally:
        app.state.stopping.set()
        timer.cancel()
        with suppress(asyncio.CancelledError):
            await timer


async def _every(seconds: float, purge: Callable[[], Awaitable[int]]) -> None:
    while True:
        try:
            purged = await purge()
            if purged:
                log.info("erasures_purged", extra={"count": purged})
        except SouvenanceError as error:
            log.warning("purge_failed", extra={"code": error.code})
        except Exception:
            log.exception("purge_failed")
        await asyncio.sleep(seconds)
