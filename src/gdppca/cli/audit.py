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
from gdppca.cli.show import console, late_progress
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
    if plot is not None:
        console.print(f"Plot: {plot}", soft_wrap=True, markup=False)
    return found


def list_methods() -> None:
    """Name everything that can be audited, one per line."""
    for name in METHODS:
        typer.echo(name)


def _numbers(found: AuditResult) -> Table:
    table = Table()
    table.add_column("")
    table.add_column("epsilon", justify="right")
    table.add_column("mu", justify="right")
    table.add_row("claimed", f"{found.claimed_epsilon:.4g}", f"{found.claimed_mu:.4g}")
    table.add_row(
        "lower bound, any law of the scores", f"{found.epsilon_lower:.4g}", f"{found.mu_lower:.4g}"
    )
    if found.claim.is_gaussian:
        table.add_row(
            "lower bound if the scores are normal",
            f"{found.epsilon_lower_if_normal:.4g}",
            f"{found.mu_lower_if_normal:.4g}",
        )
    table.caption = f"Confidence {found.confidence:g}, {found.runs} runs."
    return table
