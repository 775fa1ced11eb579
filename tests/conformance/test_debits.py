"""Whatever draws from a table debits: exactly its events, before its first draw, or not at all."""

import numpy as np
import pytest
from sklearn.base import clone

import gdppca
from gdppca import (
    DPPCA,
    NSGGD,
    SGPCA,
    AnalyzeGauss,
    BudgetExceeded,
    Ledger,
    LedgerError,
    ParameterError,
    SignCovariancePCA,
    estimators,
    releases,
)
from gdppca.kernels import OneSample
from gdppca.noise import FreshNoise
from gdppca.noise.bits import SecureBits
from gdppca.privacy import Protected, PureEvent
from gdppca.privacy.assumptions import ENTERED
from gdppca.signs import Spherical

DELTA = 1e-6
X = np.random.default_rng(0).normal(size=(600, 3)) * [9.0, 3.0, 1.0]
RELEASE = DPPCA(2, location=None, random_state=0).fit(X).release_
NOISE = releases.scatter_noise(
    epsilon=1.0,
    delta=DELTA,
    sign=Spherical(),
    scheme=OneSample(),
    n_samples=len(X),
    n_features=3,
)
RHO = 0.05


def fitted(estimator):
    """A fit's events, as its guarantee lists them."""

    def draw(ledger, epsilon, seed=None):
        pca = clone(estimator).set_params(ledger=ledger, epsilon=epsilon, random_state=seed)
        guarantee = pca.fit(X).guarantee_
        assert ENTERED in guarantee.assumptions
        assert not any("Nothing counts" in str(line) for line in guarantee.assumptions)
        return guarantee.events

    return draw


def mapped(ledger, epsilon, seed=None):
    shown = releases.score_map(X, RELEASE, epsilon=epsilon, ledger=ledger, random_state=seed)
    assert ENTERED in shown.guarantee.assumptions
    return shown.guarantee.events


def varied(ledger, epsilon, seed=None):
    found = releases.private_variances(X, RELEASE, epsilon, DELTA, ledger=ledger, random_state=seed)
    assert ENTERED in found.guarantee.assumptions
    return found.guarantee.events


def quantile(method):
    def draw(ledger, epsilon, seed=None):
        releases.private_quantile(
            X[:, 0], 0.5, epsilon, method=method, ledger=ledger, random_state=seed
        )
        return (PureEvent(purpose="quantile", epsilon=epsilon),)

    return draw


def centred(ledger, epsilon, seed=None):
    return releases.private_winsorized_mean(X, RHO * epsilon**2, seed, ledger=ledger).events


def scattered(ledger, epsilon, seed=None):
    noise = NOISE
    if epsilon > 1:
        noise = releases.scatter_noise(
            epsilon=epsilon,
            delta=DELTA,
            sign=Spherical(),
            scheme=OneSample(),
            n_samples=len(X),
            n_features=3,
        )
    return (releases.private_scatter(np.eye(3) / 3, noise, seed, ledger=ledger).event,)


PUBLIC = {"norm": 30.0, "center": np.zeros(3)}
DRAWS = {
    "DPPCA": fitted(DPPCA(2, location=None)),
    "AnalyzeGauss": fitted(AnalyzeGauss(2, **PUBLIC)),
    "SGPCA": fitted(SGPCA(2, eigenvalues=[81, 9, 1])),
    "NSGGD": fitted(NSGGD(2, noise="accounted", n_iterations=50)),
    "SignCovariancePCA": fitted(SignCovariancePCA(2)),
    "SignCovariancePCA, public centre": fitted(SignCovariancePCA(2, location=np.zeros(3))),
    "score_map": mapped,
    "private_variances": varied,
    "private_quantile": quantile("grid"),
    "private_quantile, unbounded": quantile("unbounded"),
    "private_winsorized_mean": centred,
    "private_scatter": scattered,
}
DRAWS_NOTHING = {
    *("NoisyScatter", "NoisyVariances", "Origin", "Release", "ScatterNoise", "ScoreMap"),  # data
    *("SeenSpectrum", "heaviest_columns", "marked_names", "merge_releases", "release_intervals"),
    *("scatter_noise", "seen_spectrum", "write_whole", "Loadings", "sparse_components"),
    *("OutlierMap", "breakdown_of", "outlier_figure", "outlier_map"),  # the owner's; no release
    *("Description", "Query", "describe"),
    *("AuditResult", "Guarantee", "Ledger", "PairSum", "Plan", "kendall_tau", "plan", "sin_theta"),
    "audit",  # made-up rows
}
PRINTED = {
    "AnalyzeGauss": AnalyzeGauss(2),
    "NSGGD": NSGGD(2, n_iterations=50),
    "SignCovariancePCA": SignCovariancePCA(2, location="pmwm-published"),
    **{
        f"{name}, no noise": estimator.set_params(epsilon=np.inf)
        for name, estimator in {
            "DPPCA": DPPCA(2),
            "AnalyzeGauss": AnalyzeGauss(2, **PUBLIC),
            "SGPCA": SGPCA(2, eigenvalues=[81, 9, 1]),
            "NSGGD": NSGGD(2, noise="accounted", n_iterations=50),
            "SignCovariancePCA": SignCovariancePCA(2),
        }.items()
    },
}
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("patients", 1.0, DELTA)
    return ledger


