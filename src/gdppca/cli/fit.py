"""How `gdppca fit` speaks: options in, a job done, what came of it out."""

from __future__ import annotations

from typing import Any

from gdppca.cli.options import columns_of, without_unused
from gdppca.cli.show import console, late_progress, print_json, tell_files
from gdppca.cli.summary import summary
from gdppca.estimators import DPPCA
from gdppca.jobs.fit import illustrate, released
from gdppca.jobs.retry import made_before
from gdppca.jobs.wish import Said, Wish


def run(*, as_json: bool, dry_run: bool, **asked: Any) -> None:
    """Fit, save, draw, report and print, from the options of the command line."""
    wish = _wish(**asked)
    if dry_run:
        from gdppca.cli.dry_run import run as run_dry

        run_dry(wish, as_json=as_json)
        return
    earlier = made_before(wish)
    with late_progress("comparing rows") as progress:
        release = earlier or released(wish, progress)
    illustrate(wish, release)
    if as_json:
        print_json(file=str(wish.output), repeated=earlier is not None, **release.to_dict())
        return
    if earlier is not None:
        console.print("This release was made before. Nothing was spent and nothing drawn.")
    console.print(summary(release))
    tell_files(8, Release=wish.output, Plot=wish.plot, Report=wish.report)


def _wish(*, components: Any, columns: Any, seed: Any, data: list[str], **asked: Any) -> Wish:
    asked = without_unused(asked)
    shared = {name: asked.pop(name) for name in DPPCA().get_params() if name in asked}
    parameters = {"n_components": components, "random_state": seed, **shared}
    said = Said.taken_from(asked)
    return Wish(
        data=tuple(data), parameters=parameters, said=said, columns=columns_of(columns), **asked
    )


def said_of_rows(asked: dict[str, Any]) -> dict[str, Any]:
    """What options say of the rows, taken out of them: persons, weights and a description."""
    return Said.taken_from(asked).arguments()
