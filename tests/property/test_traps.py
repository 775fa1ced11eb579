"""What looks private for persons, or for somebody added, and is not: the numbers of the proofs."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from gdppca.privacy.accounting import gaussian_epsilon, gaussian_multiplier
from gdppca.steps.histogram import shown_probability, sparse_threshold

UNITS = 2**30


# --- docs/proofs/persons.md -----------------------------------------------------------------------


def longest_person(rounded, weight):
    """Length of a person whose million rows all point the same way."""
    return 10**6 * math.hypot(*rounded(np.full(10, weight / math.sqrt(10)))) / UNITS


def test_rounding_to_nearest_makes_a_person_longer_than_one():
    assert longest_person(np.rint, UNITS / 10**6) == pytest.approx(1.0013, abs=1e-4)
    assert longest_person(np.trunc, UNITS // 10**6) == pytest.approx(0.9984, abs=1e-4)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 1000, 65537, 10**6, 2**30, 2**31])
def test_whole_parts_never_add_up_to_more_than_one(rows):
    assert rows * (UNITS // rows) <= UNITS
    assert rows > 2**30 or UNITS // rows > 0


def climb_loss(epsilon, earlier, lattice, reach=200):
    """|log ratio| of stopping at the last threshold, when one person's rows move; exact sums."""
    reach = int(reach / lattice)
    noise = np.arange(-reach, reach + 1) * lattice
    chance = np.exp(-np.abs(noise) * epsilon / 2)
    chance /= chance.sum()
    below_or_at = np.concatenate([[0.0], np.cumsum(chance)])

    def stays(count):
        """Chance to stay below each noisy target."""
        steps = np.ceil((noise - count) / lattice - 1e-9).astype(int) + reach
        return below_or_at[np.clip(steps, 0, len(noise))]

    def stops(before, last):
        return np.sum(chance * stays(before) ** earlier * (1 - stays(last)))

    return abs(math.log(stops(-0.005, 0.985) / stops(0.005, -0.005)))


@pytest.mark.parametrize("earlier", [10, 200])
def test_whole_number_noise_on_fractional_counts_loses_half_more(earlier):
    assert climb_loss(1.0, earlier, lattice=1.0) == pytest.approx(1.5, abs=2e-3)
    assert climb_loss(1.0, earlier, lattice=0.005) < 0.51


def test_counts_that_are_rounded_before_the_noise_move_by_a_hundred():
    before = np.full(100, 3.495)
    after = before + 0.01
    assert np.sum(after - before) == pytest.approx(1.0)
    assert np.sum(np.rint(after) - np.rint(before)) == 100


def test_a_person_in_many_empty_cells_shows_up():
    a = 0.5
    threshold = sparse_threshold(a, 1e-6 / 2)
    assert threshold == 30
    assert shown_probability(a, threshold) == pytest.approx(3.1e-7, rel=0.02)
    for cells, seen in ((100, 1.5e-5), (1000, 1.5e-4)):
        each = 0.5 * math.exp(-a * (threshold - 1 / cells))
        assert 1 - (1 - each) ** cells == pytest.approx(seen, rel=0.03)


def raked(counts, rows, columns):
    """Weight of a row in every cell, with the wanted margins, by turns."""
    mass = counts.astype(float)
    for _ in range(2000):
        mass *= (rows / mass.sum(axis=1))[:, None]
        mass *= columns / mass.sum(axis=0)
    return np.divide(mass, counts, out=np.zeros_like(mass), where=counts > 0)


def test_one_row_moves_the_raked_weights_of_the_others():
    counts = np.array([[0, 250], [100, 650]]), np.array([[1, 250], [100, 649]])
    margins = np.array([500.0, 500.0]), np.array([250.0, 750.0])
    before, after = (raked(table, *margins) for table in counts)
    assert before.ravel() == pytest.approx([0, 2, 2.5, 0.3846], abs=1e-4)
    assert after.ravel() == pytest.approx([11.559, 1.954, 2.384, 0.4030], abs=1e-3)
    others = np.minimum(*counts)
    moved = (after - before) * others
    assert np.abs(moved).sum() == pytest.approx(35.1, abs=0.05)
    shares = (np.minimum(after, 3.0) - np.minimum(before, 3.0)) / 3.0 * others
    first, second = shares[0, 1] + shares[1, 0], shares[1, 1]
    assert math.hypot(first, second) == pytest.approx(8.7, abs=0.05)  # and √2 is allowed


# --- docs/proofs/add-remove.md --------------------------------------------------------------------


def pairings(rows):
    """Every pairing of the rows, with one left out where their number is odd; equally likely."""
    rows = list(rows)
    if len(rows) % 2:
        return [frozenset(pairs) for z in rows for pairs in pairings(sorted(set(rows) - {z}))]
    if not rows:
        return [frozenset()]
    first, *rest = rows
    return [
        pairs | {frozenset((first, other))}
        for other in rest
        for pairs in pairings([row for row in rest if row != other])
    ]


def coupled(n):
    """Pairings of n rows and of one more, side by side, with their chances."""
    new = n
    for pairs in pairings(range(n)):
        chance = Fraction(1, len(pairings(range(n))))
        paired = set(itertools.chain(*pairs))
        if n % 2:
            [out] = set(range(n)) - paired
            yield chance, pairs, pairs | {frozenset((out, new))}
            continue
        yield chance / (n + 1), pairs, pairs
        for out in range(n):
            other = {frozenset(new if row == out else row for row in pair) for pair in pairs}
            yield chance / (n + 1), pairs, frozenset(other)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_one_row_more_changes_one_random_pair_at_most(n):
    law = Counter()
    for chance, before, after in coupled(n):
        law[after] += chance
        assert len(before - after) <= 1
        assert len(after - before) <= 1
    every = Counter(pairings(range(n + 1)))
    assert law == {pairs: Fraction(k, sum(every.values())) for pairs, k in every.items()}


@pytest.mark.parametrize(
    ("epsilon", "shares", "stated"),
    [
        (0.5, (0, 0.1, 0.2, 0.33, 0.4, 0.65, 1), (0.73, 0.77, 0.80, 0.85, 0.87, 0.95, 1.06)),
        (1.0, (0, 1), (1.46, 2.13)),
    ],
)
def test_what_an_add_remove_epsilon_is_worth_against_replacing(epsilon, shares, stated):
    multiplier = gaussian_multiplier(epsilon, 1e-6)
    for share, told in zip(shares, stated, strict=True):
        worth = gaussian_epsilon(multiplier / math.sqrt(2 * (1 - share) + 4 * share), 1e-6)
        assert told - 0.01 < worth <= told
