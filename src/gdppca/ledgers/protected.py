"""Whom a cap is about: rows or persons, replaced, or added and removed. Never two of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeVar

from gdppca._errors import LedgerError, ParameterError
from gdppca.privacy import Guarantee, Neighbors, Protected, Unit

Kind = TypeVar("Kind", bound=StrEnum)

ROWS = Protected()  # what every cap was about before it could be said


def as_protected(unit: str, neighbors: str) -> Protected:
    """Who is protected against what, by words.

    Parameters
    ----------
    unit : str
        "row", or "person" with all rows of hers.
    neighbors : str
        "replace-one", or "add-remove".

    Returns
    -------
    Protected
        For `Ledger.create` and `Ledger.spend`.

    Examples
    --------
    >>> from gdppca.ledgers import as_protected
    >>> str(as_protected("person", "replace-one").unit)
    'person'
    """
    return Protected(_one_of(Unit, unit=unit), _one_of(Neighbors, neighbors=neighbors))


def _one_of(kind: type[Kind], **parameter: object) -> Kind:
    [(name, value)] = parameter.items()
    if not isinstance(value, str) or value not in tuple(kind):
        raise ParameterError(f"`{name}` must be {' or '.join(map(repr, map(str, kind)))}.")
    return kind(value)


def checked(protected: object) -> Protected:
    """Who is protected against what, with words taken for the types they stand for."""
    if not isinstance(protected, Protected):
        raise ParameterError(
            f"`protected` must be a Protected from gdppca.privacy, got {type(protected).__name__}."
        )
    return as_protected(protected.unit, protected.neighbors)


def protected_by(spend: object, said: Protected | None) -> Protected:
    """Whom a spend is about: a guarantee knows it, events have to be told; rows if nobody does."""
    if not isinstance(spend, Guarantee):
        return ROWS if said is None else checked(said)
    own = Protected(spend.unit, spend.neighbors)
    if said is not None and checked(said) != own:
        raise ParameterError(
            f"`protected` says {in_words(checked(said))}, and the guarantee is about "
            f"{in_words(own)}. Leave `protected` out: a guarantee brings its own."
        )
    return own


def in_words(protected: Protected) -> str:
    """Who is counted, and which two tables must look alike."""
    return f"{protected.unit}s ({protected.neighbors} neighbours)"


def to_plain(protected: Protected) -> dict[str, str]:
    """As it stands in an entry."""
    return {"unit": str(protected.unit), "neighbors": str(protected.neighbors)}


def from_plain(plain: dict[str, Any]) -> Protected:
    """What an entry states; those of earlier versions, which say less, are about rows."""
    return Protected(
        Unit(plain.get("unit", ROWS.unit)), Neighbors(plain.get("neighbors", ROWS.neighbors))
    )


def require_alike(dataset: str, counted: Protected, drawn: Protected) -> None:
    """Refuse to count under one cap what does not add up."""
    if counted != drawn:
        raise LedgerError(
            f"The cap of '{dataset}' is about {in_words(counted)}, and this draw is about "
            f"{in_words(drawn)}. {_why(counted, drawn)} Nothing was spent and nothing drawn. Give "
            "such draws a data set of their own: `gdppca ledger init` with another name and "
            f"--unit {drawn.unit} --neighbors {drawn.neighbors}."
        )


def _why(counted: Protected, drawn: Protected) -> str:
    """Why two promises do not add up to one."""
    reasons = []
    if counted.unit != drawn.unit:
        reasons.append(
            "What a row loses may be many times as much for a person with many rows, and no "
            "ledger knows how many there are: the two do not add up."
        )
    if counted.neighbors != drawn.neighbors:
        reasons.append(
            "A replace-one promise is none where the number of rows or persons is secret, and an "
            "add-remove epsilon may be twice as much against replacing: the two do not add up."
        )
    return " ".join(reasons)
