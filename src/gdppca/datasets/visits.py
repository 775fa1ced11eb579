"""Made-up visits of patients who never lived: several rows each, gaps, wards and admissions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gdppca import _validate
from gdppca.noise.bits import generator_for

WARDS = ("cardiology", "infections", "surgery")
ADMISSIONS = ("planned", "emergency", "transfer")
_MOST_VISITS = 5
_GAPS = {"crp": 0.25, "albumin": 0.1, "admission": 0.02}  # share of visits where nobody noted it

# How a measurement follows from strained circulation, inflammation, and chance, in its own unit.
# What is called a factor multiplies: such values are skewed, and never below zero.
_ADDED = {
    "age": (58.0, 7.5, 0.0, 10.0),
    "systolic": (134.0, 13.0, 0.0, 8.0),
    "diastolic": (82.0, 7.0, 0.0, 5.5),
    "bmi": (27.0, 2.6, 0.0, 3.2),
    "cholesterol": (205.0, 20.0, 0.0, 26.0),
    "temperature": (37.1, 0.0, 0.5, 0.2),
    "albumin": (38.0, 0.0, -3.6, 1.8),
}
_FACTORS = {"leukocytes": (8.0, 0.0, 0.26, 0.12), "crp": (18.0, 0.0, 0.7, 0.3)}
_ORDER = (
    "age", "systolic", "diastolic", "bmi", "cholesterol",
    "temperature", "leukocytes", "crp", "albumin",
)  # fmt: skip


def make_visits(n_persons: int, *, random_state: int | None = None) -> dict[str, np.ndarray]:
    """Columns of a table of visits, one to five for each person; nobody in it ever lived.

    Two things lie behind nine measurements: strained circulation, which moves age, pressure, weight
    and cholesterol, and inflammation, which moves temperature, leukocytes, CRP and, downwards,
    albumin. The ward has to do with both, and emergencies with inflammation. Visits of a person
    are alike. Some cells are empty, by chance alone.

    Parameters
    ----------
    n_persons : int
        Number of persons.
    random_state : None or int, default None
        Seed.

    Returns
    -------
    dict of array
        ``patient``, ``ward`` and ``admission`` (text, empty where missing), and the measurements
        (NaN where missing), which ``pandas.DataFrame`` or ``polars.DataFrame`` takes.

    Examples
    --------
    >>> from gdppca.datasets import make_visits
    >>> visits = make_visits(100, random_state=0)
    >>> list(visits)[:4], len(set(visits["patient"]))
    (['patient', 'ward', 'admission', 'age'], 100)
    """
    n = _validate.count(n_persons=n_persons)
    rng = generator_for(random_state)
    whose = np.repeat(np.arange(n), rng.integers(1, _MOST_VISITS + 1, n))
    whose = whose[rng.permutation(whose.size)]  # as they came, not patient by patient
    ward = rng.choice(len(WARDS), n, p=(0.4, 0.3, 0.3))[whose]
    strained = rng.normal(size=n)[whose] + np.array([0.9, 0.0, -1.2])[ward]
    inflamed = 0.8 * rng.normal(size=n)[whose] + np.array([-0.6, 1.6, -0.8])[ward]
    inflamed = inflamed + 0.5 * rng.normal(size=whose.size)  # it comes and goes
    urgent = (inflamed + rng.normal(size=whose.size) > 0.7).astype(int)
    columns: dict[str, np.ndarray] = {
        "patient": np.array([f"P{k:05d}" for k in range(n)])[whose],
        "ward": np.array(WARDS)[ward],
        "admission": np.array(ADMISSIONS)[np.where(rng.random(whose.size) < 0.1, 2, urgent)],
    }
    for name in _ORDER:
        typical, *parts = (_ADDED | _FACTORS)[name]
        moved = parts @ np.stack([strained, inflamed, rng.normal(size=whose.size)])
        columns[name] = (typical * np.exp(moved) if name in _FACTORS else typical + moved).round(1)
    columns["age"] = columns["age"].clip(18, 99).round()
    for name, share in _GAPS.items():
        columns[name] = _with_gaps(columns[name], rng.random(whose.size) < share)
    return columns


def _with_gaps(values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    empty: Any = "" if values.dtype.kind == "U" else np.nan
    return np.where(missing, empty, values)
