"""The installation about itself: version, limits, models, and what `souvenance doctor` says."""

from __future__ import annotations

from importlib.metadata import version as installed_version

from fastapi import APIRouter, Request

from souvenance.app.choose_model import models_at_hand
from souvenance.domain.limits import figures
from souvenance.errors import NotFound
from souvenance.server.caller import Here, Report
from souvenance.server.views.about import LimitJson, LimitsJson, ModelJson, ModelsJson, VersionJson

router = APIRouter(tags=["about"])


@router.get("/version")
async def version() -> VersionJson:
    """The name and version of what answers."""
    return VersionJson(name="souvenance", version=installed_version("souvenance"))


@router.get("/limits")
async def limits(here: Here) -> LimitsJson:
    """Every limit of this installation with its rule and unit."""
    return LimitsJson(items=[LimitJson.of(figure) for figure in figures(here.kit.limits)])


@router.get("/models")
async def models(here: Here) -> ModelsJson:
    """Every model that can be asked, and the one that answers where nobody names one."""
    shelf = await models_at_hand(here.kit)
    listed = await here.kit.models.models()
    return ModelsJson(items=[ModelJson.of(info) for info in listed], default=shelf.default)


@router.get("/doctor")
async def doctor(request: Request) -> dict[str, object]:
    """What was found, what is missing, and how to mend it."""
    report: Report | None = request.app.state.report
    if report is None:
        raise NotFound("report", "doctor")
    return dict(await report())
