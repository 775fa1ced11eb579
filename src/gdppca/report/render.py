"""From facts to one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gdppca import _words
from gdppca._errors import MissingExtraError
from gdppca.releases import Release, write_whole
from gdppca.report.collect import collect
from gdppca.report.registry import Owner
from gdppca.report.words import TO_FILL_IN

if TYPE_CHECKING:
    from jinja2 import Environment

# Control characters, halves of letters that UTF-8 cannot hold, and marks that turn the direction
# of the text around them: none has a place in a report, and a hostile name may hold any.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def render(release: Release, owner: Owner | None = None) -> str:
    """Write the report of a release as one HTML page.

    Parameters
    ----------
    release : Release
        What is reported about.
    owner : Owner or None
        What the data owner says: name, curators, region, use and date.

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
    facts = collect(release, owner)
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", _template().render(_markup(facts)))


def write_report(release: Release, path: str | Path, owner: Owner | None = None) -> None:
    """Write the report of a release into a file, whole or not at all.

    Parameters
    ----------
    release : Release
        What is reported about.
    path : str or Path
        Where to.
    owner : Owner or None
        What the data owner says.

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
    page = render(release, owner).encode("utf-8")
    try:
        write_whole(Path(path), page)
    except OSError as error:
        error.add_note("Only the report is missing. Make it from the release, at no budget.")
        raise


def require_extras() -> None:
    """Raise now what a report would raise later, before any budget is spent."""
    _template()


@cache
def _template() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("Reports need jinja2: pip install jinja2.") from None
    environment: Environment = Environment(
        loader=PackageLoader("gdppca.report"),
        autoescape=True,  # everything but what _markup lets through
        undefined=StrictUndefined,
    )
    for name in ("capital", "counted", "listed", "plural", "spelled"):
        environment.filters[name] = getattr(_words, name)
    return environment.get_template("report.html.j2")


def _markup(facts: dict[str, Any]) -> dict[str, Any]:
    """Let through what is HTML already: our own pictures, and JSON that cannot end its element."""
    from markupsafe import Markup

    for section in ("spectrum", "loadings", "score_map"):
        figure = (facts[section] or {}).get("figure")
        if figure:
            figure["svg"] = Markup(figure["svg"])
    text = json.dumps(facts["record"], indent=2, ensure_ascii=False, allow_nan=False)
    return {
        **facts,
        "to_fill_in": TO_FILL_IN,
        "record_text": text,
        "record_json": Markup(_inert(text)),
        "record_link": _data_link(text),
        "attachment_link": _data_link(facts["attachment"]),
    }


def _inert(text: str) -> str:
    """JSON that an HTML parser cannot mistake for anything else."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data_link(text: str) -> str:
    encoded = quote(text.encode("utf-8", errors="replace"), safe="")
    return f"data:application/json;charset=utf-8,{encoded}" if text else ""
