"""A release as the terminal shows it."""

from __future__ import annotations

import numpy as np
from rich.console import Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from gdppca.cli.show import in_options
from gdppca.linalg import eigenvalues_descending
from gdppca.privacy import words
from gdppca.releases import Release, marked_names
from gdppca.theory import noise_band

_SHOWN_LOADINGS = 6


def summary(release: Release) -> Group:
    """What was promised, and the directions, as a person reads them."""
    doubts = [f"[yellow]Doubtful:[/] {escape(in_options(doubt))}" for doubt in release.doubts]
    return Group(_promise(release), *doubts, _directions(release))


def _promise(release: Release) -> Panel:
    guarantee = release.guarantee
    lines = [
        str(guarantee),
        f"{release.n_samples} rows, {release.n_features} columns; "
        f"{_how(release)}noise sd {release.noise_sd:.4g}",
    ]
    if guarantee.protects:
        said = f"{words.meaning(guarantee)} {words.examples(guarantee)}".rstrip()
        lines += ["", said.replace("\N{NO-BREAK SPACE}", " ")]  # not every terminal has it
        lines += ["", *(f"Assumed: {assumption}" for assumption in guarantee.assumptions)]
    title = "What is promised" if guarantee.protects else "Nothing is promised"
    return Panel("\n".join(escape(line) for line in lines), title=title, title_align="left")


def _how(release: Release) -> str:
    if release.sign is None or release.scheme is None:
        return f"{release.method}, "
    cut_offs = ", ".join(f"{k} {v:.4g}" for k, v in release.sign["parameters"].items())
    sign = release.sign["name"] + (f" ({cut_offs})" if cut_offs else "")
    return f"sign {sign}, {_compared(release)}, "


def _compared(release: Release) -> str:
    """What rows were compared with, in words."""
    scheme = release.scheme or {}
    match scheme["name"]:
        case "one-sample":
            drawn = {event.purpose for event in release.guarantee.events}
            return f"around a {'private' if 'centre' in drawn else 'public'} centre"
        case "merged":
            return f"merged from {scheme['groups']} groups"
        case "blocks":
            return f"pairs in blocks of {scheme['size']}"
        case name:
            return f"pairs {name}"


def _directions(release: Release) -> Table | str:
    if not len(release.components):
        return "No direction stands above the noise."
    if release.scatter is None:
        return "The method released directions only."
    values = eigenvalues_descending(release.scatter)
    _, edge = noise_band(values, release.noise_sd, release.n_samples, release.centre_bias)
    names = marked_names(release)
    table = Table(title="Directions", title_justify="left")
    table.add_column("component", justify="right")
    table.add_column("eigenvalue", justify="right")
    table.add_column("above noise?", justify="right")
    table.add_column("largest loadings")
    for k, component in enumerate(release.components):
        heaviest = np.argsort(-np.abs(component))[:_SHOWN_LOADINGS]
        named = ", ".join(f"{names[j]} {component[j]:+.2f}" for j in heaviest)
        clear = "yes" if values[k] > edge else "NO"
        table.add_row(str(k + 1), f"{values[k]:.4f}", f"{clear} ({edge:.4f})", escape(named))
    if values[len(release.components) - 1] <= edge:
        table.caption = "Do not read anything into a component that is not above the noise."
    return table
