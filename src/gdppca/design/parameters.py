"""From the parameters of `DPPCA` to a checked design: what is wrong is refused here, unspent."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Self

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design.design import Design, assumed_of_sign
from gdppca.design.planned import require_planned
from gdppca.design.shares import Shares
from gdppca.kernels import Blocks, OneSample, Scheme, as_scheme
from gdppca.privacy import Assumption, Event, GaussianEvent, Neighbors, assumptions
from gdppca.sensitivity import CALIBRATIONS
from gdppca.signs import TYPICAL_QUANTILE, Spherical, as_sign
from gdppca.steps.base import Public, State, Step, gaussian_event
from gdppca.steps.centre import Centre
from gdppca.steps.centre_budget import LARGEST_SHARE
from gdppca.steps.count import LEAST, MOST, Count
from gdppca.steps.count import SHARE as COUNT_SHARE
from gdppca.steps.radius import Radius
from gdppca.steps.rates import SHARE as RATES_SHARE
from gdppca.steps.rates import Rates
from gdppca.steps.refine import Refinement
from gdppca.steps.scale import Scale, Sized, known_sizes
from gdppca.steps.scatter import Scatter, matrix_budget, require_representable
from gdppca.steps.staged import LEAST_COLUMNS, StagedScatter
from gdppca.tables.base import Supply, kept_size

_LEAST_KEPT = 1e-9  # of μ²; shares are known to fewer digits than that
_LARGEST_QUANTILE_EPSILON = 10.0  # where the matrix gets no noise at all


@dataclass(kw_only=True, eq=False, repr=False)
class Choices:
    """What a user of `DPPCA` chooses beside the budget, unchecked; its docstring tells meanings."""

    sign: Any = "spherical"
    radius: Any = None
    quantile: Any = None
    quantile_share: float = 0.05
    pairs: Any = "auto"
    calibration: str = "tight"
    location: Any = "auto"
    scale: Any = None
    scale_share: float = 0.2
    neighbors: str = "replace-one"
    missing: str = "refuse"
    stages: str = "one"


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters(Choices):
    """All that a fit is designed from: the same names and defaults as those of `DPPCA`."""

    n_components: Any = 2
    epsilon: float = 1.0
    delta: float = 1e-6

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Those of an estimator."""
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    @property
    def has_public_center(self) -> bool:
        """Whether a centre is known before the fit."""
        return self.location is not None and not isinstance(self.location, str)

    @property
    def has_private_radius(self) -> bool:
        """Whether the cut-off is to be found."""
        return isinstance(self.radius, str) and self.radius == "quantile"


def design_of(
    asked: Parameters, public: Public, supply: Supply = Supply.TABLE, shares: Shares | None = None
) -> Design:
    """Check every parameter against public numbers, and share the budget out, once."""
    radius = _radius(asked, public, supply)
    start = _start(asked, public, supply)
    shares = shares or Shares()
    more = _more(asked, public, shares)
    beside = tuple(event for step in (*radius, *more) for event in step.events)
    if math.isinf(_validate.budget(epsilon=asked.epsilon)):
        beside = ()
    budget = matrix_budget(asked.epsilon, asked.delta, asked.calibration, beside)
    count, mu = _count(public, budget.mu)
    rates, mu = _rates(public, mu)
    scale, refinement, mu = _scales(asked, public, supply, start, mu)
    centre = _centre(asked, public, supply, mu)
    first = budget.level(
        start.sign, start.scheme, public.n_samples, public.n_features, moves=public.moves
    )
    kind = StagedScatter if _may_be_staged(asked, public, supply, start) else Scatter
    matrix = kind(public=public, n_components=asked.n_components, first=first, budget=budget)
    _require_noise(matrix, start, mu if not centre else mu * math.sqrt(1 - LARGEST_SHARE))
    fit: Event = first.event
    if budget.stated is None:  # all Gaussian steps count as one: their sum is known
        fit = gaussian_event("fit", 1 / budget.mu)
    elif radius and isinstance(fit, GaussianEvent):  # the lattice of another radius rounds more
        fit = gaussian_event(fit.purpose, fit.noise_multiplier * (1 - 1e-9))
    design = Design(
        public=public,
        steps=(*count, *rates, *scale, *centre, *refinement, *radius, matrix, *more),
        debit=(fit, *beside),
        epsilon=asked.epsilon,
        delta=asked.delta,
        noiseless=math.isinf(asked.epsilon),
        start=start,
        calibration=asked.calibration,
        assumptions=_assumptions(
            start, public, supply, shares, sampled=bool(rates or scale or centre or radius)
        ),
        counted=partial(_designed_again, asked, public, supply, replace(shares, plan=None))
        if count
        else None,
    )
    if shares.plan is not None:
        require_planned(shares.plan, design, asked.n_components)
    return design


