"""What the paper's text says must be seen, each sentence as a check with its numbers.

A sentence that is not seen is reported, not hidden. Only the full form is judged.

"A beats B" counts as seen if the mean loss of A is below that of B in at least half of the
settings, and nowhere above it by more than two standard errors of their difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from gdppca.studies.methods import CENTRED, DEFAULT, DEFAULT_ZCDP, TIGHT, TIGHT_ZCDP

Row = dict[str, Any]
Cell = dict[str, Any]  # part of a setting

_OURS = ("sph", "wins")
_OTHERS = ("AG", "SGPCA", "NSGGD")
_BEYOND = (TIGHT, CENTRED, DEFAULT)


@dataclass(frozen=True)
class Verdict:
    """A sentence, whether it was seen, and the numbers it was judged by.

    `holds` is None after a quick run: a few tables refute nothing and prove nothing.
    """

    sentence: str
    holds: bool | None
    numbers: str

    @property
    def mark(self) -> str:
        """The verdict in a word or two."""
        return {True: "seen", False: "not seen", None: "runs"}[self.holds]

    def to_dict(self) -> dict[str, Any]:
        """Plain form."""
        return asdict(self)


class Means:
    """Mean losses of a study, looked up by method and setting, and compared."""

    def __init__(self, summary: list[Row]) -> None:
        self.summary = summary

    def values(self, name: str) -> list[Any]:
        """Values that a setting takes, in order."""
        return sorted({row[name] for row in self.summary if not math.isinf(row["epsilon"])})

    @property
    def largest(self) -> Cell:
        """The most rows, where the study has tables of several sizes."""
        return {"n": max(self.values("n"))} if "n" in self.summary[0] else {}

    def cells(self, *names: str, **fixed: Any) -> list[Cell]:
        """Distinct combinations of settings, beside fixed ones."""
        private = [row for row in self.summary if not math.isinf(row["epsilon"])]
        seen = {tuple(row[name] for name in names) for row in private}
        return [dict(zip(names, cell, strict=True)) | fixed for cell in sorted(seen)]

    def learnt(self, *names: str) -> list[Cell]:
        """Combinations of settings where the paper's method learns anything."""
        return [cell for cell in self.cells(*names) if self.of("sph", **cell) < 0.9]

    def falls(self, method: str, start: Cell, end: Cell) -> bool:
        """Whether the mean loss goes down by a tenth or more from one setting to another."""
        return self.of(method, **end) < 0.9 * self.of(method, **start)

    def _column(self, name: str, method: str, where: Cell) -> list[float]:
        wanted = where | {"method": method}
        return [row[name] for row in self.summary if wanted.items() <= row.items()]

    def of(self, method: str, **where: Any) -> float:
        """Mean over all settings that fit."""
        return float(np.mean(self._column("mean", method, where)))

    def error_of(self, method: str, **where: Any) -> float:
        """Standard error of that mean."""
        found = self._column("se", method, where)
        return float(np.sqrt(np.sum(np.square(found))) / len(found))

    def shown(self, *methods: str, **where: Any) -> str:
        """Means of some methods in words."""
        return ", ".join(f"{name} {self.of(name, **where):.3f}" for name in methods)

    def shown_by_dimension(self, *methods: str) -> str:
        """The same at the most rows, one dimension after the other."""
        dimensions = self.cells("d", **self.largest)
        return "; ".join(f"d = {c['d']}: {self.shown(*methods, **c)}" for c in dimensions)

    def beats(self, better: str, worse: str, cells: list[Cell]) -> tuple[bool, str]:
        """Whether one method's mean is mostly below another's and nowhere clearly above it."""
        lost = won = 0
        for cell in cells:
            excess = self.of(better, **cell) - self.of(worse, **cell)
            chance = np.hypot(self.error_of(better, **cell), self.error_of(worse, **cell))
            won += excess < 0
            lost += bool(excess > 2 * chance)
        clearly = f", clearly above in {lost}" if lost else ""
        return not lost and 2 * won >= len(cells), f"{won} of {len(cells)} settings{clearly}"

    def all_beat(
        self, sentence: str, rivals: Iterable[tuple[str, str]], cells: list[Cell]
    ) -> Verdict:
        """That the first of every two rivals beats the second."""
        results = [(b, w, *self.beats(b, w, cells)) for b, w in rivals]
        numbers = "; ".join(f"{b} below {w} in {won}" for b, w, _, won in results)
        return Verdict(sentence, all(holds for _, _, holds, _ in results), numbers)

    def alike(self, sentence: str, a: str, b: str, cells: list[Cell]) -> Verdict:
        """That two methods lose about the same."""
        ratios = [self.of(a, **cell) / self.of(b, **cell) for cell in cells]
        numbers = f"ratio of {a} to {b} from {min(ratios):.2f} to {max(ratios):.2f}"
        return Verdict(sentence, bool(max(abs(np.log(ratios))) < np.log(1.35)), numbers)

    def gain(self, paper: str = "sph", others: tuple[str, ...] = _BEYOND) -> Verdict:
        """That tight noise, the first of the others, loses less at the most rows."""
        return Verdict(
            "Beyond the paper: the tight noise loses less than the paper's",
            self.of(others[0], **self.largest) < self.of(paper, **self.largest),
            self.shown(paper, *others, **self.largest),
        )


