from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from souvenance.server.guard import Access, foreign

ACCESS = Access(hosts=frozenset({"memory.home.arpa"}), origins=frozenset({"https://chat.example"}))


def refusal(method: str = "GET", **headers: str) -> str | None:
    given = Headers({name.replace("_", "-"): value for name, value in headers.items()})
    trouble = foreign(method, given, ACCESS)
    return None if trouble is None else trouble.code


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:7411", "localhost:7411", "LOCALHOST", "[::1]:7411", "[::1]", "192.168.1.5:80", "memory.home.arpa:7411"],
)
def test_the_servers_own_names_are_known(host: str) -> None:
    assert refusal(host=host) is None


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:7411", "localhost.evil.example", "", ":7411"])
def test_a_name_that_a_page_could_turn_on_this_machine_is_refused(host: str) -> None:
    assert refusal(host=host) == "host_not_allowed"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:7411"])
def test_a_page_of_another_origin_changes_nothing(method: str, origin: str) -> None:
    assert refusal(method, host="127.0.0.1:7411", origin=origin) == "origin_not_allowed"


@pytest.mark.parametrize("origin", ["http://127.0.0.1:7411", "https://chat.example"])
def test_the_servers_own_pages_and_allowed_ones_may_change_things(origin: str) -> None:
    assert refusal("POST", host="127.0.0.1:7411", origin=origin) is None


def test_a_browser_that_hides_the_origin_of_a_foreign_page_is_refused() -> None:
    assert refusal("POST", host="127.0.0.1:7411", sec_fetch_site="cross-site") == "origin_not_allowed"


def test_a_program_without_origin_may_change_things() -> None:
    assert refusal("POST", host="127.0.0.1:7411") is None
