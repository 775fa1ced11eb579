"""From a release to the facts of its report: plain data, and pictures as SVG."""

from __future__ import annotations

from typing import Any

from gdppca._words import listed
from gdppca.releases import Release
from gdppca.report import findings, making, promise
from gdppca.report.registry import Owner, registry_record
from gdppca.report.words import TO_FILL_IN


def collect(release: Release, owner: Owner | None = None) -> dict[str, Any]:
    """Everything that the report says, one entry per section.

    Parameters
    ----------
    release : Release
        What is reported about.
    owner : Owner or None
        What the data owner says.

    Returns
    -------
    dict
        Plain data; what the release does not hold is None. Templates make sentences of it.
    """
    owner = Owner() if owner is None else owner
    return {
        "title": _title(release, owner),
        "owner": _said(owner),
        "verdict": promise.verdict(release),
        "n_samples": release.n_samples,
        "n_features": release.n_features,
        "n_components": len(release.components),
        "made_by": release.method,
        "promise": promise.promised(release),
        "beliefs": promise.beliefs(release),
        "doubts": list(release.doubts),
        "scaled": release.scale is not None,
        "spectrum": findings.spectrum(release),
        "loadings": findings.loadings(release),
        "score_map": findings.score_map(release),
        "variances": findings.variances(release),
        "plan": making.plan(release),
        "assumptions": [*map(str, release.guarantee.assumptions)],
        "budget": making.budget(release),
        "method": making.method(release),
        "columns": making.columns(release),
        "attachment": making.attachment(release),
        "record": registry_record(release, owner),
        "version": release.library_version,
    }


def _title(release: Release, owner: Owner) -> str:
    if owner.name != TO_FILL_IN:
        return owner.name
    return f"Principal components of {release.n_samples:,} rows"


def _said(owner: Owner) -> list[str]:
    """What the owner said, in sentences; what was not said stays a question of the record."""
    known = (
        f"Published by {listed(owner.curators)}",
        f"Published on {owner.publication_date}",
        f"Region: {owner.region}",
        f"Intended use: {owner.intended_use}",
    )
    return [f"{text.rstrip('.')}." for text in known if TO_FILL_IN not in text]
