"""One pencil: the same figure gives the same file, whatever stands in it."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError
from gdppca.plots import biplot_figure, release_figure
from gdppca.plots.style import ENDINGS, column_labels, picture, require_ending, short
from gdppca.plots.style import write_picture as write

HOSTILE = ("$\\frac{$", "two\nlines", "\x00\u202eback\ud800", "x" * 80)


@pytest.fixture(scope="module")
def release():
    X = np.random.default_rng(0).normal(size=(1000, 4)) * [5, 3, 1, 1]
    return DPPCA(2, random_state=0).fit(X).release_


@pytest.mark.parametrize("ending", ENDINGS)
def test_same_release_gives_the_same_file(release, ending, tmp_path):
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending.upper()}"
    for path in (first, second):
        write(release_figure(release), path)
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert first.read_bytes().startswith(starts[ending])
    assert first.read_bytes() == second.read_bytes()


def test_other_endings_are_refused_by_name():
    for name in ("a.PNG", "b.svg"):
        require_ending(Path(name))
    with pytest.raises(ParameterError, match=r"'plot\.bmp' must end in \.png, \.svg, \.pdf\."):
        require_ending(Path("plot.bmp"))


def test_names_become_one_short_printable_line():
    replaced = "\N{REPLACEMENT CHARACTER}"
    assert [short(name, 22) for name in HOSTILE] == [
        "$\\frac{$", "two lines", f"{replaced * 2}back{replaced}", "x" * 21 + "…",
    ]  # fmt: skip


def test_any_column_name_can_be_drawn_as_it_is(release):
    named = replace(release, feature_names=HOSTILE)
    figure = release_figure(named)
    assert b"<svg" in picture(figure, "svg")
    labels = {text.get_text() for text in figure.axes[1].get_yticklabels()}
    assert labels == {short(name, 22) for name in HOSTILE}
    arrows = biplot_figure(named)
    arrows.savefig(io.BytesIO())
    assert "$\\frac{$" in {text.get_text() for text in arrows.axes[0].texts}


def test_doubts_stay_beside_a_shortened_name(release):
    rough = replace(release, feature_names=HOSTILE, scale_error=np.array([0.1, 0.1, 0.1, np.inf]))
    assert column_labels(rough)[3] == "x" * 21 + "… (scale unknown)"
