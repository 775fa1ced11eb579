"""The demonstration: real numbers of real patients, long public."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from sklearn.datasets import load_diabetes

from gdppca._errors import MissingExtraError
from gdppca.cli.files import drawn
from gdppca.cli.show import console, summary
from gdppca.estimators import DPPCA
from gdppca.linalg import sin_theta


def run(folder: Path) -> None:
    """Fit, print, draw and save."""
    patients = load_diabetes()
    console.print(
        f"{patients.data.shape[0]} diabetes patients, {patients.data.shape[1]} measurements each "
        "(Efron et al. 2004, shipped with scikit-learn; columns were put on one scale there)."
    )
    pca = DPPCA(n_components=2, epsilon=2.0, delta=1e-6).fit(patients.data)
    release = replace(pca.release_, feature_names=tuple(patients.feature_names))
    console.print(summary(release))
    exact = DPPCA(n_components=2, epsilon=math.inf).fit(patients.data)
    lost = sin_theta(pca.components_, exact.components_)
    first = sin_theta(pca.components_[:1], exact.components_[:1])
    console.print(
        f"What the noise cost: sin Θ to the directions without noise is {first:.2f} for the first "
        f"and {lost:.2f} for both.\nOnly a demonstration may say so: on private data that number "
        "is itself private."
    )
    folder.mkdir(parents=True, exist_ok=True)
    release.save(folder / "release.json")
    console.print(f"Release: {folder / 'release.json'}", soft_wrap=True)
    try:
        drawn(release, folder / "components.png")
    except MissingExtraError as missing:
        console.print(f"No plot: {missing}")
    else:
        console.print(f"Plot:    {folder / 'components.png'}", soft_wrap=True)
