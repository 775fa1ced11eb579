"""The demonstration: real numbers of real patients, long public."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from sklearn.datasets import load_diabetes

from gdppca._errors import MissingExtraError
from gdppca.cli.files import drawn
from gdppca.cli.show import console, tell_files
from gdppca.cli.summary import summary
from gdppca.estimators import DPPCA
from gdppca.linalg import sin_theta
from gdppca.report import Owner, write_report

_OWNER = Owner(
    name="Measurements of 442 diabetes patients",
    curators=("The gdppca demonstration",),
    intended_use="Showing what a private principal component analysis looks like.",
)


def run(folder: Path) -> None:
    """Fit, print, draw and save."""
    patients = load_diabetes()
    n, d = patients.data.shape
    console.print(
        f"{n} diabetes patients, {d} measurements each (Efron et al. 2004, shipped with "
        "scikit-learn; columns were put on one scale there)."
    )
    folder.mkdir(parents=True, exist_ok=True)
    pca = DPPCA(n_components=2, epsilon=2.0, delta=1e-6)
    ahead = pca.plan(n, d, score_map=0.5)
    release = pca.fit_release(patients.data, score_map=0.5).with_plan(ahead)
    release = replace(release, feature_names=tuple(patients.feature_names))
    release.save(folder / "release.json")
    console.print(summary(release))
    same = None if pca.mean_ is None else "private"
    exact = DPPCA(n_components=2, epsilon=math.inf, location=same).fit(patients.data)
    lost = sin_theta(pca.components_, exact.components_)
    first = sin_theta(pca.components_[:1], exact.components_[:1])
    console.print(
        f"What the noise cost: sin Θ to the directions without noise is {first:.2f} for the first "
        f"and {lost:.2f} for both.\nOnly a demonstration may say so: on private data that number "
        "is itself private."
    )
    tell_files(Release=folder / "release.json")
    plot, report = folder / "components.png", folder / "report.html"
    try:
        drawn(release, plot)
        write_report(release, report, _OWNER)
    except MissingExtraError as missing:
        console.print(f"No plot or report: {missing}", soft_wrap=True, markup=False)
    else:
        tell_files(8, Plot=plot, Report=report)
