"""The store did not do its part, or the installation is not set up as it says."""

from __future__ import annotations

from souvenance.errors.root import SouvenanceError


class StoreError(SouvenanceError):
    """The store did not do its part."""

    code = "store_error"


class StoreUnavailable(StoreError):
    """The database cannot be used: busy, full, broken or gone."""

    code = "store_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The store cannot be used right now: {reason}.", reason=reason)


class StoreTooNew(StoreError):
    """The database was written by a newer version."""

    code = "store_too_new"

    def __init__(self, place: str, *, found: str, known: str) -> None:
        super().__init__(
            f"{place} was written by a newer Souvenance (schema {found}; this one knows {known}). "
            "Install the newer version; nothing was touched.",
            found=found,
            known=known,
        )


class SettingError(SouvenanceError):
    """A setting that cannot be used; the message says how to mend it."""

    code = "setting_error"

    def __init__(self, setting: str, *, problem: str, mend: str) -> None:
        super().__init__(f"Setting {setting}: {problem}. {mend}", setting=setting, problem=problem, mend=mend)


class PortBusy(SettingError):
    """Something else listens on the port."""

    code = "port_busy"

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            "port",
            problem=f"something already listens on {host}:{port}",
            mend=f"Choose another with --port {port + 1}, or stop the other program",
        )
