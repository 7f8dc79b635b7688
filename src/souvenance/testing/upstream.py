"""The scripted upstream as a process of its own: `python -m souvenance.testing.upstream --port 9911`.

It echoes, or says the same `--chunks` chunks to every request. The first line it prints is its base URL.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from souvenance.testing.script import Hang, Reply, Text
from souvenance.testing.scripted_upstream import ScriptedUpstream, echo


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted or terminated."""
    options = _parser().parse_args(arguments)
    reply = _reply(options)
    responder = echo if reply is None else lambda request: reply
    stopped = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stopped.set())
    models = tuple(options.model or ("scripted",))
    with ScriptedUpstream(port=options.port, models=models).respond_with(responder) as upstream:
        sys.stdout.write(upstream.url + "\n")
        sys.stdout.flush()
        stopped.wait()


def _reply(options: argparse.Namespace) -> Reply | None:
    if options.hang:
        return Hang(after=("Thinking",))
    if not options.chunks:
        return None
    return Text(chunks=tuple(f"word{at} " for at in range(options.chunks)), first_after=options.first_after)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m souvenance.testing.upstream", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--model", action="append", help="a model to list; may be given several times")
    parser.add_argument("--chunks", type=int, default=0, help="say this many chunks instead of echoing")
    parser.add_argument("--first-after", type=float, default=0.0, help="seconds before the first chunk")
    parser.add_argument("--hang", action="store_true", help="say one chunk, then nothing until the client leaves")
    return parser


if __name__ == "__main__":
    main()
