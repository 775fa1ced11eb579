"""What a fit takes for granted and says so, and what it refuses unspent."""

from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA, Ledger, ParameterError, Release, SignCovariancePCA
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


@pytest.fixture
def ledger(tmp_path):
    address = f"sqlite:///{tmp_path}/budget.db"
    Ledger(address).create("people", epsilon=100.0, delta=1e-5)
    return f"{address}#people"


def spends(ledger):
    where, name = ledger.split("#")
    return Ledger(where).account(name).spends


@pytest.mark.parametrize("radius", [1e-150, 1e-90, 1e80, 1e150])
def test_radius_of_any_size_gives_a_release(radius, X, ledger, tmp_path):
    wish = {"sign": "winsor", "epsilon": 5.0, "location": None}
    pca = DPPCA("auto", radius=radius, ledger=ledger, **wish).fit(X * radius)
    pca.release_.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").noise_sd == pca.noise_sd_
    usual = DPPCA("auto", radius=1.0, **wish).fit(X)
    assert pca.noise_sd_ / radius**2 == pytest.approx(usual.noise_sd_)  # noise knows no unit
    assert pca.n_components_ == usual.n_components_ > 0
    assert spends(ledger) == 1


@pytest.mark.parametrize(
    ("wish", "rule"),
    [
        ({"radius": 1e151}, "between 1e-150 and 1e150"),
        ({"radius": 1e-151}, "between 1e-150 and 1e150"),
        ({"radius": 1e150, "epsilon": 1e-5, "delta": 1e-300}, "too large for floating point"),
        ({"radius": 1e-150, "epsilon": 1e5}, "too small for floating point"),
        ({"scale": "private", "scale_share": 1 - 1e-12}, "leaves nothing"),
    ],
)
def test_matrix_that_no_float_holds_is_refused_unspent(wish, rule, ledger, rng):
    X = rng.normal(size=(2 if "delta" in wish else 20_000, 2))
    with pytest.raises(ParameterError, match=rule):
        DPPCA(1, **{"sign": "winsor", "location": None, "ledger": ledger} | wish).fit(X)
    assert spends(ledger) == 0
