"""What is handed on: release, report, figures, description, and a notebook that reads it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from functools import partial

from gdppca._errors import ParameterError
from gdppca.plots import biplot_figure, release_figure, score_figure
from gdppca.plots.style import picture
from gdppca.releases import Release
from gdppca.report import Owner, render
from gdppca.tables.description import Description
from gdppca.tables.description_files import as_toml

_DAY = (1980, 1, 1, 0, 0, 0)  # of every file in an archive: the same release, the same bytes
TYPES = {
    "json": "application/json",
    "html": "text/html; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "toml": "application/toml",
    "ipynb": "application/x-ipynb+json",
    "zip": "application/zip",
}
Make = Callable[[], bytes]


def parts(release: Release, written: bytes, owner: Owner) -> dict[str, Make]:
    """Files by their names, each made when it is asked for, from the release alone."""
    made: dict[str, Make] = {
        "release.json": lambda: written,
        "report.html": lambda: render(release, owner).encode(),
    }
    if release.description is not None:
        described = Description.from_dict(release.description)
        made["table.toml"] = lambda: as_toml(described).encode()
    for kind in ("png", "pdf"):
        made |= _figures(release, kind)
    made["notebook.ipynb"] = lambda: notebook(release)
    return made


def _figures(release: Release, kind: str) -> dict[str, Make]:
    drawn: dict[str, Callable[[], object]] = {}
    if release.scatter is not None or len(release.components):
        level = None if release.scatter is None or release.noise_sd == 0 else 0.9
        drawn["spectrum-and-loadings"] = partial(release_figure, release, level=level)
    if len(release.components) > 1 and release.scatter is not None:
        drawn["biplot"] = partial(biplot_figure, release)
    if release.score_map is not None:
        drawn["map"] = partial(score_figure, release)
    return {
        f"{name}.{kind}": partial(lambda draw: picture(draw(), kind), draw)
        for name, draw in drawn.items()
    }


def one(name: str, made: dict[str, Make]) -> bytes:
    """One of the files."""
    if name not in made:
        raise ParameterError(f"This release has no file '{name}'.")
    return made[name]()


def archive(made: dict[str, Make]) -> bytes:
    """All of them in one."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as box:
        for name, make in made.items():
            about = zipfile.ZipInfo(name, _DAY)
            about.compress_type = zipfile.ZIP_DEFLATED
            box.writestr(about, make())
    return held.getvalue()


def notebook(release: Release) -> bytes:
    """A notebook that reads the release beside it, and needs no table."""
    cells = [
        _said(
            "# A private principal component analysis\n\nThis notebook reads `release.json`, which "
            "lies beside it. No row of the table is needed, and nothing is spent."
        ),
        _code(
            "from gdppca import Release\n\n"
            "release = Release.load('release.json')  # checks schema, checksum and ε\nrelease"
        ),
        _said("## The promise"),
        _code("release.guarantee"),
    ]
    if release.scatter is not None or len(release.components):
        cells += [
            _said("## Spectrum and loadings"),
            _code("from gdppca.plots import release_figure\n\nrelease_figure(release)"),
        ]
    if len(release.components) > 1 and release.scatter is not None:
        cells.append(_code("from gdppca.plots import biplot_figure\n\nbiplot_figure(release)"))
    if release.score_map is not None:
        cells += [
            _said("## Where people lie"),
            _code("from gdppca.plots import score_figure\n\nscore_figure(release)"),
        ]
    if release.method == "DPPCA":
        cells += [
            _said(
                "## Scores of other rows\n\nScores belong to single people and are **not** private:"
                " keep them where the rows are."
            ),
            _code("from gdppca import DPPCA\n\npca = DPPCA.from_release(release)\npca"),
        ]
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"
    plain = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(plain, indent=1, ensure_ascii=False).encode()


def _said(text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str) -> dict[str, object]:
    return {
        "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text,
    }  # fmt: skip
