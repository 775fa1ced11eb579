"""Guarantees in plain words."""

import math

import pytest
from scipy.stats import norm

from gdppca import Guarantee
from gdppca.privacy import ApproximateEvent, GaussianEvent, NonPrivateEvent, PureEvent, words
from gdppca.privacy.events import twice


def guarantee(multiplier=3.731, **options):
    event = GaussianEvent(purpose="scatter", noise_multiplier=multiplier)
    return Guarantee(**{"events": (event,), "delta": 1e-5, **options})


def said(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_odds_are_those_of_the_trade_off_curve():
    """c/Φ(Φ⁻¹(c) - μ) with μ = 1/3.731; e^ε would be 2.72."""
    mu = 1 / 3.731
    exact = [c / norm.cdf(norm.ppf(c) - mu) for c in (1e-5, 0.05)]
    assert exact == pytest.approx([3.4379, 1.7933], abs=1e-4)
    assert said(words.meaning(guarantee())) == (
        "Take somebody who knows everything but one person's row, and makes a guess about it. "
        "Seeing this release raises the odds of that guess by a factor of at most 3.44, but for a "
        "chance of 1 in 100,000."
    )
    # 0.1 · 3.4379 / (0.9 + 0.1 · 3.4379) = 0.2764, and so on; rounded up.
    assert said(words.examples(guarantee())) == (
        "But for that chance, a guess that was 1 %, 10 % or 50 % likely before is at most 3.4 %, "
        "28 % or 78 % likely after; in 95 of 100 such releases at most 1.8 %, 17 % or 65 %."
    )


def test_pure_steps_know_no_exception():
    promise = guarantee(events=(PureEvent(purpose="x", epsilon=1.0),))
    assert "by a factor of at most 2.72, without exception." in words.meaning(promise)
    assert words.chance_of_more(promise) == 0
    assert said(words.examples(promise)) == (
        "So, a guess that was 1 %, 10 % or 50 % likely before is at most 2.7 %, 24 % or 74 % "
        "likely after."
    )


def test_steps_known_at_one_point_only_are_told_at_twice_their_delta():
    promise = guarantee(events=(ApproximateEvent(purpose="x", epsilon=1.0, delta=1e-5),))
    told = said(words.meaning(promise))
    assert "by a factor of at most 5.44, but for a chance of 1 in 50,000." in told


def test_promise_about_presence_is_told_as_one():
    told = words.meaning(guarantee(neighbors="add-remove"))
    assert "guesses whether one person's row is in it" in told


def test_promise_with_high_probability_says_so_in_the_same_breath():
    assert "with high probability only" in words.meaning(guarantee(status="high-probability"))


@pytest.mark.parametrize("times", [1.0, 1.0001, 1.1, 3, 148.2, 9.99e3, 9.9e5])
def test_factor_is_never_understated(times):
    stated = float(words.factor(times).split()[-1].replace(",", ""))
    assert times * (1 - 1e-5) <= stated <= times * 1.01


def test_huge_factor_is_not_a_number():
    assert words.factor(1.1e6) == "by a factor that may exceed a million"
    told = words.meaning(guarantee(0.2))
    assert told.endswith("by a factor that may exceed a million.")
    assert words.examples(guarantee(0.2)) == ""


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 3e-7, 1 / 3, 0.05, 1 / 442])
def test_chance_is_never_understated(delta):
    said = words.chance(delta).replace("\N{NO-BREAK SPACE}", " ").replace(",", "")
    one_in, per_cent = said.removeprefix("1 in "), said.removesuffix(" %")
    stated = 1 / float(one_in) if said.startswith("1 in") else float(per_cent) / 100
    assert delta * (1 - 1e-6) <= stated <= delta * 1.1


@pytest.mark.parametrize("before", [0.01, 0.5, 0.9])
@pytest.mark.parametrize("times", [1.6, 20.0, math.inf])
def test_belief_moves_by_the_odds(before, times):
    low, high = words.belief_after(before, times)
    assert 0 <= low <= before <= high <= 1
    if math.isfinite(times):
        odds = high / (1 - high) / (before / (1 - before))
        assert odds == pytest.approx(times)
        assert low / (1 - low) / (before / (1 - before)) == pytest.approx(1 / times)
    else:
        assert (low, high) == (0, 1)


