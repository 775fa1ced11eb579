"""One pencil: colours, figures that need no screen, names as a picture can hold them, and files."""

from __future__ import annotations

import io
import math
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gdppca._errors import MissingExtraError, ParameterError
from gdppca.releases import Release, write_whole
from gdppca.releases.described import Described, described
from gdppca.releases.words import marked
from gdppca.theory import LoadingIntervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# Okabe and Ito: safe for the colour-blind.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
YELLOW, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#6E6E6E"
COLOURS = (BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, BLACK)  # of groups

SMALL, SMALLEST = 8.0, 7.5  # points: names and legends; what is said below a figure
Size = tuple[float, float]  # inches, across and up

ENDINGS = (".png", ".svg", ".pdf")  # of files that a figure is written to
LONGEST_COLUMN = 22  # letters: such a name leaves room for bars
_LONGEST_NAME = 32
_LETTER = 0.1  # inches that a letter of a title takes, and its share of the margins
_LONG_WORD = 8  # letters by which lines of a title may differ
_LEGENDS: dict[str, Any] = {  # place, anchor, distance in letters: below stand ticks and a label
    "below": ("upper center", (0.5, 0.0), 4.5),
    "above": ("lower center", (0.5, 1.0), 0.5),
    "beside": ("upper left", (1.0, 1.0), 0.5),
}
_SAME_BYTES = {"svg.hashsalt": "gdppca"}  # ids in an SVG are random otherwise
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def new_figure(**options: Any) -> Figure:
    """A figure that needs no screen."""
    try:
        import matplotlib.figure  # noqa: F401

        from gdppca.plots.shown import Shown
    except ImportError:
        raise MissingExtraError("Plots need matplotlib: pip install matplotlib.") from None
    return Shown(layout="constrained", **{"dpi": 150} | options)


def axes_for(ax: Axes | None, size: Size | None, usual: Size) -> Axes:
    """The axes that were given, or those of a new figure of this size or the usual one."""
    if ax is None:
        drawn: Axes = new_figure(figsize=size or usual).subplots()
        return drawn
    if size is not None:
        raise ParameterError("`size` is that of a new figure; it must be None where `ax` is given.")
    return ax


def wrapped(sentence: str, width: int = 56) -> str:
    """A sentence in lines that fit above a panel, all of about the same length."""
    lines = math.ceil(len(sentence) / width)
    even = textwrap.fill(sentence, min(width, len(sentence) // max(lines, 1) + _LONG_WORD))
    return even if even.count("\n") < lines else textwrap.fill(sentence, width)


def about_intervals(start: str, found: LoadingIntervals, kind: str) -> str:
    """Title of a picture of intervals or regions: what they hold."""
    return f"{start} {found.level:.0%} {kind} ({found.covers})"


def aim_in_words(found: LoadingIntervals, kind: str) -> str:
    """What the intervals or regions of a picture are about, as a sentence below the figure."""
    return f"The {kind} are for {found.about}." if found.above_noise else ""


def title(axes: Axes, words: str) -> None:
    """What a panel shows, in lines that fit above it."""
    panel = axes.get_subplotspec()
    across = panel.get_gridspec().ncols if panel is not None else 1
    room = axes.figure.bbox.width / axes.figure.dpi / across / _LETTER
    lines = wrapped(words, int(min(max(room, 16), 56)))
    axes.set_title(lines, fontsize=10, pad=8, parse_math=False)


def caption(figure: Figure, *lines: str) -> None:
    """Small print below everything, in lines that fit the figure."""
    width = int(17 * figure.get_size_inches()[0])
    text = "\n".join(wrapped(line, width) for line in lines if line)
    figure.supxlabel(text, fontsize=SMALLEST, color=GREY, parse_math=False)


def legend(axes: Axes, where: str | None = None, **options: Any) -> Legend:
    """Names of what is drawn, small and without a frame; below, above or beside the panel."""
    if where is not None:
        place, at, apart = _LEGENDS[where]
        options |= {"loc": place, "bbox_to_anchor": at, "borderaxespad": apart}
    return axes.legend(frameon=False, fontsize=SMALL, **options)


def halo() -> list[Any]:
    """A white rim: names and arrows may lie on a dark map."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3, foreground="white")]


def open_frame(axes: Axes) -> None:
    """Left and bottom lines only."""
    axes.spines[["top", "right"]].set_visible(False)


def short(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name as a picture can hold it: one line, printable, not too long."""
    line = "".join(
        "\N{REPLACEMENT CHARACTER}" if _unprintable(letter) else letter
        for letter in " ".join(name.split())
    )
    return line if len(line) <= longest else line[: longest - 1] + "…"


def column_labels(release: Release) -> tuple[str, ...]:
    """Columns by their labels, short, with a word beside those whose scale is in doubt.

    Where two would look the same, both keep their names, cut in the middle if they are long, and
    a number where that leaves nothing to tell them apart.
    """
    columns = described(release)
    titles = _told_apart([_short_title(each) for each in columns], [each.name for each in columns])
    return marked(release, titles)


def _told_apart(titles: list[str], names: Sequence[str]) -> list[str]:
    """Each title once: others take the start and the end of their names, or a number at last."""
    by_name = [name if len(name) <= LONGEST_COLUMN else _ends(name) for name in names]
    for instead in (by_name, [f"{_ends(name, 16)} [{j}]" for j, name in enumerate(names, 1)]):
        often = Counter(titles)
        titles = [
            title if often[title] == 1 else short(other)
            for title, other in zip(titles, instead, strict=True)
        ]
    return titles


def _ends(name: str, longest: int = LONGEST_COLUMN) -> str:
    """The start and the end of a long name: what is alike is often the start."""
    line = short(name, 10_000)
    return line if len(line) <= longest else f"{line[: longest // 2 - 1]}…{line[-longest // 2 :]}"


def _short_title(each: Described) -> str:
    """What a column is called, cut where it tells least: a level is read to its end if it can."""
    variable, level = short(each.heading, 1000), short(each.level, 1000)
    room = LONGEST_COLUMN - len(each.joint)
    if not level or len(variable) + len(level) <= room:
        return short(each.title, LONGEST_COLUMN)
    for_level = min(len(level), max(room // 2, room - len(variable)))
    return short(variable, room - for_level) + each.joint + short(level, for_level)


def _unprintable(letter: str) -> bool:
    """Control characters, surrogates and the like, which XML cannot hold or which turn text."""
    return unicodedata.category(letter)[0] in "CZ" and letter != " "


def picture(figure: Figure, kind: str, **options: Any) -> bytes:
    """The figure as the bytes of a png, svg or pdf file: the same figure, the same bytes."""
    from matplotlib import rc_context

    drawn = io.BytesIO()
    with rc_context(_SAME_BYTES):
        figure.savefig(drawn, format=kind, metadata=_UNDATED[kind], **options)
    return drawn.getvalue()


def require_ending(path: Path, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse a file whose name says that it is of another kind than a figure, or a page."""
    if path.suffix.lower() not in endings:
        raise ParameterError(f"'{path}' must end in {', '.join(endings)}.")


def write_picture(figure: Figure, path: Path) -> None:
    """Write a figure to a file, whole or not at all."""
    write_whole(path, picture(figure, path.suffix.lower().lstrip(".")))
