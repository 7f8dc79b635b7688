"""Every error as an HTTP answer: one table of statuses, a form for `/api/v1` (RFC 9457), another for `/v1` (OpenAI)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import Response

from souvenance import errors
from souvenance.errors import ModelRefused, SouvenanceError

STATUSES: Mapping[type[SouvenanceError], int] = {
    errors.SouvenanceError: 500,
    errors.InputError: 422,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.OfferExpired: 410,
    errors.DraftExpired: 410,
    errors.Refused: 403,
    errors.PromptTooLarge: 422,
    errors.ModelError: 502,
    errors.NoModel: 503,
    errors.UnknownModel: 404,
    errors.ModelTimedOut: 504,
    errors.StoreError: 503,
    errors.SettingError: 500,
}
"""The status of each class on `/api/v1`; a class that is not listed has its parent's."""

OPENAI_STATUSES: Mapping[type[SouvenanceError], int] = {
    **STATUSES,
    errors.InputError: 400,
    errors.PromptTooLarge: 400,
}
"""The same on `/v1`, where clients know bad input as 400."""

OPENAI_CODES: Mapping[type[SouvenanceError], str] = {
    errors.UnknownModel: "model_not_found",
    errors.PromptTooLarge: "context_length_exceeded",
}
"""Codes that OpenAI's clients act upon."""


@dataclass(frozen=True, slots=True)
class OwnCode:
    status: int
    says: str


OWN_CODES: Mapping[str, OwnCode] = {
    "malformed_json": OwnCode(400, "The body is not JSON in UTF-8, or is nested too deeply."),
    "host_not_allowed": OwnCode(403, "The Host header is a name that this server was not told of."),
    "origin_not_allowed": OwnCode(403, "A page of another site wants to change something."),
    "no_such_path": OwnCode(404, "There is nothing at this path."),
    "method_not_allowed": OwnCode(405, "The path does not take this method; the header `Allow` says which."),
    "body_too_large": OwnCode(413, "The body has more bytes than `request_bytes`; both figures are told."),
    "wrong_content_type": OwnCode(415, "A body that is not said to be JSON in UTF-8."),
    "internal_error": OwnCode(500, "A surprise; the log has its cause."),
}
"""What the server says by itself, before or beside any verb; the same status at both doors."""

_RETRY_STORE_SECONDS = "1"
_OPENAI_PATHS = ("/v1", "/chat/completions", "/models")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """An error on its way out, in no form yet; `details["field"]` names what was wrong in the request."""

    status: int
    code: str
    message: str
    details: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def speaks_openai(path: str) -> bool:
    """Whether clients of this path expect OpenAI's error object."""
    return any(path == door or path.startswith(door + "/") for door in _OPENAI_PATHS)


def answer(path: str, error: SouvenanceError) -> Response:
    """The error in the form of the door it was met at; an upstream's own refusal passes `/v1` as it came."""
    if not speaks_openai(path):
        return written(path, trouble_of(error, STATUSES))
    if isinstance(error, ModelRefused) and error.body and error.status >= HTTPStatus.BAD_REQUEST:
        return Response(error.body, error.status, headers=_as_it_came(error))
    return written(path, trouble_of(error, OPENAI_STATUSES))


def written(path: str, trouble: Trouble) -> Response:
    openai = speaks_openai(path)
    body = {"error": openai_object(trouble)} if openai else problem(trouble)
    kind = "application/json" if openai else "application/problem+json"
    return Response(encoded(body), trouble.status, headers=dict(trouble.headers), media_type=kind)


def trouble_of(error: SouvenanceError, statuses: Mapping[type[SouvenanceError], int] = STATUSES) -> Trouble:
    status = next(statuses[kind] for kind in type(error).__mro__ if kind in statuses)
    headers: dict[str, str] = {}
    if isinstance(error, ModelRefused) and error.retry_after:
        headers["Retry-After"] = error.retry_after
    elif isinstance(error, errors.StoreUnavailable):
        headers["Retry-After"] = _RETRY_STORE_SECONDS
    code = OPENAI_CODES.get(type(error), error.code) if statuses is OPENAI_STATUSES else error.code
    return Trouble(status=status, code=code, message=error.message, details=error.details, headers=headers)


def problem(trouble: Trouble) -> dict[str, object]:
    """The members of an RFC 9457 problem; `type` is a stable name and needs no network."""
    title = HTTPStatus(trouble.status).phrase
    return {
        "type": f"urn:souvenance:problem:{trouble.code}",
        "title": title,
        "status": trouble.status,
        "detail": trouble.message,
        "code": trouble.code,
        "details": dict(trouble.details),
    }


def openai_object(trouble: Trouble) -> dict[str, object]:
    param = trouble.details.get("field") or ("model" if trouble.code == "model_not_found" else None)
    return {
        "message": trouble.message,
        "type": "invalid_request_error" if trouble.status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error",
        "param": param,
        "code": trouble.code,
    }


def openai_stream_error(error: SouvenanceError) -> dict[str, object]:
    """What stands in a stream that has begun: the upstream's own object where it sent one."""
    if isinstance(error, ModelRefused):
        theirs = _object(error.body)
        if theirs.get("error"):
            return theirs
    return {"error": openai_object(trouble_of(error, OPENAI_STATUSES))}


def invalid(path: str, found: Sequence[Mapping[str, Any]]) -> Trouble:
    """What validation found, named by field and bound; the values themselves are not repeated."""
    broken = next((each for each in found if each["type"] == "json_invalid"), None)
    if broken is not None:
        return malformed(f"{broken['ctx']['error']} at character {broken['loc'][-1]}")
    faults = [{"field": _field(each["loc"]), "problem": str(each["msg"])} for each in found]
    message = "; ".join(f"{fault['field']}: {fault['problem']}" for fault in faults)
    return Trouble(
        status=HTTPStatus.BAD_REQUEST if speaks_openai(path) else HTTPStatus.UNPROCESSABLE_ENTITY,
        code="invalid_input",
        message=message + ".",
        details={"field": faults[0]["field"], "faults": faults},
    )


def malformed(problem: str) -> Trouble:
    return own("malformed_json", f"The body is not JSON: {problem}.", details={"field": "body"})


def own(
    code: str,
    message: str,
    *,
    details: Mapping[str, object] = MappingProxyType({}),
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Trouble:
    """Trouble of the server's own, under one of `OWN_CODES`."""
    return Trouble(status=OWN_CODES[code].status, code=code, message=message, details=details, headers=headers)


def encoded(value: object) -> bytes:
    """JSON in UTF-8; half a surrogate pair, which UTF-8 has no bytes for, stays the escape it came as."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", errors="backslashreplace")


def _as_it_came(refused: ModelRefused) -> dict[str, str]:
    headers = {"Content-Type": refused.content_type, "X-Content-Type-Options": "nosniff"}
    return {**headers, "Retry-After": refused.retry_after} if refused.retry_after else headers


def _field(location: Sequence[object]) -> str:
    """`("body", "settings", "learn")` as `settings.learn`; the body itself as `body`."""
    inside = location[1:] if location[0] in ("body", "query", "path", "header") else location
    return ".".join(map(str, inside)) or str(location[0])


def _object(data: bytes) -> dict[str, object]:
    try:
        value: object = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
