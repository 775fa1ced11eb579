"""
E1b: All pairs against paired halves (Fig 1(b))
=================================================

Without noise: what using every pair is worth, and what blocks of 64 rows keep of it. The default
has no line of its own: without noise it takes all pairs of so few rows.
"""

import tempfile

import matplotlib.image
import matplotlib.pyplot as plt

from gdppca import studies

result = studies.run("E1b", quick=True, out=tempfile.mkdtemp())

picture = matplotlib.image.imread(result.folder / "figure.png")
figure = plt.figure(figsize=(picture.shape[1] / 130, picture.shape[0] / 130))
figure.add_axes((0, 0, 1, 1)).imshow(picture)
figure.axes[0].axis("off")

# %%
# What the text says must be seen:

for verdict in result.verdicts:
    print("seen    " if verdict.holds else "NOT SEEN", verdict.sentence)
    print("         ", verdict.numbers)
