"""Private score maps: what may be shown of a scatter plot."""

import dataclasses
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.optimize import minimize

from gdppca import DPPCA, AnalyzeGauss, DataError, ParameterError, PrivacyWarning, Release
from gdppca._errors import ReleaseError
from gdppca.noise import FreshNoise
from gdppca.privacy import Guarantee, NonPrivateEvent, PureEvent
from gdppca.releases import ScoreMap, score_map
from gdppca.releases.files import checksum
from gdppca.releases.score_map import _nearest_with_total

CENTERS = np.array([[-4.0, -1.5], [0.0, 3.0], [4.0, -1.5]])
FRAME = ((-10.0, 10.0), (-8.0, 8.0))


def clusters(n, seed=0):
    """Three clusters in a plane, small noise in three more columns; rows and clusters."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 5)) * [1, 1, 0.5, 0.5, 0.5]
    X[:, :2] += CENTERS[which]
    return X, which


@pytest.fixture(scope="module")
def fitted():
    X, which = clusters(3000)
    return X, which, DPPCA(2, random_state=0, location=None).fit(X)


def exact_scores(X, release):
    pca = DPPCA.from_release(release)
    return pca.transform(X)


# --- The promise ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "slack"),
    [
        ({}, 1e-4),
        ({"kind": "sparse"}, 1e-4),
        ({"noise": "gaussian"}, 1e-6),
        ({"frame": FRAME}, 1e-4),
        ({"frame": FRAME, "noise": "gaussian"}, 1e-6),
        ({"epsilon": 0.2, "delta": 1e-9}, 1e-4),
        ({"epsilon": 5.0}, 1e-4),
    ],
)
def test_budget_is_spent_and_never_exceeded(fitted, options, slack):
    X, _, pca = fitted
    guarantee = score_map(X, pca, **options).guarantee
    epsilon = options.get("epsilon", 1.0)
    assert epsilon - slack <= guarantee.epsilon <= epsilon
    assert guarantee.delta == options.get("delta", 1e-6)
    assert guarantee.status == "proven"


def test_events_say_what_they_were_for(fitted):
    X, _, pca = fitted
    purposes = [event.purpose for event in score_map(X, pca).guarantee.events]
    assert purposes == ["score map frame"] * 4 + ["score map"] * 2
    purposes = [
        event.purpose for event in score_map(X, pca, frame=FRAME, kind="sparse").guarantee.events
    ]
    assert purposes == ["score map"] * 2 + ["score map threshold"]


def test_a_released_centre_saves_two_steps():
    X, _ = clusters(3000)
    pca = DPPCA(2, location=np.zeros(5)).fit(X)
    events = score_map(X, pca).guarantee.events
    assert [event.purpose for event in events].count("score map frame") == 2


def test_promise_adds_to_that_of_the_components(fitted):
    X, _, _ = fitted
    pca = DPPCA(2, epsilon=1.0, delta=1e-6).fit(X)
    total = (pca.guarantee_ + score_map(X, pca, epsilon=0.5).guarantee).epsilon
    assert 1.3 < total < 1.5


def test_seed_is_a_simulation(fitted):
    X, _, pca = fitted
    first, second = (score_map(X, pca, random_state=3) for _ in range(2))
    assert first.guarantee.seeded
    assert math.isinf(first.guarantee.epsilon)
    np.testing.assert_array_equal(first.counts, second.counts)
    assert not np.array_equal(
        score_map(X, pca, bins=20, frame=FRAME).counts,
        score_map(X, pca, bins=20, frame=FRAME).counts,
    )


def test_assumptions_name_what_was_taken_for_granted(fitted):
    X, which, pca = fitted
    plain = score_map(X, pca).guarantee.assumptions
    assert any("whose own guarantee is to be added" in str(line) for line in plain)
    more = score_map(X, pca, frame=FRAME, groups=which, categories=[0, 1]).guarantee.assumptions
    assert [str(line) for line in more if line not in plain] == [
        "The names of the groups are public.",
        "The frame was chosen without looking at the data.",
    ]


def test_large_delta_draws_a_warning(fitted):
    X, _, pca = fitted
    with pytest.warns(PrivacyWarning, match="1/n"):
        score_map(X, pca, delta=0.01)


# --- The counts -----------------------------------------------------------------------------------


def test_without_noise_it_is_the_histogram_of_the_scores(fitted):
    X, _, pca = fitted
    shown = score_map(X, pca, epsilon=math.inf, bins=(8, 5))
    scores = exact_scores(X, pca.release_)
    expected = np.histogram2d(*scores.T, bins=[shown.x_edges, shown.y_edges])[0]
    np.testing.assert_array_equal(shown.counts[0], expected)
    assert shown.outside[0] == 3000 - expected.sum()
    assert not shown.guarantee.protects
    assert all(isinstance(event, NonPrivateEvent) for event in shown.guarantee.events)


@pytest.mark.parametrize("value", [0.0, 1e-300, -3.0, 1e6, 1.7e308])
def test_any_replaced_row_moves_two_counts_by_one(fitted, value):
    X, which, pca = fitted
    options = {"epsilon": math.inf, "frame": FRAME, "bins": 12, "categories": [0, 1]}
    shown = score_map(X[:50], pca, groups=which[:50], **options)
    for row in range(5):
        neighbour, labels = X[:50].copy(), which[:50].copy()
        neighbour[row], labels[row] = value, (labels[row] + 1) % 3
        other = score_map(neighbour, pca, groups=labels, **options)
        moved = np.abs(shown.counts - other.counts).sum()
        assert moved + np.abs(shown.outside - other.outside).sum() <= 2


def test_private_map_resembles_the_exact_one_more_than_the_naive_one():
    def distance(first, second):
        return 0.5 * np.abs(first - second).sum() / 5000

    own, naive = [], []
    for seed in range(5):
        X, _ = clusters(5000, seed)
        pca = DPPCA(2, random_state=seed).fit(X)
        shown = score_map(X, pca, random_state=seed)
        scores = exact_scores(X, pca.release_)
        exact = np.histogram2d(*scores.T, bins=[shown.x_edges, shown.y_edges])[0]
        own.append(distance(shown.estimate()[0], exact))
        # Bounds of ten standard deviations, continuous Laplace noise, bins of the same size.
        spans = np.outer(scores.std(axis=0), [-10, 10])
        sizes = [np.diff(edges)[0] for edges in (shown.x_edges, shown.y_edges)]
        bins = np.rint(np.ptp(spans, axis=1) / sizes).astype(int)
        wide, *_ = np.histogram2d(*scores.T, bins=bins, range=spans)
        noise = np.random.default_rng(seed).laplace(scale=2.0, size=wide.shape)
        naive.append(distance(np.maximum(wide + noise, 0), wide))
    assert max(own) < 0.08
    assert np.median(own) < np.median(naive) / 4


# --- Groups ---------------------------------------------------------------------------------------


def test_groups_share_the_frame_and_add_up(fitted):
    X, which, pca = fitted
    names = np.array(["a", "b", "c"])[which]
    options = {"epsilon": math.inf, "frame": FRAME, "bins": 10}
    one = score_map(X, pca, **options)
    three = score_map(X, pca, groups=names, categories=["a", "b", "c"], **options)
    assert three.groups == ("a", "b", "c")
    np.testing.assert_array_equal(three.counts.sum(axis=0), one.counts[0])
    for k in range(3):
        alone = score_map(X[which == k], pca, **options)
        np.testing.assert_array_equal(three.counts[k], alone.counts[0])


def test_undeclared_and_missing_labels_are_counted_nowhere(fitted):
    X, which, pca = fitted
    labels = list(np.array(["a", "b", "c"])[which])
    labels[:4] = [None, math.nan, ["no", "name"], 7]
    shown = score_map(
        X, pca, groups=labels, categories=["a", "b", "never"], epsilon=math.inf, frame=FRAME
    )
    kept = sum(label in ("a", "b") for label in labels[4:])
    assert shown.counts.sum() + shown.outside.sum() == kept
    assert shown.counts[2].sum() == 0


def test_groups_cost_no_more_noise(fitted):
    X, which, pca = fitted
    grouped = score_map(X, pca, groups=which, categories=[0, 1, 2])
    assert grouped.noise_sd == score_map(X, pca).noise_sd
    assert grouped.counts.shape[1] < score_map(X, pca).counts.shape[1]  # fewer rows per group


@pytest.mark.parametrize(
    "wrap",
    [
        lambda names: pd.Categorical(names, categories=["a", "b", "c"]),
        lambda names: pd.Series(pd.Categorical(names, categories=["a", "b", "c"])),
        lambda names: pl.Series(names, dtype=pl.Enum(["a", "b", "c"])),
    ],
    ids=["categorical", "series", "enum"],
)
def test_labels_that_declare_their_categories_need_no_more(fitted, wrap):
    X, which, pca = fitted
    names = np.array(["a", "b", "c"])[which].tolist()
    options = {"random_state": 0, "bins": 5}
    shown = score_map(X, pca, groups=wrap(names), **options)
    plain = score_map(X, pca, groups=names, categories=["a", "b", "c"], **options)
    assert shown.groups == plain.groups
    np.testing.assert_array_equal(shown.counts, plain.counts)


@pytest.mark.parametrize(
    "wrap", [np.array, pd.Series, pl.Series, pa.array, tuple], ids=lambda w: w.__name__
)
def test_labels_may_be_any_sequence(fitted, wrap):
    X, which, pca = fitted
    names = np.array(["a", "b", "c"])[which].tolist()
    shown = score_map(X, pca, groups=wrap(names), categories="abc", epsilon=math.inf, frame=FRAME)
    expected = np.bincount(which)
    np.testing.assert_array_equal(shown.counts.sum(axis=(1, 2)) + shown.outside, expected)


# --- Refusals, before anything is spent -----------------------------------------------------------


@pytest.fixture
def no_spend(monkeypatch):
    """Any noise is an error."""

    def refuse(*arguments, **options):
        raise AssertionError("spent")

    for name in ("argmax", "laplace", "gaussian"):
        monkeypatch.setattr(FreshNoise, name, refuse)


@pytest.mark.usefixtures("no_spend")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": ["HIV+"] * 3000}, "`categories` is missing"),
        ({"groups": pl.Series(["HIV+"] * 3000, dtype=pl.Categorical)}, "`categories` is missing"),
        ({"groups": "sex", "categories": ["m", "f"]}, "`groups` must be a sequence"),
        ({"groups": np.zeros((3000, 1)), "categories": [0]}, "`groups` must be a sequence"),
        ({"groups": 3, "categories": [3]}, "`groups` must be a sequence"),
        ({"groups": ["a"] * 2999, "categories": ["a"]}, "one label per row"),
        ({"groups": ["a"] * 3000, "categories": []}, "at least one name"),
        ({"groups": ["a"] * 3000, "categories": ["1", 1]}, "no name twice"),
        ({"groups": ["a"] * 3000, "categories": 5}, "a sequence of names"),
        ({"groups": ["a"] * 3000, "categories": [["a"]]}, "a sequence of names"),
        ({"categories": ["a"]}, "`categories` needs `groups`"),
        ({"bins": 1000}, "at most 1000000 cells"),
        ({"bins": 600, "groups": [0] * 3000, "categories": [0, 1, 2]}, "at most 1000000 cells"),
        ({"bins": 0}, "`bins`"),
        ({"bins": "many"}, "`bins`"),
        ({"bins": (3, 4, 5)}, "`bins`"),
        ({"bins": 2.5}, "`bins`"),
        ({"axes": (0, 0)}, "`axes`"),
        ({"axes": (0, 2)}, "Fit more components"),
        ({"axes": 1}, "`axes`"),
        ({"epsilon": 0}, "`epsilon`"),
        ({"delta": 0}, "`delta`"),
        ({"delta": 1}, "`delta`"),
        ({"kind": "thick"}, "`kind`"),
        ({"noise": "cauchy"}, "`noise`"),
        ({"kind": "sparse", "noise": "gaussian"}, "sparse"),
        ({"frame": ((0, 1), (1, 1))}, "`frame`"),
        ({"frame": ((0, 1), (0, math.inf))}, "`frame`"),
        ({"frame": (0, 1)}, "`frame`"),
        ({"frame": "auto"}, "`frame`"),
        ({"frame": "variances"}, "needs a release with variances"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_parameters_are_refused_before_any_spend(fitted, options, message):
    X, _, pca = fitted
    with pytest.raises((ParameterError, DataError), match=message) as refusal:
        score_map(X, pca, **options)
    assert "HIV" not in str(refusal.value)


@pytest.mark.usefixtures("no_spend")
def test_bad_tables_are_refused_before_any_spend(fitted):
    X, _, pca = fitted
    holes = X.copy()
    holes[7, 2] = np.nan
    secret = X.astype(object)
    secret[7, 2] = "HIV+"
    for source in (pca, pca.release_):
        for table in (holes, secret, X[:, :3], X[0], X[:1]):
            with pytest.raises(ValueError, match=r"\S") as refusal:
                score_map(table, source)
            assert "HIV" not in str(refusal.value)
    with pytest.raises(DataError, match="Masked"):
        score_map(np.ma.masked_equal(X, 0.0), pca.release_)


@pytest.mark.usefixtures("no_spend")
@pytest.mark.parametrize("pca", [DPPCA(2), None, "release.json"], ids=["unfitted", "none", "path"])
def test_something_fitted_is_needed(fitted, pca):
    with pytest.raises(ParameterError, match="fitted estimator or a Release"):
        score_map(fitted[0], pca)


# --- Tables ---------------------------------------------------------------------------------------

NAMES = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_are_read_with_an_estimator_and_with_its_release(kind):
    X, _ = clusters(300)
    table = pd.DataFrame(X, columns=NAMES)
    pca = DPPCA(2, random_state=0).fit(table)
    other = {
        "pandas": table,
        "polars": pl.DataFrame(X, schema=NAMES),
        "arrow": pa.table({name: X[:, k] for k, name in enumerate(NAMES)}),
    }[kind]
    expected = score_map(table, pca, random_state=1).counts
    for source in (pca, pca.release_):
        np.testing.assert_array_equal(score_map(other, source, random_state=1).counts, expected)
        with pytest.raises(ValueError, match=r"columns|feature names"):
            score_map(table[NAMES[::-1]], source)


def test_other_estimators_have_maps_too():
    X, _ = clusters(500)
    pca = AnalyzeGauss(2, random_state=0).fit(X)
    assert score_map(X, pca).counts.shape[0] == 1


def test_frame_from_released_variances_costs_nothing():
    X, _ = clusters(500)
    release = DPPCA(2, random_state=0, location=np.zeros(5)).fit(X).release_
    release = dataclasses.replace(release, variances=np.array([9.0, 4.0]))
    shown = score_map(X, release, frame="variances", bins=6)
    assert shown.x_edges[[0, -1]].tolist() == [-9, 9]
    assert shown.y_edges[[0, -1]].tolist() == [-6, 6]
    assert len(shown.guarantee.events) == 2
    swapped = score_map(X, release, frame="variances", axes=(1, 0))
    assert swapped.x_edges[-1] == 6


# --- Post-processing ------------------------------------------------------------------------------


def test_estimate_is_the_nearest_table_with_the_total():
    counts = np.array([[12, -3, 0], [4, 1, 7]])
    found = _nearest_with_total(counts, 18.0)
    assert found.sum() == pytest.approx(18)
    solved = minimize(
        lambda table: ((table - counts.ravel()) ** 2).sum(),
        np.full(6, 3.0),
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda table: table.sum() - 18},
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(found.ravel(), solved.x, atol=1e-4)


@pytest.mark.parametrize("total", [0.0, 1e-3, 5.0, 1e6])
def test_estimate_meets_any_total(total):
    for counts in (np.array([[-4, -9], [-1, -2]]), np.array([[3, 3], [3, 3]])):
        found = _nearest_with_total(counts, total)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(total)


def test_columns_are_tidy(fitted):
    X, which, pca = fitted
    shown = score_map(X, pca, bins=(4, 3), groups=which, categories=[0, 2])
    table = pd.DataFrame(shown.to_columns())
    assert list(table) == ["group", "x_low", "x_high", "y_low", "y_high", "count"]
    assert len(table) == 24
    cell = table[(table.group == "2") & (table.x_low == shown.x_edges[3])].iloc[1]
    assert cell["count"] == shown.counts[1, 3, 1]
    assert "group" not in score_map(X, pca).to_columns()


# --- On disk --------------------------------------------------------------------------------------


def attached(X, pca, **options):
    shown = score_map(X, pca, **options)
    return dataclasses.replace(
        pca.release_, score_map=shown, guarantee=pca.release_.guarantee + shown.guarantee
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kind": "sparse"},
        {"noise": "gaussian"},
        {"epsilon": math.inf, "kind": "sparse"},
        {"random_state": 0, "groups": [0, 1] * 1500, "categories": [0, 1]},
        {"frame": FRAME, "bins": (1, 3), "epsilon": 80.0},
    ],
)
def test_release_with_a_map_comes_back(fitted, options, tmp_path):
    X, _, pca = fitted
    release = attached(X, pca, **options)
    release.save(tmp_path / "r.json")
    loaded = Release.load(tmp_path / "r.json")
    assert loaded.to_dict() == release.to_dict()
    np.testing.assert_array_equal(loaded.score_map.counts, release.score_map.counts)
    assert repr(loaded.score_map) == repr(release.score_map)


def edited(plain, **changes):
    return {**plain, **changes}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: edited(m, x_edges=m["x_edges"][::-1]), "edges"),
        (lambda m: edited(m, y_edges=m["y_edges"][:1]), "edges"),
        (lambda m: edited(m, y_edges=[*m["y_edges"][:-1], 1e999]), "edges"),
        (lambda m: edited(m, x_edges=m["x_edges"][:-1]), "do not fit"),
        (lambda m: edited(m, counts=m["counts"] * 2), "do not fit"),
        (
            lambda m: edited(m, counts=[[*m["counts"][0][:-1], m["counts"][0][-1][:-1]]]),
            "do not fit",
        ),
        (lambda m: edited(m, outside=[]), "do not fit"),
        (lambda m: edited(m, groups=["a", "b"]), "do not fit"),
        (lambda m: edited(m, groups=["a", "a"]), "different names"),
        (lambda m: edited(m, groups=[]), "different names"),
        (lambda m: edited(m, axes=[1, 1]), "axes"),
        (lambda m: edited(m, noise_sd=m["noise_sd"] * 2), "noise"),
        (lambda m: edited(m, threshold=3), "noise"),
        (lambda m: edited(m, kind="sparse"), "kind"),
        (lambda m: edited(m, guarantee=m["guarantee"] | {"unit": "person"}), "unit"),
        (lambda m: edited(m, guarantee=m["guarantee"] | {"neighbors": "add-remove"}), "unit"),
    ],
)
def test_map_that_contradicts_itself_is_refused(fitted, change, message):
    X, _, pca = fitted
    plain = attached(X, pca, bins=4).to_dict()
    plain["score_map"] = change(plain["score_map"])
    plain["checksum"] = checksum(plain)
    with pytest.raises(ReleaseError, match=message):
        Release.from_dict(plain)


def test_events_of_something_else_are_no_map(fitted):
    X, _, pca = fitted
    shown = score_map(X, pca)
    other = Guarantee(
        events=(PureEvent(purpose="radius", epsilon=1.0),), delta=1e-6, assumptions=("a",)
    )
    with pytest.raises(ReleaseError, match="events"):
        ScoreMap.from_dict(dataclasses.replace(shown, guarantee=other).to_dict())


def test_map_is_read_only_and_short_in_words(fitted):
    X, _, pca = fitted
    shown = score_map(X, pca, bins=(7, 9))
    with pytest.raises(ValueError, match="read-only"):
        shown.counts[0, 0, 0] = 1
    assert "components 1 and 2, 7 × 9 bins, dense" in repr(shown)
    assert "array" not in repr(shown)
