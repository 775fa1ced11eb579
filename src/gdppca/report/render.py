"""From facts to one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gdppca.releases import Release, write_whole
from gdppca.report import audits, findings, making, promise
from gdppca.report.environment import template
from gdppca.report.registry import Owner, registry_record

_PAGE = "report.html.j2"
# Control characters, halves of letters that UTF-8 cannot hold, and marks that turn the direction
# of the text around them: none has a place in a report, and a hostile name may hold any.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def render(release: Release, owner: Owner | None = None, audit: Any = None) -> str:
    """Write the report of a release as one HTML page.

    Parameters
    ----------
    release : Release
        What is reported about.
    owner : Owner or None
        What the data owner says: name, curators, region, use and date.
    audit : dict or None
        What an audit of this release found, in its plain form.

    Returns
    -------
    str
        A page without scripts that asks for nothing from outside.

    Notes
    -----
    **Privacy.** Post-processing of the release; nothing is spent.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gdppca import DPPCA
    >>> from gdppca.report import render
    >>> release = DPPCA(epsilon=1.0, delta=1e-6).fit(load_iris().data).release_
    >>> page = render(release)
    >>> "Every person with one row in this table is protected" in page, "http-equiv" in page
    (True, True)
    """
    return page_of(_PAGE, _facts(release, Owner() if owner is None else owner, audit))


def page_of(name: str, facts: dict[str, Any]) -> str:
    """A template filled in, without signs that have no place in a page."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", template(name).render(facts))


def render_findings(release: Release) -> str:
    """Write what the report says was found, to stand inside another page.

    Parameters
    ----------
    release : Release
        What is reported about.

    Returns
    -------
    str
        Sections of HTML with the report's classes.

    Notes
    -----
    **Privacy.** Post-processing of the release; nothing is spent.
    """
    found = template("findings.html.j2").render(_found(release))
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", found)


def write_report(
    release: Release, path: str | Path, owner: Owner | None = None, audit: Any = None
) -> None:
    """Write the report of a release into a file, whole or not at all.

    Parameters
    ----------
    release : Release
        What is reported about.
    path : str or Path
        Where to.
    owner : Owner or None
        What the data owner says.
    audit : dict or None
        As for `render`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from gdppca import DPPCA
    >>> from gdppca.report import write_report
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(DPPCA().fit(load_iris().data).release_, path)
    >>> path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    page = render(release, owner, audit).encode("utf-8")
    try:
        write_whole(Path(path), page)
    except OSError as error:
        error.add_note("Only the report is missing. Make it from the release, at no budget.")
        raise


def require_extras() -> None:
    """Raise now what a report would raise later, before any budget is spent."""
    template(_PAGE)


def _facts(release: Release, owner: Owner, audit: Any) -> dict[str, Any]:
    """Everything that the report says; what the release does not hold is None or empty."""
    from markupsafe import Markup

    tried = None if audit is None else audits.audited(release, audit)
    if tried is not None:
        tried["figure"]["svg"] = Markup(tried["figure"]["svg"])  # our own
    record = json.dumps(
        registry_record(release, owner), indent=2, ensure_ascii=False, allow_nan=False
    )
    return {
        "audit": tried,
        **_found(release),
        "guarantee": release.guarantee,
        "owner": owner,
        "verdict": promise.verdict(release),
        "promise": promise.promised(release),
        "beliefs": promise.beliefs(release),
        "named_columns": findings.columns(release),
        "plan": making.plan(release),
        "budget": making.budget(release),
        "attachment_link": _data_link(making.attachment(release)),
        "record_text": record,
        "record_json": Markup(_inert(record)),
        "record_link": _data_link(record),
    }


def _found(release: Release) -> dict[str, Any]:
    """What the release shows."""
    from markupsafe import Markup

    pictured = {
        "spectrum": findings.spectrum(release),
        "loadings": findings.loadings(release),
        "score_map": findings.score_map(release),
    }
    for section in filter(None, pictured.values()):
        section["figure"]["svg"] = Markup(section["figure"]["svg"])  # our own
    return {
        "release": release,
        **pictured,
        "variables": findings.variables(release),
        "missing": findings.missing(release),
        "variances": findings.variances(release),
    }


def _inert(text: str) -> str:
    """JSON that an HTML parser cannot mistake for anything else."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data_link(text: str) -> str:
    encoded = quote(text.encode("utf-8", errors="replace"), safe="")
    return f"data:application/json;charset=utf-8,{encoded}" if text else ""
