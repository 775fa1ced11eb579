"""What was measured, as tables and pictures for docs/scaling/."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from gdppca.plots.style import BLUE, GREY, ORANGE, new_figure, open_frame, write_picture

RATIOS = {  # method: against what
    "fit, centre": "PCA",
    "fit, blocks": "PCA",
    "blocks": "products of blocks",
    "all pairs": "two products",
    "double loop": "all pairs",
}
COLOURS = {"PCA": GREY, "fit, blocks": BLUE, "fit, centre": ORANGE}
FROM_ROWS = 10**5  # below, fixed costs hide the growth


def exponent(sizes: list[float], values: list[float]) -> float:
    """Slope of a line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def along(measured: dict, key: str, name: str, **fixed: int) -> tuple[list[int], list[float]]:
    """Sizes and seconds of a method where the other size is fixed."""
    rows = [
        (each[key], each["seconds"][name])
        for each in measured["times"]
        if name in each["seconds"] and all(each[k] == v for k, v in fixed.items())
    ]
    return [size for size, _ in rows], [seconds for _, seconds in rows]


def row_exponent(measured: dict, name: str) -> float:
    """How time grows with the rows, from 100,000 rows on."""
    sizes, seconds = along(measured, "n", name, d=20)
    large = [k for k, size in enumerate(sizes) if size >= FROM_ROWS]
    return exponent([sizes[k] for k in large], [seconds[k] for k in large])


def ratio_rows(measured: dict) -> list[list[str]]:
    """One line of ratios for each size."""
    lines = []
    for each in measured["times"]:
        seconds = each["seconds"]
        ratios = [
            f"{seconds[name] / seconds[other]:.2f}" if {name, other} <= set(seconds) else ""
            for name, other in RATIOS.items()
        ]
        lines.append([f"{each['n']:,}", str(each["d"]), f"{seconds['PCA']:.4f}", *ratios])
    return lines


def peer_rows(measured: dict) -> list[list[str]]:
    """Other libraries: seconds, or why there are none, and the ratio to our default."""
    ours = {(each["n"], each["d"]): each["seconds"]["fit, centre"] for each in measured["times"]}
    lines = []
    for each in measured["peers"]:
        said, ratio = each.get("failed", ""), ""
        if "seconds" in each:
            said = f"{each['seconds']:.3f} s"
            ratio = f"{each['seconds'] / ours[each['n'], each['d']]:.2f}"
        lines.append([each["library"], f"{each['n']:,}", str(each["d"]), said, ratio])
    return lines


def headings() -> list[str]:
    """Of the table of ratios."""
    return ["rows", "columns", "PCA, s", *(f"{name} / {other}" for name, other in RATIOS.items())]


def show(measured: dict, console: Console) -> None:
    """The same on a terminal."""
    table = Table(title="Ratios of times, all taken in turns")
    for heading in headings():
        table.add_column(heading, justify="right")
    for line in ratio_rows(measured):
        table.add_row(*line)
    console.print(table)
    sizes, _ = along(measured, "n", "PCA", d=20)
    if sum(size >= FROM_ROWS for size in sizes) > 1:
        for name in COLOURS:
            console.print(f"{name}: time grows with rows to the {row_exponent(measured, name):.3f}")
    for line in peer_rows(measured):
        console.print("{}, {} × {}: {}; / fit, centre: {}".format(*line))


