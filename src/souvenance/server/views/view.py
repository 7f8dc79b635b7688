"""What every answer of the REST door is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class View(BaseModel):
    """JSON that goes out. Its validator is built when it is first used: a server answers before most of them are."""

    model_config = ConfigDict(defer_build=True)
