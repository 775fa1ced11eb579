"""The templates: what goes into a page is escaped, and a name that is missing is an error."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gdppca import _words
from gdppca._errors import MissingExtraError
from gdppca.privacy import words as privacy
from gdppca.releases import heaviest_columns
from gdppca.releases import words as releases

if TYPE_CHECKING:
    from jinja2 import Template

TO_FILL_IN = "To be filled in by the data owner."
_PLAIN = (".txt.j2", ".json.j2")  # no HTML
_FILTERS = (
    *(_words.capital, _words.counted, _words.decimal, _words.listed, _words.plural),
    *(_words.signed, _words.spelled, _words.with_minus, privacy.event_in_words),
    *(privacy.contents, privacy.meaning, privacy.strength),
    *(heaviest_columns, releases.how_many, releases.origin_in_words, releases.pairs_in_words),
    *(releases.sign_in_words, releases.standing_in_words, releases.loadings_in_words),
)


@cache
def template(name: str) -> Template:
    """One of the report's templates."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("Reports need jinja2: pip install jinja2.") from None
    environment = Environment(
        loader=PackageLoader("gdppca.report"),
        autoescape=lambda name: not str(name).endswith(_PLAIN),
        undefined=StrictUndefined,
    )
    environment.filters |= {filter.__name__: filter for filter in _FILTERS}
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False}  # keys in their order
    environment.globals["to_fill_in"] = TO_FILL_IN
    return environment.get_template(name)
