"""What a study writes: tables, a figure in three kinds of file, and verdicts."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gdppca.releases import write_whole
from gdppca.studies.experiments import Study
from gdppca.studies.verdicts import Verdict, judge

Row = dict[str, Any]

ENOUGH_RUNS = 25  # of the full form for a verdict on the paper: the fewest that the paper has


@dataclass(frozen=True)
class StudyResult:
    """What a study found, and where it was written."""

    name: str
    folder: Path
    about: Row
    runs: list[Row]
    summary: list[Row]
    verdicts: list[Verdict]
    files: tuple[Path, ...]


def written(
    study: Study, folder: Path, about: Row, rows: list[Row], europe: Path | None
) -> StudyResult:
    """Write all that was found; `about` says of which form, version, runs and day it is."""
    from gdppca.studies.figures import draw_study

    summary = summarised(rows)
    verdicts = judge(study.name, summary)
    if not tells(study, about):
        verdicts = [Verdict(verdict.sentence, None, verdict.numbers) for verdict in verdicts]
    judged = about | {"verdicts": [verdict.to_dict() for verdict in verdicts]}
    contents = {
        "runs.csv": as_csv(rows),
        "summary.csv": as_csv(summary),
        "verdict.json": json.dumps(judged, indent=1, ensure_ascii=False).encode(),
        "verdict.md": _report(study, about, verdicts).encode(),
        **draw_study(study, about, summary, europe),
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    files = tuple(folder / name for name in contents)
    return StudyResult(study.name, folder, about, rows, summary, verdicts, files)


def tells(study: Study, about: Row) -> bool:
    """Whether a run is large enough to speak about the paper: a quick one shows that it runs."""
    return bool(about["form"] == "full" and about["runs"] >= min(ENOUGH_RUNS, study.runs[1]))


def summarised(rows: list[Row]) -> list[Row]:
    """Mean, standard error and number of runs of every method in every setting."""
    groups: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        described = {k: v for k, v in row.items() if k not in ("run", "seed", "value")}
        groups[json.dumps(described)].append(row["value"])
    return [
        json.loads(described)
        | {"mean": float(np.mean(values)), "se": _standard_error(values), "runs": len(values)}
        for described, values in groups.items()
    ]


def _standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0


def as_csv(rows: list[Row]) -> bytes:
    """Rows as a CSV file, with a column for each name that occurs."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def read_csv(content: str) -> list[Row]:
    """The rows of such a file, with numbers as numbers."""
    rows = csv.DictReader(io.StringIO(content))
    return [{name: _number(cell) for name, cell in row.items() if cell} for row in rows]


def _number(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _report(study: Study, about: Row, verdicts: list[Verdict]) -> str:
    lines = [f"# {study.name}: {study.title} (Fig {study.figure})", "", in_words(about) + ".", ""]
    lines += [
        f"- **{verdict.mark}**: {verdict.sentence} ({verdict.numbers})" for verdict in verdicts
    ]
    return "\n".join(lines) + "\n"


def in_words(about: Row) -> str:
    """Form, runs, version and day."""
    runs = "1 run" if about["runs"] == 1 else f"{about['runs']} runs"
    return f"{about['form']} form, {runs}, version {about['version']}, {about['date']}"