def _e1a(means: Means) -> list[Verdict]:
    first, last = min(means.values("n")), max(means.values("n"))
    cells = means.cells("kind", "d", "rho", "n")
    rivals = [(f"g-DPPCA {sign}", f"GSSCM {sign}") for sign in _OURS]
    early, late = (
        means.of("GSSCM sph", kind="t1", n=n) - means.of("g-DPPCA sph", kind="t1", n=n)
        for n in (first, last)
    )
    gaps = f"gap {early:.3f} at n = {first}, {late:.3f} at n = {last}"
    return [
        means.all_beat("g-DPPCA wins everywhere", rivals, cells),
        Verdict("On t1 the gap stays as n grows", late > 0.5 * early, gaps),
        means.gain("g-DPPCA sph", (TIGHT_ZCDP, DEFAULT_ZCDP)),
    ]


def _e1b(means: Means) -> list[Verdict]:
    holds, numbers = means.beats("all pairs", "halves", means.cells("n"))
    at_end = means.shown("all pairs", "halves", **means.largest)
    return [
        Verdict(
            "The U-statistic is clearly better than paired differences",
            holds,
            f"{numbers}; {at_end} at the largest n",
        ),
        Verdict(
            "Beyond the paper: blocks of 64 are nearly as good as all pairs",
            means.of("blocks of 64") < 1.1 * means.of("all pairs"),
            means.shown("all pairs", "blocks of 64"),
        ),
    ]


def _e2(means: Means) -> list[Verdict]:
    best = all(
        means.of(TIGHT, **cell) <= means.of(name, **cell)
        for cell in means.cells("d", **means.largest)
        for name in _OURS + _OTHERS
    )
    return [
        means.alike("sph and wins perform alike", *_OURS, means.cells("n", "d")),
        means.all_beat(
            "Both beat AG and NSGGD where anything is learnt",
            product(_OURS, ("AG", "NSGGD")),
            means.learnt("n", "d"),
        ),
        means.all_beat("SGPCA is best at d = 5", product(["SGPCA"], _OURS), means.cells("n", d=5)),
        Verdict(
            "Beyond the paper: the tight noise beats every method of the paper at the largest n",
            best,
            means.shown_by_dimension("sph", "SGPCA", *_BEYOND),
        ),
    ]


def _e3(means: Means) -> list[Verdict]:
    at_end = means.cells("d", **means.largest)
    return [
        means.all_beat(
            "sph and wins beat all other methods where anything is learnt",
            product(_OURS, _OTHERS),
            means.learnt("n", "d"),
        ),
        Verdict(
            "NSGGD beats SGPCA as n grows",
            all(means.of("NSGGD", **cell) < means.of("SGPCA", **cell) for cell in at_end),
            means.shown_by_dimension("NSGGD", "SGPCA"),
        ),
        means.gain(),
    ]


def _e4(means: Means) -> list[Verdict]:
    at_end, each = means.cells("d", **means.largest), means.shown_by_dimension
    start = {"n": min(means.values("n"))}

    def fall(*methods: str) -> list[bool]:
        return [means.falls(m, c | start, c) for m in methods for c in at_end]

    return [
        Verdict(
            "sph and wins fall as n grows, in every dimension",
            all(fall(*_OURS)),
            each(*_OURS) + " at the largest n",
        ),
        Verdict("AG and SGPCA do not fall", not any(fall("AG", "SGPCA")), each("AG", "SGPCA")),
        Verdict("NSGGD falls, in every dimension", all(fall("NSGGD")), each("NSGGD")),
        means.all_beat(
            "sph and wins stay ahead of NSGGD at the largest n", product(_OURS, ["NSGGD"]), at_end
        ),
        means.gain(),
    ]


