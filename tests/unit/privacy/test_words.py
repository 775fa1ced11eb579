"""Guarantees in plain words."""

import math

import pytest

from gdppca import Guarantee
from gdppca.privacy import ApproximateEvent, GaussianEvent, NonPrivateEvent, PureEvent, words


def guarantee(multiplier=3.731, **options):
    event = GaussianEvent(purpose="scatter", noise_multiplier=multiplier)
    return Guarantee(**{"events": (event,), "delta": 1e-5, **options})


def test_odds_are_e_to_the_epsilon():
    assert "by a factor of at most 2.72," in words.meaning(guarantee())
    assert "1\N{NO-BREAK SPACE}in\N{NO-BREAK SPACE}100,000" in words.meaning(guarantee())


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1, math.log(3), 5, 9.99, 13.8])
def test_factor_is_never_understated(epsilon):
    stated = float(words.factor(epsilon).split()[-1].replace(",", ""))
    assert math.exp(epsilon) * (1 - 1e-5) <= stated <= math.exp(epsilon) * 1.01


def test_huge_factor_is_not_a_number():
    assert words.factor(500.0) == "by a factor that may exceed a million"


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 3e-7, 1 / 3, 0.05, 1 / 442])
def test_chance_is_never_understated(delta):
    said = words.chance(delta).replace("\N{NO-BREAK SPACE}", " ").replace(",", "")
    stated = 1 / float(said.removeprefix("1 in ")) if said.startswith("1 in") else float(said)
    assert delta * (1 - 1e-6) <= stated <= delta * 1.1


@pytest.mark.parametrize("before", [0.01, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 800.0])
def test_belief_moves_by_the_odds(before, epsilon):
    low, high = words.belief_after(before, epsilon)
    assert 0 <= low <= before <= high <= 1
    if epsilon < 10:
        odds = high / (1 - high) / (before / (1 - before))
        assert odds == pytest.approx(math.exp(epsilon))
        assert low / (1 - low) / (before / (1 - before)) == pytest.approx(math.exp(-epsilon))


@pytest.mark.parametrize(
    ("promise", "level", "said"),
    [
        (guarantee(), "protected", "Every person in the table is protected"),
        (guarantee(0.2), "doubtful", "only weakly"),
        (guarantee(status="high-probability", reason="so"), "doubtful", "high probability only"),
        (guarantee(seeded=True), "unprotected", "Nobody is protected"),
        (guarantee(status="none", reason="so"), "unprotected", "Nobody is protected"),
        (guarantee(events=(NonPrivateEvent(purpose="x"),)), "unprotected", "Nobody is protected"),
        (guarantee(events=(PureEvent(purpose="x", epsilon=1.0),)), "protected", "is protected"),
        (
            guarantee(events=(ApproximateEvent(purpose="x", epsilon=1.0, delta=1e-6),)),
            "protected",
            "is protected",
        ),
    ],
)
def test_level_and_headline_agree(promise, level, said):
    assert words.level(promise) == level
    assert said in words.headline(promise)
    assert ("by a factor" in words.meaning(promise)) is promise.protects


def test_notebook_shows_the_promise_and_escapes():
    html = guarantee(assumptions=("<script>",))._repr_html_()
    assert "Every person in the table is protected" in html
    assert "&lt;script&gt;" in html
    assert "<script" not in html


def test_notebook_shouts_without_protection():
    assert "NOBODY IS PROTECTED" in guarantee(seeded=True)._repr_html_()
