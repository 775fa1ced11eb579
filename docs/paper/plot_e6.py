"""
E6: The Europe map (Fig 6)
============================

Genetic coordinates of 1,387 people. The data are read from the folder in ``GDPPCA_EUROPE``;
without it this page shows no map.
"""

import os
import tempfile

import matplotlib.image
import matplotlib.pyplot as plt

from gdppca import studies

if "GDPPCA_EUROPE" in os.environ:
    result = studies.run("E6", quick=True, out=tempfile.mkdtemp())
    picture = matplotlib.image.imread(result.folder / "figure.png")
    figure = plt.figure(figsize=(picture.shape[1] / 130, picture.shape[0] / 130))
    figure.add_axes((0, 0, 1, 1)).imshow(picture)
    figure.axes[0].axis("off")
    for verdict in result.verdicts:
        print("seen    " if verdict.holds else "NOT SEEN", verdict.sentence)
        print("         ", verdict.numbers)
