"""Names beside points that never cover each other, at whatever size a picture is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.text import Annotation, Text

from gdppca.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAP = 3.0  # points between a name and what it names
_FAR = 9.0  # points; a name that is farther away is joined to its point by a line
_WAYS = 24  # directions in which room is looked for
_STEPS = np.array([1.0, 2, 4, 7, 11, 16, 22, 29, 37])  # gaps away from the point
_ROUNDS = 3  # every name is put down again, seeing where the others ended
_PRICES = {"turned": 6.0, "crossed": 25.0, "led": 15.0}  # in gaps: a turn, a line below, a crossing


def name_points(
    axes: Axes,
    points: Any,
    names: Sequence[str],
    *,
    origin: tuple[float, float] | None = None,
    lines: Any = (),
    **look: Any,
) -> None:
    """Write a name beside each point of the data; none covers another or leaves the frame.

    Where there is no room beside it a name is joined to its point by a thin line, and in a picture
    that is too small for all it is left out. Names stand on the side that looks away from the
    `origin`, and rather not on `lines`, pairs of points of the data.
    """
    points = np.reshape(np.asarray(points, dtype=float), (-1, 2))
    lines = np.reshape(np.asarray(lines, dtype=float), (-1, 2, 2))
    look = {
        "ha": "center",
        "va": "center",
        "fontsize": style.SMALL,
        "path_effects": style.halo(),
    } | look
    joined = {"arrowstyle": "-", "color": style.GREY, "lw": 0.6, "shrinkA": 1, "shrinkB": 1}
    written = [
        axes.annotate(
            name, point, (0, 0), textcoords="offset points", arrowprops=joined, parse_math=False,
            annotation_clip=False, in_layout=False, **look,
        )
        for name, point in zip(names, points, strict=True)
    ]  # fmt: skip
    axes.add_artist(_Placer(written, lines, origin))


class _Placer(Artist):
    """Drawn before the names, when sizes are known at last: puts them where there is room."""

    zorder = -1.0

    def __init__(
        self, names: list[Annotation], lines: np.ndarray, origin: tuple[float, float] | None
    ) -> None:
        super().__init__()
        self.set_in_layout(False)
        self._names, self._lines, self._origin = names, lines, origin

    def draw(self, renderer: Any) -> None:
        """Put every name where it has room, in points of print, whatever a point is here."""
        axes = self.axes
        if axes is None or not self._names:
            return
        point = renderer.points_to_pixels(1.0)

        def drawn(data: Any) -> np.ndarray:
            flat = np.reshape(np.asarray(data, dtype=float), (-1, 2))
            return np.reshape(axes.transData.transform(flat) / point, np.shape(data))

        for name in self._names:
            name.set_visible(True)  # what is not seen has no size
        boxes = [Text.get_window_extent(name, renderer) for name in self._names]
        sizes = np.array([(box.width, box.height) for box in boxes]) / point
        tips = drawn([name.xy for name in self._names])
        frame = axes.get_window_extent(renderer).get_points() / point
        origin = None if self._origin is None else drawn(self._origin)
        found = places(sizes, tips, frame, drawn(self._lines), origin)
        for name, size, away in zip(self._names, sizes, found - tips, strict=True):
            name.set_visible(bool(np.isfinite(away).all()))
            name.set_position(tuple(away))
            apart = np.hypot(*np.maximum(np.abs(away) - size / 2, 0))
            if name.arrow_patch is not None:
                name.arrow_patch.set_visible(bool(apart > _FAR))


def places(
    sizes: np.ndarray,
    tips: np.ndarray,
    frame: np.ndarray,
    lines: np.ndarray,
    origin: np.ndarray | None = None,
) -> np.ndarray:
    """Middles of boxes of these sizes near their tips; not a number where one has no room.

    Boxes are inside the frame (its lower left and upper right corner) and apart from each other.
    Among such places those are taken that are near, that no line and no other tip lies below, and
    that look away from the origin.
    """
    found = np.full(tips.shape, np.nan)
    lines = np.concatenate([lines, np.stack([tips, tips], axis=1)])
    for _ in range(_ROUNDS):
        for k, (tip, size) in enumerate(zip(tips, sizes, strict=True)):
            known = np.isfinite(found[:, 0]) & (np.arange(len(tips)) != k)
            tried, prices = _candidates(size, tip, frame, origin)
            free = _free(tried, size, found[known], sizes[known], frame)
            tried, prices = tried[free], prices[free]
            prices += _PRICES["crossed"] * _touched(tried, size, lines).sum(axis=1)
            prices += _PRICES["led"] * _between(tried, tip, found[known], sizes[known])
            found[k] = tried[prices.argmin()] if len(tried) else np.nan
    return found


def _candidates(
    size: np.ndarray, tip: np.ndarray, frame: np.ndarray, origin: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Places around a tip, then over the whole frame, and how far each is in gaps."""
    out = np.zeros(2) if origin is None else tip - origin
    first = np.arctan2(out[1], out[0]) if out.any() else np.pi / 2
    angles = first + np.linspace(0, 2 * np.pi, _WAYS, endpoint=False)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    around = tip + ways[:, None, :] * (size / 2 + _GAP * _STEPS[None, :, None])
    turned = _PRICES["turned"] * (1 - ways @ ways[0]) / 2
    prices = (_STEPS[None, :] + turned[:, None]).ravel()
    across = [
        np.linspace(low, high, 24)
        for low, high in zip(frame[0] + size / 2, frame[1] - size / 2, strict=True)
    ]
    grid = np.stack(np.meshgrid(*across), axis=-1).reshape(-1, 2)
    apart = np.hypot(*(grid - tip).T) / _GAP
    return np.concatenate([around.reshape(-1, 2), grid]), np.concatenate([prices, 10 + apart])


def _free(
    middles: np.ndarray, size: np.ndarray, placed: np.ndarray, sizes: np.ndarray, frame: np.ndarray
) -> np.ndarray:
    """Which boxes are inside the frame and a point or more apart from those that are placed."""
    inside = (middles - size / 2 >= frame[0]) & (middles + size / 2 <= frame[1])
    apart = np.abs(middles[:, None] - placed[None]) - (size + sizes[None]) / 2 >= 1.0
    return np.asarray(inside.all(axis=1) & apart.any(axis=2).all(axis=1))


def _touched(middles: np.ndarray, size: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """For each box and each line whether the line enters the box: cut at its sides, is it left?"""
    starts, step = lines[None, :, 0], (lines[:, 1] - lines[:, 0])[None]
    low, high = (middles[:, None] + side * (size / 2 + 1.0) for side in (-1, 1))
    within = (starts >= low) & (starts <= high)  # tells where a line runs along the box
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = np.sort([(low - starts) / step, (high - starts) / step], axis=0)
    along = np.broadcast_to(step == 0, within.shape)
    enter = np.where(along, np.where(within, -np.inf, np.inf), cuts[0]).max(axis=2)
    leave = np.where(along, np.where(within, np.inf, -np.inf), cuts[1]).min(axis=2)
    return np.asarray(np.maximum(enter, 0.0) <= np.minimum(leave, 1.0))


def _between(
    middles: np.ndarray, tip: np.ndarray, placed: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """How many of the placed boxes lie between each middle and the tip."""
    ways = np.stack([middles, np.broadcast_to(tip, middles.shape)], axis=1)
    return sum(
        (_touched(box[None], size, ways)[0] for box, size in zip(placed, sizes, strict=True)),
        start=np.zeros(len(middles)),
    )