def store(measured: dict, folder: Path) -> None:
    """Numbers, a table and two pictures."""
    folder.mkdir(exist_ok=True)
    (folder / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
    (folder / "table.md").write_text(_markdown(measured))
    (folder / "cluster.md").write_text(cluster_page(measured))
    write_picture(figure_of_time(measured), folder / "time.svg")
    write_picture(figure_of_memory(measured), folder / "memory.svg")


def _markdown(measured: dict) -> str:
    machine = measured["machine"]
    lines = [
        f"Measured on {machine['cores']} cores of {machine['processor']}, Python "
        f"{machine['python']}, numpy {machine['numpy']}, blocks of {machine['block']}"
        f"{_said_of_load(machine)}.",
        "",
        "| " + " | ".join(headings()) + " |",
        "|" + "---:|" * len(headings()),
        *("| " + " | ".join(line) + " |" for line in ratio_rows(measured)),
        "",
        "| another private PCA | rows | columns | time | / fit, centre |",
        "|---|---:|---:|---:|---:|",
        *("| " + " | ".join(line) + " |" for line in peer_rows(measured)),
    ]
    return "\n".join(lines) + "\n"


def _said_of_load(machine: dict) -> str:
    """What else ran; figures of an earlier version do not tell."""
    if "load" not in machine:
        return ""
    return f", vectors {machine['vectors']}, load of others {machine['load']:g} per core"


def cluster_page(measured: dict) -> str:
    """What many rows would take on many cores, from the measured rates, with the arithmetic."""
    cores = measured["machine"]["cores"]
    lines = []
    for name, way, what in (
        ("fit, centre", "centre", "Around a private centre (the default)"),
        ("fit, blocks", "blocks", "Pairs in blocks, with the shuffle"),
    ):
        [n], [seconds] = along(measured, "n", name, d=20, n=10**7)
        rate = n / seconds / cores
        file = max((each for each in measured["streams"] if each["way"] == way), key=_rows)
        read = file["n"] / file["seconds"] / cores
        lines += [
            f"**{what}.** In memory {n:,} rows of 20 columns took {seconds:.2f} s on {cores} "
            f"cores: "
            f"{n:,} / {seconds:.2f} / {cores} = {rate / 1e6:.2f} million rows a second and core. "
            f"From a Parquet file {file['n']:,} rows took {file['seconds']:.0f} s, reading"
            f"{' and sorting' if way == 'blocks' else ''} included, with a peak of "
            f"{file['peak'] / 1024:.2f} GB: {file['n']:,} / {file['seconds']:.0f} / {cores} = "
            f"{read / 1e6:.2f} million rows a second and core.",
            "",
            "| rows | bytes | cores | arithmetic | time |",
            "|---|---|---:|---|---:|",
        ]
        for rows, many in ((10**9, 64), (10**11, 1024)):
            took = rows / (read * many)
            lines.append(
                f"| {rows:.0e} | {rows * 160 / 1e12:.2g} TB | {many} | {rows:.0e} / "
                f"({read / 1e6:.2f}e6 × {many}) | {_spoken(took)} |"
            )
        lines.append("")
    return "\n".join(lines)


def _rows(each: dict) -> int:
    return each["n"]


def _spoken(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def figure_of_time(measured: dict) -> Any:
    """Time against rows and against columns, with the slopes."""

    def slope(name: str, key: str, sizes: Any, seconds: Any) -> float:
        return row_exponent(measured, name) if key == "n" else exponent(sizes[-3:], seconds[-3:])

    return _by_rows_and_columns(
        lambda name, key, fixed: along(measured, key, name, **fixed), slope, "seconds"
    )


def figure_of_memory(measured: dict) -> Any:
    """Memory beside the table against rows and against columns."""

    def points(name: str, key: str, fixed: dict) -> Any:
        wanted = {"method": name} | fixed
        found = [each for each in measured["memory"] if wanted.items() <= each.items()]
        return zip(*((each[key], max(each["megabytes"], 0.1)) for each in found), strict=True)

    def slope(name: str, key: str, sizes: Any, values: Any) -> float:
        return exponent(sizes[-3:], values[-3:])

    return _by_rows_and_columns(points, slope, "megabytes beside the table")


def _by_rows_and_columns(points: Callable[..., Any], slope: Callable[..., float], what: str) -> Any:
    """One panel against rows and one against columns, a line with its slope for every method."""
    figure = new_figure(figsize=(9, 4))
    by_rows, by_columns = figure.subplots(1, 2)
    ways = ((by_rows, "n", "rows", {"d": 20}), (by_columns, "d", "columns", {"n": 20_000}))
    for name, colour in COLOURS.items():
        for axes, key, word, fixed in ways:
            sizes, values = points(name, key, fixed)
            label = f"{name}: {word} to the {slope(name, key, sizes, values):.2f}"
            axes.loglog(sizes, values, "o-", color=colour, label=label)
    by_rows.set(xlabel="rows, 20 columns", ylabel=what)
    by_columns.set(xlabel="columns, 20,000 rows")
    _plain(by_rows, by_columns)
    return figure


def _plain(*axes: Any) -> None:
    for each in axes:
        each.grid(alpha=0.3)
        open_frame(each)
        each.legend(frameon=False, fontsize=8)
