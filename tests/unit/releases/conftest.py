"""A small release, and a file of it."""

import numpy as np
import pytest

from gdppca import DPPCA


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(0)
    return DPPCA(n_components=2, random_state=1).fit(rng.normal(size=(50, 3))).release_


@pytest.fixture
def path(release, tmp_path):
    release.save(tmp_path / "release.json")
    return tmp_path / "release.json"
