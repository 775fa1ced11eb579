"""Whose each row is, and how much it counts: rows of one person share a weight of one.

Ids are never kept: only which rows belong together. The persons' order is that of keys, which
follow from their ids and a secret, so that what is drawn for one of them does not depend on where
or how many the rows of others are.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from re import fullmatch
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, ParameterError
from gdppca.kernels.roll import Roll, rows_by_code
from gdppca.kernels.weights import whole_parts
from gdppca.noise import OrderKeys, Texts, lots
from gdppca.tables.batches import texts_in_arrow
from gdppca.tables.cells import label_text
from gdppca.tables.groups import plain_labels

NO_IDS = ("", "nan", "NaN", "NaT", "<NA>", "None")  # how libraries write an id that is missing
_ROWS = 2**17  # that are looked at at once
_COIN = 2**32  # beyond all turns


@dataclass(frozen=True, eq=False, repr=False)
class Persons:
    """Whose each row is, by a number from 0; and a secret key of each person.

    Parameters
    ----------
    codes : array of int
        The number of each row's person.
    rows_each : array of int
        How many rows each person has.
    keys : array of uint64
        Keys of the persons, which are in this order.
    """

    codes: np.ndarray
    rows_each: np.ndarray
    keys: np.ndarray

    @property
    def number(self) -> int:
        """How many persons there are."""
        return len(self.keys)

    @cached_property
    def _by_person(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows by their persons, and where those of each person begin."""
        return rows_by_code(self.codes, self.rows_each)

    def parts(self, share: np.ndarray | None) -> np.ndarray:
        """How much each row counts, in units of 2⁻³⁰."""
        if share is None:
            return whole_parts(self.rows_each)[self.codes]
        return whole_parts(self.rows_each[self.codes], share)

    def one_each(self, turn: int = 0) -> np.ndarray:
        """One random row of every person, in the order of the persons; another in every turn."""
        order, starts = self._by_person
        high = lots(self.keys, np.full(self.number, turn)) >> np.uint64(32)
        chosen = (high * self.rows_each.astype(np.uint64)) >> np.uint64(32)
        return np.asarray(order[starts + chosen.astype(np.int64)])

    @property
    def coins(self) -> np.ndarray:
        """A secret random word of each person, which chose none of their rows."""
        return lots(self.keys, np.full(self.number, _COIN))


def persons_of(ids: Any, n_rows: int, keys: OrderKeys, missing: tuple[str, ...] = ()) -> Persons:
    """Who is who by one id per row; an id that is missing is refused, and none is quoted.

    `missing` are codes of missing cells, as a description names them.
    """
    roll, numbers = Roll(), [np.empty(0, np.uint32)]
    for names in _names(ids):
        for start in range(0, len(names), _ROWS):
            words = keys.named(names[start : start + _ROWS])
            numbers.append(roll.add(words))
    codes, found = np.concatenate(numbers), roll.keys()
    if len(codes) != n_rows:
        raise DataError("`persons` must hold one id for every row.")
    require_ids(found, keys, missing)
    order = np.argsort(found)
    places = np.empty(len(order), dtype=np.uint32)
    places[order] = np.arange(len(order))
    return Persons(places[codes], roll.counts[order], found[order])


def require_ids(found: np.ndarray, keys: OrderKeys, missing: tuple[str, ...]) -> None:
    """Refuse persons by their keys where one has the key of an id that is missing."""
    nobody = (*NO_IDS, *missing)
    numbers = [int(each) for each in nobody if fullmatch(r"0|-?[1-9]\d{0,17}", each)]
    words = [keys.named(Texts.of(nobody)), keys.named(np.array(numbers, dtype=np.int64))]
    if any((found == key).any() for key in np.concatenate(words)[:, 0]):
        raise without_ids()


def _names(ids: Any) -> list[Texts] | list[np.ndarray]:
    """Ids as texts or as whole numbers of 64 bits; at once where they lie so in memory."""
    with suppress(Exception):  # of a type that is none of these
        if hasattr(ids, "__arrow_c_stream__") and (texts := texts_in_arrow(ids)) is not None:
            return texts
    with suppress(Exception):
        array = ids.to_numpy() if hasattr(ids, "to_numpy") else ids
        if isinstance(array, np.ndarray) and (found := _of_array(array)) is not None:
            return [found]
    labels = plain_labels(ids, "persons", "ids")
    if set(map(type, labels)) != {str}:
        labels = ["" if label is None else label for label in map(label_text, labels)]
    return [Texts.of(labels)]


def _of_array(ids: np.ndarray) -> Any:
    """Whole numbers or plain letters of an array, or None."""
    if ids.ndim != 1 or not ids.size or not ids.itemsize:
        return None
    if ids.dtype.kind == "f" and (np.trunc(ids) == ids).all() and (np.abs(ids) < 2.0**63).all():
        return ids.astype(np.int64)
    if ids.dtype.kind in "iu":
        return ids.astype(np.uint64).view(np.int64)
    if ids.dtype.kind != "U":
        return None
    letters = np.ascontiguousarray(ids).view(np.uint32)
    if letters.max() >= 128:
        return None
    starts = np.arange(len(ids)) * (ids.itemsize // 4)
    return Texts(letters.astype(np.uint8), starts, starts + np.strings.str_len(ids))


def without_ids() -> DataError:
    """What to say of rows of nobody."""
    return DataError(
        "`persons` has rows without an id: nobody knows whose they are. Give every row an id, "
        "or drop such rows by a rule that looks at each row alone."
    )


def weight_shares(weights: Any, largest: Any, n_rows: int, name: str = "`weights`") -> np.ndarray:
    """min(v, W)/W of each row's weight v, with a public W; between 0 and 1."""
    if largest is None:
        raise ParameterError(
            "`weights` needs `largest_weight`: the weight from which rows count alike. Choose it "
            "without looking at the data; one to two mean weights do best."
        )
    largest = _validate.finite_positive(largest_weight=largest)
    numbers = _validate.floats(weights)
    if numbers is None or numbers.shape != (n_rows,):
        raise DataError(f"{name} must hold one number for every row.")
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise DataError(
            f"{name} must be finite numbers, none below 0, one for every row. Correct them where "
            "they come from, or do without weights."
        )
    return np.minimum(numbers, largest) / largest
