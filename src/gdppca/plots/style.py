"""One pencil: colours, figures that need no screen, names as a picture can hold them, and files."""

from __future__ import annotations

import io
import textwrap
import unicodedata
from collections import Counter
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

ENDINGS = (".png", ".svg", ".pdf")  # of files that a figure is written to
LONGEST_COLUMN = 22  # letters: such a name leaves room for bars
_LONGEST_NAME = 32
_SAME_BYTES = {"svg.hashsalt": "gdppca"}  # ids in an SVG are random otherwise
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def new_figure(**options: Any) -> Figure:
    """A figure that needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Plots need matplotlib: pip install matplotlib.") from None
    return Figure(layout="constrained", **options)


def wrapped(sentence: str, width: int = 56) -> str:
    """A sentence in lines that fit above a panel."""
    return textwrap.fill(sentence, width)


def about_intervals(start: str, found: LoadingIntervals, kind: str) -> str:
    """Title of a picture of intervals or regions: what they hold, and for what."""
    return f"{start} {found.level:.0%} {kind} ({found.covers}) for\n{wrapped(found.about)}"


def caption(figure: Figure, *lines: str) -> None:
    """Small print below everything, in lines that fit the figure."""
    width = int(17 * figure.get_size_inches()[0])
    text = "\n".join(wrapped(line, width) for line in lines)
    figure.supxlabel(text, fontsize=7.5, color=GREY, parse_math=False)


def legend(axes: Axes, **options: Any) -> Legend:
    """Names of what is drawn, small and without a frame."""
    return axes.legend(frameon=False, fontsize=8, **options)


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

    Where two would look the same, both keep their names.
    """
    columns = described(release)
    titles = [_short_title(each) for each in columns]
    often = Counter(titles)
    names = [
        title if often[title] == 1 else short(each.name, LONGEST_COLUMN)
        for title, each in zip(titles, columns, strict=True)
    ]
    return marked(release, names)


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
