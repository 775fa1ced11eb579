"""The demonstration: made-up visits, described, checked, released and reported by real commands."""

from __future__ import annotations

import csv
import math
import shlex
from contextlib import chdir
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np

from gdppca.cli.show import console, tell_files
from gdppca.datasets import make_visits
from gdppca.estimators import DPPCA
from gdppca.linalg import sin_theta
from gdppca.plots import score_figure
from gdppca.plots.style import write_picture
from gdppca.releases import Release, write_whole
from gdppca.tables.description import Description

PERSONS = 4000
SEED = 2025  # of the table; the release has none
_WRITES = ("-o", "--plot")  # options that name a file to write
TABLE, DESCRIPTION, RELEASE = "visits.csv", "table.toml", "release.json"
PLOT, MAP, REPORT = "components.png", "map.png", "report.html"

COMMANDS = {
    "Is anything odd? For the owner's eyes only": f"gdppca check {TABLE} --table {DESCRIPTION}",
    "Spend the budget once: directions, a map by ward, and pictures": (
        f"gdppca fit {TABLE} --table {DESCRIPTION} --missing rates --scale private --epsilon 1 "
        "--delta 1e-6 --score-map 0.3 --groups ward=cardiology,infections,surgery "
        f"-o {RELEASE} --plot {PLOT}"
    ),
    "A page to forward": (
        f"gdppca report {RELEASE} --name 'Made-up visits of {PERSONS:,} patients who never lived' "
        f"--curator 'The gdppca demonstration' -o {REPORT}"
    ),
}


def run(folder: Path) -> None:
    """Write the table and its description, then run what one would type, and say what it cost."""
    folder.mkdir(parents=True, exist_ok=True)
    visits = make_visits(PERSONS, random_state=SEED)
    _write_table(visits, folder / TABLE)
    write_whole(folder / DESCRIPTION, files("gdppca.cli").joinpath("demo.toml").read_bytes())
    _say(
        f"Made-up visits of {PERSONS:,} patients who never lived: one to five visits each, nine "
        "measurements, an admission, a ward, and gaps."
    )
    _say(f"\n$ cd {shlex.quote(str(folder))}")
    with chdir(folder):
        for why, line in COMMANDS.items():
            _typed(why, line)
        release = Release.load(Path(RELEASE))
        write_picture(score_figure(release, style="points", random_state=0), Path(MAP))
        _say(f"\nWhat the noise cost: {_cost(release)}")
    _say("Only a demonstration may say so: on private data that number is itself private.\n")
    made = {"Table": TABLE, "Description": DESCRIPTION, "Release": RELEASE}
    made |= {"Pictures": PLOT, "Map": MAP, "Report": REPORT}
    tell_files(12, **{what: folder / name for what, name in made.items()})
    _say("\nWith a table of yours:\n$ gdppca describe yours.csv")


def _typed(why: str, line: str) -> None:
    """Say what a command is for, print it as one would type it, and run just that."""
    from gdppca.cli.main import app

    _, *typed = shlex.split(line)
    if any(Path(word).exists() for word in _written(typed)):
        line, typed = f"{line} --force", [*typed, "--force"]  # the demonstration ran before
    _say(f"\n# {why}\n$ {line}")
    app(typed, prog_name="gdppca", standalone_mode=False)


def _written(typed: list[str]) -> list[str]:
    """Files that a command is to write."""
    return [word for option, word in pairwise(typed) if option in _WRITES]


def _write_table(visits: dict[str, np.ndarray], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(visits)
        for row in zip(*(column.tolist() for column in visits.values()), strict=True):
            writer.writerow("" if cell != cell else cell for cell in row)  # NaN: nobody noted it


def _cost(release: Release) -> str:
    """How far the released directions are from those of a fit without noise."""
    exact = DPPCA(2, epsilon=math.inf, missing="rates", scale="private")
    exact.fit(TABLE, description=Description.load(DESCRIPTION))
    first, both = (sin_theta(release.components[:m], exact.components_[:m]) for m in (1, 2))
    return (
        f"sin Θ to the directions without noise is {first:.2f} for the first and {both:.2f} for "
        "both; 0 is the same, 1 is worthless."
    )


def _say(line: str) -> None:
    console.print(line, soft_wrap=True, markup=False, highlight=False)
