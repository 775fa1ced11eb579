"""Attacks on fits of real tables: several rows of a person, secret sizes, gaps, weights.

Each promise must survive at ε = 4, and the same attack must break copies with half of the noise,
and copies with mistakes that are easily made: rows that count whole, noise for rows where persons
are promised, a number of rows or rates of missing cells that are next to exact.
"""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from weakened import (
    HALF,
    ROOT_TWO,
    counting_whole,
    is_refuted,
    next_to_exact,
    promise,
    runs_for_gaussian,
    survives,
)

from gdppca.auditing import audit
from gdppca.tables.wishes import Wishes

pytestmark = pytest.mark.slow

# One draw, seen whole; the others draw much, and show nearly all of it.
QUICK = ("dppca-persons-centre", "dppca-persons-pairs", "dppca-weights")
WHOLE_FITS = ("dppca-persons", "dppca-add-remove", "dppca-add-remove-persons", "dppca-missing")


@pytest.mark.parametrize("name", QUICK)
def test_promise_survives(name):
    attacked = promise(name)
    assert survives(attacked, runs_for_gaussian(attacked.claim.mu, ROOT_TWO))


@pytest.mark.parametrize("name", QUICK)
def test_missing_root_two_is_refuted(name):
    attacked = promise(name)
    assert is_refuted(attacked, runs_for_gaussian(attacked.claim.mu, ROOT_TWO), ROOT_TWO)


@pytest.mark.parametrize("name", WHOLE_FITS)
def test_fit_survives_and_half_of_its_noise_is_refuted(name):
    attacked = promise(name)
    runs = runs_for_gaussian(attacked.claim.mu, HALF, 0.95)
    assert survives(attacked, runs)
    assert is_refuted(attacked, runs, HALF)


# --- Mistakes -------------------------------------------------------------------------------------


MISTAKES = {
    "rows count whole": ("gdppca.tables.persons.whole_parts", counting_whole),
    "rows are taken for persons": (Wishes, "persons_in", lambda *asked: None),
    "a public number": ("gdppca.steps.count.noised", next_to_exact),
    "rates without noise": ("gdppca.steps.rates.noised", next_to_exact),
    "weights beyond the largest": (
        "gdppca.tables.wishes.weight_shares",
        lambda weights, largest, n, name="": np.asarray(weights) / largest,
    ),
}
PLANTED = [
    ("dppca-persons", "rows count whole"),
    ("dppca-persons-centre", "rows count whole"),
    ("dppca-persons", "rows are taken for persons"),
    ("dppca-persons-pairs", "rows are taken for persons"),
    ("dppca-add-remove-persons", "rows count whole"),
    ("dppca-add-remove", "a public number"),
    ("dppca-add-remove-persons", "a public number"),
    ("dppca-missing", "rates without noise"),
    ("dppca-weights", "weights beyond the largest"),
]


@contextmanager
def planted(mistake):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*MISTAKES[mistake])
        # Where rows are what counts, both tables have as many: their number would be public.
        patch.setattr("gdppca.auditing.real_tables._ROWS", (20, 20))
        yield


@pytest.mark.parametrize(("name", "mistake"), PLANTED)
def test_mistake_is_refuted(name, mistake):
    claimed = promise(name)
    assert survives(claimed, 200)
    with planted(mistake):
        broken = replace(promise(name), claim=claimed.claim)
        assert any(audit(broken, runs=200).refuted for _ in range(2))
