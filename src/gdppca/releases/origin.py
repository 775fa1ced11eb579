"""Where the centre and the column scales of a release came from."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gdppca.releases.release import Release


class Origin(StrEnum):
    """Where numbers came from that rows were compared with or divided by."""

    NONE = "none"
    PUBLIC = "public"
    PRIVATE = "private"
    MERGED = "merged"  # the mean of what several groups had, private or public


def derived_origins(release: Release) -> tuple[Origin, Origin]:
    """Of centre and scales, by what the events were for: the only place that asks them."""
    purposes = " ".join(event.purpose for event in release.guarantee.events)
    merged = release.scheme is not None and release.scheme["name"] == "merged"
    drawn = "centre" in purposes or "location" in purposes
    centre = Origin.MERGED if merged else Origin.PRIVATE if drawn else Origin.PUBLIC
    scale = Origin.PRIVATE if "scale" in purposes else Origin.PUBLIC
    return (
        Origin.NONE if release.location is None else centre,
        Origin.NONE if release.scale is None else scale,
    )
