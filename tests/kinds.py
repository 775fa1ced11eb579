"""Releases of every kind of promise, made by hand from a seeded fit so that their numbers agree."""

from dataclasses import replace

import numpy as np

from gdppca import DPPCA
from gdppca.linalg import Spectrum, packed_length
from gdppca.noise.gaussian import calibrated_sigma
from gdppca.privacy import GaussianEvent, Neighbors, Protected, Unit
from gdppca.privacy.assumptions import UNCOUNTED, everywhere

UNITS, NEIGHBORS = ("row", "person"), ("replace-one", "add-remove")
KINDS = [(unit, neighbors) for unit in UNITS for neighbors in NEIGHBORS]
WARD = ("surgery", "medicine", "intensive care")
DESCRIPTION = {
    "table": {"person": "patient", "missing": ["", "NA"]},
    "columns": {
        "age": {"type": "number", "label": "Age at the visit", "unit": "years", "typical": 50},
        "smoker": {"type": "yes-no", "levels": ["never", "ever"], "label": "Smoker"},
        "ward": {"type": "category", "levels": list(WARD), "label": "Ward"},
        "admitted": {"type": "date", "origin": "2020-01-01"},
        "pulse": {"type": "number", "unit": "1/min"},
    },
}
NAMES = ("age", "smoker", *(f"ward={level}" for level in WARD), "admitted", "pulse")
RATES = np.array([1.0, 0.6, 0.8, 0.8, 0.8, 0.95, 0.4])
_SIZES = [4.0, 1.0, 1.0, 3.0, 1.0, 1.0, 6.0]


def made(unit="row", neighbors="replace-one", *, n=2000, rates=None, described=False, epsilon=2.0):
    """A release with this promise, as if it had been drawn in secret."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, len(NAMES))) * _SIZES + rng.normal(size=(n, 1)) * [2, 1, 1, 2, 0, 0, 3]
    known = {"location": np.zeros(len(NAMES)), "loadings": "plain", "random_state": 3}
    release = DPPCA(2, epsilon=epsilon, **known).fit(X).release_
    [drawn] = release.guarantee.events
    protected = Protected(Unit(unit), Neighbors(neighbors))
    K, q = release.scatter, np.ones(len(NAMES)) if rates is None else rates
    seen = np.outer(q, q)
    np.fill_diagonal(seen, q)
    guarantee = replace(
        release.guarantee,
        unit=unit,
        neighbors=neighbors,
        seeded=False,
        assumptions=(*everywhere(protected), UNCOUNTED),
        events=(drawn,)
        if rates is None
        else (GaussianEvent(purpose="rates", noise_multiplier=20.0), drawn),
    )
    noise_sd = release.noise_sd
    if neighbors == "add-remove":
        noise_sd = calibrated_sigma(drawn.noise_multiplier, 1.0, packed_length(len(q))) / n
    return replace(
        release,
        scatter=K * seen,
        components=Spectrum(K * seen / seen).leading(2).T,
        rates=rates,
        noise_sd=noise_sd,
        guarantee=guarantee,
        feature_names=NAMES,
        description=DESCRIPTION if described else None,
    )