def _e4b(means: Means) -> list[Verdict]:
    sizes = means.values("n")
    far = sizes[-1]
    start, paper, end = ({"n": n} for n in (sizes[0], min(sizes, key=_off_the_paper), far))
    ours = ("sph, blocks of 64", "wins, blocks of 64")

    def shown(*methods: str) -> str:
        cells = [start, paper, end]
        return "; ".join(f"n = {cell['n']}: {means.shown(*methods, **cell)}" for cell in cells)

    return [
        Verdict(
            "sph and wins fall over the paper's range at d = 25",
            all(means.falls(name, start, paper) for name in ours),
            shown(*ours),
        ),
        Verdict(
            f"Beyond the paper: they do not recover, even without noise (n = {far})",
            min(means.of(name, **end) for name in (*ours, "blocks of 64")) > 0.9,
            shown(*ours, "blocks of 64"),
        ),
        Verdict(
            f"Beyond the paper: the default recovers (sin Θ below 0.1 at n = {far})",
            means.of(DEFAULT, **end) < 0.1,
            shown(DEFAULT),
        ),
    ]


def _off_the_paper(n: int) -> int:
    """How far a number of rows is from the paper's largest."""
    return abs(n - 2000)


def _e5(means: Means) -> list[Verdict]:
    heavy = [cell for cell in means.learnt("kind", "epsilon") if cell["kind"] != "gaussian"]
    gaps = {
        cell["kind"]: means.of("NSGGD", **cell) - means.of("sph", **cell)
        for cell in means.cells("kind", epsilon=max(means.values("epsilon")))
    }
    gaussian = [cell for cell in means.learnt("kind", "epsilon") if cell["kind"] == "gaussian"]
    return [
        means.all_beat(
            "On Gaussian data sph and wins beat AG and NSGGD where anything is learnt",
            product(_OURS, ("AG", "NSGGD")),
            gaussian,
        ),
        means.all_beat(
            "On t1 and contaminated data sph and wins are best where anything is learnt",
            product(_OURS, _OTHERS),
            heavy,
        ),
        Verdict(
            "NSGGD's gap does not close at the largest ε",
            min(gaps.values()) > 0.05,
            ", ".join(f"{kind} {gap:.3f}" for kind, gap in gaps.items()),
        ),
        means.all_beat(
            "Beyond the paper: the tight noise loses less than the paper's at every ε",
            [(TIGHT, "sph")],
            means.cells("kind", "epsilon"),
        ),
    ]


def _e6(means: Means) -> list[Verdict]:
    return [
        Verdict(
            "sph resembles the non-private map (sin Θ below 0.6)",
            means.of("sph") < 0.6,
            means.shown("sph"),
        ),
        Verdict(
            "NSGGD loses the second axis (sin Θ above 0.7)",
            means.of("NSGGD") > 0.7,
            means.shown("NSGGD"),
        ),
        Verdict(
            "Beyond the paper: sin Θ at most 0.33 with the tight noise",
            means.of(TIGHT) <= 0.33,
            means.shown(*_BEYOND),
        ),
    ]


def _e7(means: Means) -> list[Verdict]:
    at_end = means.cells("kind", "d", **means.largest)
    heavy = [cell for cell in at_end if cell["kind"] == "t1"]
    ratios = {
        f"Q{k}": means.of(f"private Q{k}", **means.largest)
        / means.of(f"exact Q{k}", **means.largest)
        for k in (1, 2, 3)
    }
    return [
        means.all_beat(
            "r of the order of d is too large", product(("r = 1", "r = √d"), ["r = d"]), at_end
        ),
        means.alike("Q1 is like r = 1", "exact Q1", "r = 1", at_end),
        means.alike("Q2 is like r = 1", "exact Q2", "r = 1", at_end),
        means.all_beat(
            "Q3 is too large on t1", product(("exact Q1", "exact Q2"), ["exact Q3"]), heavy
        ),
        Verdict(
            "Private quantiles do about as well as exact ones",
            max(ratios.values()) < 1.3,
            ", ".join(f"{name}: {ratio:.2f} times" for name, ratio in ratios.items()),
        ),
        means.gain("r = 1", (TIGHT, DEFAULT)),
    ]


