"""Releases of disjoint groups into one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from edited import rewritten
from gappy import fitted_with_gaps
from simulate import spiked

from gdppca import DPPCA, Guarantee, ParameterError, Release, ReleaseError, sin_theta
from gdppca.privacy import (
    ApproximateEvent,
    GaussianEvent,
    NonPrivateEvent,
    PureEvent,
    Status,
    spending,
)
from gdppca.releases import Origin, merge_releases
from gdppca.releases.merge import parallel_guarantee
from gdppca.theory import corrected


def fitted(n=600, seed=0, **options):
    X, _ = spiked("gaussian", n, 5, seed)
    settings = {"n_components": 2, "location": None, "random_state": seed} | options
    return DPPCA(**settings).fit(X).release_


@pytest.fixture(scope="module")
def parts():
    return [fitted(600, 1), fitted(2400, 2, epsilon=0.5, delta=1e-7)]


def test_matrix_is_a_mean_and_its_noise_follows(parts):
    merged = merge_releases(parts)
    errors = [15 * part.noise_sd**2 + 1 / part.n_samples for part in parts]
    weights = (1 / np.array(errors)) / np.sum(1 / np.array(errors))
    expected = weights[0] * parts[0].scatter + weights[1] * parts[1].scatter
    np.testing.assert_allclose(merged.scatter, expected, atol=1e-14)
    noise = math.hypot(weights[0] * parts[0].noise_sd, weights[1] * parts[1].noise_sd)
    assert merged.noise_sd == pytest.approx(noise)
    assert merged.n_samples == 3000
    assert merged.scheme == {"name": "merged", "groups": 2}


def test_merged_noise_is_the_stated_one():
    """Many draws of the noise of two parts: the merged matrix spreads by its own noise_sd."""
    draws = [
        merge_releases([fitted(300, 3, random_state=k), fitted(200, 4, random_state=1000 + k)])
        for k in range(150)
    ]
    diagonals = np.array([np.diagonal(merged.scatter) for merged in draws])
    seen = diagonals.std(axis=0, ddof=1).mean()
    assert seen == pytest.approx(draws[0].noise_sd, rel=0.12)  # sd of the mean of 5: 2.6 %


def test_merging_helps():
    sites = [spiked("gaussian", 1000, 5, seed) for seed in range(6)]
    truth = sites[0][1]
    releases = [
        DPPCA(2, epsilon=0.5, random_state=k).fit(X).release_ for k, (X, _) in enumerate(sites)
    ]
    alone = np.mean([sin_theta(part.components, truth) for part in releases])
    assert sin_theta(merge_releases(releases).components, truth) < 0.7 * alone


def test_order_does_not_matter(parts):
    forwards, back = merge_releases(parts), merge_releases(parts[::-1])
    np.testing.assert_allclose(forwards.scatter, back.scatter, atol=1e-15)
    assert forwards.guarantee.nominal_epsilon == back.guarantee.nominal_epsilon


def test_it_can_be_saved_loaded_and_used(parts, tmp_path):
    merged = merge_releases(parts)
    merged.save(tmp_path / "all.json")
    loaded = Release.load(tmp_path / "all.json")
    assert loaded.to_dict() == merged.to_dict()
    pca = DPPCA.from_release(loaded)
    assert pca.components_.shape == (2, 5)


def test_merged_ones_merge_again(parts):
    again = merge_releases([merge_releases(parts), fitted(500, 5)])
    assert again.scheme["groups"] == 3
    words = map(str, again.guarantee.assumptions)
    said = [line for line in words if "merged groups only" in line]
    assert said == ["Each person is in one of the 3 merged groups only."]


def test_beside_the_matrix_nothing_is_kept(parts):
    with_more = replace(parts[0], variances=np.ones(2), plan={"a": 1})
    merged = merge_releases([with_more, parts[1]])
    assert merged.variances is None
    assert merged.plan is None
    assert merged.score_map is None


def test_number_of_components(parts):
    fewer = fitted(500, 6, n_components=1)
    assert len(merge_releases([*parts, fewer]).components) == 1
    assert len(merge_releases([*parts, fewer], n_components=4).components) == 4
    with pytest.raises(ParameterError, match="n_components"):
        merge_releases(parts, n_components=6)


def test_centre_is_the_mean_by_rows_where_all_have_one():
    near = fitted(300, 1, location=np.zeros(5))
    far = fitted(900, 2, location=np.full(5, 4.0))
    np.testing.assert_allclose(merge_releases([near, far]).location, np.full(5, 3.0))
    assert merge_releases([near, fitted(300, 3)]).location is None


def test_errors_of_centres_are_averaged_like_the_matrices(tmp_path):
    drawn = [fitted(n, n, location="private", epsilon=2.0) for n in (3000, 6000)]
    given = fitted(4000, 3, location=np.zeros(5))
    parts = [*drawn, given]
    merged = merge_releases(parts)
    errors = np.array([15 * part.noise_sd**2 + 1 / part.n_samples for part in parts])
    biases = [part.centre_bias for part in parts]
    assert biases[0] > biases[1] > biases[2] == 0
    expected = (1 / errors) @ biases / np.sum(1 / errors)
    assert merged.centre_bias == pytest.approx(expected, rel=1e-12)
    merged.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").centre_bias == merged.centre_bias
    again = merge_releases([merge_releases(parts[:2]), given])
    assert 0 < again.centre_bias < max(biases)


def test_errors_of_centres_stay_where_pairs_are_merged_with_them():
    mixed = merge_releases([fitted(3000, 1, location="private", epsilon=2.0), fitted(300, 2)])
    assert mixed.location is None
    assert mixed.centre_origin is Origin.NONE
    assert mixed.centre_bias > 0


def test_merged_centres_say_so():
    parts = [fitted(300, seed, location=np.zeros(5), scale=np.ones(5)) for seed in (1, 2)]
    merged = merge_releases(parts)
    assert (merged.centre_origin, merged.scale_origin) == (Origin.MERGED, Origin.PUBLIC)


def test_doubts_about_shared_scales_stay(tmp_path):
    """One group drew the scales and found no size of a column; the other took them over."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4)) * [10, 3, 1, 1]
    X[:, 3] = np.arange(6000) < 30  # hardly varies
    drew = DPPCA(2, epsilon=2.0, location=None, scale="private", random_state=0).fit(X).release_
    took = DPPCA(2, location=None, scale=drew.scale, random_state=1).fit(X[::-1]).release_
    assert len(drew.doubts) == 1
    for parts in ([drew, took], [took, drew]):
        merged = merge_releases(parts)
        assert merged.doubts == drew.doubts
        assert merged.scale_origin is Origin.PRIVATE
        merged.save(tmp_path / "r.json")
        assert Release.load(tmp_path / "r.json").doubts == drew.doubts
    rougher = replace(took, scale_error=np.full(4, 0.5), scale_origin="private")
    errors = merge_releases([drew, rougher]).scale_error
    np.testing.assert_array_equal(errors, [0.5, 0.5, 0.5, np.inf])


