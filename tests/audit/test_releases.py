"""Audits of releases at their own ε: near the claim, and every broken copy found out.

Whole runs of a release's design are overheard, and their draws made again by the same source. What
is right must survive; half of the noise, noise for a sensitivity that is too small, and mistakes in
a single step must not.
"""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from released import DESIGNS, released
from weakened import (
    ALARM,
    HALF,
    ROOT_TWO,
    SURE,
    counting_whole,
    next_to_exact,
    runs_for_gaussian,
    weakened,
)

from gdppca import DPPCA
from gdppca.auditing import audit
from gdppca.sensitivity import Moves

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SEEN = 0.95  # of μ² at least; tests of rebuilt designs hold every pair to it


@pytest.fixture(scope="module")
def default():
    """As anybody makes it, at ε = 1."""
    X = np.random.default_rng(0).normal(size=(2000, 10)) * np.linspace(1, 4, 10) + 3
    return DPPCA(2, epsilon=1.0).fit(X).release_


def test_default_release_is_audited_nearly_to_its_claim(default):
    """The bound of so many runs falls below 0.7 once in a million audits."""
    found = audit(default, runs=60_000, confidence=1 - ALARM)
    assert found.epsilon_lower >= 0.7
    assert found.epsilon_lower <= found.epsilon_seen
    assert found.epsilon_reachable > 0.8
    if found.refuted:  # once in 10,000
        assert not audit(default, runs=20_000, confidence=SURE).refuted


def test_half_of_the_noise_is_refuted_twenty_times_of_twenty(default):
    runs = runs_for_gaussian(default.guarantee.gdp_mu, HALF, SEEN)
    with weakened(HALF):
        for _ in range(20):
            assert audit(default, runs=runs, confidence=1 - ALARM).refuted


def test_missing_root_two_is_refuted(default):
    runs = runs_for_gaussian(default.guarantee.gdp_mu, ROOT_TWO, SEEN)
    with weakened(ROOT_TWO):
        assert audit(default, runs=runs, confidence=1 - ALARM).refuted


@pytest.mark.parametrize("name", DESIGNS)
def test_design_survives_and_half_of_its_noise_is_refuted(name):
    release = released(name, epsilon=4.0)
    for left in (1.0, HALF):
        with weakened(left) if left < 1 else nullcontext():
            found = audit(release, runs=3000, confidence=SURE)
        assert found.refuted == (left < 1), found


# --- Mistakes -------------------------------------------------------------------------------------


def shorter(exact):
    """A sensitivity that is too small by two."""
    return lambda *asked, **more: exact(*asked, **more) / 2


MISTAKES = {
    "scatter": (Moves, "scatter", shorter(Moves.scatter)),
    "looks": (Moves, "looks", shorter(Moves.looks)),
    "rows count whole": ("gdppca.tables.persons.whole_parts", counting_whole),
    "a public number": ("gdppca.steps.count.noised", next_to_exact),
    "rates without noise": ("gdppca.steps.rates.noised", next_to_exact),
}


@contextmanager
def planted(mistake):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*MISTAKES[mistake])
        yield


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("default", "scatter"),
        ("persons", "rows count whole"),
        ("add or remove", "a public number"),
        ("add or remove persons", "a public number"),
        ("missing", "rates without noise"),
    ],
)
def test_mistake_is_refuted(name, mistake):
    release = released(name, epsilon=4.0)
    with planted(mistake):
        assert audit(release, runs=3000, confidence=1 - ALARM).refuted


def test_a_sensitivity_that_is_too_small_is_named_though_its_share_is():
    """Looks take so little of the budget that guesses alone would hardly tell."""
    release = released("add or remove", epsilon=4.0)
    with planted("looks"):
        found = audit(release, runs=100)
    assert 1.9999 < found.largest_move <= 2.0  # the bound allows for rounding
    assert "moved by 2 times the sensitivity" in str(found)
