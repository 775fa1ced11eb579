"""Whose each row is, and how much it counts: rows of one person share a weight of one.

Ids are never kept: only which rows belong together. The persons' order is that of their ids, so
that what is drawn for one of them does not depend on where or how many the rows of others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, ParameterError
from gdppca.kernels.weights import whole_parts
from gdppca.noise import OrderKeys
from gdppca.tables.cells import label_text
from gdppca.tables.groups import plain_labels

NO_IDS = ("", "nan", "NaN", "NaT", "<NA>", "None")  # how libraries write an id that is missing


@dataclass(frozen=True, eq=False, repr=False)
class Persons:
    """Whose each row is, by a number from 0; and secret keys that choose one row of each."""

    codes: np.ndarray
    number: int
    keys: OrderKeys

    @cached_property
    def rows_each(self) -> np.ndarray:
        """How many rows each person has."""
        return np.bincount(self.codes, minlength=self.number)

    @cached_property
    def _by_person(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows by their persons, and where those of each person begin."""
        starts = np.cumsum(self.rows_each) - self.rows_each
        return np.argsort(self.codes, kind="stable"), starts

    def parts(self, share: np.ndarray | None) -> np.ndarray:
        """How much each row counts, in units of 2⁻³⁰."""
        return whole_parts(self.rows_each[self.codes], share)

    def one_each(self, turn: int = 0) -> np.ndarray:
        """One random row of every person, in the order of the persons; another in every turn."""
        order, starts = self._by_person
        keys = self.keys.range(self.number, part=turn) >> np.uint64(32)
        chosen = (keys * self.rows_each.astype(np.uint64)) >> np.uint64(32)
        return np.asarray(order[starts + chosen.astype(np.int64)])


def persons_of(ids: Any, n_rows: int, keys: OrderKeys, missing: tuple[str, ...] = ()) -> Persons:
    """Who is who by one id per row; an id that is missing is refused, and none is quoted.

    `missing` are codes of missing cells, as a description names them.
    """
    codes, found = _codes(ids)
    if len(codes) != n_rows:
        raise DataError("`persons` must hold one id for every row.")
    nobody = {*NO_IDS, *missing}
    if any(str(each) in nobody for each in found):
        raise without_ids()
    return Persons(codes, len(found), keys)


def _codes(ids: Any) -> tuple[np.ndarray, Sequence[Any]]:
    """Number of every row's person, by the order of ids, and the ids."""
    numbers = None
    with suppress(Exception):  # of a type that is no array of numbers
        numbers = ids.to_numpy() if hasattr(ids, "to_numpy") else ids
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iu" and numbers.ndim == 1:
        found, codes = np.unique(numbers, return_inverse=True)
        return codes, found.tolist()
    labels = map(label_text, plain_labels(ids, "persons", "ids"))
    texts = ["" if label is None else label.strip(" \t") for label in labels]
    place = {text: k for k, text in enumerate(sorted(set(texts)))}
    return np.fromiter((place[text] for text in texts), np.int64, len(texts)), [*place]


def without_ids() -> DataError:
    """What to say of rows of nobody."""
    return DataError(
        "`persons` has rows without an id: nobody knows whose they are. Give every row an id, "
        "or drop such rows by a rule that looks at each row alone."
    )


def weight_shares(weights: Any, largest: Any, n_rows: int) -> np.ndarray:
    """min(v, W)/W of each row's weight v, with a public W; between 0 and 1."""
    if largest is None:
        raise ParameterError(
            "`weights` needs `largest_weight`: the weight from which rows count alike. Choose it "
            "without looking at the data; one to two mean weights do best."
        )
    largest = _validate.finite_positive(largest_weight=largest)
    numbers = _validate.floats(weights)
    if numbers is None or numbers.shape != (n_rows,):
        raise DataError("`weights` must hold one number for every row.")
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise DataError("`weights` must be finite numbers, none below 0.")
    return np.minimum(numbers, largest) / largest