def test_rows_and_persons_do_not_merge(parts):
    persons = replace(parts[1], guarantee=replace(parts[1].guarantee, unit="person"))
    with pytest.raises(ParameterError, match="units"):
        merge_releases([parts[0], persons])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"scale": np.full(5, 2.0)}, "scale"),
        ({"sign": "winsor", "radius": 2.0}, "sign"),
        ({"calibration": "paper"}, "calibration"),
    ],
)
def test_different_statistics_do_not_merge(parts, options, word):
    with pytest.raises(ReleaseError, match=f"differ in `{word}`"):
        merge_releases([parts[0], fitted(500, 7, **options)])


def test_different_columns_do_not_merge(parts):
    renamed = replace(parts[1], feature_names=("a", "b", "c", "d", "e"))
    with pytest.raises(ReleaseError, match="feature_names"):
        merge_releases([parts[0], renamed])


def test_pairs_and_centres_merge_for_the_spherical_sign_only():
    def made(seed, sign, location):
        return fitted(300, seed, sign=sign, location=location)

    merge_releases([made(1, "spherical", None), made(2, "spherical", np.zeros(5))])
    with pytest.raises(ReleaseError, match="pairs"):
        merge_releases([made(1, "winsor", None), made(2, "winsor", np.zeros(5))])


