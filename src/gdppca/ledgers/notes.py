"""What an entry says beside its numbers: who made it, what for, by which method."""

from __future__ import annotations

import getpass
import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from gdppca._errors import ParameterError
from gdppca.ledgers import address as addresses
from gdppca.noise.bits import secret_bytes

USER_VARIABLE = "GDPPCA_USER"
_LONGEST = 500  # characters of a purpose
_SALT = 64  # bytes: as many as the hash takes in at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is noted with a spend.

    Parameters
    ----------
    who : str, optional
        Who spends; the name that `entered_as` or the variable GDPPCA_USER gives, or the system's
        name of the user.
    purpose : str, optional
        What for, in the words of whoever spends.
    method : str, optional
        What draws, such as the name of an estimator.
    parameters : dict, optional
        Its parameters, which are public.
    description : str, optional
        Checksum of the description of the table.
    """

    who: str | None = None
    purpose: str | None = None
    method: str | None = None
    parameters: dict[str, Any] | None = None
    description: str | None = None

    def settled(self) -> Note:
        """The same with who and what for, as they are known here and now."""
        habit = _habit.get()
        who = self.who or habit.who or _system_user()
        purpose = habit.purpose if self.purpose is None else self.purpose
        return replace(self, who=addresses.name(who=who), purpose=_checked_purpose(purpose))

    def to_plain(self) -> dict[str, Any]:
        """As it stands in an entry."""
        named = ("who", "purpose", "method", "parameters", "description")
        return {name: getattr(self, name) for name in named if getattr(self, name) is not None}


@dataclass(frozen=True, slots=True)
class Habit:
    """How entries are made while `entered_as` holds."""

    who: str | None = None
    purpose: str | None = None
    fingerprint: bool = True
    complete: bool = True
    request_id: str | None = None


_USUAL = Habit()
_habit: ContextVar[Habit] = ContextVar("habit", default=_USUAL)


@contextmanager
def entered_as(
    who: str | None = None,
    purpose: str | None = None,
    *,
    fingerprint: bool = True,
    complete: bool = True,
    request_id: str | None = None,
) -> Iterator[None]:
    """Say who spends and what for, of everything that is entered inside.

    Parameters
    ----------
    who : str, optional
        A name; else the variable GDPPCA_USER, or the system's name of the user.
    purpose : str, optional
        What the draws are for.
    fingerprint : bool, default True
        Whether a fit notes a keyed fingerprint of its rows.
    complete : bool, default True
        Whether a fit completes its entry itself. If not, whoever saves the release does it.
    request_id : str, optional
        Name of one fit: a second one of the same name is refused before it draws.

    Examples
    --------
    >>> import tempfile
    >>> from gdppca.ledgers import Ledger, entered_as
    >>> from gdppca.privacy import PureEvent
    >>> ledger = Ledger(f"sqlite:///{tempfile.mkdtemp()}/budget.db")
    >>> with entered_as("ana", purpose="annual report"):
    ...     _ = ledger.create("patients", epsilon=2.0, delta=1e-6)
    ...     receipt = ledger.spend("patients", PureEvent(purpose="quantile", epsilon=0.1))
    >>> line = ledger.entry(receipt.number)
    >>> line.who, line.purpose, line.status
    ('ana', 'annual report', 'reserved')
    """
    if who is not None:
        addresses.name(who=who)
    if request_id is not None:
        addresses.name(request_id=request_id)
    said = _checked_purpose(purpose)
    habit = Habit(who, said, bool(fingerprint), bool(complete), request_id)
    before = _habit.set(habit)
    try:
        yield
    finally:
        _habit.reset(before)


def habit() -> Habit:
    """How entries are made here and now."""
    return _habit.get()


def signed(who: str | None = None, purpose: str | None = None) -> dict[str, Any]:
    """Who makes an entry and what for, as they stand in it."""
    return Note(who=who, purpose=purpose).settled().to_plain()


def salt() -> str:
    """Secret random bits that go into an entry's hash, and stay in the ledger.

    A release names the hash of its entry, and the entry may hold a fingerprint of the rows. With
    as many secret bits as the hash takes in, the hash is a random number whatever else is hashed.
    """
    return secret_bytes(_SALT).hex()


def same_person(one: str, other: str) -> bool:
    """Whether two names are one, however they are spelt."""
    first, second = (
        unicodedata.normalize("NFKC", name).casefold().split() for name in (one, other)
    )
    return first == second


def _system_user() -> str:
    said = os.environ.get(USER_VARIABLE)
    if said:
        return said
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no name for this number
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def _checked_purpose(purpose: object) -> str | None:
    if purpose is None:
        return None
    fine = isinstance(purpose, str) and 0 < len(purpose) <= _LONGEST and purpose.isprintable()
    if not isinstance(purpose, str) or not fine:
        raise ParameterError(f"`purpose` must be 1 to {_LONGEST} printable characters.")
    return purpose
