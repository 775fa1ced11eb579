"""Releases of every design that an audit can rebuild, from secret noise."""

import numpy as np

from gdppca import DPPCA

ROWS, COLUMNS = 3000, 5
_rng = np.random.default_rng(5)
PLAIN = _rng.normal(size=(ROWS, COLUMNS)) * np.linspace(1, 4, COLUMNS) + 3
GAPPY = np.where(_rng.random(PLAIN.shape) < 0.2, np.nan, PLAIN)
PERSONS = _rng.integers(1200, size=ROWS)
PERSONS[:1200] = np.arange(1200)
LABELS = _rng.choice(["a", "b"], size=ROWS)
WEIGHTS = _rng.uniform(0.2, 2.0, size=ROWS)

# Parameters, what is said of the rows, and the rows.
DESIGNS = {
    "default": ({}, {}, PLAIN),
    "pairs": ({"location": None}, {}, PLAIN),
    "blocks": ({"location": None, "pairs": 16}, {}, PLAIN),
    "halves": ({"location": None, "pairs": "halves"}, {}, PLAIN),
    "the paper's noise": ({"calibration": "paper"}, {}, PLAIN),
    "public centre": ({"location": np.full(COLUMNS, 3.0)}, {}, PLAIN),
    "public scale": ({"scale": np.linspace(1, 4, COLUMNS)}, {}, PLAIN),
    "private scale": ({"scale": "private", "scale_share": 0.3}, {}, PLAIN),
    "private scale of pairs": ({"scale": "private", "location": None}, {}, PLAIN),
    "winsor": ({"sign": "winsor", "radius": 3.0}, {}, PLAIN),
    "trimmed": ({"sign": "trimmed", "radius": 3.0}, {}, PLAIN),
    "trimmed pairs": ({"sign": "trimmed", "radius": 3.0, "location": None}, {}, PLAIN),
    "private radius": ({"sign": "winsor", "radius": "quantile"}, {}, PLAIN),
    "persons": ({}, {"persons": PERSONS}, PLAIN),
    "add or remove": ({"neighbors": "add-remove"}, {}, PLAIN),
    "add or remove persons": ({"neighbors": "add-remove"}, {"persons": PERSONS}, PLAIN),
    "add or remove, scale": ({"neighbors": "add-remove", "scale": "private"}, {}, PLAIN),
    "missing": ({"missing": "rates"}, {}, GAPPY),
    "missing, scale": ({"missing": "rates", "scale": "private"}, {}, GAPPY),
    "missing, add or remove": ({"missing": "rates", "neighbors": "add-remove"}, {}, GAPPY),
    "weights": ({}, {"weights": WEIGHTS, "largest_weight": 1.0}, PLAIN),
    "variances": ({}, {"variances": 0.1}, PLAIN),
    "map": ({}, {"score_map": 0.2}, PLAIN),
    "map by group": ({}, {"score_map": 0.2, "groups": LABELS, "categories": ["a", "b"]}, PLAIN),
    "all of it": (
        {"neighbors": "add-remove"},
        {"persons": PERSONS, "variances": 0.1, "score_map": 0.2},
        PLAIN,
    ),
    "shrunk": ({"loadings": "shrunk"}, {"variances": 0.1}, PLAIN),
}


def released(name, epsilon=2.0):
    """A release of this design."""
    parameters, said, rows = DESIGNS[name]
    return DPPCA(2, epsilon=epsilon, **parameters).fit_release(rows, **said)
