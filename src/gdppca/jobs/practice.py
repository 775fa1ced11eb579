"""Made-up rows with the columns of a description, to practise on; nobody's rows."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from gdppca.noise.bits import generator_for
from gdppca.tables.description import Column, Description

_FACTORS = 2  # what drives all columns together
_OWN = 0.6  # part of a column's spread that is its own
_GAPS = 0.05
_MOST_ROWS = 3  # of a person
_YES = ("no", "yes")


@dataclass(frozen=True)
class Practice:
    """A made-up table, where it lies, and its description there."""

    file: Path
    table: Path
    names: tuple[str, ...]
    description: Description


def write_practice(described: Description, n: int, folder: Path, seed: int) -> Practice:
    """Make rows up for n people, and write them with a description into a folder.

    Columns follow a few hidden factors, around `typical` by `spread` where those are known; some
    cells are missing. No table is read.
    """
    rng = generator_for(seed)
    whose = np.arange(n)
    if described.person is not None:
        whose = np.repeat(whose, rng.integers(1, _MOST_ROWS + 1, n))
    factors = rng.normal(size=(n, _FACTORS))[whose] * [1.5, 1.0]
    cells = {column.name: _cells(column, factors, rng) for column in described.columns}
    if described.person is not None:
        cells[described.person] = [f"made-up-{person}" for person in whose]
    if described.weight is not None:
        largest = described.largest_weight or 1.0
        cells[described.weight] = [f"{w:.4g}" for w in rng.uniform(0, largest, len(whose))]
    plain = replace(
        described, missing=("",), delimiter=None, decimal=None, thousands=None, encoding=None,
        skip=0, sheet=None,
    )  # fmt: skip
    file, table = folder / "practice.csv", folder / "practice.toml"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(cells)
        writer.writerows(zip(*cells.values(), strict=True))
    plain.save(table)
    return Practice(file, table, tuple(cells), plain)


def _cells(column: Column, factors: np.ndarray, rng: Any) -> list[str]:
    """One column as text, with gaps."""
    pull = factors @ rng.normal(size=_FACTORS) + _OWN * rng.normal(size=len(factors))
    pull = pull / max(float(pull.std()), 1e-9)
    match column.type:
        case "category":
            ranks = np.clip((pull + 2) / 4 * len(column.levels), 0, len(column.levels) - 1)
            texts = [column.levels[int(rank)] for rank in ranks]
        case "yes-no":
            no, yes = column.levels or _YES
            texts = [yes if value > 0 else no for value in pull]
        case "date":
            texts = [_day(column, value) for value in pull]
        case _:
            typical = 0.0 if column.typical is None else column.typical
            spread = 1.0 if column.spread is None else column.spread
            texts = [f"{typical + spread * value:.6g}" for value in pull]
    gaps = rng.random(len(texts)) < _GAPS
    return ["" if gap else text for gap, text in zip(gaps, texts, strict=True)]


def _day(column: Column, pull: float) -> str:
    origin = column.origin or date(2020, 1, 1)
    spread = 100.0 if column.spread is None else column.spread
    days = int(np.clip((column.typical or 0.0) + spread * pull, -30_000, 30_000))
    return (origin + timedelta(days=days)).strftime(column.format or "%Y-%m-%d")
