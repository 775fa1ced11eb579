"""Who is who by ids in memory, however they lie there."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gdppca._errors import DataError
from gdppca.noise import OrderKeys
from gdppca.tables import persons as module
from gdppca.tables.persons import persons_of

KEYS = OrderKeys(bytes(32))
TEXTS = ["P1", "a text of more than twelve letters", "", "é", "P1", "P2", " P2"] * 3
WAYS = {
    "list": list,
    "numpy": np.array,
    "object": lambda ids: np.array(ids, dtype=object),
    "pandas": pd.Series,
    "pandas object": lambda ids: pd.Series(ids, dtype=object),
    "polars": pl.Series,
    "polars part": lambda ids: pl.Series(["x", *ids])[1:],
    "polars pieces": lambda ids: pl.concat([pl.Series(ids[:5]), pl.Series(ids[5:])], rechunk=False),
    "arrow": pa.array,
    "arrow large": lambda ids: pa.array(ids, pa.large_string()),
    "arrow part": lambda ids: pa.chunked_array([pa.array(["x", *ids[:4]])[1:], ids[4:]]),
    "category": lambda ids: pd.Series(ids, dtype="category"),
}


@pytest.fixture(autouse=True)
def few_rows_at_once(monkeypatch):
    monkeypatch.setattr(module, "_ROWS", 4)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("plain", [True, False])
def test_texts_are_the_same_persons_in_every_way(way, plain):
    texts = [text or "P0" for text in TEXTS]
    if plain:
        texts = [text.replace("é", "e") for text in texts]
    found = persons_of(way(texts), len(texts), KEYS)
    names = [text.strip() for text in texts]
    together = found.codes[:, None] == found.codes
    np.testing.assert_array_equal(together, [[a == b for a in names] for b in names])
    np.testing.assert_array_equal(found.rows_each, np.bincount(found.codes))
    listed = persons_of(texts, len(texts), KEYS)
    np.testing.assert_array_equal(found.codes, listed.codes)
    np.testing.assert_array_equal(found.keys, listed.keys)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_text_that_is_empty_is_nobody(way):
    with pytest.raises(DataError, match="rows without an id"):
        persons_of(way(TEXTS), len(TEXTS), KEYS)


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.int64, float, np.float32])
def test_whole_numbers_are_persons_and_codes_of_missing_ones_nobody(kind):
    ids = np.array([3, 99, 3, 7], dtype=kind)
    found = persons_of(ids, 4, KEYS, missing=("-99", "3.5", "x"))
    assert (found.number, sorted(found.rows_each)) == (3, [1, 1, 2])
    with pytest.raises(DataError, match="rows without an id"):
        persons_of(ids, 4, KEYS, missing=("99",))


def test_fractions_and_large_numbers_are_told_apart():
    ids = np.array([0.5, 1.0, 0.0, -0.0, 1e300])
    assert persons_of(ids, 5, KEYS).number == 4
    assert persons_of(np.array([2**63, 2**63 + 1], dtype=np.uint64), 2, KEYS).number == 2