def _designed_again(
    asked: Parameters, public: Public, supply: Supply, shares: Shares, number: float
) -> Design:
    """The same design for about so many rows or persons, once they are counted."""
    seen = number if supply is Supply.TABLE else min(number, kept_size(public.n_features))
    known = replace(public, n_samples=round(number), n_seen=round(seen))
    return design_of(asked, known, supply, shares)


def settled(asked: Parameters, design: Design) -> Parameters:
    """The same parameters, with what a design took of the objects among them."""
    start = design.start
    return replace(
        asked,
        sign=start.sign,
        radius=None,
        location=asked.location if start.location is None else start.location,
        scale=asked.scale if start.scale is None else start.scale,
    )


def require_together(asked: Parameters, public: Public, supply: Supply) -> None:
    """Refuse wishes that exclude each other: what only a centre can do, and what it cannot."""
    _validate.one_of(("refuse", "rates"), missing=asked.missing)
    _validate.one_of(tuple(Neighbors), neighbors=asked.neighbors)
    _validate.one_of(CALIBRATIONS, calibration=asked.calibration)  # compared with words below
    if supply is Supply.BATCHES:
        refused = {"missing": "refuse", "neighbors": "replace-one"}
        for name, only in refused.items():
            if getattr(asked, name) != only:
                raise ParameterError(f"`{name}` must be '{only}' with partial_fit: use fit.")
    if supply is Supply.UNSHUFFLED and not public.moves.replaces:
        raise ParameterError(  # one more row would push another one out of the first ones
            "`neighbors='add-remove'` needs rows in a secret order: leave `assume_shuffled` out."
        )
    if not public.centred:
        return
    why = (
        "`missing='rates'`"
        if public.gaps
        else "`weights`"
        if public.weighted
        else "`neighbors='add-remove'`"
    )
    if asked.calibration == "paper":
        raise ParameterError(f"{why} goes with `calibration='tight'` only.")
    if asked.location is None or not _is_auto(asked.pairs):
        raise ParameterError(
            f"{why} compares rows with a centre, not in pairs: leave `pairs` at 'auto', and "
            "`location` at 'auto', 'private' or a public centre."
        )


def _start(asked: Parameters, public: Public, supply: Supply) -> State:
    """What is public: a sign, a scheme, and a centre and scales where they are arrays."""
    require_together(asked, public, supply)
    d = public.n_features
    vectors = {
        name: _validate.vector(d, **{name: value})
        for name in ("location", "scale")
        if (value := getattr(asked, name)) is not None and not isinstance(value, str)
    }
    if "scale" in vectors and not (vectors["scale"] > 0).all():
        raise ParameterError("`scale` must hold numbers > 0.")
    radius = 1.0 if asked.has_private_radius else asked.radius  # until it is known
    sign = as_sign(asked.sign, radius, n_features=d)
    typical, fixed = public.known("typical"), public.known("scale")
    scale = vectors.get("scale")
    if asked.scale is None and fixed is not None:
        scale = np.where(np.isnan(fixed), 1.0, fixed)
    known = State(fixed=fixed, spread=public.known("spread"))
    private = isinstance(asked.scale, str) and public.features
    return replace(
        known,
        sign=sign,
        scheme=_scheme(asked, public, supply),
        location=vectors.get("location"),
        typical=None if typical is None else np.nan_to_num(typical),
        scale=scale,
        coarse=known_sizes(known, d) if private else None,
    )


