"""A release as a record of the OpenDP deployments registry.

The layout is that of https://github.com/opendp/deployments-registry-data. What a release cannot
know is left to the data owner, and says so.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.privacy import ApproximateEvent, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.releases import Release
from gdppca.report.environment import TO_FILL_IN, template

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
_MECHANISMS: dict[type, str] = {
    GaussianEvent: "Gaussian mechanism",
    PureEvent: "pure mechanism",
    ApproximateEvent: "noisy descent",
    NonPrivateEvent: "NO MECHANISM for some numbers",
}


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
    guarantee = release.guarantee
    numbers = {"epsilon": guarantee.epsilon, "delta": guarantee.delta, "rho": guarantee.zcdp_rho}
    finite = {name: number for name, number in numbers.items() if math.isfinite(number)}
    record = template("record.json.j2").render(
        release=release,
        owner=owner,
        slug=_slug(owner),
        parameters=finite if guarantee.protects else {},
        mu_is_finite=math.isfinite(guarantee.gdp_mu),
        pure=all(isinstance(event, PureEvent) for event in guarantee.events),
        mechanisms=list(dict.fromkeys(_MECHANISMS[type(event)] for event in guarantee.events)),
    )
    return dict(json.loads(record))


def _slug(owner: Owner) -> str:
    words = re.findall(r"[a-z0-9]+", owner.name.lower())
    return "-".join(words)[:80].strip("-") or "to-be-filled-in"
