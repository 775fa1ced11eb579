"""Fits of files that differ in all rows of one person, replayed: no draw moves by too much.

A sample of the persons is looked at before the matrix, so who is in it must not depend on others.
"""

import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from gdppca import DPPCA
from gdppca._errors import ParameterError
from gdppca.noise import AllDrawn, Overheard, Repeated, seeded_noise
from gdppca.steps.count import LEAST
from gdppca.tables import base

PERSONS, SAMPLE = 300, 100
FEW, MANY = np.tile([1e300, 0.0, 0.0], (3, 1)), np.tile([0.0, 1e300, 0.0], (1000, 1))
HOLES = np.tile([np.nan, 1e300, np.nan], (7, 1))


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    """Not all persons are looked at."""
    monkeypatch.setattr(base, "LARGEST_SAMPLE", SAMPLE)


@pytest.fixture
def others():
    """Rows of persons in a mixed order."""
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(PERSONS), rng.integers(1, 9, size=PERSONS))
    rng.shuffle(who)
    frame = pd.DataFrame(rng.standard_t(3, size=(len(who), 3)), columns=["a", "b", "c"])
    return frame.assign(patient=[f"P{k}" for k in who])


def with_rows(others, who, rows):
    """The same with these rows of somebody, half of them first and half of them last."""
    kept = others[others["patient"] != who].reset_index(drop=True)
    if rows is None:
        return kept
    own = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(patient=who)
    half = len(own) // 2
    return pd.concat([own[:half], kept, own[half:]], ignore_index=True)


class Files:
    """Where tables are written that are fitted."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def fit(self, pca, frame, noise, **said):
        self.count += 1
        file = self.folder / f"{self.count}.parquet"
        frame.to_parquet(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pca.set_params(random_state=noise).fit_stream(file, **said)

    def moved(self, pca, one, two, noise=None, **said):
        """How far the farthest draw moves, in shares of what it says."""
        ear = Overheard(noise or seeded_noise(3))
        self.fit(pca, one, ear, **said)
        again = Repeated(ear.draws, stop=True)
        with suppress(AllDrawn):
            self.fit(pca, two, again, **said)
        assert [draw.kind for draw in again.draws] == [draw.kind for draw in ear.draws]
        farthest = 0.0
        for draw, other in zip(ear.draws, again.draws, strict=True):
            if draw.exact is not None:
                assert (draw.scale, draw.sensitivity) == (other.scale, other.sensitivity)
                farthest = max(farthest, draw.moved_by(other.exact))
        return farthest


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


WIDE = {"epsilon": 100.0, "delta": 0.1}
ASKED = {
    "centre": {"location": "private"},
    "pairs": {"location": None},
    "scales": {"location": "private", "scale": "private", "scale_share": 0.5},
    "radius": {"location": "private", "sign": "winsor", "radius": "quantile"},
    "gaps": {"missing": "rates", "scale": "private", "scale_share": 0.5},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_no_person_moves_a_draw_by_more_than_it_says(asked, files, others):
    pca = DPPCA(2, **WIDE, **asked)
    life = HOLES if "missing" in asked else FEW
    for who in ("P3", "P7", "P30", "P111"):
        sides = (with_rows(others, who, rows) for rows in (life, MANY))
        assert files.moved(pca, *sides, persons="patient") <= 1 + 1e-9


@pytest.mark.parametrize("missing", ["refuse", "rates"])
def test_nor_by_coming(missing, files, others):
    pca = DPPCA(2, **WIDE, neighbors="add-remove", missing=missing)
    for who in ("P3", "P7", "P30", "P111"):
        sides = (with_rows(others, who, rows) for rows in (None, FEW))
        assert files.moved(pca, *sides, persons="patient") <= 1 + 1e-9


class TooFew:
    """Noise whose first number, a count, is too small by up to 3.7 standard deviations."""

    def __init__(self):
        self._fresh, self._counted = seeded_noise(3), False

    def gaussian(self, exact, sd, *, sensitivity):
        if self._counted:
            return self._fresh.gaussian(exact, sd, sensitivity=sensitivity)
        self._counted = True
        return exact - min(3.7 * sd, 0.6 * exact)

    def stream(self, part):
        return self

    def __getattr__(self, name):
        return getattr(self._fresh, name)


def test_nobody_leaves_a_sample_because_somebody_comes(files, others):
    """A count that is too small asks for more persons than were read: whose keys are low enough.

    How many those are follows from the true number, and one more would push somebody else out.
    """
    pca = DPPCA(2, epsilon=0.2, delta=0.1, neighbors="add-remove")
    for who in [f"P{k}" for k in range(0, PERSONS, 20)]:
        sides = (with_rows(others, who, rows) for rows in (None, FEW))
        assert files.moved(pca, *sides, TooFew(), persons="patient") <= 1 + 1e-9


@pytest.mark.parametrize("persons", [None, "patient"])
def test_an_empty_file_is_no_failure_where_its_size_is_secret(persons, files, others):
    empty = others[:0] if persons else others[["a", "b", "c"]][:0]
    pca = files.fit(DPPCA(2, neighbors="add-remove"), empty, None, persons=persons)
    assert pca.n_samples_ >= LEAST


def test_the_first_rows_are_no_sample_where_their_number_is_secret(files, others):
    """One more row at their begin would push another one out."""
    with pytest.raises(ParameterError, match="assume_shuffled"):
        files.fit(
            DPPCA(2, neighbors="add-remove"), others[["a", "b", "c"]], None, assume_shuffled=True
        )
