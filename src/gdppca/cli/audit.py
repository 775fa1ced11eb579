"""How `gdppca audit` speaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.auditing import METHODS, AuditResult, ReleaseAudit, audit
from gdppca.cli.show import RIGHT, console, late_progress, tell_files
from gdppca.plots.style import require_ending, write_picture
from gdppca.releases import Release

_USUAL, _EPSILON, _DELTA = "dppca", 4.0, 1e-6


def run_audit(
    method: str | None = None,
    *,
    release: Path | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    runs: int | None = None,
    confidence: float = 0.9999,
    plot: Path | None = None,
    as_json: bool = False,
) -> AuditResult:
    """Audit a method by name, or a release, and tell the result; as a person reads it or JSON."""
    if plot is not None:
        require_ending(plot)
    if release is None:
        name, what = method or _USUAL, _made(method or _USUAL, epsilon, delta)
    else:
        _require_alone(method=method, epsilon=epsilon, delta=delta)
        name, what = str(release), Release.load(release)
    with late_progress(f"auditing {name}") as progress:
        found = audit(what, runs=runs, confidence=confidence, progress=progress)
    if plot is not None:
        write_picture(found.figure(), plot)
    if as_json:
        typer.echo(json.dumps({"audited": name, **found.to_dict()}))
        return found
    told = "\n".join(map(escape, found.sentences))
    console.print(Panel(told, title=f"Audit of {escape(name)}", title_align="left"))
    console.print(_numbers(found))
    tell_files(Plot=plot)
    return found


def _made(method: str, epsilon: float | None, delta: float | None) -> Any:
    """What is audited under a name."""
    make = METHODS[_validate.one_of(METHODS, method=method)]
    asked = {"epsilon": _EPSILON if epsilon is None else epsilon}
    fraction = {"delta": _DELTA if delta is None else delta}
    return make(_validate.finite_positive(**asked), _validate.fraction(**fraction))


def _require_alone(**said: Any) -> None:
    """A release says itself what it promises."""
    for name, value in said.items():
        if value is not None:
            raise ParameterError(
                f"`--{name}` does not go with `--release`, which says what was promised: leave it "
                "out."
            )


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
    if isinstance(found, ReleaseAudit):
        reachable = (found.epsilon_reachable, found.mu_reachable)
        rows["lower bound without any slack, as many runs"] = reachable
    if found.claim.is_gaussian:
        normal = (found.epsilon_lower_if_normal, found.mu_lower_if_normal)
        rows["lower bound if the scores are normal"] = normal
    for what, numbers in rows.items():
        table.add_row(what, *(f"{number:.4g}" for number in numbers))
    return table
