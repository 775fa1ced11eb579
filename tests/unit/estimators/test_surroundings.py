"""A fit warns of names, pipelines and searches by public facts, before anything is spent."""

import gc
import warnings
import weakref

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_validate
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from gdppca import (
    DPPCA,
    NSGGD,
    SGPCA,
    AnalyzeGauss,
    Ledger,
    PrivacyWarning,
    Release,
    SignCovariancePCA,
)
from gdppca.privacy.assumptions import NOTHING_FITTED_BEFORE
from gdppca.releases import score_map

ROWS = np.random.default_rng(4).normal(size=(400, 4)) * [4, 2, 1, 1] + 20
MANY = "many times"


def doubts(work):
    """What was warned of, but for scores, which a pipeline computes."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        work()
    said = [str(each.message) for each in heard if issubclass(each.category, PrivacyWarning)]
    return [words for words in said if not words.startswith("Row scores")]


@pytest.mark.parametrize("kind", [DPPCA, NSGGD, AnalyzeGauss, SignCovariancePCA])
def test_every_guarantee_says_that_earlier_steps_are_not_covered(kind, tmp_path):
    release = kind(2, random_state=0).fit(ROWS).release_
    shown = score_map(ROWS, release, random_state=0)
    release.save(tmp_path / "r.json")
    for promise in (
        release.guarantee,
        shown.guarantee,
        Release.load(tmp_path / "r.json").guarantee,
    ):
        assert promise.assumptions.count(NOTHING_FITTED_BEFORE) == 1


class Wrapped(TransformerMixin, BaseEstimator):
    """Somebody else's estimator around ours."""

    def __init__(self, inner):
        self.inner = inner

    def fit(self, X, y=None):
        self.inner_ = clone(self.inner).fit(X)
        return self

    def transform(self, X):
        return self.inner_.transform(X)


class Centred(TransformerMixin, BaseEstimator):
    """Somebody's own step, which learns."""

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def transform(self, X):
        return X - self.mean_


class Halved(Centred):
    """Somebody's own step, which says that it does not."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


class NoTags:
    """A step that knows nothing of scikit-learn."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def columns(*steps, remainder="passthrough"):
    named = [(str(k), step, [k]) for k, step in enumerate(steps)]
    return ColumnTransformer(named, remainder=remainder)


@pytest.mark.parametrize(
    ("step", "instead"),
    [
        (StandardScaler(), 'instead of StandardScaler use `scale="private"`'),
        (RobustScaler().set_output(transform="pandas"), "RobustScaler"),
        (SimpleImputer(), 'missing="rates"'),
        (SimpleImputer(strategy="constant"), "SimpleImputer"),  # drops columns without cells
        (VarianceThreshold(), "columns that are named beforehand"),
        (columns(OneHotEncoder(sparse_output=False)), "declared in a description"),
        (columns("passthrough", remainder=StandardScaler()), "StandardScaler"),
        (FeatureUnion([("a", StandardScaler()), ("b", "passthrough")]), "StandardScaler"),
        (make_pipeline(Normalizer(), StandardScaler()), "StandardScaler"),
        (Centred(), "instead of Centred use a rule that is fixed beforehand"),
        (NoTags(), "NoTags"),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("kind", [DPPCA, AnalyzeGauss])
def test_a_step_before_it_that_is_fitted_draws_one_warning(step, instead, kind):
    [said] = doubts(lambda: make_pipeline(step, kind(1)).fit(ROWS))
    assert f"before {kind.__name__} is fitted to the same rows" in said
    assert instead in said or kind is AnalyzeGauss


def test_several_steps_are_named_in_one_warning():
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), SGPCA(1, eigenvalues=[4, 2, 1, 1]))
    [said] = doubts(lambda: pipeline.fit(ROWS))
    assert said == (
        "SimpleImputer and StandardScaler before SGPCA are fitted to the same rows, and the "
        'guarantee does not cover that: instead of SimpleImputer use `DPPCA(missing="rates")`; '
        'instead of StandardScaler use `DPPCA(scale="private")`.'
    )


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(np.log),
        FunctionTransformer(np.log).set_output(transform="pandas"),
        Normalizer(),
        PolynomialFeatures(),
        "passthrough",
        columns(FunctionTransformer(np.sqrt), "passthrough", Normalizer()),
        columns(FunctionTransformer(np.sqrt), "drop", remainder="drop"),
        columns(
            OneHotEncoder(categories=[[1.0, 2.0]], handle_unknown="ignore", sparse_output=False)
        ),
        SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True),
        FrozenEstimator(StandardScaler().fit(ROWS[:9])),
        make_pipeline(Normalizer(), FunctionTransformer()),
        Halved(),
        DPPCA(2),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_fixed_rule_before_it_draws_none(step):
    assert doubts(lambda: make_pipeline(step, DPPCA(1)).fit(abs(ROWS))) == []


def test_it_warns_wherever_it_stands_inside(tmp_path):
    for middle in (columns(DPPCA(1)), DPPCA(1), FeatureUnion([("a", DPPCA(1))]), Wrapped(DPPCA(1))):
        for memory in (None, str(tmp_path / type(middle).__name__)):
            pipeline = make_pipeline(StandardScaler(), middle, Ridge(), memory=memory)
            [said] = doubts(lambda pipeline=pipeline: pipeline.fit(ROWS, ROWS[:, 0]))
            assert said.startswith("StandardScaler before DPPCA")
    inner = make_pipeline(make_pipeline(StandardScaler(), FunctionTransformer()), DPPCA(1))
    [said] = doubts(lambda: Pipeline([("a", RobustScaler()), ("b", inner)]).fit_transform(ROWS))
    assert said.startswith("StandardScaler and RobustScaler before DPPCA are fitted")


