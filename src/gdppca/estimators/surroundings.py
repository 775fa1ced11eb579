"""What may be doubted of a fit by public facts: its columns' names, and who called it.

scikit-learn does not tell an estimator that it stands in a pipeline or a search. So the functions
that are running are looked at when a fit begins: those of scikit-learn alone, and of them only what
they are called and whose `fit` they are. Rows are neither looked at nor kept: the table of a `fit`
is there until it returns. What happened before, or in another thread or process, cannot be seen.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from gdppca._errors import PrivacyWarning
from gdppca._words import listed
from gdppca.tables.names import doubts_of_names, unused_ids

_FITS = ("fit", "fit_transform", "fit_predict")
_PACKAGES = ("sklearn", "imblearn")  # the latter for its pipelines, which are scikit-learn's
_REPEATING = (
    "sklearn.model_selection",
    "sklearn.calibration",
    "sklearn.feature_selection._rfe",
    "sklearn.multiclass",
    "sklearn.multioutput",
)
_INSTEAD = {  # by the end of a class's name, whoever wrote it
    "Scaler": ("scale", '"private"'),
    "PowerTransformer": ("scale", '"private"'),
    "QuantileTransformer": ("scale", '"private"'),
    "Imputer": ("missing", '"rates"'),
    "MissingIndicator": ("missing", '"rates"'),
}


_LONG = 20  # numbers of a parameter that are noted one by one
_ELSEWHERE = ("ledger", "random_state")  # an address may hold a password


def plain_parameters(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of an estimator as a ledger notes them; all of them are public."""
    return {name: _plain(value) for name, value in params.items() if name not in _ELSEWHERE}


def _plain(value: Any) -> Any:
    """What JSON can hold: a word or a number, few numbers, or what kind of thing it is."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    with suppress(TypeError, ValueError):
        numbers = np.asarray(value, dtype=float)
        if numbers.ndim == 1 and len(numbers) <= _LONG and np.isfinite(numbers).all():
            return numbers.tolist()
        if numbers.ndim:
            return f"{numbers.size} numbers"
    return type(value).__name__


def warn_before_fit(
    pca: Any, names: Sequence[str] | None, stacklevel: int = 4, unused: Sequence[str] = ()
) -> None:
    """Warn of columns that are no measurements, and of what a pipeline or a search does.

    Parameters
    ----------
    pca : PrivatePCA
        What is fitted now.
    names : sequence of str or None
        Names of the columns, where the table has them.
    stacklevel : int, default 4
        Whose line is shown: by default that of the caller of the caller's caller.
    unused : sequence of str
        Names of the table's other columns, where each row is taken for a person.
    """
    told = () if names is None else names
    for doubt in (doubts_of_names(told), unused_ids(unused), doubts_of_callers(pca)):
        if doubt:
            warnings.warn(doubt, PrivacyWarning, stacklevel=stacklevel)


def doubts_of_callers(pca: Any) -> str:
    """What a guarantee does not cover of the pipeline and the search around a fit, or nothing."""
    calls = tuple(_calls())
    before = _steps_before(pca, calls)
    return " ".join(filter(None, (_of_steps(pca, before), _of_search(pca, calls))))


@dataclass(frozen=True, slots=True)
class _Call:
    """A function of scikit-learn that is running, and whose method it is if that is a `fit`."""

    module: str
    name: str
    owner: Any = None

    @property
    def repeats(self) -> bool:
        return self.module.startswith(_REPEATING)


def _calls() -> Iterator[_Call]:
    """Functions of scikit-learn that are running, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module, code = str(frame.f_globals.get("__name__")), frame.f_code
        if module.partition(".")[0] in _PACKAGES:
            is_fit = code.co_name in _FITS and code.co_varnames[:1] == ("self",)
            yield _Call(module, code.co_qualname, frame.f_locals.get("self") if is_fit else None)
        frame = frame.f_back


def _steps_before(pca: Any, calls: Sequence[_Call]) -> list[Any]:
    """Steps that were fitted to the rows before it, of all pipelines around it."""
    before, inside = [], [pca]
    for call in calls:
        if _is_a(call.owner, "sklearn.pipeline", "Pipeline"):
            steps = [step for _, step in call.owner.steps]
            earlier = steps[: _position(steps, inside)]
            before += [part for step in earlier for part in _fitted_parts(step)]
        inside.append(call.owner)
    return before


def _position(steps: Sequence[Any], inside: Sequence[Any]) -> int:
    """Which step is being fitted: one of those inside, or a clone of it; 0 if that is not clear."""
    for k, step in enumerate(steps):
        if any(step is each for each in inside):
            return k
    for k, step in enumerate(steps):  # clones, of a cache or of somebody else's estimator
        if any(type(each) is type(inside[0]) for each in (step, *_parameters(step))):
            return k
    return 0


