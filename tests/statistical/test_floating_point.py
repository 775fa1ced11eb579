r"""Attacks on the last bits of a release: they succeed on numpy's noise and fail on ours.

A float plus floating-point noise can be some floats and not others, and which ones depends on the
value. Whoever sees a float that one table can give and its neighbour cannot knows the table for
certain, whatever ε says. The neighbours here are so close that nobody may tell them apart.

Three attacks. *Reachable floats* (Mironov 2012): invert the sampler and ask whether any of its
uniform inputs leads to the output. *Precision* (Haney and others 2022): noise larger than its sum
lends it no finer bits than its own. *Intervals*: what is left after subtracting a candidate must be
in the grid of the noise, up to the interval that rounding leaves.
"""

import math

import numpy as np
import pytest

from gdppca import DPPCA
from gdppca.linalg import SQRT2
from gdppca.noise import FreshNoise, gaussian
from gdppca.noise.bits import secure_bits
from gdppca.noise.gaussian import add_gaussian, lattice_exponent

pytestmark = pytest.mark.slow

RUNS = 3000
WIDE = 8.0  # noise for the attack on precision


@pytest.fixture(params=["OpenDP", "ours"])
def sampler(request, monkeypatch):
    """Either sampler for vectors of any length."""
    monkeypatch.setattr(gaussian, "_SHORT", 10**9 if request.param == "OpenDP" else -1)


def numpy_laplace(x, rng):
    return x + rng.laplace()


def numpy_normal(x, rng):
    return x + rng.normal(scale=WIDE)


def ours(x, rng, sigma=1.0):
    return float(add_gaussian(np.array([x]), sigma, secure_bits())[0])


def ours_wide(x, rng):
    return ours(x, rng, WIDE)


def noise_on_the_lattice_but_not_the_value(noise, exact, sd, *, sensitivity):
    """A broken copy of `FreshNoise.gaussian`."""
    return exact + add_gaussian(np.zeros_like(exact), sd, noise.bits)


def broken(x, rng):
    noise = FreshNoise(secure_bits())
    values = noise_on_the_lattice_but_not_the_value(noise, np.array([x]), 1.0, sensitivity=1.0)
    return float(values[0])


# --- Which of two values can have given the output? -----------------------------------------------


def reachable(y, x):
    """Whether some uniform of 53 bits makes numpy's Laplace sampler turn x into y.

    It gives log(2u) below u = 1/2 and -log(2 - 2u) above. Neighbours of the inverse are tried,
    since rounding moves it by some units.
    """
    noise = y - x
    u = 0.5 * math.exp(noise) if noise < 0 else 1 - 0.5 * math.exp(-noise)
    middle = round(u * 2**53)
    for k in range(middle - 40, middle + 41):
        v = k * 2.0**-53
        if 0 < v < 0.5 and x + math.log(v + v) == y:
            return True
        if 0.5 <= v < 1 and x - math.log(2.0 - v - v) == y:
            return True
    return False


def precise(y, x):
    """Whether y is a multiple of the last bit of the noise y - x, as for a whole number x."""
    return math.fmod(y, np.spacing(abs(y - x) * (1 - 2.0**-50))) == 0


def in_the_grid(y, x, sigma=1.0):
    """Whether y - x lies on the lattice of the noise, up to rounding."""
    steps = math.ldexp(y - x, -lattice_exponent(sigma))
    return abs(steps - round(steps)) <= 1e-3


def verdicts(mechanism, possible, values):
    """How often each value is the only one left, given the first value and given the second."""
    rng = np.random.default_rng(0)
    table = np.zeros((2, 2))
    for k in range(RUNS):
        y = mechanism(values[k % 2], rng)
        left = [j for j in (0, 1) if possible(y, values[j])]
        if len(left) == 1:
            table[k % 2, left[0]] += 2 / RUNS
    return table


# The second value is off every grid, and a millionth of the noise away.
CLOSE = (0.0, 1e-6 / 3)
WHOLE = (0.0, 1.0)
ATTACKS = {
    "reachable floats": (numpy_laplace, ours, reachable, CLOSE, 0.3),
    "precision": (numpy_normal, ours_wide, precise, WHOLE, 0.005),
    "intervals": (broken, ours, in_the_grid, CLOSE, 0.9),
}
attacks = pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))


