"""A JSON object as it goes over the wire: names and values whose shape only the other side knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JsonObject = Mapping[str, Any]
