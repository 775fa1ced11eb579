"""How `gdppca plan` speaks."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import typer
from rich.console import Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Column, Table

from gdppca._errors import ParameterError
from gdppca.cli.options import without_unused
from gdppca.cli.show import RIGHT, console, in_options, tell_files
from gdppca.planning import Plan, plan
from gdppca.plots.curve import plan_figure
from gdppca.plots.style import require_ending, write_picture

_LADDER = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_BAR = 40  # characters for an error of one
_EIGHTHS = " ▏▎▍▌▋▊▉"
Needed = dict[str, float | int | None]

_RANKS = ("1st", "2nd", "3rd")  # components shown one by one


def show_plan(
    rows: int,
    columns: int | None = None,
    *,
    table: Path | None = None,
    components: int = 2,
    location: Any = "auto",
    target: float | None = None,
    plot: Path | None = None,
    as_json: bool = False,
    **parameters: Any,
) -> None:
    """Tell what accuracy a budget will buy, as a person reads it or as JSON; no file of rows.

    Other parameters are those of `gdppca.plan`.
    """
    parameters = without_unused(parameters)
    if plot is not None:
        require_ending(plot)
    if columns is None and table is None:
        raise ParameterError("Give `--columns`, or a description that tells them: `--table`.")
    parameters |= {"location": None if location == "none" else location, "description": table}
    ahead = plan(rows, columns, n_components=components, **parameters)
    needed = {} if target is None else _needed(ahead, target)
    if plot is not None:
        write_picture(plan_figure(ahead, target), plot)
    if as_json:
        typer.echo(json.dumps(_plain(ahead, target, needed)))
        return
    console.print(Group(_told(ahead), _ways(ahead), _curve(ahead)))
    for sentence in _advice(ahead, target, needed):
        console.print(escape(sentence), soft_wrap=True)
    tell_files(Plot=plot)


def _needed(ahead: Plan, target: float) -> Needed:
    """What it takes to reach the target: ε, or rows; None where it is out of reach."""
    needed: Needed = {}
    for of in ("epsilon", "n_samples"):
        try:
            needed[of] = ahead.required(target, of=of)
        except ParameterError:
            if not 0 < target < 1:
                raise
            needed[of] = None
    return needed


def _told(ahead: Plan) -> Panel:
    budget = "without noise" if math.isinf(ahead.epsilon) else f"epsilon = {ahead.epsilon:g}"
    lines = [
        f"{ahead.n_samples} {ahead.who}, {ahead.n_features} columns, {budget}, "
        f"delta = {ahead.delta:g}; {ahead.way}, noise sd {ahead.noise_sd:.4g}",
        ahead.budget,
        "",
        *ahead.sentences,
        "Nothing is spent: no row was seen.",
    ]
    return Panel(
        "\n".join(escape(in_options(line)) for line in lines),
        title="What to expect",
        title_align="left",
    )


def _ways(ahead: Plan) -> Table:
    table = Table(
        Column(no_wrap=True),
        *map(RIGHT, ("sin Θ", *_RANKS[: ahead.n_components], "above noise")),
        title="Ways to compare rows",
        title_justify="left",
        caption="Sine of the angle to the truth, together and one by one: 0 perfect, 1 worthless.",
    )
    for way, other in ahead.compare().items():
        name = f"{way} (doubtful)" if other.doubtful else way
        sines = (f"{sine:.2f}" for sine in (other.sin_theta, *other.per_component[: len(_RANKS)]))
        chosen = "bold" if way == ahead.way else ""
        table.add_row(name, *sines, str(other.detectable), style=chosen)
    return table


def _curve(ahead: Plan) -> Table:
    head = (RIGHT("epsilon"), RIGHT("sin Θ"), "")
    table = Table(*head, title="Error against epsilon", title_justify="left", box=None)
    epsilons = _steps(ahead.epsilon)
    for epsilon, error in zip(epsilons, ahead.curve(epsilons), strict=True):
        chosen = "bold cyan" if epsilon == ahead.epsilon else ""
        table.add_row(f"{epsilon:g}", f"{error:.2f}", _bar(error), style=chosen)
    return table


def _steps(epsilon: float) -> list[float]:
    """Round numbers around ε, and ε itself."""
    if math.isinf(epsilon):
        return list(_LADDER)
    near = [step for step in _LADDER if epsilon / 12 <= step <= 12 * epsilon]
    return sorted({*near, epsilon})


def _bar(error: float) -> str:
    whole, part = divmod(round(8 * _BAR * error), 8)
    return "█" * whole + _EIGHTHS[part].strip()


def _advice(ahead: Plan, target: float | None, needed: Needed) -> list[str]:
    if target is None:
        return []
    epsilon, rows = needed["epsilon"], needed["n_samples"]
    told = f"No epsilon brings sin Θ to {target:g} with {ahead.n_samples} {ahead.who}."
    if epsilon is not None:
        told = f"epsilon = {epsilon:g} would bring sin Θ to {target:g}."
    return [told] if rows is None else [told, f"At the planned budget, {rows:,} {ahead.who} would."]


def _plain(ahead: Plan, target: float | None, needed: Needed) -> dict[str, Any]:
    epsilons = _steps(ahead.epsilon)
    return {
        **ahead.to_dict(),
        "doubts": ahead.doubts,
        "ways": {way: other.sin_theta for way, other in ahead.compare().items()},
        "curve": {"epsilon": epsilons, "sin_theta": ahead.curve(epsilons).tolist()},
        "target": target,
        "required": needed or None,
    }
