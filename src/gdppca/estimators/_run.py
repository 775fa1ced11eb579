"""From rows to the noisy matrix of `DPPCA`: debit, then one private step after the other."""

from __future__ import annotations

import numpy as np

from gdppca._errors import DataError
from gdppca.estimators._base import note_spend_on_error
from gdppca.estimators._settings import Settings
from gdppca.kernels import OneSample, Progress, pair_scatter, sign_covariance
from gdppca.ledgers import enter
from gdppca.noise.bits import Rng
from gdppca.releases import NoisyScatter, private_scatter
from gdppca.signs import as_sign
from gdppca.steps.centre import private_spatial_median
from gdppca.steps.quantile import private_radius
from gdppca.steps.scale import coarse_scale
from gdppca.tables.base import Engine

# What was drawn, and the settings with what the steps before the matrix found.
Drawn = tuple[NoisyScatter, Settings]


@np.errstate(all="ignore")  # no error or warning may depend on a cell
def drawn_from_table(X: np.ndarray, settings: Settings, rng: Rng, progress: Progress) -> Drawn:
    """Noisy matrix of rows in memory."""
    enter(settings.ledger, settings.debit)
    with note_spend_on_error(settings.epsilon, settings.delta):
        settings = _first_steps(X, settings, rng)
        K_hat = _statistic(settings.divided(X), settings, rng, progress)  # not private
        return private_scatter(K_hat, settings.noise, rng), settings


@np.errstate(all="ignore")
def drawn_from_engine(engine: Engine, settings: Settings, rng: Rng, progress: Progress) -> Drawn:
    """Noisy matrix of rows that live elsewhere.

    The debit waits until all that can fail without it is done. Scales, centre and radius come from
    a random sample, whose members do not depend on values.
    """
    if not settings.needs_sample:
        return drawn_from_sums(_total(engine, settings, progress), settings, rng)
    sample = engine.sample(settings.n_seen)  # not private
    enter(settings.ledger, settings.debit)
    with note_spend_on_error(settings.epsilon, settings.delta):
        settings = _first_steps(sample, settings, rng)
        K_hat = _total(engine, settings, progress)
        return private_scatter(K_hat, settings.noise, rng), settings


def drawn_from_sums(K_hat: np.ndarray, settings: Settings, rng: Rng) -> Drawn:
    """Noisy matrix from the exact one, where nothing is drawn before."""
    enter(settings.ledger, settings.debit)
    with note_spend_on_error(settings.epsilon, settings.delta):
        return private_scatter(K_hat, settings.noise, rng), settings


def _first_steps(X: np.ndarray, settings: Settings, rng: Rng) -> Settings:
    """Private scales, centre and radius, as far as they are asked for; spends."""
    if settings.scale_share is not None:
        coarse = coarse_scale(X, settings.scale_mu, rng)
        settings = settings.with_scale(coarse)
    if settings.seeks_centre:
        cautious = settings.wanted_location == "auto"
        found = private_spatial_median(
            settings.divided(X), settings.mu_left, rng, cautious=cautious
        )
        settings = settings.with_centre(found)
    if settings.scale_share is not None:  # paid for
        refined = coarse.refined(X, settings.location, rng)
        settings = settings.with_(scale=refined.scale, scale_error=refined.error)
    if settings.radius_event is not None:
        epsilon = settings.radius_event.epsilon
        lengths_of = settings.divided(X), settings.center
        radius = private_radius(*lengths_of, settings.quantile, epsilon, rng)
        settings = settings.with_(sign=as_sign(settings.sign.name, radius))
    return settings


def _statistic(X: np.ndarray, settings: Settings, rng: Rng, progress: Progress) -> np.ndarray:
    """The exact scatter matrix, not private; rows in secret random order where order matters."""
    if settings.center is not None:
        return sign_covariance(X, settings.center, settings.sign, progress=progress)
    scheme = settings.scheme
    assert not isinstance(scheme, OneSample)  # it has a centre
    order = rng.permutation(len(X)) if scheme.ordered else None
    return pair_scatter(X, settings.sign, scheme, order, progress)


def _total(engine: Engine, settings: Settings, progress: Progress) -> np.ndarray:
    """The exact scatter matrix of an engine, not private."""
    sums = engine.total(settings.recipe, progress)
    if sums.n_samples != settings.n_samples:  # noise for another number of rows is wrong
        raise DataError("The number of rows changed while they were read.")
    return sums.mean()
