"""The REST door, one file per resource, under `/api/v1` (I2)."""

from __future__ import annotations

from fastapi import APIRouter

from souvenance.server.api import (
    about,
    bots,
    branches,
    conversations,
    drafts,
    erasures,
    health,
    memories,
    notifications,
    personas,
    prompts,
    temporary,
    turns,
    work,
)
from souvenance.server.views.problem import PROBLEMS

PREFIX = "/api/v1"


def rest_router() -> APIRouter:
    """Every resource under the version's prefix."""
    router = APIRouter(prefix=PREFIX, responses=PROBLEMS)
    for resource in (
        about,
        health,
        bots,
        personas,
        conversations,
        branches,
        turns,
        temporary,
        memories,
        drafts,
        erasures,
        prompts,
        notifications,
        work,
    ):
        router.include_router(resource.router)
    return router
