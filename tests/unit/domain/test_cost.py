from __future__ import annotations

import pytest

from souvenance.domain.cost import LEARNT_AFTER, RESERVE, Calibration, learn


def test_an_estimate_has_a_reserve_until_enough_was_reported() -> None:
    assert Calibration().corrected(1_000) == 1_150
    assert not Calibration().learnt


@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.3, 2.9])
def test_after_five_replies_the_estimate_is_within_a_tenth_of_the_models_own_count(ratio: float) -> None:
    """C5."""
    calibration = Calibration()
    for estimated in (1_200, 900, 4_000, 2_500, 3_100):
        calibration = learn(calibration, estimated=estimated, reported=round(estimated * ratio))
    assert calibration.learnt
    assert calibration.corrected(2_000) == pytest.approx(2_000 * ratio, rel=0.1)


def test_until_it_has_learnt_the_estimate_is_never_under_what_was_reported() -> None:
    calibration = Calibration()
    for _ in range(LEARNT_AFTER - 1):
        calibration = learn(calibration, estimated=1_000, reported=600)
    assert calibration.corrected(1_000) == round(1_000 * (1 + RESERVE))


def test_a_report_of_nothing_teaches_nothing() -> None:
    before = learn(Calibration(), estimated=100, reported=120)
    assert learn(before, estimated=0, reported=50) == learn(before, estimated=50, reported=0) == before


def test_old_replies_fade() -> None:
    calibration = Calibration()
    for _ in range(50):
        calibration = learn(calibration, estimated=1_000, reported=1_000)
    for _ in range(100):
        calibration = learn(calibration, estimated=1_000, reported=2_000)
    assert calibration.corrected(1_000) == pytest.approx(2_000, rel=0.02)
