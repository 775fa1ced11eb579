"""Addresses: where a ledger is, and which of its data sets is meant."""

from __future__ import annotations

from gdppca import _validate
from gdppca._errors import ParameterError

_LONGEST = 200  # characters of a name
_SCHEMES = ("sqlite:///", "postgresql://", "postgresql+psycopg://")


def split_address(address: str) -> tuple[str, str | None]:
    """Split an address into the ledger's and the name of a data set.

    Parameters
    ----------
    address : str
        Such as ``sqlite:///budget.db#patients``.

    Returns
    -------
    ledger : str
        Address of the ledger.
    dataset : str or None
        Name after the last ``#``; None where there is none.

    Examples
    --------
    >>> from gdppca.ledgers import split_address
    >>> split_address("sqlite:///budget.db#patients")
    ('sqlite:///budget.db', 'patients')
    """
    if not isinstance(address, str):
        raise ParameterError(f"`ledger` must be an address, got {type(address).__name__}.")
    ledger, mark, dataset = address.rpartition("#")
    if not mark:
        return _checked(address), None
    return _checked(ledger), name(dataset=dataset)


def without_password(address: str) -> str:
    """The address as it may be shown; where a password may stand, rather too little."""
    scheme, slashes, rest = address.partition("://")
    if scheme == "sqlite" or not slashes:
        return address
    user, at, place = rest.rpartition("@")
    name, colon, _ = user.partition(":")
    place, question, options = place.partition("?")
    _, mark, dataset = options.rpartition("#")
    return (
        f"{scheme}://{name}{colon and ':***'}{at}{place}{question and '?***'}"
        f"{mark}{dataset if mark else ''}"
    )


class HiddenPassword(str):
    """An address that is shown without its password, and else is itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(without_password(str(self)))


def _checked(ledger: str) -> str:
    if not ledger.startswith(_SCHEMES):
        raise ParameterError(
            "A ledger's address must look like sqlite:///budget.db or postgresql://host/database."
        )
    if ledger.startswith("sqlite") and ledger.removeprefix("sqlite:///") in ("", ":memory:"):
        raise ParameterError("A ledger in memory would forget; name a file: sqlite:///budget.db.")
    if ledger.startswith("sqlite") and "?" in ledger:
        raise ParameterError("An SQLite address is a file and nothing else: no '?'.")
    if "\0" in ledger:
        raise ParameterError("A ledger's address must not hold a null character.")
    return ledger


def name(**parameter: object) -> str:
    """Return a name (of a data set, of a request): short, printable, without ``#``."""
    [(which, value)] = parameter.items()
    fine = isinstance(value, str) and 0 < len(value) <= _LONGEST
    if not isinstance(value, str) or not fine or "#" in value or not value.isprintable():
        raise ParameterError(f"`{which}` must be 1 to {_LONGEST} printable characters without '#'.")
    return value


def cap(epsilon: float, delta: float) -> tuple[float, float]:
    """Return a budget that can be a cap: finite and positive."""
    _validate.finite_positive(epsilon=epsilon)
    return _validate.budget(epsilon=epsilon), _validate.fraction(delta=delta)
