"""What a wish comes to before anything is spent: its design, its promise and its plan.

From public numbers alone. The design is the one that the fit will make, so the debit is too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gdppca.design import Design, Shares, design_of
from gdppca.estimators.showing import asked_of, check_wanted
from gdppca.jobs.wish import Wish
from gdppca.noise import secure_noise
from gdppca.planning import Plan
from gdppca.privacy import Guarantee, Neighbors, Protected, Unit
from gdppca.steps.base import Public
from gdppca.tables.base import Supply
from gdppca.tables.open import open_table
from gdppca.tables.wishes import Wishes

USUAL_DELTA = 1e-6
_BELOW = 100  # δ is at most 1 over so many times the number of people


@dataclass(frozen=True)
class Counted:
    """What is public of a table's size; `n_samples` is None where the number is secret."""

    n_samples: int | None
    n_features: int
    supply: Supply


def delta_for(n: int) -> float:
    """A δ far below 1/n: the largest power of ten that is, and never more than the usual one."""
    digits = len(str(n * _BELOW - 1))
    return min(USUAL_DELTA, float(f"1e-{digits}"))


def protected_by(wish: Wish) -> Protected:
    """Whom the promise will be about."""
    settled = _settled(wish)
    unit = Unit.ROW if settled.persons is None else Unit.PERSON
    return Protected(unit, Neighbors(wish.parameters.get("neighbors", Neighbors.REPLACE_ONE)))


def count(wish: Wish) -> Counted:
    """Open the table as the fit will, and close it again; rows are read, and none is looked at."""
    beside = {name: wish.beside[name] for name in ("groups", "categories")}
    whole = bool(wish.variances or wish.score_map or wish.groups) or None
    gaps = wish.parameters.get("missing") == "rates"
    with open_table(
        wish.source,
        secure_noise(),
        assume_shuffled=wish.assume_shuffled,
        whole=whole,
        columns=wish.columns,
        gaps=gaps,
        **beside,
        **wish.said.arguments(),
    ) as table:
        secret = protected_by(wish).neighbors is not Neighbors.REPLACE_ONE
        return Counted(None if secret else table.n_samples, table.n_features, table.supply)


def design_ahead(wish: Wish, counted: Counted) -> Design:
    """The design that the fit will have, with its debit; refuses what the fit would refuse."""
    settled, pca, beside = _settled(wish), wish.estimator, wish.beside
    names = beside["categories"]
    shares = Shares(
        variances=wish.variances,
        score_map=wish.score_map,
        axes=beside["axes"],
        groups=None if names is None else tuple(names),
    )
    known = {} if counted.n_samples is None else {"n_samples": counted.n_samples}
    told = settled.described
    public = Public.of(
        known.get("n_samples", Public.USUAL_NUMBER),
        counted.n_features,
        counted.supply,
        protected_by(wish),
        gaps=settled.gaps,
        weighted=settled.weights is not None,
        features=() if told is None else told.features,
    )
    check_wanted(pca.n_components, public.n_features, shares)
    return design_of(asked_of(pca), public, counted.supply, shares)


def promise_ahead(design: Design, *, entered: bool, seeded: bool = False) -> Guarantee:
    """What the release will promise at least: it may draw less than is debited."""
    return design.guarantee(design.debit, entered=entered, seeded=seeded)


def plan_ahead(wish: Wish, counted: Counted, guess: int, gaps: float = 0.0) -> Plan:
    """What accuracy to expect; `guess` stands for a secret number, `gaps` for missing cells."""
    described = _settled(wish).described
    expected: dict[str, Any] = {"unit": str(protected_by(wish).unit)}
    if described is not None:
        expected["description"] = described
    if wish.parameters.get("missing") == "rates":
        expected["missing"] = gaps
    return wish.estimator.plan(
        counted.n_samples or guess,
        counted.n_features,
        variances=wish.variances,
        score_map=wish.score_map,
        **expected,
    )


def _settled(wish: Wish) -> Wishes:
    gaps = wish.parameters.get("missing") == "rates"
    return Wishes(columns=wish.columns, gaps=gaps, **wish.said.arguments()).settled()
