"""History: the register, releases side by side, and merging them."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from gdppca._errors import GdppcaError, ParameterError
from gdppca.jobs.files import require_writable
from gdppca.releases import Release, seen_spectrum
from gdppca.releases.words import how_many, named_columns
from gdppca.web import forms
from gdppca.web.answers import Asked, go, link, show
from gdppca.web.bench import FOLDER

_NAMED = 4  # columns that a component is told by


def page(asked: Asked) -> Response:
    """What was spent, and what came of it."""
    return _shown(asked, [])


def merge(asked: Asked) -> Response:
    """Merge releases of different people into one; nothing is spent."""
    names = asked.every.get("release", [])
    try:
        if len(names) < 2:
            raise ParameterError("Tick at least two releases to merge.")
        if not forms.text(asked.form, "disjoint"):
            raise ParameterError("Say that nobody is in two of the groups: then losses add up.")
        folder = asked.bench.folder
        output = folder.new(forms.text(asked.form, "output"), ".json")
        sources = [folder.existing(name) for name in names]
        require_writable(output, force=False, never=sources)
        Release.merge([Release.load(path) for path in sources]).save(output)
    except (GdppcaError, OSError) as error:
        return _shown(asked, [asked.said(error)])
    return go(link("release", FOLDER, folder.name(output)))


def _shown(asked: Asked, problems: list[str]) -> Response:
    accounts: list[Any] = []
    register: list[Any] = []
    state = ""
    books = asked.bench.books
    try:
        accounts, register = books.accounts(), books.register()
        state = books.verified() if register else ""
    except (GdppcaError, OSError) as error:
        problems = [*problems, asked.said(error)]
    releases = asked.bench.releases()
    chosen = asked.every.get("release", [])
    return show(
        asked.bench,
        "history.html.j2",
        accounts=accounts,
        register=register,
        state=state,
        releases=[(name, _about(release)) for name, release in releases.items()],
        chosen=chosen,
        typed=asked.form,
        problems=problems,
    )


def _about(release: Release) -> dict[str, Any]:
    """A release in a line of a table."""
    seen, promise = seen_spectrum(release), release.guarantee
    names = release.feature_names
    return {
        "promise": str(promise),
        "protects": promise.protects,
        "epsilon": f"{promise.epsilon:.3g}" if promise.protects else "∞",
        "delta": promise.delta,
        "size": how_many(release, ","),
        "components": len(release.components),
        "standing": None if seen is None else min(seen.clear, len(release.components)),
        "told": [
            ", ".join(names[j] for j in named_columns(release, k)[:_NAMED])
            for k in range(min(len(release.components), 2))
        ],
    }
