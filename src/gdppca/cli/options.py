"""Options that commands ask for, and how their texts become values.

Names are those of `DPPCA`, `fit_release` and `plan`, but for the words in `OPTION_OF`.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from gdppca._errors import ParameterError

# What the messages of Python call otherwise than the command line does.
OPTION_OF = {
    "n_components": "components",
    "n_features": "columns",
    "n_samples": "rows",
    "random_state": "seed",
    "share of the map": "score_map",
    "share of the variances": "variances",
}


def _number_or_word(text: str) -> int | str:
    return int(text) if text.isdecimal() and len(text) <= 15 else text


def _decimal_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _numbers_or_word(text: str) -> list[float] | str | None:
    if text == "none":
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text


def columns_of(listed: list[str] | None) -> list[str] | None:
    """Names from texts with commas, in which a name with a comma is quoted."""
    try:
        names = [name for row in csv.reader(listed or [], skipinitialspace=True) for name in row]
    except csv.Error:
        raise ParameterError("`--columns` must be names on one line, with commas.") from None
    return [name.strip() for name in names if name.strip()] or None


def require_private_radius(radius: Any, quantile: float | None) -> None:
    """Refuse a quantile that nothing would be done with."""
    if quantile is not None and radius != "quantile":
        raise ParameterError("`--quantile` goes with `--radius quantile` only. Give both or none.")


def _text(parser: Any, help: str) -> Any:
    """An option whose text is a number or a word."""
    return typer.Option(parser=parser, metavar="<text>", help=help)


# What is released, and from what.
Data = Annotated[
    list[Path],
    typer.Argument(
        help="CSV (with a header), Parquet, Arrow or JSON: files of any size, a folder, or a "
        "pattern in quotes."
    ),
]
Components = Annotated[
    Any, _text(_number_or_word, "Number of directions, or 'auto': those above the noise.")
]
Epsilon = Annotated[float, typer.Option(help="Privacy ε of everything together.")]
Delta = Annotated[float, typer.Option(help="Privacy δ, far below 1 over the rows.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns to use, separated by commas; all if left out. Quote a name with a comma."
    ),
]
Location = Annotated[
    Any,
    _text(
        _numbers_or_word,
        "Centre: 'auto', 'private', 'none' (compare pairs) or public numbers with commas.",
    ),
]
Scale = Annotated[
    Any, _text(_numbers_or_word, "Column scales: 'none', 'private' or public numbers with commas.")
]
ScaleShare = Annotated[float, typer.Option(help="Share of the budget (of μ²) for private scales.")]
Sign = Annotated[str, typer.Option(help="spherical, winsor, trimmed, ball, quad, shell or lr.")]
Radius = Annotated[
    Any,
    _text(_decimal_or_word, "Cut-off of the sign: a number, 'sqrt_d' or 'quantile' (private)."),
]
Quantile = Annotated[float | None, typer.Option(help="Which quantile, with --radius quantile.")]
QuantileShare = Annotated[float, typer.Option(help="Share of ε for a private radius.")]
Pairs = Annotated[Any, _text(_number_or_word, "'auto', 'all', 'halves' or a block size.")]
Calibration = Annotated[
    str, typer.Option(help="'tight', or 'paper' for the larger noise that the paper states.")
]
Variances = Annotated[
    float, typer.Option(help="Share of ε for the components' variances; 0: none.")
]
ScoreMap = Annotated[
    float, typer.Option(help="Share of ε for a private map of the scores; 0: none.")
]
Groups = Annotated[
    str | None,
    typer.Option(help="Map by group: a column and its categories, as sex=female,male."),
]
AssumeShuffled = Annotated[
    bool,
    typer.Option(
        "--assume-shuffled",
        help="Take the rows in the order they have: no secret shuffle, and the guarantee "
        "says that it rests on that order.",
    ),
]
Ledger = Annotated[
    str | None,
    typer.Option(help="Count the spend: sqlite:///budget.db#patients; see gdppca ledger."),
]
Seed = Annotated[int | None, typer.Option(help="Known seed: a simulation that protects nobody.")]

# What is planned.
Rows = Annotated[int, typer.Option(help="Number of rows.")]
ColumnCount = Annotated[int, typer.Option(help="Number of columns.")]
Spectrum = Annotated[
    str | None,
    typer.Option(help="Expected variances: 'spiked:10,5' (the rest 1) or a release file."),
]
ComponentCount = Annotated[int, typer.Option(help="Number of directions.")]
PlannedLocation = Annotated[
    Any,
    _text(_numbers_or_word, "As for fit: 'auto', 'private', 'none' or numbers; or 'public'."),
]
PlannedScale = Annotated[
    Any, _text(_numbers_or_word, "As for fit: 'none', 'private' or numbers; or 'public'.")
]
Target = Annotated[
    float | None, typer.Option(help="Error that is wanted: what ε or how many rows give it?")
]

# What is written.
ReleaseFile = Annotated[Path, typer.Option("--output", "-o", help="Release file to write.")]
PlanFile = Annotated[
    Path | None,
    typer.Option(help="Plan to keep with the release: a file with what plan --json printed."),
]
Plot = Annotated[
    Path | None, typer.Option(help="Also draw spectrum and loadings: a .png, .svg or .pdf file.")
]
PlanPlot = Annotated[
    Path | None, typer.Option(help="Draw error against ε: a .png, .svg or .pdf file.")
]
AuditPlot = Annotated[
    Path | None, typer.Option(help="Draw what was found: a .png, .svg or .pdf file.")
]
Report = Annotated[
    Path | None,
    typer.Option(help="Also write a report for people: an .html file, report.html by itself."),
]
Force = Annotated[bool, typer.Option(help="Overwrite files that exist.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
