"""The REST door, one file per resource, under `/api/v1` (I2)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from fastapi import APIRouter

from souvenance.server.views.problem import PROBLEMS

PREFIX = "/api/v1"

RESOURCES: Mapping[str, tuple[str, ...]] = {
    "about": ("version", "limits", "models", "doctor"),
    "health": ("health",),
    "bots": ("bots",),
    "personas": ("personas",),
    "conversations": ("conversations",),
    "branches": ("conversations", "messages"),
    "summaries": ("conversations",),
    "rebuilds": ("conversations",),
    "turns": ("conversations", "turns"),
    "temporary": ("temporary-turns",),
    "memories": ("memories",),
    "drafts": ("drafts",),
    "erasures": ("erasures",),
    "prompts": ("messages", "prompts"),
    "notifications": ("notifications",),
    "work": ("work",),
}
"""The resources by their files' names, in the manual's order, and what their paths begin with behind the prefix."""


def rest_router() -> APIRouter:
    """Every resource under the version's prefix, at once: `server/doors.py` opens them one by one."""
    router = APIRouter(prefix=PREFIX, responses=PROBLEMS)
    for name in RESOURCES:
        router.include_router(import_module(f"{__name__}.{name}").router)
    return router
