"""What a figure really writes, and where: boxes of its texts, measured as they are drawn."""

import io
import itertools

from matplotlib.text import Text

SLACK = 0.5  # pixels by which boxes may touch


def drawn_texts(figure, kind="png", dpi=100):
    """Pairs of words and box, in the order drawn; what matplotlib hides is not among them."""
    found, draw = {}, Text.draw  # the layout may draw before: the last time counts

    def overheard(self, renderer, *rest, **options):
        if self.get_visible() and self.get_text().strip():
            found[id(self)] = self.get_text(), Text.get_window_extent(self, renderer)
        return draw(self, renderer, *rest, **options)

    Text.draw = overheard
    try:
        figure.savefig(io.BytesIO(), format=kind, dpi=dpi)
    finally:
        Text.draw = draw
    return list(found.values())


def overlapping(texts):
    """Pairs of words that cover each other."""
    return [
        (first, second)
        for (first, a), (second, b) in itertools.combinations(texts, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > SLACK and min(a.y1, b.y1) - max(a.y0, b.y0) > SLACK
    ]


def outside(texts, figure, dpi=100):
    """Words that leave the paper."""
    wide, high = figure.get_size_inches() * dpi
    return [
        words
        for words, box in texts
        if min(box.x0, box.y0) < -SLACK or box.x1 > wide + SLACK or box.y1 > high + SLACK
    ]
