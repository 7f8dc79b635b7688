"""The command line (I5): one file per command, nothing imported before it is known which one runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from souvenance.errors import InputError, NotFound, PortBusy, SettingError, SouvenanceError

OK = 0
FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 for what failed, 2 for what was typed or set wrongly."""
    try:
        from souvenance.cli.program import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        return _told("The command line needs typer and rich. Install them: pip install 'souvenance[cli]'.", FAILED)
    try:
        return run(arguments)
    except SouvenanceError as error:
        return _told(error.message, _code(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`) has left; what is still buffered must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _code(error: SouvenanceError) -> int:
    wrong_input = isinstance(error, InputError | NotFound | SettingError) and not isinstance(error, PortBusy)
    return BAD_INPUT if wrong_input else FAILED


def _told(message: str, code: int) -> int:
    sys.stderr.write(f"souvenance: {' '.join(message.split())}\n")
    return code
