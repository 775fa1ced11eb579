"""The picture above the fold: what `gdppca demo` finds. `make picture` draws it again.

Table and noise are seeded, so that the picture is the same each time; a release has no seed.
"""

import io
from importlib.resources import as_file, files
from pathlib import Path

import pandas as pd
from PIL import Image

from gdppca import DPPCA, Description
from gdppca.datasets import make_visits
from gdppca.plots import loadings, score_points, scree
from gdppca.plots.style import new_figure, picture, title

FILE = Path(__file__).with_name("first-look.png")
WARDS = ["cardiology", "infections", "surgery"]


def first_look():
    """Spectrum, loadings and score map of the demonstration's table at ε = 1."""
    visits = pd.DataFrame(make_visits(4000, random_state=2025))
    with as_file(files("gdppca.cli") / "demo.toml") as path:
        known = Description.load(path)
    pca = DPPCA(n_components=2, epsilon=1.0, missing="rates", scale="private", random_state=1)
    wanted = {"score_map": 0.3, "groups": "ward", "categories": WARDS}
    return pca.fit_release(visits, description=known, **wanted)


def draw(release):
    """Three panels side by side, small enough for a page that has to load at once."""
    figure = new_figure(figsize=(12.0, 4.0), dpi=100)
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.0, 1.3, 1.2))
    scree(release, left)
    title(left, "Two components stand out")
    loadings(release, middle, level=0.9)
    title(middle, "Their loadings, with 90% intervals")
    score_points(release, right, points=1500, random_state=0)
    title(right, "Where patients lie (made-up points)")
    return figure


if __name__ == "__main__":
    drawn = Image.open(io.BytesIO(picture(draw(first_look()), "png"))).convert("RGB")
    drawn.quantize(128).save(FILE, optimize=True)  # few colours: a third of the bytes
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
