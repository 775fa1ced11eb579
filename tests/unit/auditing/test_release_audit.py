"""What an audit of a release finds, says and shows."""

import io
import json
import logging
import math
from dataclasses import replace

import numpy as np
import pytest
from released import released
from scipy.stats import norm
from weakened import weakened

from gdppca import ReleaseError
from gdppca.auditing import audit
from gdppca.auditing.experiment import Claim
from gdppca.cli.audit import run_audit
from gdppca.privacy import ApproximateEvent, GaussianEvent, PureEvent
from gdppca.privacy.accounting import gaussian_multiplier

GAUSSIAN = GaussianEvent(purpose="test", noise_multiplier=gaussian_multiplier(1.0, 1e-6))
CLAIMS = {
    "gaussian": Claim(events=(GAUSSIAN,), delta=1e-6),
    "mixed": Claim(events=(GAUSSIAN, PureEvent(purpose="test", epsilon=0.1)), delta=1e-6),
    "approximate": Claim(
        events=(GAUSSIAN, ApproximateEvent(purpose="test", epsilon=0.01, delta=1e-7)), delta=1e-6
    ),
}


@pytest.fixture(scope="module")
def found():
    return audit(released("pairs", epsilon=1.0), runs=400, confidence=1 - 1e-9)


def seen(found, claim, factor, n=40_000):
    """The same as if so much of the guesses were wrong as less noise by a factor allows."""
    right = round(n * (1 - claim.least_wrong(factor)))
    scores = np.where(np.arange(n) < right, 1.0, -1.0)
    return replace(found, claim=claim, scores=(scores, -scores), confidence=0.9999)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_bound_lies_below_a_promise_that_is_kept_to_the_letter(found, claim):
    kept = seen(found, claim, 1.0)
    assert not kept.refuted
    assert 0.8 * kept.claimed_epsilon < kept.epsilon_lower < kept.claimed_epsilon
    assert kept.claimed_epsilon < kept.epsilon_seen < 1.25 * kept.claimed_epsilon
    assert kept.epsilon_lower == pytest.approx(kept.epsilon_reachable, rel=1e-3)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize("factor", [math.sqrt(2), 2.0])
def test_too_little_noise_is_refuted(found, claim, factor):
    broken = seen(found, claim, factor)
    assert broken.refuted
    assert broken.factors[0] == pytest.approx(factor, rel=0.15)
    assert broken.factors[0] < factor < broken.factors[1]
    assert broken.epsilon_lower > broken.claimed_epsilon
    assert "The claim is refuted: the noise is at most" in str(broken)


def test_least_wrong_of_a_gaussian_is_that_of_its_mu():
    claim = CLAIMS["gaussian"]
    for factor in (0.5, 1.0, 3.0):
        assert claim.least_wrong(factor) == pytest.approx(norm.cdf(-factor * claim.mu / 2))
        assert claim.epsilon_with(factor) == pytest.approx(
            Claim(
                events=(replace(GAUSSIAN, noise_multiplier=GAUSSIAN.noise_multiplier / factor),),
                delta=1e-6,
            ).epsilon
        )


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize("factor", [0.3, 0.95, 1.1, 2.0])
def test_drawn_bound_is_below_the_claimed_curve_exactly_where_the_claim_is_refuted(
    found, claim, factor
):
    result = seen(found, claim, factor)
    rates, claimed, bound = result.curves
    *_, band = result.band_curves
    inside = (rates > 0.01) & (rates < 0.99)
    excess = (bound - claimed)[inside]
    assert (excess < 0).all() if result.refuted else (excess >= -1e-9).all()
    assert (band <= bound + 1e-12).all()


def test_curve_of_a_mixed_claim_is_that_of_its_gaussian_where_the_rest_is_nothing(found):
    tiny = Claim(events=(GAUSSIAN, PureEvent(purpose="test", epsilon=1e-9)), delta=1e-6)
    curves = [seen(found, claim, 1.0).curves[1] for claim in (tiny, CLAIMS["gaussian"])]
    np.testing.assert_allclose(*curves, atol=2e-4)


def test_who_is_told_nothing_bounds_nothing(found):
    blind = replace(found, scores=(np.zeros(50), np.zeros(60)))
    assert (blind.epsilon_lower, blind.mu_lower, blind.refuted) == (0.0, 0.0, False)
    certain = replace(found, scores=(np.ones(20_000), -np.ones(20_000)))
    assert certain.refuted
    json.dumps(certain.to_dict(), allow_nan=False)


def test_words_tell_what_was_run_and_what_a_tight_promise_would_reach(found):
    told = " ".join(found.sentences)
    for words in (
        "promises epsilon = 1 at delta = 1e-06, replace-one neighbours",
        "run 40 times on two neighbouring tables of 3000 rows and 5 columns",
        "drawn 400 times",
        "without any slack would reach",
        "The claim is not refuted.",
    ):
        assert words in told
    assert "version" not in told
    assert "protects nobody; secret noise promises" in str(replace(found, seeded=True))
    older = replace(found, made_by="0.0.9", largest_move=2.0)
    assert "made by version 0.0.9" in str(older)
    assert "moved by 2 times the sensitivity" in str(older)


def test_figure_has_a_band(found):
    axes = found.figure().axes[1]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "what the attacker reaches" in labels
    found.figure().savefig(io.BytesIO())


def test_false_alarms_are_as_rare_as_the_confidence_says(found):
    """Scores of a promise that is kept to the letter, drawn from its own law."""
    rng, mu, runs = np.random.default_rng(3), found.claimed_mu, 2000
    wrong = rng.binomial(runs, norm.cdf(-mu / 2), size=3000)
    alarms = []
    for many in wrong:
        scores = np.where(np.arange(runs) < many, -1.0, 1.0)
        alarms.append(replace(found, scores=(scores, scores[:0]), confidence=0.95).refuted)
    assert np.mean(alarms) == pytest.approx(0.05, abs=4 * math.sqrt(0.05 / 3000))


def test_nothing_is_said_of_spends_that_are_none(caplog):
    release = released("pairs")
    with caplog.at_level(logging.INFO, logger="gdppca"):
        audit(release, runs=10)
        assert caplog.text == ""
        released("pairs")
    assert "spent epsilon" in caplog.text  # of a real one


def test_command_audits_a_release_and_refutes_a_broken_copy(capsys, tmp_path):
    path = tmp_path / "release.json"
    released("pairs", epsilon=4.0).save(path)
    run_audit(release=path, runs=300, confidence=1 - 1e-9, plot=tmp_path / "audit.svg")
    told = capsys.readouterr().out
    assert "The claim is not refuted." in told
    assert "lower bound without any slack, as many runs" in told
    with weakened(0.2):
        assert run_audit(release=path, runs=2000, as_json=True).refuted
    plain = json.loads(capsys.readouterr().out)
    assert plain["audited"] == str(path)
    assert plain["refuted"] is True
    assert plain["epsilon_lower"] > 4.0


def test_command_refuses_what_is_no_release(tmp_path):
    with pytest.raises(ReleaseError, match="There is no release file"):
        run_audit(release=tmp_path / "none.json")
