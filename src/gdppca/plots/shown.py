"""A figure that needs no screen and that a notebook shows all the same."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from gdppca.plots import style

_POINTS_PER_INCH = 72


class Shown(Figure):
    """As matplotlib's own; but a notebook shows it without pyplot, sharp and not too large."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        wide, high = (round(_POINTS_PER_INCH * inches) for inches in self.get_size_inches())
        return style.picture(self, "png"), {"width": wide, "height": high}