def test_steps_after_it_or_beside_it_are_free():
    after = make_pipeline(DPPCA(1), StandardScaler(), Ridge())
    assert doubts(lambda: after.fit(ROWS, ROWS[:, 0])) == []
    beside = FeatureUnion([("a", StandardScaler()), ("b", DPPCA(1))])
    assert doubts(lambda: beside.fit(ROWS)) == []
    assert doubts(lambda: columns(StandardScaler(), DPPCA(1)).fit(ROWS)) == []


def test_nothing_is_drawn_where_the_warning_is_an_error(tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("patients", epsilon=3, delta=1e-5)
    pipeline = make_pipeline(StandardScaler(), DPPCA(1, ledger=f"{ledger.address}#patients"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        with pytest.raises(PrivacyWarning, match="StandardScaler"):
            pipeline.fit(ROWS)
    assert not any(name.endswith("_") for name in vars(pipeline[-1]))
    assert len(ledger.history("patients")) == 1  # its opening


def searches(pca):
    model = make_pipeline(pca, Ridge())
    name = type(pca).__name__.lower()
    grid = {f"{name}__n_components": [1, 2]}
    yield "GridSearchCV", 5, lambda: GridSearchCV(model, grid, cv=2).fit(ROWS, ROWS[:, 0])
    yield (
        "RandomizedSearchCV",
        3,
        lambda: RandomizedSearchCV(model, grid, cv=2, n_iter=1, random_state=0).fit(
            ROWS, ROWS[:, 0]
        ),
    )
    yield "cross_validate", 2, lambda: cross_validate(model, ROWS, ROWS[:, 0], cv=2)


@pytest.mark.parametrize("kind", [DPPCA, AnalyzeGauss])
def test_a_search_without_a_ledger_warns_once_for_each_fit(kind):
    for who, fits, search in searches(kind(1)):
        said = doubts(search)
        assert len(said) == fits
        assert all(f"{who} fits {kind.__name__} many times" in each for each in said)


def test_a_ledger_counts_each_fit_of_a_search_and_the_choice_stays_doubtful(tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("patients", epsilon=60, delta=1e-4)
    counted = 0
    for who, fits, search in searches(DPPCA(1, ledger=f"{ledger.address}#patients")):
        said = doubts(search)
        assert not any(MANY in each for each in said)
        assert len(said) == who.endswith("SearchCV")  # the refit, with what was chosen by the rows
        assert all(f"{who} chose the parameters of this fit by the rows" in each for each in said)
        counted += fits
        assert ledger.account("patients").spends == counted


def test_a_search_names_steps_as_well():
    model = make_pipeline(StandardScaler(), DPPCA(1), Ridge())
    said = doubts(lambda: cross_validate(model, ROWS, ROWS[:, 0], cv=2))
    assert all("StandardScaler" in each and MANY in each for each in said)
    assert len(said) == 2


def test_a_search_is_seen_from_another_thread():
    """There only its worker is seen, not who started it."""
    model = make_pipeline(StandardScaler(), DPPCA(1), Ridge())
    with joblib.parallel_config("threading", n_jobs=2):
        said = doubts(lambda: cross_validate(model, ROWS, ROWS[:, 0], cv=2))
    assert said
    assert all("StandardScaler" in each and "A search fits DPPCA" in each for each in said)


def test_fits_of_their_own_do_not_warn():
    pca = DPPCA(1)
    assert doubts(lambda: [clone(pca).fit(ROWS) for _ in range(3)]) == []
    assert doubts(lambda: pca.fit_transform(ROWS)) == []


def test_a_table_is_not_kept_by_a_look_at_who_calls():
    rows = pd.DataFrame(ROWS, columns=list("abcd"))
    alive = weakref.ref(rows)
    pipeline = make_pipeline(FunctionTransformer(), StandardScaler(), DPPCA(1))
    pipeline.fit(rows)
    del rows  # Python keeps what is deleted, in functions whose names are all looked at
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("kind", [DPPCA, AnalyzeGauss])
def test_names_that_are_no_measurements_draw_one_warning(kind):
    frame = pd.DataFrame(ROWS, columns=["patient_id", "age", "visit_date", "bmi"])
    with pytest.warns(PrivacyWarning, match="'patient_id' looks like an id by its name") as heard:
        kind(1).fit(frame)
    assert len(heard) == 1
    assert heard[0].filename == __file__
    assert "'visit_date' looks like a date" in str(heard[0].message)
    assert (
        doubts(lambda: kind(1).fit(frame.rename(columns={"patient_id": "a", "visit_date": "b"})))
        == []
    )
    assert doubts(lambda: kind(1).fit(ROWS)) == []


def test_names_of_files_and_batches_are_looked_at_once(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["mrn", "age", "bp", "bmi"])
    frame.to_csv(tmp_path / "visits.csv", index=False)
    [said] = doubts(lambda: DPPCA(1).fit_stream(tmp_path / "visits.csv"))
    assert "'mrn'" in said
    chosen = {"columns": ["age", "bp"]}
    [said] = doubts(lambda: DPPCA(1).fit_release(tmp_path / "visits.csv", **chosen))
    assert "each row is taken for a person" in said
    chosen["persons"] = "mrn"
    assert doubts(lambda: DPPCA(1).fit_release(tmp_path / "visits.csv", **chosen)) == []
    pca = DPPCA(1)
    with pytest.warns(PrivacyWarning, match="'mrn'") as heard:
        pca.partial_fit(frame).partial_fit(frame).finalize()
    assert len(heard) == 1
    assert heard[0].filename == __file__
