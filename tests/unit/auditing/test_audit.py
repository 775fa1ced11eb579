"""What an audit reports."""

import io
import json
import math

import numpy as np
import pytest
from scipy.stats import norm

from gdppca import DPPCA, MissingExtraError, ParameterError
from gdppca.auditing import AuditResult, Experiment, audit
from gdppca.auditing.experiment import Claim
from gdppca.cli.audit import list_methods, run_audit
from gdppca.plots.audit import empirical_curve
from gdppca.privacy import ApproximateEvent, GaussianEvent, PureEvent, Status
from gdppca.privacy.accounting import gaussian_multiplier

GAUSSIAN = Claim(
    events=(GaussianEvent(purpose="test", noise_multiplier=gaussian_multiplier(4.0, 1e-5)),),
    delta=1e-5,
)


def result(mu, claim=GAUSSIAN, n=20_000, **changes):
    """Scores as an audit of a tight μ-GDP mechanism would see them."""
    normal = norm.ppf((np.arange(n) + 0.5) / n)
    scores = (mu * normal + mu**2 / 2, mu * normal - mu**2 / 2)
    fields = {"method": "test", "claim": claim, "confidence": 0.9999, "scores": scores}
    return AuditResult(**(fields | changes))


def test_tight_promise_is_nearly_reached_and_not_refuted():
    found = result(GAUSSIAN.mu)
    assert 3.4 < found.epsilon_lower < found.epsilon_lower_if_normal < 4.0
    assert found.mu_lower < found.mu_lower_if_normal < found.claimed_mu
    assert not found.refuted
    assert found.runs == 40_000


@pytest.mark.parametrize("factor", [math.sqrt(2), 2.0])
def test_too_little_noise_is_refuted(factor):
    found = result(factor * GAUSSIAN.mu, n=3000)
    assert found.refuted
    assert found.epsilon_lower > found.claimed_epsilon == pytest.approx(4.0)


@pytest.mark.parametrize(
    "event",
    [
        PureEvent(purpose="test", epsilon=1.0),
        ApproximateEvent(purpose="test", epsilon=1.0, delta=1e-6),
    ],
)
def test_other_claims_are_refuted_by_the_definition_alone(event):
    claim = Claim(events=(event,), delta=1e-5)
    fair, unfair = (
        result(
            1.0, claim, scores=tuple(np.where(np.arange(2000) < share, 1.0, -1.0) for share in s)
        )
        for s in ((1400, 600), (1700, 300))
    )
    assert not fair.refuted
    assert unfair.refuted
    assert unfair.epsilon_lower > 1.0
    assert unfair.epsilon_lower_if_normal == 0.0


def test_rare_guesses_count_where_noise_is_not_gaussian():
    """Held back in nine of ten runs, right in all others: that refutes ε = 1 and hardly any μ."""
    claim = Claim(events=(PureEvent(purpose="test", epsilon=1.0),), delta=1e-5)
    first = np.where(np.arange(1000) < 100, 1.0, 0.0)
    found = result(1.0, claim, scores=(first, -first))
    assert (found.guesses, found.wrong) == (200, 0)
    assert found.refuted
    assert found.mu_lower < 0.1
    assert "ventured 200 guesses and guessed the table in 100.0%" in str(found)


def test_mixed_claim_is_tried_in_both_ways_for_twice_the_price():
    mixed = Claim(events=(*GAUSSIAN.events, PureEvent(purpose="test", epsilon=0.2)), delta=1e-5)
    assert mixed.is_mixed
    assert not GAUSSIAN.is_mixed
    assert result(1.0, mixed).mu_lower < result(1.0).mu_lower
    assert not result(mixed.mu, mixed).refuted
    assert result(1.4 * mixed.mu, mixed).refuted


def test_confidence_costs():
    assert result(1.0, confidence=0.9).epsilon_lower > result(1.0).epsilon_lower


def test_words_say_what_was_promised_and_found():
    assert "not refuted" in repr(result(0.9))
    assert "promises epsilon = 4 at delta = 1e-05" in str(result(0.9))
    likely = Claim(events=GAUSSIAN.events, delta=1e-5, status=Status.HIGH_PROBABILITY)
    assert "with high probability only" in str(result(0.9, likely))
    none = Claim(events=GAUSSIAN.events, delta=1e-5, status=Status.NONE)
    assert "promises nothing" in str(result(2.0, none))
    assert "is refuted" in str(result(2.0, none))


def test_plain_form_is_json():
    approximate = ApproximateEvent(purpose="test", epsilon=1.0, delta=1e-6)
    plain = json.loads(json.dumps(result(0.9, Claim(events=(approximate,), delta=1e-5)).to_dict()))
    assert plain["claimed_mu"] is None
    assert plain["refuted"] is True or plain["refuted"] is False


