"""Results of full runs that the project keeps, and whether a new run agrees with them.

They lie in `docs/paper/results` of the checkout that the package is installed from; a wheel has
none. The documentation shows them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from gdppca._errors import ParameterError
from gdppca.releases import write_whole
from gdppca.studies.experiments import STUDIES
from gdppca.studies.results import Row, in_words, read_csv, tells

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "paper" / "results"
FILES = ("summary.csv", "verdict.json", "figure.svg")
LEVEL = 0.01  # probability that two honest runs are said to disagree
SAME = 1e-3  # relative; of means that were drawn once and have no error


@dataclass(frozen=True)
class Kept:
    """A kept result: what it is of, its table, and the folder that holds it."""

    about: Row
    summary: list[Row]
    folder: Path


@dataclass(frozen=True)
class Agreement:
    """Whether two tables agree, and how it was judged."""

    agrees: bool
    words: str


def kept_result(name: str, folder: Path = FOLDER) -> Kept | None:
    """The kept result of a study, if there is one."""
    held = folder / name
    if not (held / "verdict.json").is_file():
        return None
    about = json.loads((held / "verdict.json").read_text(encoding="utf-8"))
    return Kept(about, read_csv((held / "summary.csv").read_text(encoding="utf-8")), held)


def keep(studies: Path, folder: Path = FOLDER) -> list[str]:
    """Copy what full runs found from a folder of studies; says of each study what happened."""
    told = []
    for name, study in STUDIES.items():
        source = studies / name
        if not all((source / file).is_file() for file in FILES):
            told.append(f"{name}: not finished, nothing kept")
            continue
        about = json.loads((source / "verdict.json").read_text(encoding="utf-8"))
        if not tells(study, about):
            told.append(f"{name}: {in_words(about)}, which gives no verdict, is not kept")
            continue
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file in FILES:
            write_whole(folder / name / file, (source / file).read_bytes())
        told.append(f"{name}: kept ({in_words(about)})")
    return told


def agreement(summary: list[Row], kept: list[Row]) -> Agreement:
    r"""Whether two tables of means agree within their errors, judged as a whole.

    Of m means that both have, each difference is divided by its standard error; the largest of
    them must stay below the quantile :math:`1 - \alpha/(2m)` of Student's t with the runs of both.
    By Bonferroni's inequality two honest tables fail with probability at most α, however their
    means depend on each other.
    """
    ours, theirs = _by_cell(summary), _by_cell(kept)
    both = [cell for cell in ours if cell in theirs]
    if not both:
        return Agreement(False, "no mean is in both tables")
    pairs = [(ours[cell], theirs[cell]) for cell in both]
    largest, allowed = _deviation([pair for pair in pairs if _error(*pair) > 0])
    equal = [pair for pair in pairs if _error(*pair) == 0]
    apart = sum(not np.isclose(a["mean"], b["mean"], SAME, SAME) for a, b in equal)
    parts = []
    if len(equal) < len(pairs):
        parts.append(
            f"{len(pairs) - len(equal)} means differ by at most {largest:.2f} standard errors; "
            f"{allowed:.2f} would be chance (joint level {LEVEL:.0%})"
        )
    if equal:
        parts.append(f"{len(equal)} means without an error, {apart} of them apart")
    lonely = len(ours) + len(theirs) - 2 * len(both)
    if lonely:
        parts.append(f"{lonely} means are in one table only and were not compared")
    return Agreement(largest <= allowed and not apart, "; ".join(parts))


def _deviation(pairs: list[tuple[Row, Row]]) -> tuple[float, float]:
    if not pairs:
        return 0.0, 0.0
    found = max(abs(a["mean"] - b["mean"]) / _error(a, b) for a, b in pairs)
    freedom = min(a["runs"] + b["runs"] - 2 for a, b in pairs)
    return float(found), float(stats.t.isf(LEVEL / 2 / len(pairs), freedom))


def _error(a: Row, b: Row) -> float:
    return float(np.hypot(a["se"], b["se"]))


def _by_cell(summary: list[Row]) -> dict[Any, Row]:
    found = ("mean", "se", "runs")
    return {
        frozenset(
            (k, float(v) if isinstance(v, int) else v) for k, v in row.items() if k not in found
        ): row
        for row in summary
    }


def told_agreement(name: str, about: Row, summary: list[Row], folder: Path = FOLDER) -> str:
    """What to say of a full run beside the kept one."""
    if about["form"] != "full":
        raise ParameterError("Only a full run can be compared with a kept one.")
    kept = kept_result(name, folder)
    if kept is None:
        return f"No kept result of {name} in '{folder}': nothing to compare with."
    found = agreement(summary, kept.summary)
    verb = "agrees" if found.agrees else "does NOT agree"
    return f"This run {verb} with the kept one ({in_words(kept.about)}): {found.words}."
