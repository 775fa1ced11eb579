"""A release as the terminal shows it."""

from __future__ import annotations

from rich.console import Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from gdppca._words import counted
from gdppca.cli.show import RIGHT, in_options
from gdppca.privacy import words
from gdppca.releases import Release, marked_names, seen_spectrum
from gdppca.releases.words import (
    how_many,
    loadings_in_words,
    named_columns,
    pairs_in_words,
    sign_name,
    standing_in_words,
)

_SHOWN_LOADINGS = 6


def summary(release: Release) -> Group:
    """What was promised, and the directions, as a person reads them."""
    doubts = [f"[yellow]Doubtful:[/] {escape(in_options(doubt))}" for doubt in release.doubts]
    return Group(_promise(release), *doubts, _directions(release))


def _promise(release: Release) -> Panel:
    guarantee = release.guarantee
    lines = [
        str(guarantee),
        f"{how_many(release)}, {counted(release.n_features, 'column')}; "
        f"{_how(release)}; noise sd {release.noise_sd:.4g}",
    ]
    if guarantee.protects:
        said = words.told(guarantee)
        lines += ["", said.replace("\N{NO-BREAK SPACE}", " ")]  # not every terminal has it
        lines += ["", *(f"Assumed: {assumption}" for assumption in guarantee.assumptions)]
    title = "What is promised" if guarantee.protects else "Nothing is promised"
    return Panel("\n".join(escape(line) for line in lines), title=title, title_align="left")


def _how(release: Release) -> str:
    if release.sign is None or release.scheme is None:
        return release.method
    return f"{sign_name(release)}, comparing {pairs_in_words(release)}"


def _directions(release: Release) -> Table | str:
    m, seen = len(release.components), seen_spectrum(release)
    if not m:
        return standing_in_words(0, 0)
    if seen is None:
        return "The method released directions only."
    names, said = marked_names(release), loadings_in_words(release)
    table = Table(
        *map(RIGHT, ("component", "eigenvalue", "above noise?")),
        "largest loadings",
        title="Directions",
        title_justify="left",
        caption=" ".join(filter(None, (standing_in_words(m, seen.clear), said))),
    )
    for k, component in enumerate(release.components):
        heaviest = named_columns(release, k)[:_SHOWN_LOADINGS]
        named = ", ".join(f"{names[j]} {component[j]:+.2f}" for j in heaviest)
        clear = f"{'yes' if seen.is_clear(k) else 'NO'} ({seen.high:.4f})"
        table.add_row(str(k + 1), f"{seen.values[k]:.4f}", clear, escape(named))
    return table