@pytest.mark.parametrize(
    ("promise", "level", "said"),
    [
        (guarantee(), "protected", "Every person with one row in this table is protected"),
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
    assert "Every person with one row in this table is protected" in html
    assert words.examples(guarantee()) in html
    assert "&lt;script&gt;" in html
    assert "<script" not in html


def test_notebook_shouts_without_protection():
    html = guarantee(seeded=True)._repr_html_()
    assert "NOBODY IS PROTECTED" in html
    assert "likely before" not in html


KINDS = [(unit, near) for unit in ("row", "person") for near in ("replace-one", "add-remove")]


@pytest.mark.parametrize(("unit", "neighbors"), KINDS)
@pytest.mark.parametrize("multiplier", [3.731, 0.4])
@pytest.mark.parametrize("status", ["proven", "high-probability"])
def test_a_promise_about_persons_never_speaks_of_one_row(unit, neighbors, multiplier, status):
    promise = guarantee(multiplier, unit=unit, neighbors=neighbors, status=status, reason="so")
    voices = (words.headline(promise), words.weakly(promise), words.told(promise))
    for voice in voices:
        assert ("one row" in voice or "person's row" in voice) is (unit == "row")
        assert ("all rows of" in voice or "all of their rows" in voice) is (unit == "person")
    assert ("whether" in words.meaning(promise)) is (neighbors == "add-remove")
    assert ("of whole persons" in str(promise)) is (unit == "person")


def test_what_may_be_given_away_is_told_in_the_unit():
    bare = guarantee(status="none", reason="so")
    assert "give away any person's row." in words.meaning(bare)
    whole = guarantee(status="none", reason="so", unit="person")
    assert "give away all rows of any person." in words.meaning(whole)


@pytest.mark.parametrize("unit", ["row", "person"])
def test_presence_says_less_than_it_seems_of_what_a_row_says(unit):
    """Removing one and adding another is two steps: μ twice as large, 1/3.731 · 2."""
    promise = guarantee(unit=unit, neighbors="add-remove")
    mu = 2 / 3.731
    exact = 1e-5 / norm.cdf(norm.ppf(1e-5) - mu)
    told = said(words.contents(promise))
    stated = float(told.split("at most ")[1].split(",")[0])
    assert exact <= stated <= exact * 1.01
    assert told in said(words.told(promise))
    assert words.contents(guarantee(unit=unit)) == ""
    assert words.contents(guarantee(neighbors="add-remove", seeded=True)) == ""


def test_two_steps_apart():
    assert twice(PureEvent(purpose="x", epsilon=0.5)).epsilon == 1.0
    both = twice(ApproximateEvent(purpose="x", epsilon=1.0, delta=1e-6))
    assert (both.epsilon, both.delta) == (2.0, pytest.approx(1e-6 * (1 + math.e)))
    for lost in (
        ApproximateEvent(purpose="x", epsilon=800.0, delta=1e-6),
        NonPrivateEvent(purpose="x"),
    ):
        assert twice(lost) == NonPrivateEvent(purpose="x")


@pytest.mark.parametrize("delta", [0.04, 0.06, 0.3])
def test_what_is_usual_is_said_only_where_it_is_less_than_what_is_promised(delta):
    promise = guarantee(delta=delta)
    usual = promise.odds_factor(words.SELDOM)
    assert (usual < promise.odds_factor(delta)) == (delta < words.SELDOM)
    assert ("95 of 100" in words.examples(promise)) == (delta < words.SELDOM)
    assert words.usual_factor(promise) == (usual if delta < words.SELDOM else None)


def test_a_large_chance_is_told_in_per_cent():
    assert said(words.chance(0.2)) == "20 %"
    assert said(words.chance(0.1)) == "1 in 10"