def _assumptions(
    start: State, public: Public, supply: Supply, shares: Shares, *, sampled: bool
) -> tuple[Assumption, ...]:
    """What is taken for granted beside what every estimator does."""
    ordered = start.scheme.ordered or (sampled and public.n_seen < public.n_samples)
    taken = {
        assumptions.PUBLIC_CENTRE: start.location is not None,
        assumptions.PUBLIC_SCALE: start.scale is not None,
        assumptions.SHUFFLED_INSIDE: supply is Supply.BATCHES and start.scheme.ordered,
        assumptions.ORDER_AS_IT_CAME: supply is Supply.UNSHUFFLED and ordered,
        assumptions.PUBLIC_GROUPS: shares.groups is not None,
        assumptions.DESIGN_WEIGHTS: public.weighted,
    }
    return assumed_of_sign(start.sign) + tuple(each for each, holds in taken.items() if holds)


def _may_be_staged(asked: Parameters, public: Public, supply: Supply, start: State) -> bool:
    """Whether a second stage is asked for, and may gain something.

    Its law is known for the spherical sign around a centre, and where no cell is missing; rows
    that came in batches are gone by then. Where the noise is to say how many components there are,
    all that can be had goes to the matrix.
    """
    wanted = _validate.one_of(("one", "auto"), stages=asked.stages) == "auto"
    known = isinstance(start.sign, Spherical) and not public.gaps and asked.calibration == "tight"
    again = supply is not Supply.BATCHES and not isinstance(asked.n_components, str)
    return wanted and known and again and public.n_features >= LEAST_COLUMNS


def _require_noise(matrix: Scatter, start: State, least_mu: float) -> None:
    """Refuse noise that could not be drawn, whatever the steps before the matrix will take.

    And whatever a count will be: it would be drawn by then.
    """
    assert matrix.budget is not None
    public, leanest = matrix.public, replace(matrix.budget, mu=least_mu)
    d, moves = public.n_features, public.moves
    for number in (public.n_samples,) if moves.replaces else (LEAST, MOST):
        for budget in (matrix.budget, leanest):
            level = budget.level(start.sign, start.scheme, number, d, moves=moves)
            require_representable(level, start.sign, d)


def _more(asked: Parameters, public: Public, shares: Shares) -> tuple[Step, ...]:
    """Steps after the matrix."""
    known = asked.has_public_center
    return shares.steps(public, asked.epsilon, asked.delta, asked.n_components, known_center=known)


def _radius(asked: Parameters, public: Public, supply: Supply) -> tuple[Radius, ...]:
    """The step of a private radius, none where the radius is public."""
    if asked.quantile is not None:
        _validate.fraction(quantile=asked.quantile)
    if not asked.has_private_radius:
        return ()
    share = _validate.fraction(quantile_share=asked.quantile_share)
    if not isinstance(asked.sign, str) or asked.sign not in TYPICAL_QUANTILE:
        raise ParameterError("`radius='quantile'` needs a sign given by name that has a cut-off.")
    if supply is Supply.BATCHES:
        raise ParameterError(
            "`radius='quantile'` needs all rows at once. With partial_fit give a number."
        )
    epsilon = min(share * _validate.positive(epsilon=asked.epsilon), _LARGEST_QUANTILE_EPSILON)
    q = TYPICAL_QUANTILE[asked.sign] if asked.quantile is None else asked.quantile
    step = Radius(
        public=public,
        sign=asked.sign,
        quantile=q,
        epsilon=epsilon,
        public_center=asked.has_public_center,
    )
    return (step,)


