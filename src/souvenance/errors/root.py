"""What all errors of this package are."""

from __future__ import annotations


class SouvenanceError(Exception):
    """Something that a caller can be told plainly; `details` are the figures behind the message."""

    code = "error"

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
