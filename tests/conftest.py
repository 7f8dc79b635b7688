"""What every test run shares: Hypothesis profiles, the rule against skips, one PostgreSQL, the lines of a proof."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.counts import PROVING
from tests.postgres import SharedPostgres

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from _pytest.terminal import TerminalReporter
    from xdist.workermanage import WorkerController

# Workers share two cores: how long one example takes says nothing.
_ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", _ANY_SPEED, derandomize=True)
settings.register_profile("random", _ANY_SPEED, database=None, print_blob=True)
settings.register_profile("prove", _ANY_SPEED, database=None, print_blob=True, max_examples=2_000)

_postgres_key = pytest.StashKey[SharedPostgres]()


_MOST_WORKERS = 8
_USUAL_SECONDS = 120.0


def pytest_configure(config: pytest.Config) -> None:
    _hear_interrupts()
    workerinput: dict[str, str] | None = getattr(config, "workerinput", None)
    if workerinput is None:
        config.stash[_postgres_key] = SharedPostgres.reserve()
    else:
        config.stash[_postgres_key] = SharedPostgres(directory=Path(workerinput["postgres"]))


def _hear_interrupts() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C, and so do the programs that tests interrupt."""
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    node.workerinput["postgres"] = str(node.config.stash[_postgres_key].directory)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, since tests wait for databases and for processes that they start."""
    return min((os.cpu_count() or 1) + 1, _MOST_WORKERS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tests that may take long, which say so by their timeouts, come first: none begins as the others end.

    A module with `ONE_DATABASE = True` runs on SQLite alone in `make test`: what it shows does not depend on the
    database, each statement behind it is held to both by `tests/conformance`, each rule by `tests/acceptance`.
    """
    if not PROVING:
        later = [item for item in items if _is_for_later(item)]
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if item not in set(later)]
    items.sort(key=_allowed_seconds, reverse=True)


def _is_for_later(item: pytest.Item) -> bool:
    named = getattr(item, "callspec", None)
    is_enough = getattr(getattr(item, "module", None), "ONE_DATABASE", False)
    return is_enough and named is not None and "postgres" in named.params.values()


def _allowed_seconds(item: pytest.Item) -> float:
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark is not None and mark.args else _USUAL_SECONDS


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.stash[_postgres_key].stop()


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> SharedPostgres:
    """The run's one PostgreSQL; it starts when a database is asked of it."""
    return pytestconfig.stash[_postgres_key]


@pytest.fixture
def postgres_url(postgres: SharedPostgres) -> Iterator[str]:
    """A fresh database at the newest revision, `postgresql+asyncpg://…`, dropped after the test."""
    with postgres.migrated_database() as url:
        yield url


@pytest.fixture
def empty_postgres_url(postgres: SharedPostgres) -> Iterator[str]:
    """A fresh database without tables, for tests of the migrations."""
    with postgres.empty_database() as url:
        yield url


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_if_skipped(report)
    return report


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"In CI every test must run, but {report.nodeid} was skipped: {reason}"


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Print what tests recorded by `record_property("proof", line)`; `make prove` keeps these lines."""
    reports = [report for some in terminalreporter.stats.values() for report in some]
    lines = [
        value
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == "proof"
    ]
    if lines:
        terminalreporter.section("proofs")
        for line in sorted(str(line) for line in lines):
            terminalreporter.write_line(line)