def test_other_methods_and_lone_releases_do_not_merge(parts):
    with pytest.raises(ReleaseError, match="SGPCA"):
        merge_releases([parts[0], replace(parts[1], method="SGPCA")])
    with pytest.raises(ReleaseError, match="matrix"):
        merge_releases([parts[0], replace(parts[1], scatter=None)])
    with pytest.raises(ParameterError, match="two"):
        merge_releases(parts[:1])


def test_one_seeded_group_makes_a_simulation(parts):
    X, _ = spiked("gaussian", 600, 5, 9)
    real = DPPCA(2, location=None).fit(X).release_
    assert merge_releases([real, parts[0]]).guarantee.seeded
    other = DPPCA(2, location=None).fit(X[::-1]).release_
    assert merge_releases([real, other]).guarantee.protects


def test_a_copy_is_refused(parts):
    with pytest.raises(ReleaseError, match="copy"):
        merge_releases([parts[0], parts[0]])


def test_a_group_without_noise_is_said():
    merged = merge_releases([fitted(300, 1, epsilon=math.inf), fitted(300, 2)])
    assert merged.guarantee.status is Status.NONE
    assert not merged.guarantee.protects


def promise(*events, delta=1e-6, **more):
    return Guarantee(events=events, delta=delta, **more)


def gaussian(multiplier):
    return GaussianEvent(purpose="scatter", noise_multiplier=multiplier)


def pure(epsilon):
    return PureEvent(purpose="radius", epsilon=epsilon)


CASES = {
    "gaussian": [promise(gaussian(4.0)), promise(gaussian(7.0), delta=1e-5)],
    "one dominates": [promise(gaussian(4.0), pure(0.2)), promise(pure(0.1), gaussian(7.0))],
    "crossing": [promise(gaussian(4.0)), promise(pure(0.5), gaussian(9.0))],
    "slightly crossing": [promise(gaussian(4.0)), promise(pure(0.01), gaussian(4.1))],
    "pure alone": [promise(pure(1.0)), promise(gaussian(5.0))],
    "three": [
        promise(gaussian(4.0), pure(0.1)),
        promise(gaussian(5.0), pure(0.2)),
        promise(gaussian(6.0), pure(0.15), pure(0.15)),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_merged_promise_is_no_better_than_any_group_at_any_delta(name):
    parts = CASES[name]
    total = parallel_guarantee(parts, len(parts))
    assert total.delta == max(part.delta for part in parts)
    for delta in (1e-9, 1e-7, 1e-6, 1e-5, 1e-3, 0.05):
        worst = max(spending.epsilon_at(part.events, delta) for part in parts)
        assert spending.epsilon_at(total.events, delta) >= worst * (1 - 1e-6)
    assert total.gdp_mu >= max(part.gdp_mu for part in parts) * (1 - 1e-12)
    assert total.zcdp_rho >= max(part.zcdp_rho for part in parts) * (1 - 1e-12)


@pytest.mark.parametrize("name", ["gaussian", "one dominates"])
def test_merged_promise_is_not_worse_than_the_worst_group(name):
    parts = CASES[name]
    total = parallel_guarantee(parts, 2)
    worst = max(spending.epsilon_at(part.events, total.delta) for part in parts)
    assert total.epsilon == pytest.approx(worst, rel=1e-9)


def test_crossing_groups_cost_little():
    parts = CASES["slightly crossing"]
    worst = max(part.epsilon for part in parts)
    assert parallel_guarantee(parts, 2).epsilon < 1.05 * worst


def test_many_groups_cost_no_more_than_one():
    parts = [promise(gaussian(4.0))] * 50
    assert parallel_guarantee(parts, 50).epsilon == pytest.approx(parts[0].epsilon)


def test_a_group_known_by_one_pair_only():
    approximate = promise(ApproximateEvent(purpose="map", epsilon=0.3, delta=1e-7), gaussian(8.0))
    strong, weak = promise(gaussian(20.0)), promise(gaussian(2.0))
    assert parallel_guarantee([approximate, strong], 2).epsilon == pytest.approx(
        approximate.epsilon
    )
    total = parallel_guarantee([approximate, weak], 2)
    assert total.epsilon == pytest.approx(weak.epsilon)
    assert math.isinf(total.gdp_mu)
    hopeless = promise(ApproximateEvent(purpose="map", epsilon=0.3, delta=1e-3))
    assert not parallel_guarantee([hopeless, weak], 2).protects


def test_weaker_standing_wins():
    shaky = promise(gaussian(9.0), status="high-probability", reason="so it is")
    total = parallel_guarantee([promise(gaussian(2.0)), shaky], 2)
    assert total.status is Status.HIGH_PROBABILITY
    assert total.reason == "so it is"
    exact = promise(NonPrivateEvent(purpose="scatter"))
    assert parallel_guarantee([shaky, exact], 2).status is Status.NONE


def test_disjoint_groups_are_assumed_in_words(parts):
    said = [*map(str, merge_releases(parts).guarantee.assumptions)]
    assert "Each person is in one of the 2 merged groups only." in said
    assert "Each person is in one row only." in said


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(noise_sd=0.0),
        lambda plain: plain["scheme"].update(groups=2000),
        lambda plain: plain.update(location=[0.0] * 5, centre_origin="private"),
        lambda plain: plain["guarantee"].update(assumptions=["none"]),
        lambda plain: plain["scheme"].pop("groups"),
        lambda plain: plain["components"][0].__setitem__(0, 0.0),
    ],
)
def test_edited_merged_release_is_refused(parts, change, tmp_path):
    merge_releases(parts).save(tmp_path / "r.json")
    with pytest.raises(ReleaseError):
        Release.load(rewritten(tmp_path / "r.json", change))


