"""The worst tables for each estimator."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from gdppca import DPPCA, NSGGD, SGPCA, AnalyzeGauss, ParameterError, SignCovariancePCA
from gdppca.auditing import METHODS, Experiment, experiment_for
from gdppca.auditing.draws import Heard, repeated
from gdppca.auditing.worst_pairs import reach_of
from gdppca.signs import NAMES, Spherical, as_sign

PUBLIC = {
    "all": DPPCA(1),
    "blocks": DPPCA(1, pairs=3),
    "halves": DPPCA(1, pairs="halves"),
    "centre": DPPCA(1, location=np.array([5.0, -3.0, 1.0])),
    "scale": DPPCA(1, sign="winsor", radius=2.0, scale=np.array([0.1, 10.0])),
    "norm": AnalyzeGauss(1, norm=4.0, center=np.ones(2)),
    "sign covariance": SignCovariancePCA(1, sign="quad", location=np.ones(3)),
    **{sign: DPPCA(1, sign=sign, radius=3.0) for sign in NAMES if sign != "spherical"},
}


@pytest.mark.parametrize("estimator", PUBLIC.values(), ids=list(PUBLIC))
def test_tables_differ_by_the_whole_sensitivity(estimator):
    experiment = experiment_for(estimator)
    heard = experiment.run(experiment.tables[0])
    release = heard.published.release_
    first, second = exact_on_both(experiment, heard)
    [event] = release.guarantee.events
    moved = np.linalg.norm(first - second)
    assert moved == pytest.approx(release.noise_sd / event.noise_multiplier, rel=1e-3)
    assert ((experiment.tables[0] != experiment.tables[1]).any(axis=1)).sum() == 1


@pytest.mark.parametrize("estimator", PUBLIC.values(), ids=list(PUBLIC))
def test_no_order_of_the_rows_changes_what_noise_is_added_to(estimator):
    """So an attacker may ask both tables once."""
    experiment = experiment_for(estimator)
    runs = [exact_on_both(experiment, experiment.run(experiment.tables[0])) for _ in range(4)]
    for again in runs[1:]:
        np.testing.assert_allclose(again, runs[0], rtol=1e-12, atol=1e-14)


def exact_on_both(experiment, heard):
    """The one vector that noise was added to, on either table."""
    [mechanism] = experiment.run.args
    drawn = (repeated(mechanism, table, heard.draws)[-1] for table in experiment.tables)
    return [draw.exact for draw in drawn]


@pytest.mark.parametrize("name", METHODS)
def test_everything_has_two_neighbours_a_claim_and_a_score(name):
    what = METHODS[name](4.0, 1e-5)
    experiment = what if isinstance(what, Experiment) else experiment_for(what)
    claim = experiment.claim
    assert claim.epsilon == pytest.approx(4.0, rel=1e-4) or claim.epsilon < 4.0
    for table in experiment.tables:
        assert math.isfinite(experiment.score(experiment.run(table)))


OVERHEARD = {
    "centre": (DPPCA(1, epsilon=4.0, location="private"), 0.85),
    "scale": (DPPCA(1, epsilon=4.0, scale="private", location=None), 0.9999),
    "both": (DPPCA(1, epsilon=4.0, location="private", scale="private"), 0.7),
    "winsorised mean": (SignCovariancePCA(1, epsilon=4.0), 0.9999),
}


@pytest.mark.filterwarnings("ignore")  # of few rows
@pytest.mark.parametrize(("estimator", "share"), OVERHEARD.values(), ids=list(OVERHEARD))
def test_all_draws_together_move_by_the_whole_claim_and_no_more(estimator, share):
    """Σ(Δ/σ)² over everything drawn is μ², whatever the path: no noise is needed to see that."""
    experiment = experiment_for(estimator)

    def mechanism(table, noise):
        return clone(estimator).set_params(random_state=noise).fit(table)

    for table in experiment.tables:
        heard = experiment.run(table)
        assert isinstance(heard, Heard)
        moved = [repeated(mechanism, one, heard.draws) for one in experiment.tables]
        pairs = [pair for pair in zip(*moved, strict=True) if pair[0].kind == "gaussian"]
        assert all(one.scale == other.scale for one, other in pairs)
        assert all(one.moved_by(other.exact) <= 1 for one, other in pairs)
        evidence = sum(np.sum(((one.exact - other.exact) / one.scale) ** 2) for one, other in pairs)
        assert share * experiment.claim.mu**2 < evidence <= (1 + 1e-9) * experiment.claim.mu**2


def test_centre_without_a_proof_promises_nothing_and_is_overheard_too():
    experiment = experiment_for(SignCovariancePCA(1, location="pmwm-published"))
    heard = experiment.run(experiment.tables[0])
    assert sum(draw.kind == "gaussian" for draw in heard.draws) > 1
    assert math.isfinite(experiment.score(heard))
    assert experiment.claim.status == "none"


def test_score_is_the_log_likelihood_ratio():
    """Without noise it is half of μ² on one table and minus that on the other."""
    experiment = experiment_for(DPPCA(1, epsilon=4.0, location=np.zeros(2)))
    mu = experiment.claim.mu
    for table, sign in zip(experiment.tables, (1, -1), strict=True):
        heard = experiment.run(table)
        [draw] = heard.draws
        score = experiment.score(replace(heard, draws=(replace(draw, drawn=draw.exact),)))
        assert score == pytest.approx(sign * mu**2 / 2, rel=1e-3)


@pytest.mark.parametrize("sign", NAMES)
def test_reach_is_where_the_sign_is_longest(sign):
    found = as_sign(sign, None if sign == "spherical" else 3.0, n_features=2)
    assert found.radial(np.array([reach_of(found)]))[0] == pytest.approx(found.sup_norm)


class Bump:
    """A user's own sign, longest at 2."""

    sup_norm = 1.0

    def radial(self, s):
        return np.exp(-((np.asarray(s) - 2.0) ** 2)) * (np.asarray(s) > 0)


