"""Result: how far the fit is, then what the release shows; from the release alone."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from gdppca._errors import GdppcaError
from gdppca.privacy import words
from gdppca.releases import Release
from gdppca.web import pictures
from gdppca.web.answers import Asked, go, link, show, way
from gdppca.web.bench import FOLDER, PRACTICE
from gdppca.web.drafts import Draft
from gdppca.web.running import Stage
from gdppca.web.words import in_fields

_KEPT = 16  # pages of findings: drawing them takes a second
_findings: OrderedDict[str, str] = OrderedDict()


def under_way(asked: Asked) -> Response:
    """The job of a draft: progress, what went wrong, or the release."""
    draft = asked.draft
    job = draft.job
    if job is None:
        return go(f"/d/{draft.id}/confirm")
    job.wait(0.2)
    if job.stage is Stage.DONE:
        return go(place_of(asked, draft))
    if job.stage is Stage.STOPPED or (job.stage is Stage.FAILED and not job.spent):
        return _unspent(asked, draft)
    template = "lost.html.j2" if job.stage is Stage.FAILED else "progress.html.j2"
    return show(asked.bench, template, draft=draft, step="result", job=job, **_told(asked, draft))


def progress(asked: Asked) -> Response:
    """The same as a few lines, for the script that keeps them up to date."""
    draft = asked.draft
    assert draft.job is not None
    if draft.job.over:
        return Response(status_code=204, headers={"X-Over": "yes"})
    return show(asked.bench, "running.html.j2", draft=draft, job=draft.job)


def cancel(asked: Asked) -> Response:
    """Stop the job where nothing is spent yet."""
    draft = asked.draft
    if draft.job is not None:
        draft.job.cancel()
    return go(f"/d/{draft.id}/result")


def again(asked: Asked) -> Response:
    """The same choices for another release, which spends anew."""
    other = asked.bench.add(asked.draft.again(asked.bench.new_id()))
    return go(f"/d/{other.id}/budget")


def place_of(asked: Asked, draft: Draft) -> str:
    """Where the release of a draft is shown."""
    assert draft.output is not None
    where = PRACTICE if draft.practice else FOLDER
    return link("release", where, asked.bench.shelf(where).name(draft.output)) + f"?from={draft.id}"


def _told(asked: Asked, draft: Draft) -> dict[str, Any]:
    job = draft.job
    assert job is not None
    return {"said_of_it": asked.said(job.problem), "notes": job.notes}


def _unspent(asked: Asked, draft: Draft) -> Response:
    """Nothing was spent: back to the page where it can be mended."""
    assert draft.job is not None
    return show(
        asked.bench,
        "unspent.html.j2",
        draft=draft,
        step="result",
        job=draft.job,
        **_told(asked, draft),
    )


def page(asked: Asked) -> Response:
    """A release of the folder, or of practice."""
    where, name = asked.place["where"], asked.place["name"]
    try:
        release = asked.bench.release(where, name)
    except (GdppcaError, OSError) as error:
        return show(asked.bench, "problem.html.j2", status=404, said=asked.said(error))
    pair, problem = _pair(asked, release)
    drawn = len(release.components) > 1 and release.scatter is not None
    draft = asked.bench.drafts.get(asked.query.get("from", ""))
    return show(
        asked.bench,
        "result.html.j2",
        release=release,
        where=where,
        name=name,
        headline=words.headline(release.guarantee),
        level=str(words.level(release.guarantee)),
        told=words.told(release.guarantee),
        findings=Markup(_found(release)),
        biplot=Markup(pictures.biplot_svg(release, pair)) if drawn else "",
        pair=pair,
        draft_id=draft.id if draft else "",
        warnings=[in_fields(each) for each in draft.job.warnings] if draft and draft.job else [],
        steps=way_of(where, name, "result"),
        problems=[problem] if problem else [],
        step="result",
    )


def way_of(where: str, name: str, here: str) -> list[dict[str, Any]]:
    """The steps, of a release that is there."""
    place = link("release", where, name)
    return way(here, {"table": "/", "result": place, "publish": f"{place}/publish"})


def _pair(asked: Asked, release: Release) -> tuple[tuple[int, int], str]:
    """Which two components are drawn against each other."""
    m = len(release.components)
    chosen = [asked.query.get(axis, "") for axis in ("across", "up")]
    if chosen == ["", ""]:
        return (0, 1), ""
    pair = [int(k) - 1 for k in chosen if k.isdecimal() and 1 <= int(k) <= m]
    if len(set(pair)) < 2:
        return (0, 1), "Choose two different components."
    return (pair[0], pair[1]), ""


def _found(release: Release) -> str:
    """What the report says was found; drawn once."""
    key = release.checksum
    if key not in _findings:
        _findings[key] = pictures.findings(release)
        while len(_findings) > _KEPT:
            _findings.popitem(last=False)
    return _findings[key]
