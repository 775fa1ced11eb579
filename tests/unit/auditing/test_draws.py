"""Overhearing what a mechanism draws."""

import threading

import numpy as np
import pytest

from gdppca.auditing.draws import gaussian_log_ratio, log_ratio, overheard, repeated
from gdppca.auditing.steps import private_scale
from gdppca.noise import FreshNoise, secure_noise


def mechanism(table, noise):
    return private_scale(table, 2.0, noise)


@pytest.fixture
def tables(rng):
    first = rng.normal(size=(20, 2))
    second = first.copy()
    second[0] = 1e9
    return first, second


def test_everything_is_heard_and_nothing_is_changed(tables):
    heard = overheard(mechanism, tables[0])
    kinds = [draw.kind for draw in heard.draws]
    assert kinds.count("gaussian") == len(heard.published.events)
    assert kinds.count("permutation") == 2
    assert set(kinds) == {"gaussian", "permutation"}
    assert (heard.published.scale > 0).all()
    for draw in heard.draws:
        if draw.kind == "gaussian":
            assert 0 < np.abs(draw.drawn - draw.exact).max() < 10 * draw.scale


def test_noise_is_fresh_in_every_run(tables):
    one, other = (overheard(mechanism, tables[0]) for _ in range(2))
    assert not np.array_equal(one.published.scale, other.published.scale)


def test_score_is_the_sum_of_log_likelihood_ratios(tables):
    """Repeated on its own table a run gives what it gave; on the neighbour, something else."""
    heard = overheard(mechanism, tables[0])
    assert log_ratio(mechanism, (tables[0], tables[0]), heard.draws) == 0.0
    forwards = log_ratio(mechanism, tables, heard.draws)
    assert forwards == pytest.approx(-log_ratio(mechanism, tables[::-1], heard.draws))
    assert forwards != 0.0


def test_repeated_run_asks_for_the_same_and_ends_with_its_last_draw(tables):
    heard = overheard(mechanism, tables[0])
    again = repeated(mechanism, tables[0], heard.draws)
    for draw, other in zip(heard.draws, again, strict=True):
        assert (draw.kind, draw.scale, draw.sensitivity) == (
            other.kind,
            other.scale,
            other.sensitivity,
        )
        np.testing.assert_array_equal(draw.exact, other.exact)


def test_gaussian_log_ratio():
    drawn, first, second = np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([1.0, -1.0])
    expected = -0.5 * (np.sum((drawn - first) ** 2) - np.sum((drawn - second) ** 2)) / 0.25
    assert gaussian_log_ratio(drawn, first, second, 0.5) == pytest.approx(expected)


def test_nothing_is_changed_for_others(tables):
    """An ear is an object: nothing has to be taken off again, not even after an error."""
    before = dict(vars(FreshNoise))
    overheard(mechanism, tables[0])

    def fails(table, noise):
        mechanism(table, noise)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        overheard(fails, tables[0])
    assert dict(vars(FreshNoise)) == before


def test_other_threads_are_not_overheard(tables):
    def meanwhile(table, noise):
        other = threading.Thread(target=mechanism, args=(table, secure_noise()))
        other.start()
        other.join()
        return mechanism(table, noise)

    heard = overheard(meanwhile, tables[0])
    kinds = [draw.kind for draw in heard.draws]
    assert kinds.count("gaussian") == len(heard.published.events)
