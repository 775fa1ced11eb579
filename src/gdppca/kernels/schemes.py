"""Which pairs of rows are compared: all of them, those inside blocks, or the two halves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any, ClassVar

from gdppca import _validate
from gdppca._errors import ParameterError

DEFAULT_BLOCK = 64  # mean sin Θ is 1.009 of that of all pairs (docs/guide/large-tables.md)
_CHEAP_WORK = 5e9  # pairs times columns: about a second on two cores


@dataclass(frozen=True)
class _Named:
    name: ClassVar[str]
    ordered: ClassVar[bool] = True  # whether the order of rows matters

    def describe(self) -> dict[str, Any]:
        """As it stands in a release."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True)
class AllPairs(_Named):
    """Every pair, the paper's U-statistic K̂. Order of rows does not matter."""

    name = "all"
    ordered = False


@dataclass(frozen=True)
class Blocks(_Named):
    """Pairs inside blocks of `size` consecutive rows; linear cost, one pass, mergeable."""

    size: int = DEFAULT_BLOCK
    name = "blocks"


@dataclass(frozen=True)
class Halves(_Named):
    """Row i with row i + ⌊n/2⌋, the paper's K̆ (Remark 2.2); an odd last row is left out."""

    name = "halves"


@dataclass(frozen=True)
class OneSample(_Named):
    """No pairs: each row against a given centre."""

    name = "one-sample"
    ordered = False


Scheme = AllPairs | Blocks | Halves | OneSample


def as_scheme(pairs: Any, n_samples: int, n_features: int) -> AllPairs | Blocks | Halves:
    """Turn what a user writes into a scheme; "auto" looks at the shape alone."""
    if isinstance(pairs, Integral) and not isinstance(pairs, bool):
        return Blocks(_validate.count(pairs=pairs, at_least=2))
    if not isinstance(pairs, str) or pairs not in ("auto", "all", "halves"):
        raise ParameterError(
            "`pairs` must be 'auto', 'all', 'halves' or a block size >= 2, "
            f"got {_validate.shown(pairs)}."
        )
    if pairs == "halves":
        return Halves()
    cheap = 0.5 * n_samples**2 * n_features <= _CHEAP_WORK
    return AllPairs() if pairs == "all" or cheap else Blocks()
