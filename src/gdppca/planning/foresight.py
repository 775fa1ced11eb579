"""What a fit would say of public numbers before it draws: where noise would win, or may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gdppca._errors import ParameterError
from gdppca.design import Parameters, design_of
from gdppca.privacy import Protected
from gdppca.steps.base import Public
from gdppca.tables.description import Feature


def foreseen(
    n_samples: int,
    features: Sequence[Feature],
    *,
    protected: Protected,
    gaps: bool,
    weighted: bool,
    described: bool,
    **parameters: Any,
) -> tuple[list[str], list[str]]:
    """Why a fit would be refused, and what it would warn of; nothing is drawn."""
    public = Public.of(
        n_samples,
        len(features),
        protected=protected,
        gaps=gaps,
        weighted=weighted,
        features=tuple(features) if described else (),
    )
    asked = Parameters(
        missing="rates" if gaps else "refuse", neighbors=protected.neighbors, **parameters
    )
    try:
        design = design_of(asked, public)
    except ParameterError as error:
        return [str(error)], []
    return list(design.lost), list(design.doubts)
