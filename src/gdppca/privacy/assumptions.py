"""What must be true outside the mathematics: types with codes, and the words of each.

Code compares the types, people read the words. No release knows what else is drawn from its table:
it knows whether its own draws were entered in a ledger before they were made, and says no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gdppca.privacy.guarantee import Protected, Unit


@dataclass(frozen=True, slots=True)
class Assumption:
    """One thing that is taken for granted.

    Parameters
    ----------
    code : str
        Short and stable; "other" for words that no version of this package wrote.
    words : str
        The same as a sentence, which is what printing shows.

    Examples
    --------
    >>> from gdppca.privacy.assumptions import ONE_ROW
    >>> ONE_ROW.code
    'one-row-per-person'
    >>> print(ONE_ROW)
    Each person is in one row only.
    """

    code: str
    words: str

    def __str__(self) -> str:
        return self.words


_BY_CODE: dict[str, Assumption] = {}


def _named(code: str, words: str) -> Assumption:
    """One that files and code know by its code."""
    return _BY_CODE.setdefault(code, Assumption(code, words))


ONE_ROW = _named("one-row-per-person", "Each person is in one row only.")
PUBLIC_SIZE = _named("public-size", "The number of rows and the column names are public.")
PARAMETERS_UNSEEN = _named(
    "parameters-unseen", "Parameters were chosen without looking at the data."
)
PUBLIC_CENTRE = _named("public-centre", "The centre was chosen without looking at the data.")
PUBLIC_SCALE = _named("public-scale", "The column scales were chosen without looking at the data.")
PUBLIC_FRAME = _named("public-frame", "The frame was chosen without looking at the data.")
PUBLIC_GROUPS = _named("public-groups", "The names of the groups are public.")
PUBLIC_GROUP_SIZES = _named(
    "public-group-sizes", "The number of rows of each merged group is public."
)
PERSONS = _named("persons", "The column of persons says truly whose each row is.")
PUBLIC_PERSONS = _named(
    "public-persons",
    "The number of persons and the column names are public; the number of rows is not.",
)
SECRET_SIZE = _named("secret-size", "The column names are public; the number of rows is not.")
SECRET_PERSONS = _named(
    "secret-persons",
    "The column names are public; the number of persons and that of rows are not.",
)
PUBLIC_GROUP_PERSONS = _named(
    "public-group-persons", "The number of persons of each merged group is public."
)
DESIGN_WEIGHTS = _named(
    "design-weights",
    "Weights are design weights: each follows from its own row, or its own person, alone.",
)
OWN_SIGN = _named(
    "own-sign",
    "The sign is the user's own: its `radial` gives each length a new one of at most `sup_norm`, "
    "from that length alone and always the same, and was not derived from the data.",
)
SHUFFLED_INSIDE = _named(
    "batches-shuffled-inside",
    "Rows came in batches whose order did not depend on their values; "
    "rows were shuffled inside each batch only.",
)
ORDER_AS_IT_CAME = _named(
    "order-taken-as-it-came",
    "The order of the rows was taken as it came and does not depend on their values: nobody "
    "checked that, and nothing was shuffled.",
)
COMPONENTS_APART = _named(
    "components-apart",
    "The components come from a release, whose own guarantee is to be added.",
)
NOT_CRYPTOGRAPHIC = _named(
    "generator-not-cryptographic",
    "The noise of the steps is floating-point noise of a generator that is not cryptographic, "
    "with a secret seed of 256 bits: nobody recovers its state from the directions.",
)
ENTERED = _named(
    "entered",
    "What was drawn for this was entered in a ledger before; what else is drawn from the table is "
    "counted only if it is entered too.",
)
FIT_ENTERED = _named(
    "fit-entered",
    "The fit was entered in a ledger before it was drawn; what else is drawn from the table is "
    "counted only if it is entered too.",
)
UNCOUNTED = _named("uncounted", "Nothing counts repeated fits: each one spends its own budget.")
MAPS_UNCOUNTED = _named(
    "maps-uncounted", "Nothing counts repeated maps: each one spends its own budget."
)
NOTHING_FITTED_BEFORE = _named(
    "nothing-fitted-before",
    "Nothing was fitted to the table before: scaling, imputing, or choosing rows or columns by its "
    "values is not covered.",
)

EVERYWHERE = (ONE_ROW, PUBLIC_SIZE, PARAMETERS_UNSEEN, NOTHING_FITTED_BEFORE)  # whatever is drawn
_CLAIMS = {ENTERED, FIT_ENTERED}
_UNCOUNTED = {UNCOUNTED, MAPS_UNCOUNTED}
_EARLIER = "Every release from this table is counted in its ledger, under this data set's name."
_BY_WORDS = {each.words: each for each in _BY_CODE.values()} | {_EARLIER: FIT_ENTERED}
_OF_GROUPS = re.compile(
    r"one-of-(\d{1,18})-groups|Each person is in one of the (\d{1,18}) merged groups only\."
)
_SIZES = {  # what is public of a table's size, by unit and neighbours
    ("row", "replace-one"): PUBLIC_SIZE,
    ("row", "add-remove"): SECRET_SIZE,
    ("person", "replace-one"): PUBLIC_PERSONS,
    ("person", "add-remove"): SECRET_PERSONS,
}


def everywhere(protected: Protected) -> tuple[Assumption, ...]:
    """What is taken for granted whatever is drawn, of this unit and these neighbours."""
    instead = {PUBLIC_SIZE: _SIZES[protected.unit, protected.neighbors]}
    if protected.unit == "person":
        instead[ONE_ROW] = PERSONS
    return tuple(instead.get(each, each) for each in EVERYWHERE)


def public_group_sizes(unit: Unit) -> Assumption:
    """Merged groups are as large as everybody may know."""
    return PUBLIC_GROUP_PERSONS if unit == "person" else PUBLIC_GROUP_SIZES


def one_of_groups(groups: int) -> Assumption:
    """Merged groups have no person in common."""
    return Assumption(
        f"one-of-{groups}-groups", f"Each person is in one of the {groups} merged groups only."
    )


def in_one_of(said: Sequence[Assumption], groups: int) -> tuple[Assumption, ...]:
    """The same of so many merged groups, in place of what was said of fewer."""
    rest = (each for each in said if not _OF_GROUPS.fullmatch(each.code))
    return (*rest, one_of_groups(groups))


def known(said: Assumption | str) -> Assumption:
    """The type that a sentence stands for; one that is not known keeps its words."""
    if isinstance(said, Assumption):
        return said
    return _BY_WORDS.get(said) or _of_groups(said) or Assumption("other", said)


def _of_groups(said: str) -> Assumption | None:
    """What a code or a sentence says of merged groups, if that is what it does."""
    found = _OF_GROUPS.fullmatch(said)
    return found and one_of_groups(int(found[1] or found[2]))


def to_plain(assumptions: Iterable[Assumption]) -> list[dict[str, str]]:
    """Codes with words, for readers without this package."""
    return [{"code": each.code, "words": each.words} for each in assumptions]


def from_plain(plain: Iterable[dict[str, str] | str]) -> tuple[Assumption, ...]:
    """Read what `to_plain` wrote, and the sentences of earlier files."""
    read = [_known_code(**each) if isinstance(each, dict) else known(each) for each in plain]
    uncounted = _UNCOUNTED.intersection(read)  # then an earlier version claimed too much
    return tuple(each for each in read if each != FIT_ENTERED or not uncounted)


def _known_code(code: str, words: str) -> Assumption:
    return _BY_CODE.get(code) or _of_groups(code) or Assumption(code, words)


def counted(assumptions: Sequence[Assumption], *, entered: bool) -> tuple[Assumption, ...]:
    """The same, with what is true of one draw in place of anything about counting."""
    true = ENTERED if entered else UNCOUNTED
    about = _CLAIMS | _UNCOUNTED
    return tuple(dict.fromkeys(true if each in about else each for each in (*assumptions, true)))


def together(*parts: Sequence[Assumption]) -> tuple[Assumption, ...]:
    """Assumptions of several parts: entered in a ledger only where every one of them was."""
    everything = tuple(dict.fromkeys(chain(*parts)))
    uncounted = _UNCOUNTED.intersection(everything)
    if all(ENTERED in part for part in parts) and not uncounted:
        return everything
    rest = tuple(each for each in everything if each not in _CLAIMS)
    return rest if uncounted or rest == everything else (*rest, UNCOUNTED)