class TestGaps:
    RATES = (np.linspace(0.5, 1.0, 5), np.linspace(0.9, 0.6, 5))

    @pytest.fixture
    def taken(self, monkeypatch):
        """What the merged release is made of, whether or not releases can hold rates yet."""
        seen = {}

        def release(**given):
            seen.update(given)
            return Release(**{name: value for name, value in given.items() if name != "rates"})

        monkeypatch.setattr("gdppca.releases.merge.Release", release)
        monkeypatch.setattr("gdppca.releases.merge._check_mergeable", lambda parts: None)
        return seen

    def test_groups_with_other_gaps_merge_to_the_directions_of_whole_rows(self, taken):
        parts, (truth, _) = zip(
            *(fitted_with_gaps(20_000, rates, k) for k, rates in enumerate(self.RATES)),
            strict=True,
        )
        merged = merge_releases(parts)
        np.testing.assert_allclose(taken["rates"], np.mean(self.RATES, axis=0))
        alone = [sin_theta(part.components, truth) for part in parts]
        assert sin_theta(merged.components, truth) < max(alone)
        plain = sum(part.scatter for part in parts) / 2
        pooled = corrected(plain, np.mean(self.RATES, axis=0))
        assert np.linalg.norm(corrected(merged.scatter, taken["rates"]) - pooled) > 1e-3

    def test_equal_rates_are_an_ordinary_mean(self, taken):
        parts = [fitted_with_gaps(n, self.RATES[0], n)[0] for n in (2000, 6000)]
        merged = merge_releases(parts)
        errors = [15 * part.noise_sd**2 + 1 / part.n_samples for part in parts]
        weights = (1 / np.array(errors)) / np.sum(1 / np.array(errors))
        np.testing.assert_allclose(
            merged.scatter, weights[0] * parts[0].scatter + weights[1] * parts[1].scatter
        )
        noise = math.hypot(*(w * part.noise_sd for w, part in zip(weights, parts, strict=True)))
        assert merged.noise_sd == pytest.approx(noise)

    def test_a_group_without_gaps_has_rates_of_one(self, taken):
        parts = [fitted_with_gaps(3000, self.RATES[0], 1)[0], fitted(3000, 2, location=np.zeros(5))]
        merge_releases(parts)
        np.testing.assert_allclose(taken["rates"], (self.RATES[0] + 1) / 2)


def test_secret_sizes_are_not_called_public(parts):
    secret = [
        replace(part, guarantee=replace(part.guarantee, neighbors="add-remove")) for part in parts
    ]
    merged = merge_releases(secret)
    assert merged.guarantee.neighbors == "add-remove"
    said = " ".join(str(each) for each in merged.guarantee.assumptions)
    assert said != " ".join(str(each) for each in merge_releases(parts).guarantee.assumptions)
    with pytest.raises(ParameterError, match="neighbours"):
        merge_releases([parts[0], secret[1]])
