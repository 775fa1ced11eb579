"""What a fit takes for granted and says so."""

from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA, Release, SignCovariancePCA
from gdppca.privacy.assumptions import OWN_SIGN
from gdppca.signs import NAMES, Custom, Sign


class Lengths:
    """A sign that is any object."""

    sup_norm = 1.0

    def radial(self, s):
        return np.tanh(s)


class Subclass(Sign):
    """A sign of the family that is not built in."""

    name = "subclass"
    sup_norm = 1.0

    def radial(self, s):
        return np.tanh(s)


OWN = [Custom(np.tanh, bound=1.0), Lengths(), Subclass()]


@pytest.fixture
def X(rng):
    return rng.normal(size=(500, 3)) * [9, 3, 1]


@pytest.mark.parametrize("sign", OWN, ids=lambda sign: type(sign).__name__)
@pytest.mark.parametrize("estimator", [DPPCA, SignCovariancePCA])
def test_guarantee_with_a_sign_of_ones_own_rests_on_its_being_honest(estimator, sign, X, tmp_path):
    pca = estimator(1, sign=sign).fit(X)
    assert pca.guarantee_.assumptions.count(OWN_SIGN) == 1
    pca.release_.save(tmp_path / "r.json")
    assert OWN_SIGN in Release.load(tmp_path / "r.json").guarantee.assumptions
    assert OWN_SIGN in (pca.guarantee_ + pca.guarantee_).assumptions


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("estimator", [DPPCA, SignCovariancePCA])
def test_built_in_signs_need_no_such_assumption(estimator, name, X):
    assert OWN_SIGN not in estimator(1, sign=name).fit(X).guarantee_.assumptions


def test_sign_of_ones_own_is_told_in_streams_and_batches(X):
    sign = Custom(np.tanh, bound=1.0)
    batches = DPPCA(1, sign=sign, location=None).partial_fit(X).finalize()
    assert OWN_SIGN in batches.guarantee_.assumptions


def test_releases_of_before_have_no_such_sentence_and_load(X, tmp_path):
    release = DPPCA(1, sign=Custom(np.tanh, bound=1.0)).fit(X).release_
    said = tuple(line for line in release.guarantee.assumptions if line != OWN_SIGN)
    older = replace(release, guarantee=replace(release.guarantee, assumptions=said))
    older.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").guarantee.assumptions == said
