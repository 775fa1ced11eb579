"""How `gdppca audit` speaks."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from gdppca import _validate
from gdppca.auditing import METHODS, AuditResult, audit
from gdppca.cli.show import RIGHT, console, late_progress, tell_files
from gdppca.plots.style import require_ending, write_picture


def run_audit(
    method: str = "dppca",
    *,
    epsilon: float = 4.0,
    delta: float = 1e-6,
    runs: int | None = None,
    confidence: float = 0.9999,
    plot: Path | None = None,
    as_json: bool = False,
) -> AuditResult:
    """Audit a method by name and tell the result, as a person reads it or as JSON; no file."""
    if plot is not None:
        require_ending(plot)
    make = METHODS[_validate.one_of(METHODS, method=method)]
    with late_progress(f"auditing {method}") as progress:
        what = make(_validate.finite_positive(epsilon=epsilon), _validate.fraction(delta=delta))
        found = audit(what, runs=runs, confidence=confidence, progress=progress)
    if plot is not None:
        write_picture(found.figure(), plot)
    if as_json:
        typer.echo(json.dumps({"audited": method, **found.to_dict()}))
        return found
    told = "\n".join(map(escape, found.sentences))
    console.print(Panel(told, title=f"Audit of {escape(method)}", title_align="left"))
    console.print(_numbers(found))
    tell_files(Plot=plot)
    return found


def list_methods() -> None:
    """Name everything that can be audited, one per line."""
    for name in METHODS:
        typer.echo(name)


def _numbers(found: AuditResult) -> Table:
    caption = f"Confidence {found.confidence:g}, {found.runs} runs."
    table = Table("", RIGHT("epsilon"), RIGHT("mu"), caption=caption)
    rows = {
        "claimed": (found.claimed_epsilon, found.claimed_mu),
        "lower bound, any law of the scores": (found.epsilon_lower, found.mu_lower),
    }
    if found.claim.is_gaussian:
        normal = (found.epsilon_lower_if_normal, found.mu_lower_if_normal)
        rows["lower bound if the scores are normal"] = normal
    for what, numbers in rows.items():
        table.add_row(what, *(f"{number:.4g}" for number in numbers))
    return table
