"""What was chosen so far on the way to a release, and the wish that it comes to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gdppca._errors import ParameterError
from gdppca.jobs.ahead import Counted
from gdppca.jobs.wish import Said, Wish
from gdppca.privacy import Neighbors, Protected, Unit
from gdppca.tables.base import Supply
from gdppca.tables.description import Description
from gdppca.web.running import Job, Stage

STEPS = ("table", "people", "columns", "budget", "confirm", "result", "publish")
SEED = 1  # of practice, which is marked as a simulation
Typed = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What is spent on what."""

    epsilon: float = 1.0
    delta: float = 1e-6
    components: int = 2
    scales: bool = False
    scale_share: float = 0.2
    variances: float = 0.0
    score_map: float = 0.0
    axes: str | None = None  # components of the map, counted from one; None: the first two
    groups: str | None = None
    guess: int | None = None  # of a secret number of rows or persons
    gaps: float = 0.1  # share of missing cells that is expected
    dataset: str | None = None
    who: str | None = None  # as the register notes it
    purpose: str | None = None


def stamp_of(file: Path) -> tuple[int, int]:
    """By what a file is known to be as it was: its size, and when it was written."""
    about = file.stat()
    return about.st_size, about.st_mtime_ns


@dataclass
class Draft:
    """One way to a release. What was typed is kept as it was typed, also where it was wrong."""

    id: str
    name: str  # of the table, as it is shown
    file: Path
    practice: bool = False
    dialect: dict[str, Any] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # of columns, with declared types
    unit: Unit | None = None
    person: str | None = None
    neighbors: Neighbors | None = None
    description: Description | None = None
    saved: Path | None = None  # where the description is
    gaps_allowed: bool = False
    counting: Job | None = None
    stamp: tuple[int, int] | None = None  # of the file when it was counted
    budget: Budget | None = None
    output: Path | None = None
    typed: dict[str, Typed] = field(default_factory=dict)
    token: str = ""  # for one spend
    shown: Wish | None = None  # on the page that has the token
    job: Job | None = None

    @property
    def protected(self) -> Protected:
        """Whom the promise is about."""
        if self.unit is None or self.neighbors is None:
            raise ParameterError("Say first who is protected.")
        return Protected(self.unit, self.neighbors)

    @property
    def secret_size(self) -> bool:
        """Whether nobody may know how many there are."""
        return self.neighbors is Neighbors.ADD_REMOVE

    @property
    def those(self) -> str:
        """Who is counted, in the plural."""
        return "persons" if self.unit is Unit.PERSON else "rows"

    @property
    def changed(self) -> bool:
        """Whether the file is another than it was when it was counted."""
        return self.stamp != stamp_of(self.file)

    @property
    def counted(self) -> Counted | None:
        """What is public of the table's size, once it is known."""
        if self.counting is None or self.counting.stage is not Stage.DONE:
            return None
        said = self.counting.answer
        return Counted(said["n_samples"], said["n_features"], Supply[said["supply"]])

    @property
    def n(self) -> int | None:
        """How many there are, or are guessed to be."""
        known = self.counted.n_samples if self.counted else None
        return known if known is not None else self.budget.guess if self.budget else None

    @property
    def frozen(self) -> bool:
        """Whether a release was made of it, or is being made: nothing can be changed then."""
        job = self.job
        return job is not None and (job.spent or not job.over)

    @property
    def reached(self) -> str:
        """The first step that is not done."""
        if self.unit is None or self.neighbors is None:
            return "people"
        if self.saved is None or self.counting is None:
            return "columns"
        return "budget" if self.budget is None else "confirm"

    def open_to(self, step: str) -> bool:
        """Whether all steps before one are done."""
        return STEPS.index(step) <= STEPS.index(self.reached)

    def restart(self, step: str) -> None:
        """Forget what rests on a step that was changed; what was typed stays."""
        if step in ("people", "columns"):
            self.counting = None
        self.token, self.shown = "", None

    def wish(self, ledger: str | None) -> Wish:
        """What is asked of the fit."""
        budget = self.budget or Budget()
        parameters: dict[str, Any] = {
            "n_components": budget.components,
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "neighbors": str(self.protected.neighbors),
            "missing": "rates" if self.gaps_allowed else "refuse",
            "scale": "private" if budget.scales else None,
        }
        if budget.scales:
            parameters["scale_share"] = budget.scale_share
        if self.practice:
            parameters["random_state"] = SEED
        elif ledger is not None:
            parameters["ledger"] = ledger
        noted: dict[str, Any] = {}
        if "ledger" in parameters:  # whatever happens, the register takes this once
            noted = {"who": budget.who, "purpose": budget.purpose, "request_id": f"web-{self.id}"}
        return Wish(
            **noted,
            data=(str(self.file),),
            parameters=parameters,
            said=Said(table=self.saved),
            variances=budget.variances,
            score_map=budget.score_map,
            axes=budget.axes if budget.score_map else None,
            groups=budget.groups,
            output=self.output or self.file.with_name("release.json"),
        )

    def again(self, id: str) -> Draft:
        """The same choices for another release."""
        return replace(
            self, id=id, job=None, token="", shown=None, output=None, typed=dict(self.typed)
        )