def tells_apart(table):
    """How much more often a verdict falls on one value than on the other, beyond chance."""
    chance = 8 * np.sqrt(table.mean(axis=0) / (RUNS / 2)) + 8 / RUNS  # about six sds
    return (np.abs(table[0] - table[1]) > chance).any()


@attacks
def test_attack_on_floating_point_noise_is_often_sure_and_never_wrong(attack):
    leaky, _, possible, values, often = attack
    table = verdicts(leaky, possible, values)
    assert np.trace(table) / 2 > often
    assert table[0, 1] == table[1, 0] == 0
    assert tells_apart(table)


@attacks
@pytest.mark.usefixtures("sampler")
def test_attack_on_our_noise_learns_nothing(attack):
    _, mechanism, possible, values, _ = attack
    assert not tells_apart(verdicts(mechanism, possible, values))


# --- The same on a whole release ------------------------------------------------------------------


def attack_on_a_release(tables):
    """Verdicts from the first entry of released matrices of two neighbouring tables.

    The budget is so small that the values themselves tell nothing.
    """
    pca = DPPCA(1, epsilon=0.01, delta=1e-6, location=None)
    exact = [DPPCA(1, epsilon=math.inf, location=None).fit(t).scatter_[0, 0] for t in tables]
    sigma = pca.fit(tables[0]).noise_sd_

    def mechanism(x, rng):
        return pca.fit(tables[exact.index(x)]).scatter_[0, 0]

    return verdicts(mechanism, lambda y, x: in_the_grid(y, x, sigma), exact)


def neighbours():
    first = np.random.default_rng(4).normal(size=(7, 2))
    second = first.copy()
    second[0] = [3.0, -2.0]
    return first, second


@pytest.mark.usefixtures("sampler")
def test_attack_on_a_release_learns_nothing():
    assert not tells_apart(attack_on_a_release(neighbours()))


def test_attack_breaks_a_release_whose_values_are_not_on_the_lattice(monkeypatch):
    monkeypatch.setattr(FreshNoise, "gaussian", noise_on_the_lattice_but_not_the_value)
    table = attack_on_a_release(neighbours())
    assert np.trace(table) / 2 > 0.9
    assert tells_apart(table)


# --- Whatever the data, the same lattice ----------------------------------------------------------

TABLES = {
    "zeros": np.zeros((7, 3)),
    "one row": np.eye(7, 3) * [1.0, 0.0, 0.0],
    "thirds": np.arange(21.0).reshape(7, 3) ** 2 / 3,
    "tiny": np.random.default_rng(1).normal(size=(7, 3)) * 1e-300,
    "huge": np.random.default_rng(2).normal(size=(7, 3)) * 1e300,
    "mixed": np.random.default_rng(3).standard_cauchy((7, 3)) ** 9,
}


@pytest.mark.parametrize("location", [None, np.full(3, 0.1)], ids=["pairs", "centre"])
@pytest.mark.parametrize("epsilon", [0.1, 4.0])
@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
@pytest.mark.usefixtures("sampler")
def test_released_values_lie_on_one_lattice_whatever_the_data(table, epsilon, location):
    for _ in range(5):
        release = DPPCA(1, epsilon=epsilon, location=location).fit(table).release_
        step = math.ldexp(1.0, lattice_exponent(release.noise_sd))
        diagonal = np.diagonal(release.scatter)
        assert (np.fmod(diagonal, step) == 0).all()
        upper = release.scatter[np.triu_indices(3, k=1)]
        packed = np.round(upper * SQRT2 / step) * step  # the lattice, before it was unpacked
        np.testing.assert_array_equal(packed / SQRT2, upper)


def test_values_not_on_the_lattice_would_be_noticed(monkeypatch):
    monkeypatch.setattr(FreshNoise, "gaussian", noise_on_the_lattice_but_not_the_value)
    release = DPPCA(1, epsilon=4.0, location=None).fit(TABLES["thirds"]).release_
    step = math.ldexp(1.0, lattice_exponent(release.noise_sd))
    assert (np.fmod(np.diagonal(release.scatter), step) != 0).any()
