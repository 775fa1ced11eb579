"""Data of other people, read where they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import ortho_group

from gdppca._errors import DataError
from gdppca.noise.bits import generator_for

_STEM = "POPRES_08_24_01.EuroThinFinal.LD_0.8.exLD.out0-PCA"
_COORDINATES = 20
_WHERE = (
    "The files are public: repository NovembreLab/Novembre_etal_2008_misc (Novembre et al. 2008, "
    "Nature 456). Give the folder that holds them."
)


@dataclass(frozen=True, eq=False)
class Europe:
    """Genetic coordinates of 1,387 Europeans, with country, place and colour of each.

    Parameters
    ----------
    X : array of shape (n, 20)
        Rotated coordinates.
    countries : tuple of str
        Country of each person.
    places : array of shape (n, 2)
        Longitude and latitude of the country.
    colors : array of shape (n, 3)
        RGB between 0 and 1, as in the original map.
    """

    X: np.ndarray
    countries: tuple[str, ...]
    places: np.ndarray
    colors: np.ndarray


def load_europe(path: str | Path, *, random_state: int = 0) -> Europe:
    """Read the Europe map's data, prepared as in Biswas et al. (2020).

    Parameters
    ----------
    path : str or Path
        Folder with the files.
    random_state : int, default 0
        Seed of the random rotation.

    Returns
    -------
    Europe
        Twenty coordinates, each times its eigenvalue and times twenty, rotated by a random
        orthogonal matrix.

    Notes
    -----
    **Paper.** Sec 4.3. Nothing of the data is shipped with this package.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise DataError(f"There is no folder '{folder}'. {_WHERE}")
    people = folder / f"{_STEM}.eigs"
    coordinates = _numbers(people, slice(2, 2 + _COORDINATES), _COORDINATES, fewest=1, header=1)
    ids = [line.split()[0] for line in _lines(people)[1:]]
    eigenvalues = _numbers(folder / f"{_STEM}.eval", slice(None), 1, fewest=_COORDINATES)
    rotation = ortho_group.rvs(_COORDINATES, random_state=generator_for(random_state))
    X = 20 * (coordinates * eigenvalues[:_COORDINATES, 0]) @ rotation
    countries, places = _countries(folder / "PCA.txt", ids)
    return Europe(X, countries, places, _colors(folder, ids))


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise DataError(f"'{path.name}' is missing in '{path.parent}'. {_WHERE}")
    return path.read_text(encoding="latin-1").splitlines()


def _bad(path: Path, line: int) -> DataError:
    return DataError(f"'{path.name}' has an unexpected shape in line {line}.")


def _numbers(path: Path, columns: slice, width: int, fewest: int, header: int = 0) -> np.ndarray:
    """Some columns of a file, in every line so many numbers, in at least so many lines."""
    rows: list[list[float]] = []
    for number, line in enumerate(_lines(path)[header:], start=header + 1):
        try:
            rows.append([float(part) for part in line.split()[columns]])
        except ValueError:
            raise _bad(path, number) from None
        if len(rows[-1]) != width:
            raise _bad(path, number)
    if len(rows) < fewest:
        raise _bad(path, header + len(rows) + 1)
    return np.array(rows)


def _table(path: Path, fields: int, separator: str | None = None) -> dict[str, list[str]]:
    table = {}
    for number, line in enumerate(_lines(path), start=1):
        parts = line.split(separator)
        if len(parts) != fields:
            raise _bad(path, number)
        table[parts[0]] = parts[1:]
    return table


def _person(table: dict[str, list[str]], key: str, path: Path) -> list[str]:
    if key not in table:
        raise DataError(f"'{path.name}' lacks an entry that another file refers to.")
    return table[key]


def _countries(path: Path, ids: list[str]) -> tuple[tuple[str, ...], np.ndarray]:
    table = _table(path, 9, "\t")
    entries = [_person(table, key, path) for key in ids]
    try:
        places = np.array([[float(entry[2]), float(entry[3])] for entry in entries])
    except ValueError:
        raise DataError(f"'{path.name}' holds a place that is not two numbers.") from None
    return tuple(entry[0] for entry in entries), places


def _colors(folder: Path, ids: list[str]) -> np.ndarray:
    names = _table(folder / "POPRESID_Color.txt", 2)
    rgb = _table(folder / "colors.txt", 4)
    named = [_person(names, key, folder / "POPRESID_Color.txt")[0] for key in ids]
    entries = [_person(rgb, name, folder / "colors.txt") for name in named]
    return np.array([[float(part) / 255 for part in entry] for entry in entries])
