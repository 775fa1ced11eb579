"""
E12: Quantiles of the radius for Cauchy data (Fig C.1)
========================================================

Why a radius of the order of √d is right even there. Nothing is fitted.
"""

import tempfile

import matplotlib.image
import matplotlib.pyplot as plt

from gdppca import studies

result = studies.run("E12", quick=True, out=tempfile.mkdtemp())

picture = matplotlib.image.imread(result.folder / "figure.png")
figure = plt.figure(figsize=(picture.shape[1] / 130, picture.shape[0] / 130))
figure.add_axes((0, 0, 1, 1)).imshow(picture)
figure.axes[0].axis("off")

# %%
# What the text says must be seen:

for verdict in result.verdicts:
    print("seen    " if verdict.holds else "NOT SEEN", verdict.sentence)
    print("         ", verdict.numbers)