def _parameters(step: Any) -> list[Any]:
    """What a step was made with, estimators inside it among them."""
    with suppress(Exception):  # of a step that is not made the way of scikit-learn
        return [*step.get_params().values()]
    return []


def _fitted_parts(step: Any) -> Iterator[Any]:
    """The parts of a step that are fitted to rows, where it is not a fixed rule."""
    if _is_a(step, "sklearn.pipeline", "Pipeline"):
        parts = [part for _, part in step.steps]
    elif _is_a(step, "sklearn.pipeline", "FeatureUnion"):
        parts = [part for _, part in step.transformer_list]
    elif _is_a(step, "sklearn.compose", "ColumnTransformer"):
        parts = [*(part for _, part, _ in step.transformers), step.remainder]
    else:
        parts = []
        if not _is_fixed(step):
            yield step
    for part in parts:
        yield from _fitted_parts(part)


def _is_fixed(step: Any) -> bool:
    """Whether a step does to a row what it would do to it in any table."""
    if step is None or isinstance(step, str):  # passed through, or dropped
        return True
    if any(kind.__module__.startswith("gdppca.") for kind in type(step).__mro__):
        return True  # protected by a guarantee of its own, or declared
    if _is_a(step, "sklearn.frozen", "FrozenEstimator"):
        return True
    if _is_a(step, "sklearn.preprocessing", "OneHotEncoder", "OrdinalEncoder"):
        rare = (step.min_frequency, step.max_categories)
        return not isinstance(step.categories, str) and rare == (None, None)
    if _is_a(step, "sklearn.impute", "SimpleImputer"):
        keeps = step.keep_empty_features and not step.add_indicator
        return bool(step.strategy == "constant" and keeps)
    if _is_a(step, "sklearn.preprocessing", "PolynomialFeatures"):
        return True
    with suppress(Exception):  # of a step that does not know scikit-learn's tags
        return not step.__sklearn_tags__().requires_fit
    return False


def _is_a(thing: Any, module: str, *names: str) -> bool:
    """Whether it is of a class of scikit-learn, which is not loaded for that."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(thing, tuple(getattr(loaded, name) for name in names))


def _of_steps(pca: Any, before: Sequence[Any]) -> str:
    if not before:
        return ""
    instead = {type(step).__name__: _instead_of(pca, step) for step in before}
    are = "is" if len(instead) == 1 else "are"
    use = "; ".join(f"instead of {name} use {that}" for name, that in instead.items())
    return (
        f"{listed([*instead])} before {type(pca).__name__} {are} fitted to the same rows, and the "
        f"guarantee does not cover that: {use}."
    )


def _instead_of(pca: Any, step: Any) -> str:
    """What does the same inside the guarantee."""
    kind = type(step).__name__
    for end, (parameter, value) in _INSTEAD.items():
        if kind.endswith(end):
            asked = f"{parameter}={value}"
            return f"`{asked}`" if parameter in pca.get_params(deep=False) else f"`DPPCA({asked})`"
    if kind.endswith(("Encoder", "Binarizer", "Discretizer")):
        return "levels that are declared in a description of the table"
    if hasattr(step, "get_support"):
        return "columns that are named beforehand"
    if hasattr(step, "fit_resample"):
        return "the rows as they are"
    return "a rule that is fixed beforehand, such as a FunctionTransformer"


def _of_search(pca: Any, calls: Sequence[_Call]) -> str:
    repeating = [call for call in calls if call.repeats]
    if not repeating:
        return ""
    who, kind = _name_of(repeating), type(pca).__name__
    said = []
    if pca.ledger is None:
        said.append(
            f"{who} fits {kind} many times, and each fit spends its own budget: without `ledger` "
            "nothing counts them."
        )
    if hasattr(repeating[0].owner, "best_params_"):  # the search is over, and fits its best again
        said.append(
            f"{who} chose the parameters of this fit by the rows, and the guarantee does not "
            "cover that."
        )
    auto = ' `DPPCA(n_components="auto")` chooses from what is released anyway.'
    return " ".join([*said, "Choose parameters beforehand and fit once;" + auto]) if said else ""


def _name_of(repeating: Sequence[_Call]) -> str:
    """What users call the search: the innermost that has a name of its own."""
    for call in repeating:
        if call.owner is not None:
            return type(call.owner).__name__
        if not call.name.startswith("_") and "." not in call.name:
            return call.name
    return "A search"  # in a worker, which does not know more
