"""Where do I add …? A sign, a step, a table and an estimator, each added from outside."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from gdppca import DPPCA, Ledger
from gdppca.design import Design, run
from gdppca.estimators.baseline import Baseline
from gdppca.kernels import OneSample
from gdppca.noise import Noise, Overheard, noised, secure_noise
from gdppca.privacy import Event
from gdppca.signs import as_sign
from gdppca.steps.base import Public, Rows, State, Step, gaussian_event
from gdppca.steps.scatter import MatrixBudget, Scatter
from gdppca.tables.base import Supply, Table

N, D = 4000, 3


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_t(2, size=(N, D)) * [9, 3, 1]


# --- A sign ---------------------------------------------------------------------------------------


class Soft:
    """Lengths pulled towards two, never beyond."""

    sup_norm = 2.0

    def radial(self, s):
        return 2 * np.tanh(s / 2)


def test_a_sign(X):
    pca = DPPCA(1, sign=Soft()).fit(X)
    assert np.abs(pca.components_[0]).argmax() == 0
    assert pca.guarantee_.epsilon == pytest.approx(1.0, rel=1e-6)


# --- A step ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MeanSigns:
    """A coarse centre: the mean of tanh in each column. A row moves the sums by 2√d at most."""

    public: Public
    multiplier: float
    needs_sample = True

    @property
    def events(self) -> tuple[Event, ...]:
        return (gaussian_event("mean of signs", self.multiplier),)

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        total = np.tanh(table.sample(self.public.n_seen)).sum(axis=0)
        bound = 2 * math.sqrt(self.public.n_features) * (1 + 1e-9)
        mean = noised(total, self.multiplier, bound, noise).values / self.public.n_seen
        found = np.arctanh(np.clip(mean, -0.999, 0.999))
        return state.with_(location=found, events=self.events)


def listed(public: Public) -> tuple[Step, ...]:
    """A toy centre, then the matrix around it with half of the budget."""
    level = MatrixBudget(mu=0.2).level(as_sign("spherical"), OneSample(), N, D)
    centre = MeanSigns(public=public, multiplier=5.0)
    return centre, Scatter(public=public, n_components=1, first=level)


# --- A table --------------------------------------------------------------------------------------


class Tape:
    """Rows that are read one after the other, from anywhere."""

    names = ("long", "middle", "short")
    n_features = D
    supply = Supply.UNSHUFFLED

    def __init__(self, rows):
        self._rows = list(rows)

    @property
    def n_samples(self):
        return len(self._rows)

    def sample(self, size):
        return np.array(self._rows[:size])

    def total(self, recipe, progress):
        sums = recipe.empty()
        for start in range(0, len(self._rows), 100):
            recipe.add(sums, np.array(self._rows[start : start + 100]))
        return sums

    def __enter__(self):
        return self

    def __exit__(self, *ended):
        pass


def test_a_table(X):
    assert isinstance(Tape(X), Table)
    pca = DPPCA(1, location=None).fit(Tape(X))
    assert np.abs(pca.components_[0]).argmax() == 0
    assert pca.release_.feature_names == Tape.names
    assert any("as it came" in str(each) for each in pca.guarantee_.assumptions)


# --- An estimator ---------------------------------------------------------------------------------


class ToyPCA(Baseline):
    """Directions around a toy centre."""

    def _steps_for(self, public: Public) -> Design:
        start = State(sign=as_sign("spherical"), scheme=OneSample())
        return self._list(*listed(public), start=start)


def test_a_step_and_an_estimator(X, tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("rows", 10.0, 1e-6)
    pca = ToyPCA(1, ledger=f"{ledger.address}#rows").fit(X)
    assert np.abs(pca.components_[0]).argmax() == 0
    assert pca.release_.method == "ToyPCA"
    assert [event.purpose for event in pca.guarantee_.events] == ["mean of signs", "scatter"]
    [spend] = [entry for entry in ledger.history("rows") if entry.kind == "spend"]
    assert spend.events == pca.guarantee_.events
    pca.release_.save(tmp_path / "toy.json")


def test_an_ear_hears_a_step_that_it_does_not_know(X):
    ear = Overheard(secure_noise())
    ToyPCA(1, random_state=ear).fit(X)
    assert [draw.kind for draw in ear.draws] == ["gaussian", "gaussian"]


def test_a_list_of_steps_runs_without_an_estimator(X):
    public = Public.of(N, D, Supply.UNSHUFFLED)
    design = Design.of(
        *listed(public),
        epsilon=2.0,
        delta=1e-6,
        start=State(sign=as_sign("spherical"), scheme=OneSample()),
    )
    state = run(design, Tape(X), secure_noise())
    assert state.scatter.shape == (D, D)
    assert state.events == design.debit