def _e8(means: Means) -> list[Verdict]:
    names = [f"c = {c:g}" for c in (0.25, 0.5, 1, 1.5)]
    losses = [
        [means.of(name, **cell) for name in names]
        for cell in means.cells("kind", "d", **means.largest)
    ]
    spread = max(max(cell) / min(cell) for cell in losses)
    return [
        Verdict(
            "c from 0.25 to 1.5 makes little difference",
            spread < 1.35,
            f"largest ratio {spread:.2f}",
        ),
        Verdict(
            "c = 2 is worse",
            all(
                means.of("c = 2", **means.largest) > means.of(name, **means.largest)
                for name in names
            ),
            means.shown(*names, "c = 2", **means.largest),
        ),
        means.gain("c = 1", (TIGHT, DEFAULT)),
    ]


def _e9(means: Means) -> list[Verdict]:
    smallest, *far = ({"shift": shift} for shift in means.values("shift"))
    moves = {
        name: float(np.ptp([means.of(name, **cell) for cell in far])) for name in _OURS + _OTHERS
    }
    others = ("sph", "wins", "AG", "NSGGD")
    return [
        Verdict(
            "All curves are flat beyond the smallest shift",
            max(moves.values()) < 0.15,
            ", ".join(f"{name} moves by {moved:.3f}" for name, moved in moves.items()),
        ),
        means.all_beat(
            "Robust methods win beyond the smallest shift",
            product((*_OURS, "NSGGD"), ("AG", "SGPCA")),
            far,
        ),
        Verdict(
            "SGPCA is best at the smallest shift",
            all(means.of("SGPCA", **smallest) <= means.of(name, **smallest) for name in others),
            means.shown("SGPCA", *others, **smallest),
        ),
        means.gain(),
    ]


def _e10(means: Means) -> list[Verdict]:
    shares = means.cells("fraction")
    few = [cell for cell in shares if cell["fraction"] < 0.1]
    return [
        means.all_beat(
            "sph and wins beat the others below 10 % bad rows", product(_OURS, _OTHERS), few
        ),
        Verdict("wins is better than sph at every share", *means.beats("wins", "sph", shares)),
        means.gain(),
    ]


def _e11(means: Means) -> list[Verdict]:
    verdicts = [
        means.all_beat(
            f"sph and wins beat the others on {cell['kind']} data", product(_OURS, _OTHERS), [cell]
        )
        for cell in means.cells("kind", **means.largest)
    ]
    return [*verdicts, means.gain()]


def _e12(means: Means) -> list[Verdict]:
    drift = gap = 0.0
    for q in means.values("method"):
        exact, simulated = (
            np.array([means.of(q, d=d, source=source) for d in means.values("d")])
            for source in ("exact", "simulated")
        )
        drift = max(drift, exact.max() / exact.min())
        gap = max(gap, (abs(exact - simulated) / simulated).max())
    middle = means.of("q = 0.5", source="simulated")
    return [
        Verdict(
            "Every quantile is flat in d (within 10 %)",
            bool(drift < 1.10),
            f"largest ratio over d {drift:.3f}",
        ),
        Verdict("The median of R is near 2√d", 1.7 < middle < 2.3, f"{middle:.3f} √d"),
        Verdict(
            "Beyond the paper: the exact law agrees with the simulation (within 5 %)",
            bool(gap < 0.05),
            f"largest relative gap {gap:.3f}",
        ),
    ]


JUDGES: dict[str, Callable[[Means], list[Verdict]]] = {
    "E1a": _e1a, "E1b": _e1b, "E2": _e2, "E3": _e3, "E4": _e4, "E4b": _e4b, "E5": _e5, "E6": _e6,
    "E7": _e7, "E8": _e8, "E9": _e9, "E10": _e10, "E11": _e11, "E12": _e12,
}  # fmt: skip


def judge(name: str, summary: list[Row]) -> list[Verdict]:
    """Check every sentence of a study against its means."""
    return JUDGES[name](Means(summary))