def test_own_sign_is_audited_too():
    experiment = experiment_for(DPPCA(1, sign=Bump(), location=np.zeros(2)))
    assert experiment.tables[0][0, 0] == pytest.approx(2.0, rel=0.05)
    assert math.isfinite(experiment.score(experiment.run(experiment.tables[0])))


def test_projections_differ_by_what_the_method_takes_for_granted():
    experiment = experiment_for(SGPCA(1, eigenvalues=(90.0, 1.0)))
    first, second = (
        SGPCA(1, epsilon=math.inf, eigenvalues=(90.0, 1.0)).fit(table).scatter_
        for table in experiment.tables
    )
    fitted = experiment.run(experiment.tables[0]).published
    [event] = fitted.guarantee_.events
    taken = fitted.noise_sd_ / math.sqrt(2) / event.noise_multiplier
    assert np.linalg.norm(first - second) == pytest.approx(taken, rel=1e-6)
    assert abs((first - second)[0, 1]) < 1e-12


def test_seed_and_ledger_of_the_estimator_are_left_out():
    experiment = experiment_for(DPPCA(1, random_state=3))
    fits = [experiment.run(experiment.tables[0]).published for _ in range(2)]
    assert not fits[0].guarantee_.seeded
    assert fits[0].ledger is None
    scores = {experiment.score(experiment.run(experiment.tables[0])) for _ in range(3)}
    assert len(scores) == 3


def test_columns_follow_the_arrays():
    assert experiment_for(DPPCA(1, location=np.zeros(5))).tables[0].shape == (8, 5)
    assert experiment_for(NSGGD(3, noise="accounted")).tables[0].shape == (8, 3)
    assert experiment_for(DPPCA("auto")).tables[0].shape == (8, 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Spherical(), "must be one of DPPCA"),
        (DPPCA(1, epsilon=math.inf), "nothing to audit"),
        (DPPCA(1, epsilon=-1.0), "`epsilon` must be a number > 0"),
        (DPPCA(1, location=[0.0]), "two columns"),
        (SGPCA(2, eigenvalues=(9.0, 1.0)), "`n_components` must be 1"),
        (SGPCA(1), "`eigenvalues` is missing"),
        (DPPCA(1, sign="nonsense"), "`sign` must be one of"),
        (AnalyzeGauss(1, norm=3.0), "`center` is missing"),
    ],
)
def test_what_cannot_be_audited_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        experiment_for(wrong)
