"""An error as JSON (RFC 9457), told to the OpenAPI description."""

from __future__ import annotations

from pydantic import BaseModel


class ProblemJson(BaseModel):
    """`code` is stable and `detail` is for people; `details` holds the field, the limit and the size."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    details: dict[str, object]


PROBLEMS: dict[int | str, dict[str, object]] = {
    "default": {
        "description": "Any error; docs/reference/errors.md lists the codes with their statuses.",
        "content": {"application/problem+json": {"schema": ProblemJson.model_json_schema()}},
    }
}
"""For a router: what all its endpoints answer when they do not do what was asked."""
