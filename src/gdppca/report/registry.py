"""A release as a record of the OpenDP deployments registry.

The layout is that of https://github.com/opendp/deployments-registry-data. What a release cannot
know is left to the data owner, and says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca._words import capital, counted
from gdppca.privacy import ApproximateEvent, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.words import event_in_words
from gdppca.releases import Release
from gdppca.releases.words import pairs_in_words, sign_in_words
from gdppca.report.words import TO_FILL_IN

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
_LISTED_COLUMNS = 40


@dataclass(frozen=True, kw_only=True)
class Owner:
    """What only the data owner can say about a release; all of it goes into the report.

    Parameters
    ----------
    name : str
        Of the data product, such as "Blood values of our patients, 2024".
    curators : tuple of str
        Who publishes it.
    region : str
        What region the people live in, or whose law applies.
    intended_use : str
        What the release is for.
    publication_date : str
        As 2025-12-31.
    sector : str or None
        One of `SECTORS`.
    authors : tuple of str
        Who wrote the record.

    Examples
    --------
    >>> from gdppca.report import Owner
    >>> Owner(name="Blood values", publication_date="2025-12-31").name
    'Blood values'
    """

    name: str = TO_FILL_IN
    curators: tuple[str, ...] = (TO_FILL_IN,)
    region: str = TO_FILL_IN
    intended_use: str = TO_FILL_IN
    publication_date: str = TO_FILL_IN
    sector: str | None = None
    authors: tuple[str, ...] = (TO_FILL_IN,)

    def __post_init__(self) -> None:
        """Check what has a form, and freeze the sequences."""
        for name in ("curators", "authors"):
            listed = getattr(self, name)
            if isinstance(listed, str) or not listed:
                raise ParameterError(f"`{name}` must be a sequence of names, at least one.")
            object.__setattr__(self, name, tuple(listed))
        if self.sector is not None:
            _validate.one_of(SECTORS, sector=self.sector)
        if self.publication_date != TO_FILL_IN:
            _check_date(self.publication_date)


def _check_date(day: str) -> None:
    try:
        date.fromisoformat(day)
    except (TypeError, ValueError):
        raise ParameterError(
            f"`publication_date` must be a day such as '2025-12-31', got {day!r}."
        ) from None


def registry_record(release: Release, owner: Owner | None = None) -> dict[str, Any]:
    """A draft record of the OpenDP deployments registry, tier 3.

    Parameters
    ----------
    release : Release
        What was published.
    owner : Owner or None
        What the data owner says; where nothing is said, the record asks for it.

    Returns
    -------
    dict
        Plain data. An infinite ε is left out, and the record says that nobody is protected.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gdppca import DPPCA
    >>> from gdppca.report import Owner, registry_record
    >>> release = DPPCA(epsilon=1.0, delta=1e-6).fit(load_iris().data).release_
    >>> record = registry_record(release, Owner(name="Flowers"))
    >>> record["status"], record["deployment"]["privacy_loss"]["privacy_parameters"]["delta"]
    ('Draft', 1e-06)
    >>> record["deployment"]["basic"]["intended_use"]
    'To be filled in by the data owner.'
    """
    owner = Owner() if owner is None else owner
    deployment = {
        "basic": _basic(release, owner),
        "dp_variant": _variant(release),
        "privacy_loss": _loss(release),
        "deployment_model": _model(release),
        "accounting": _accounting(release),
        "implementation": _implementation(release),
        "administrative": _administrative(release, owner),
    }
    return {"url_slug": _slug(owner), "status": "Draft", "tier": 3, "deployment": deployment}


def _slug(owner: Owner) -> str:
    words = re.findall(r"[a-z0-9]+", owner.name.lower())
    return "-".join(words)[:80].strip("-") or "to-be-filled-in"


def _basic(release: Release, owner: Owner) -> dict[str, Any]:
    given: dict[str, Any] = {
        "name": owner.name,
        "data_curators": list(owner.curators),
        "intended_use": owner.intended_use,
        "data_product_type": "Summary statistics",
        "data_product_region": owner.region,
        "description": _description(release),
        "publication_date": owner.publication_date,
    }
    return given if owner.sector is None else {**given, "data_product_sector": owner.sector}


def _description(release: Release) -> str:
    parts = [counted(len(release.components), "principal component")]
    parts += ["the noisy matrix that they come from"] if release.scatter is not None else []
    parts += ["variances of the scores"] if release.variances is not None else []
    parts += ["a map of the scores"] if release.score_map is not None else []
    opening = "" if release.guarantee.protects else "NOT PROTECTED. "
    return (
        f"{opening}Principal component analysis of {release.n_features} columns and "
        f"{release.n_samples} rows, assumed to be one per person: {', '.join(parts)}."
    )


def _variant(release: Release) -> dict[str, Any]:
    given: dict[str, Any] = {
        "data_domain": (
            f"Tables of {release.n_samples} rows and {release.n_features} columns of finite "
            f"numbers, without bounds. Columns: {_columns(release)}."
        ),
        "unprotected_quantities": _unprotected(release),
    }
    if release.guarantee.protects:
        given = {"variant_name": _variant_name(release), **given}
    return given


def _variant_name(release: Release) -> str:
    if release.guarantee.status != "proven":
        return "Custom"
    pure = all(isinstance(event, PureEvent) for event in release.guarantee.events)
    return "Pure DP" if pure else "Approximate DP"


def _columns(release: Release) -> str:
    """Names as Markdown code, so that the registry shows them as they are."""
    names = release.feature_names[:_LISTED_COLUMNS]
    quoted = [f"`{' '.join(name.replace('`', chr(39)).split())}`" for name in names]
    more = release.n_features - len(names)
    return ", ".join(quoted) + (f" and {more} more" if more else "")


def _unprotected(release: Release) -> str:
    if not release.guarantee.protects:
        return f"Everything: {release.guarantee.reason or 'the noise came from a known seed'}."
    public = ["the number of rows", "the column names", "the parameters of the analysis"]
    for what, origin in (("centre", release.centre_origin), ("scale", release.scale_origin)):
        if origin == "public":
            public.append(f"the {what}, chosen without looking at the data")
    return f"Taken to be public: {', '.join(public)}."


def _loss(release: Release) -> dict[str, Any]:
    guarantee = release.guarantee
    alike = (
        "in which one row is replaced by any other; the number of rows stays the same"
        if guarantee.neighbors == "replace-one"
        else "one of which has one row more"
    )
    return {
        "privacy_unit": "One row of the table, assumed to be one person.",
        "privacy_unit_details": f"Adjacent datasets ({guarantee.neighbors}): two tables {alike}.",
        "privacy_parameters": _parameters(release),
        "privacy_parameters_details": _parameter_details(release),
    }


def _parameters(release: Release) -> dict[str, float]:
    guarantee = release.guarantee
    if not guarantee.protects:
        return {}
    known = {"epsilon": guarantee.epsilon, "delta": guarantee.delta, "rho": guarantee.zcdp_rho}
    return {name: number for name, number in known.items() if math.isfinite(number)}


def _parameter_details(release: Release) -> str:
    guarantee = release.guarantee
    if not guarantee.protects:
        return (
            "Epsilon is infinite, so no number stands here. NOBODY IS PROTECTED: "
            f"{guarantee}. The record is no evidence of differential privacy."
        )
    details = [f"{guarantee}."]
    if math.isfinite(guarantee.gdp_mu):
        details.append(f"Gaussian differential privacy with mu = {guarantee.gdp_mu:.4g}.")
    if guarantee.status != "proven":
        details.append("The promise holds with high probability over the data only.")
    return " ".join(details)


def _model(release: Release) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "actors": (
            "The data owner holds the rows and is trusted with them. Everybody else, whoever "
            "reads the release, is not trusted, with any side knowledge and computing power."
        ),
        "release_type": "One release",
        "release_type_details": (
            "The record is about one release. Further ones from the same people add to the loss. "
            f"Plans for them: {_lowered(TO_FILL_IN)}"
        ),
        "data_source_type": "Static",
        "data_source_type_details": "The table as it was at the time of the release.",
        "access_type": "Non-interactive",
        "access_type_details": "A file is published; nobody queries the rows.",
    }


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _accounting(release: Release) -> dict[str, str]:
    drawn = "; ".join(event_in_words(event) for event in _shortened(release))
    return {
        "post_processing": (
            "Components, eigenvalues, noise floor, shares of variance and all figures are "
            "computed from the noisy numbers alone."
            if release.scatter is not None
            else "Signs of the components are fixed by a rule."
        ),
        "composition": (
            "Everything in the release together: Gaussian and pure steps by their exact privacy "
            f"loss, rounded up, and steps known only as (epsilon, delta) by adding. Drawn: {drawn}."
        ),
    }


def _shortened(release: Release) -> tuple[Any, ...]:
    return release.guarantee.events[:30]


def _implementation(release: Release) -> dict[str, str]:
    return {
        "preprocessing_and_hyperparameter_tuning": (
            "Assumed by the guarantee, for the data owner to confirm: "
            + " ".join(map(str, release.guarantee.assumptions))
        ),
        "mechanisms": (
            f"{_mechanisms(release)} {_method(release)} Made by gdppca "
            f"{release.library_version}. Access to the rows: {_lowered(TO_FILL_IN)}"
        ),
        "justification": (
            f"Calibration of the noise: {release.calibration}. Why these parameters were chosen: "
            f"{_lowered(TO_FILL_IN)}"
        ),
    }


def _method(release: Release) -> str:
    if release.sign is None or release.scheme is None:
        return f"Method: {release.method}."
    return (
        f"Method: {release.method}, comparing {pairs_in_words(release)}; of each difference, "
        f"{sign_in_words(release)}."
    )


def _mechanisms(release: Release) -> str:
    if release.guarantee.seeded:
        return "SIMULATION: noise from a known seed."
    kinds: Mapping[type, str] = {
        GaussianEvent: "Gaussian mechanism",
        PureEvent: "pure mechanism",
        ApproximateEvent: "noisy descent",
        NonPrivateEvent: "NO MECHANISM for some numbers",
    }
    used = dict.fromkeys(kinds[type(event)] for event in release.guarantee.events)
    secure = (
        ", drawn on a lattice (an exact discrete Gaussian) against floating-point attacks"
        if GaussianEvent in {type(event) for event in release.guarantee.events}
        else ""
    )
    return f"{capital(' and '.join(used))}{secure}."


def _administrative(release: Release, owner: Owner) -> dict[str, Any]:
    return {
        "sources": (
            "Kim and Jung (2025), Robust and Differentially Private Principal Component Analysis."
        ),
        "notes": f"Release file with checksum {release.checksum}.",
        "registry_authors": list(owner.authors),
    }