def test_figure_shows_scores_and_curves():
    figure = result(GAUSSIAN.mu, n=500).figure()
    scores, curves = figure.axes
    assert {text.get_text() for text in scores.get_legend().get_texts()} == {
        "first table",
        "second table",
    }
    lines = {line.get_label(): line.get_xydata() for line in curves.get_lines()}
    seen, claimed = lines["seen"], lines["claimed"]
    expected = np.interp(seen[:, 0], claimed[:, 0], claimed[:, 1])
    np.testing.assert_allclose(seen[:, 1], expected, atol=0.02)
    assert "not refuted" in figure.get_supxlabel()
    figure.savefig(io.BytesIO())


MIXED = Claim(events=(*GAUSSIAN.events, PureEvent(purpose="test", epsilon=0.2)), delta=1e-5)
PURE = Claim(events=(PureEvent(purpose="test", epsilon=1.0),), delta=1e-5)


@pytest.mark.parametrize("claim", [GAUSSIAN, MIXED, PURE], ids=["gaussian", "mixed", "pure"])
@pytest.mark.parametrize("n", [50, 500, 20_000])
@pytest.mark.parametrize("factor", [0.0, 0.5, 0.9, 1.0, 1.02, 1.1, 1.4, 2.0, 4.0])
def test_drawn_bound_is_below_the_claimed_curve_exactly_where_the_claim_is_refuted(
    claim, n, factor
):
    found = result(factor * claim.mu, claim, n=n)
    curves = found.figure().axes[1]
    lines = {line.get_label(): line.get_xydata() for line in curves.get_lines()}
    bound, claimed = lines["bound, allowing for chance"], lines["claimed"]
    np.testing.assert_array_equal(bound[:, 0], claimed[:, 0])
    excess = (bound - claimed)[1:-2, 1]  # both end in the corners
    assert (excess < 0).all() if found.refuted else (excess > -claim.delta).all()


def test_chance_alone_does_not_take_the_bound_below_the_claim():
    """What was seen of a kept promise dips below the claimed curve; the bound does not."""
    rng = np.random.default_rng(0)
    mu = GAUSSIAN.mu
    scores = tuple(rng.normal(side * mu**2 / 2, mu, size=1500) for side in (1, -1))
    found = result(mu, scores=scores)
    rates, claimed, bound = found.curves
    false, missed = empirical_curve(*scores)
    assert (missed < np.interp(false, rates, claimed) - 1e-3).any()
    assert (bound >= claimed).all()
    assert not found.refuted


def test_figure_without_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib"):
        result(1.0).figure()


def test_each_run_is_on_one_table_by_a_coin_and_is_scored():
    seen = []
    experiment = Experiment(
        name="shout",
        tables=("a", "b"),
        run=lambda table: seen.append(table) or table,
        score=lambda table: 1.0 if table == "a" else -1.0,
        claim=GAUSSIAN,
    )
    told = []
    found = audit(experiment, runs=200, confidence=0.99, progress=lambda *k: told.append(k))
    assert (len(found.scores[0]), len(found.scores[1])) == (seen.count("a"), seen.count("b"))
    assert 50 < seen.count("a") < 150
    assert (found.guesses, found.wrong) == (200, 0)
    assert found.refuted
    assert told[-1] == (200, 200)


def test_experiment_says_how_many_runs_it_wants():
    what = Experiment(name="shout", tables=(1, -1), run=float, score=float, claim=GAUSSIAN, runs=70)
    assert audit(what).runs == 70
    assert audit(what, runs=30).runs == 30


def test_estimator_is_not_fitted_by_its_audit():
    pca = DPPCA(1, epsilon=4.0)
    found = audit(pca, runs=50)
    assert not hasattr(pca, "release_")
    assert (found.method, found.status) == ("DPPCA", "proven")


@pytest.mark.parametrize(
    "wrong", [{"runs": 1}, {"runs": 2.5}, {"confidence": 0.0}, {"confidence": 1.0}]
)
def test_bad_numbers_are_refused(wrong):
    [name] = wrong
    with pytest.raises(ParameterError, match=f"`{name}` must be"):
        audit(DPPCA(1), **wrong)


def test_command_tells_in_words_and_in_json(capsys, tmp_path):
    run_audit("dppca", runs=60, confidence=1 - 1e-8, plot=tmp_path / "audit.png")
    told = capsys.readouterr().out
    assert "The claim is not refuted." in told
    assert "lower bound, any law of the scores" in told
    assert (tmp_path / "audit.png").stat().st_size > 1000
    run_audit("score-map", runs=60, as_json=True)
    plain = json.loads(capsys.readouterr().out)
    assert plain["audited"] == "score-map"
    assert plain["claimed_epsilon"] == pytest.approx(4.0)
    list_methods()
    assert "dppca-private-centre\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"method": "magic"}, "`method` must be one of 'dppca'"),
        ({"epsilon": math.inf}, "`epsilon`"),
        ({"delta": 2.0}, "`delta`"),
    ],
)
def test_command_refuses_bad_wishes(wrong, message):
    with pytest.raises(ParameterError, match=message):
        run_audit(**wrong)


def test_command_refuses_a_plot_of_unknown_kind(tmp_path):
    with pytest.raises(ParameterError, match="must end in"):
        run_audit(plot=tmp_path / "audit.exe")
