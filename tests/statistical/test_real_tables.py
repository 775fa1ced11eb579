"""Accuracy on tables as people have them, by seeded simulations; bounds have 15 % of room."""

import os
import warnings
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
import pytest
from real_tables import Mixed, Spiked, frame, guessed, one_each, visits

from gdppca import DPPCA, sin_theta
from gdppca.steps.likely import Likely

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

CLINIC = Path(os.environ.get("GDPPCA_CLINIC", "../shared/data/clinic"))
ROOM = 1.15


def fitted(seed, X, *, epsilon=1.0, fit=None, **parameters):
    """A seeded fit of two components."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pca = DPPCA(2, epsilon=epsilon, delta=1e-6, random_state=seed, **parameters)
        return pca.fit(X, **(fit or {}))


def mean(runs, error):
    """Mean of an error over seeds."""
    return np.mean([error(seed) for seed in range(runs)], axis=0)


# --- Persons --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("persons", "epsilon", "runs"), [(5000, 1, 8), (5000, 2, 8), (312, 2, 60)])
def test_all_visits_are_worth_more_than_one_of_each(persons, epsilon, runs):
    def errors(seed):
        X, ids, V = visits(persons, seed)
        every = fitted(seed, X, epsilon=epsilon, fit={"persons": ids})
        one = fitted(seed, X[one_each(ids, seed)], epsilon=epsilon)
        return [sin_theta(pca.components_, V) for pca in (every, one)]

    every, one = mean(runs, errors)
    assert every < one


@pytest.mark.skipif(not (CLINIC / "pbcseq.csv").exists(), reason="the table is not here")
def test_all_visits_of_real_patients_are_worth_more_than_one_of_each():
    columns = ["bili", "chol", "albumin", "alk.phos", "ast", "platelet", "protime"]
    table = csv.read_csv(CLINIC / "pbcseq.csv").select(["id", *columns]).drop_null()
    X, ids = np.log(np.stack([table[c] for c in columns], axis=1)), table["id"].to_numpy()
    X = X / (np.quantile(X, 0.75, axis=0) - np.quantile(X, 0.25, axis=0))
    exact = fitted(0, X, epsilon=np.inf, location="private", fit={"persons": ids}).components_

    def errors(seed):
        every = fitted(seed, X, epsilon=2.0, fit={"persons": ids})
        one = fitted(seed, X[one_each(ids, seed)], epsilon=2.0)
        return [sin_theta(pca.components_, exact) for pca in (every, one)]

    every, one = mean(40, errors)
    assert every < one
    assert every < ROOM * 0.176


# --- Missing cells --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "n", "missing", "most", "runs"),
    [(25, 20_000, None, 0.043, 5), (25, 20_000, 0.4, 0.039, 5), (10, 2000, 0.4, 0.103, 120)],
)
@pytest.mark.parametrize("kind", ["at zero", "walk", "add-remove", "persons"])
def test_missing_cells_cost_what_was_measured(d, n, missing, most, runs, kind):
    def error(seed):
        case = Spiked.of(n, d, seed)
        if kind == "at zero":
            gaps, asked = case.with_gaps(case.rows, missing), {"location": np.zeros(d)}
        else:
            gaps, asked = case.with_gaps(case.rows + case.centre, missing), {}
        if kind == "add-remove":
            asked = {"neighbors": "add-remove"}
        if kind == "persons":  # the same rows twice, with other gaps
            more = case.with_gaps(case.rows + case.centre, missing)
            gaps, asked = np.concatenate([gaps, more]), {"fit": {"persons": [*range(n)] * 2}}
        return sin_theta(fitted(seed, gaps, missing="rates", **asked).components_, case.truth)

    assert mean(runs, error) < ROOM * most


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_private_scales_of_columns_with_gaps(neighbors):
    def error(seed):
        case = Spiked.of(20_000, 25, seed)
        gaps = case.with_gaps(case.in_units, None)
        pca = fitted(seed, gaps, missing="rates", scale="private", neighbors=neighbors)
        off = np.log(pca.scale_ / case.unit)
        return sin_theta(pca.components_, case.scaled_truth), np.sqrt(np.mean(off**2))

    sine, off = mean(8, error)
    assert sine < ROOM * 0.052
    assert off < 0.025


@pytest.mark.parametrize("d", [5, 10, 25])
@pytest.mark.parametrize("missing", [0.0, 0.2, 0.4])
def test_variances_and_scores_of_rows_with_gaps_are_right(d, missing):
    def found(seed):
        case = Spiked.of(20_000, d, seed)
        X = case.rows + case.centre
        pca = DPPCA(2, epsilon=np.inf, missing="rates", location="private", random_state=seed)
        gaps = case.with_gaps(X, missing)
        release = pca.fit_release(gaps, variances=0.1)
        law = Likely.of(_state(pca))
        scores, true = law.scores(gaps, _state(pca)), (X - pca.mean_) @ pca.components_.T
        alike = [np.corrcoef(scores[:, k], true[:, k])[0, 1] for k in range(2)]
        spread = scores.std(axis=0) / true.std(axis=0)
        return release.variances / [10.0, 5.0], alike, spread

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        variances, alike, spread = mean(4, found)
    assert variances == pytest.approx(np.ones(2), abs=0.1)
    assert (alike > 1 - 0.35 * missing - 1e-9).all()
    assert (spread > 0.8).all()
    assert (spread < 1.02).all()


def _state(pca):
    from gdppca.signs import Spherical
    from gdppca.steps.base import State

    return State(
        sign=Spherical(),
        location=pca.mean_,
        components=pca.components_,
        eigenvalues=pca.eigenvalues_,
        rates=pca.release_.rates,
    )


# --- What is publicly known -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d", "without", "most"), [(300, 10, 0.580, 0.476), (500, 25, 0.841, 0.657)]
)
def test_a_typical_value_helps_to_find_the_centre(n, d, without, most):
    def errors(seed):
        case = Spiked.of(n, d, seed)
        X = frame(case.rows + case.centre)
        told = fitted(seed, X, fit={"description": guessed(case.typical(1.0))})
        return [sin_theta(pca.components_, case.truth) for pca in (told, fitted(seed, X))]

    told, untold = mean(60, errors)
    assert told < ROOM * most
    assert told < 0.9 * untold < 0.9 * ROOM * without


@pytest.mark.parametrize(
    ("d", "off", "factor", "most"),
    [
        (10, 1, 1.25, 0.186),
        (10, 1, 2, 0.186),
        (25, 1, 2, 0.423),
        (10, 3, 4, 0.26),
        (25, 3, 4, 0.60),
    ],
)
def test_a_guessed_spread_is_refined(d, off, factor, most):
    def error(seed):
        case = Spiked.of(1000, d, seed)
        told = case.in_units_guessed(off, factor)
        pca = fitted(seed, told.pop("X"), scale="private", fit=told)
        return sin_theta(pca.components_, case.scaled_truth)

    assert mean(60, error) < ROOM * most


@pytest.mark.parametrize("d", [10, 25])
def test_a_bad_guess_is_not_much_worse_than_none(d):
    def errors(seed):
        case = Spiked.of(3000, d, seed)
        told = case.in_units_guessed(3, 4)
        bad = fitted(seed, told.pop("X"), scale="private", fit=told)
        none = fitted(seed, case.in_units, scale="private")
        return [sin_theta(pca.components_, case.scaled_truth) for pca in (bad, none)]

    bad, none = mean(40, errors)
    assert bad < ROOM * none


# --- Categories -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "runs"), [(1000, 20), (20_000, 4)])
def test_declared_levels_help(n, runs):
    def followed(seed):
        case = Mixed.of(n, seed)
        told = case.described
        every = fitted(seed, told.pop("X"), fit=told)
        numbers = fitted(seed, case.numbers)
        raw = fitted(seed, case.indicators)
        return [
            case.followed(case.indicators / every.scale_ @ every.components_.T),
            case.followed(case.numbers @ numbers.components_.T),
            case.followed(case.indicators @ raw.components_.T),
        ]

    every, numbers, raw = mean(runs, followed)
    assert every > numbers + 0.03
    assert every > raw


def test_the_public_scale_of_levels_beats_private_ones():
    def followed(seed):
        case = Mixed.of(20_000, seed)
        told = case.described
        every = fitted(seed, told.pop("X"), fit=told)
        private = fitted(seed, case.indicators, scale="private")
        return [
            case.followed(case.indicators / pca.scale_ @ pca.components_.T)
            for pca in (every, private)
        ]

    every, private = mean(4, followed)
    assert every > private


# --- Add or remove --------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "n", "most", "count"), [(10, 1000, 0.75, 24), (25, 2000, 0.85, 33)])
def test_sums_have_less_noise_and_tell_about_how_many_rows_there_are(d, n, most, count):
    def errors(seed):
        case = Spiked.of(n, d, seed)
        X = case.rows + case.centre
        both = [
            fitted(seed, X, epsilon=0.5, neighbors=neighbors)
            for neighbors in ("replace-one", "add-remove")
        ]
        off = (both[1].n_samples_ - n) ** 2
        return [*(sin_theta(pca.components_, case.truth) for pca in both), off]

    replaced, added, squared = mean(40, errors)
    assert added < most * replaced
    assert np.sqrt(squared) < 1.3 * count