@pytest.fixture
def address(ledger):
    return f"{ledger.address}#patients"


@pytest.fixture
def heard(ledger, monkeypatch):
    """What remained in the ledger whenever random bits or noise were asked for."""
    remained = []

    def spied(draw):
        def call(*given, **named):
            remained.append(ledger.remaining("patients"))
            return draw(*given, **named)

        return call

    for name in ("gaussian", "laplace", "argmax", "permutation", "keys", "generator"):
        monkeypatch.setattr(FreshNoise, name, spied(getattr(FreshNoise, name)))
    for name in ("permutation", "words", "generator"):
        monkeypatch.setattr(SecureBits, name, spied(getattr(SecureBits, name)))
    return remained


def test_every_public_name_is_known_here():
    names = {*releases.__all__, *estimators.__all__, *gdppca.__all__}
    drawing = {name.partition(",")[0] for name in DRAWS}
    callables = {
        name
        for name in names
        for room in (gdppca, estimators, releases)
        if callable(found := getattr(room, name, None))
        and not (isinstance(found, type) and issubclass(found, Exception))
    }
    assert callables == drawing | DRAWS_NOTHING
    assert not drawing & DRAWS_NOTHING


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_exactly_its_events_are_entered_before_anything_is_drawn(draw, ledger, address, heard):
    drawn = draw(address, 0.5)
    [spend] = [entry for entry in ledger.history("patients") if entry.kind == "spend"]
    if draw is DRAWS["DPPCA"]:  # all its Gaussian steps under one name
        assert [event.noise_multiplier for event in spend.events] == pytest.approx(
            [event.noise_multiplier for event in drawn]
        )
    else:
        assert spend.events == drawn
    assert heard
    assert max(heard) < 1.0  # it was entered by the first draw


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_what_does_not_fit_draws_nothing(draw, ledger, address, heard):
    with pytest.raises(BudgetExceeded):
        draw(address, 20.0)
    assert heard == []
    assert ledger.account("patients").spends == 0


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("other", [Protected("person"), Protected("row", "add-remove")], ids=str)
def test_what_is_about_others_than_the_cap_draws_nothing(draw, other, ledger, heard):
    ledger.create("others", 1.0, DELTA, protected=other)
    with pytest.raises(LedgerError, match=r"The cap of 'others' is about .* about rows"):
        draw(f"{ledger.address}#others", 0.5)
    assert heard == []
    assert ledger.account("others").spends == 0


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_no_ledger_counts_a_simulation(draw, ledger, address):
    with pytest.raises(ParameterError, match="simulation"):
        draw(address, 0.5, seed=1)
    assert ledger.account("patients").spends == 0


@pytest.mark.parametrize("estimator", PRINTED.values(), ids=PRINTED)
def test_what_protects_nobody_is_refused_before_the_draw(estimator, ledger, address, heard):
    with pytest.raises(BudgetExceeded):
        clone(estimator).set_params(ledger=address).fit(X)
    assert heard == []
    assert ledger.account("patients").spends == 0


def test_more_from_a_fitted_estimator_goes_to_its_ledger(ledger, address):
    ledger.grant("patients", 20.0)
    pca = DPPCA(2, location=None, ledger=address).fit(X)
    shown = releases.score_map(X, pca, epsilon=0.5)
    found = releases.private_variances(X, pca, 0.5, DELTA)
    assert ledger.account("patients").spends == 3
    whole = pca.release_.with_score_map(shown).with_variances(found)
    assert ENTERED in whole.guarantee.assumptions
    assert not any("Nothing counts" in str(line) for line in whole.guarantee.assumptions)


def test_a_part_that_was_not_entered_takes_the_claim_away(ledger, address):
    release = DPPCA(2, location=None, ledger=address).fit(X).release_
    for whole in (
        release.with_score_map(releases.score_map(X, release, epsilon=0.5)),
        release.with_variances(releases.private_variances(X, release, 0.5, DELTA)),
    ):
        assert ENTERED not in whole.guarantee.assumptions
        assert any("Nothing counts" in str(line) for line in whole.guarantee.assumptions)
    assert ledger.account("patients").spends == 1


def test_a_joint_release_is_entered_once_and_says_so(ledger, address):
    pca = DPPCA(2, epsilon=0.9, ledger=address)
    release = pca.fit_release(X, variances=0.1, score_map=0.2)
    assert ledger.account("patients").spends == 1
    assert release.guarantee.epsilon <= ledger.account("patients").bound * (1 + 1e-9)
    for guarantee in (release.guarantee, release.score_map.guarantee):
        assert ENTERED in guarantee.assumptions
        assert not any("Nothing counts" in str(line) for line in guarantee.assumptions)