def _count(public: Public, mu: float) -> tuple[tuple[Count, ...], float]:
    """The step that counts rows or persons where their number is secret, and the μ that it leaves.

    A number that is known already was counted: its share is gone all the same.
    """
    if public.moves.replaces:
        return (), mu
    return (Count(public=public, mu=mu),), mu * math.sqrt(1 - COUNT_SHARE)


def _rates(public: Public, mu: float) -> tuple[tuple[Rates, ...], float]:
    """The step of the observed rates where cells may be missing, and the μ that it leaves."""
    if not public.gaps:
        return (), mu
    return (Rates(public=public, mu=mu),), mu * math.sqrt(1 - RATES_SHARE)


def _scales(
    asked: Parameters, public: Public, supply: Supply, start: State, mu: float
) -> tuple[tuple[Scale, ...], tuple[Refinement, ...], float]:
    """The steps of private scales, before a centre and after it, and the μ that they leave."""
    if not isinstance(asked.scale, str):
        return (), (), mu
    _validate.word_for_numbers(("private",), scale=asked.scale)
    if supply is Supply.BATCHES:
        raise ParameterError(
            "`scale='private'` needs all rows at once. With partial_fit give numbers."
        )
    if asked.calibration == "paper":
        raise ParameterError("`scale='private'` goes with `calibration='tight'` only.")
    share = _validate.fraction(scale_share=asked.scale_share)
    if 1 - share < _LEAST_KEPT:
        raise ParameterError("`scale_share` leaves nothing for the matrix: choose it smaller.")
    sized = Sized.of(start, public.n_features)
    if not sized.columns:  # all are public
        return (), (), mu
    own = mu * math.sqrt(share)
    coarse = Scale(public=public, mu=own, share=share, delta=asked.delta, sized=sized)
    refinement = Refinement(public=public, mu=own, sized=sized)
    left = mu * math.sqrt(1 - share)
    return (coarse,) if sized.unknown else (), (refinement,), left


def _centre(asked: Parameters, public: Public, supply: Supply, mu: float) -> tuple[Centre, ...]:
    """The step of a private centre where it is asked for; "auto" asks the public numbers."""
    if not isinstance(asked.location, str):
        return ()
    wanted = _validate.word_for_numbers(("auto", "private"), location=asked.location)
    pairs = asked.calibration == "paper" or not _is_auto(asked.pairs)
    if public.centred and math.isfinite(mu):
        return (Centre(public=public, mu=mu, cautious=False, needed=True),)
    if wanted == "auto" and not public.centred:
        step = Centre(public=public, mu=mu, cautious=True)
        # Without noise there is none to halve, and pairs need no centre.
        pays = math.isfinite(mu) and step.budget.worthwhile
        return (step,) if pays and not pairs and supply is not Supply.BATCHES else ()
    if supply is Supply.BATCHES:
        raise ParameterError(
            "`location='private'` needs all rows at once. With partial_fit give None, 'auto' "
            "or a public centre."
        )
    if pairs:
        raise ParameterError(
            "`location='private'` compares rows with a centre, not in pairs, and has tight "
            "noise: leave `pairs` at 'auto' and `calibration` at 'tight'."
        )
    return (Centre(public=public, mu=mu, cautious=False, needed=public.centred),)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _scheme(asked: Parameters, public: Public, supply: Supply) -> Scheme:
    scheme = as_scheme(asked.pairs, public.n_samples, public.n_features)
    if asked.has_public_center or public.centred:
        return OneSample()
    if supply is Supply.TABLE:
        return scheme
    if asked.pairs != "auto" and not isinstance(scheme, Blocks):
        raise ParameterError(
            f"`pairs={asked.pairs!r}` needs all rows at once in memory. With rows that come in "
            "parts use a block size or 'auto'."
        )
    return scheme if isinstance(scheme, Blocks) else Blocks()
