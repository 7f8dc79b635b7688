"""What an installation may set: read once from a file, the environment and flags; the later of them wins."""

from __future__ import annotations

from souvenance.settings.fields import Settings
from souvenance.settings.sources import CONFIG_VARIABLE, FILE_NAME, default_folder, read_settings
from souvenance.settings.values import DatabaseUrl, Secret, UpstreamSettings, refuse_unknown

__all__ = [
    "CONFIG_VARIABLE",
    "FILE_NAME",
    "DatabaseUrl",
    "Secret",
    "Settings",
    "UpstreamSettings",
    "default_folder",
    "read_settings",
    "refuse_unknown",
]
