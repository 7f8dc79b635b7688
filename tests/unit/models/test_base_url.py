from __future__ import annotations

import pytest

from souvenance.errors import SettingError
from souvenance.models.base_url import is_loopback, normalise, origin


@pytest.mark.parametrize(
    ("written", "base"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
        (" https://openrouter.ai/api/v1 ", "https://openrouter.ai/api/v1"),
        ("https://example.org/v1beta/openai/", "https://example.org/v1beta/openai"),
        ("https://example.org/inference", "https://example.org/inference"),
        ("https://example.org/v1/chat/completions", "https://example.org/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
    ],
)
def test_a_base_url_may_be_written_with_or_without_v1(written: str, base: str) -> None:
    assert normalise(written) == base


@pytest.mark.parametrize("written", ["", "127.0.0.1:11434", "ftp://x", "http://", "http://x:port", "http://[::1"])
def test_what_is_no_http_address_is_refused_by_name(written: str) -> None:
    with pytest.raises(SettingError, match="base_url"):
        normalise(written)


def test_native_endpoints_live_at_the_origin() -> None:
    assert origin("http://127.0.0.1:1234/v1") == "http://127.0.0.1:1234"


@pytest.mark.parametrize(
    ("base", "here"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost/v1", True),
        ("http://10.0.0.2/v1", False),
        ("https://localhost.example.org/v1", False),
    ],
)
def test_loopback_is_known(base: str, here: bool) -> None:
    assert is_loopback(base) is here
