"""What the paper's text says must be seen, each sentence as a check with its numbers.

A sentence that is not seen is reported, not hidden. "A beats B" counts as seen if the mean loss of
A is below that of B in at least half of the settings, and nowhere above it by more than two
standard errors of their difference: few runs do not refute by chance, and the full form has the
runs to tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gdppca.studies.methods import CENTRED, DEFAULT, DEFAULT_ZCDP, TIGHT, TIGHT_ZCDP

Row = dict[str, Any]

_BEYOND = (TIGHT, CENTRED, DEFAULT)


@dataclass(frozen=True)
class Verdict:
    """A sentence, whether it was seen, and the numbers it was judged by."""

    sentence: str
    holds: bool
    numbers: str

    def to_dict(self) -> dict[str, Any]:
        """Plain form."""
        return asdict(self)


class Means:
    """Mean losses of a study, looked up by method and setting."""

    def __init__(self, summary: list[Row]) -> None:
        self.summary = summary

    def values(self, name: str) -> list[Any]:
        """Values that a setting takes, in order."""
        return sorted({row[name] for row in self.summary}, key=lambda v: (str(type(v)), v))

    def of(self, method: str, **where: Any) -> float:
        """Mean over all settings that fit."""
        found = [
            row["mean"]
            for row in self.summary
            if row["method"] == method and all(row[k] == v for k, v in where.items())
        ]
        return float(np.mean(found))

    def error_of(self, method: str, **where: Any) -> float:
        """Standard error of that mean."""
        found = [
            row["se"]
            for row in self.summary
            if row["method"] == method and all(row[k] == v for k, v in where.items())
        ]
        return float(np.sqrt(np.sum(np.square(found))) / len(found))

    def cells(self, *names: str) -> list[dict[str, Any]]:
        """Distinct combinations of settings."""
        seen = {tuple(row[name] for name in names) for row in self.summary}
        return [dict(zip(names, cell, strict=True)) for cell in sorted(seen, key=str)]


def _shown(means: Means, methods: tuple[str, ...], **where: Any) -> str:
    return ", ".join(f"{name} {means.of(name, **where):.3f}" for name in methods)


def _beats(means: Means, better: str, worse: str, cells: list[dict[str, Any]]) -> tuple[bool, str]:
    """Whether one method's mean is mostly below another's and nowhere clearly above it."""
    lost = won = 0
    for cell in cells:
        excess = means.of(better, **cell) - means.of(worse, **cell)
        chance = np.hypot(means.error_of(better, **cell), means.error_of(worse, **cell))
        won += excess < 0
        lost += excess > 2 * chance
    clearly = f", clearly above in {lost}" if lost else ""
    return not lost and 2 * won >= len(cells), f"{won} of {len(cells)} settings{clearly}"


def _all_beat(
    means: Means, better: tuple[str, ...], worse: tuple[str, ...], cells: list[dict[str, Any]]
) -> tuple[bool, str]:
    results = [(b, w, *_beats(means, b, w, cells)) for b in better for w in worse]
    numbers = "; ".join(f"{b} below {w} in {won}" for b, w, _, won in results)
    return all(holds for _, _, holds, _ in results), numbers


def _gain(means: Means, paper: str = "sph", others: tuple[str, ...] = _BEYOND) -> Verdict:
    last = {"n": max(means.values("n"))} if "n" in means.summary[0] else {}
    return Verdict(
        "Beyond the paper: the tight noise loses less than the paper's",
        means.of(others[0], **last) < means.of(paper, **last),
        _shown(means, (paper, *others), **last),
    )


def _e1a(means: Means) -> list[Verdict]:
    cells = means.cells("kind", "d", "rho", "n")
    first, last = min(means.values("n")), max(means.values("n"))
    wins = _all_beat(means, ("g-DPPCA sph",), ("GSSCM sph",), cells)
    wins_too = _all_beat(means, ("g-DPPCA wins",), ("GSSCM wins",), cells)
    gaps = [
        means.of("GSSCM sph", kind="t1", n=n) - means.of("g-DPPCA sph", kind="t1", n=n)
        for n in (first, last)
    ]
    return [
        Verdict("g-DPPCA wins everywhere", wins[0] and wins_too[0], f"{wins[1]}; {wins_too[1]}"),
        Verdict(
            "On t1 the gap stays as n grows",
            gaps[1] > 0.5 * gaps[0],
            f"gap {gaps[0]:.3f} at n = {first}, {gaps[1]:.3f} at n = {last}",
        ),
        _gain(means, "g-DPPCA sph", (TIGHT_ZCDP, DEFAULT_ZCDP)),
    ]


def _e1b(means: Means) -> list[Verdict]:
    holds, numbers = _beats(means, "all pairs", "halves", means.cells("n"))
    largest = {"n": max(means.values("n"))}
    return [
        Verdict(
            "The U-statistic is clearly better than paired differences",
            holds,
            f"{numbers}; {_shown(means, ('all pairs', 'halves'), **largest)} at the largest n",
        ),
        Verdict(
            "Beyond the paper: blocks of 64 are nearly as good as all pairs",
            means.of("blocks of 64") < 1.1 * means.of("all pairs"),
            _shown(means, ("all pairs", "blocks of 64")),
        ),
    ]


def _close(means: Means, a: str, b: str, cells: list[dict[str, Any]]) -> tuple[bool, str]:
    ratios = [means.of(a, **cell) / means.of(b, **cell) for cell in cells]
    return (
        bool(max(abs(np.log(ratios))) < np.log(1.35)),
        f"ratio of {a} to {b} from {min(ratios):.2f} to {max(ratios):.2f}",
    )


def _e2(means: Means) -> list[Verdict]:
    cells = means.cells("n", "d")
    small = means.cells("n")
    largest = {"n": max(means.values("n"))}
    informative = [cell for cell in cells if means.of("sph", **cell) < 0.9]
    return [
        Verdict("sph and wins perform alike", *_close(means, "sph", "wins", cells)),
        Verdict(
            "Both beat AG and NSGGD where anything is learnt",
            *_all_beat(means, ("sph", "wins"), ("AG", "NSGGD"), informative),
        ),
        Verdict(
            "SGPCA is best at d = 5",
            *_all_beat(means, ("SGPCA",), ("sph", "wins"), [c | {"d": 5} for c in small]),
        ),
        Verdict(
            "Beyond the paper: the tight noise beats every method of the paper at the largest n",
            all(
                means.of(TIGHT, d=d, **largest) <= means.of(name, d=d, **largest)
                for d in means.values("d")
                for name in ("sph", "wins", "AG", "SGPCA", "NSGGD")
            ),
            "; ".join(
                f"d = {d}: " + _shown(means, ("sph", "SGPCA", *_BEYOND), d=d, **largest)
                for d in means.values("d")
            ),
        ),
    ]


def _e3(means: Means) -> list[Verdict]:
    cells = [c for c in means.cells("n", "d") if means.of("sph", **c) < 0.9]
    largest = {"n": max(means.values("n"))}
    return [
        Verdict(
            "sph and wins beat all other methods where anything is learnt",
            *_all_beat(means, ("sph", "wins"), ("AG", "SGPCA", "NSGGD"), cells),
        ),
        Verdict(
            "NSGGD beats SGPCA as n grows",
            all(
                means.of("NSGGD", d=d, **largest) < means.of("SGPCA", d=d, **largest)
                for d in means.values("d")
            ),
            "; ".join(
                f"d = {d}: " + _shown(means, ("NSGGD", "SGPCA"), d=d, **largest)
                for d in means.values("d")
            ),
        ),
        _gain(means),
    ]


def _falls(means: Means, method: str, **where: Any) -> bool:
    first, last = min(means.values("n")), max(means.values("n"))
    return means.of(method, n=last, **where) < 0.9 * means.of(method, n=first, **where)


def _e4(means: Means) -> list[Verdict]:
    dims = means.values("d")
    ends = {"n": max(means.values("n"))}

    def each(methods: tuple[str, ...]) -> str:
        return "; ".join(f"d = {d}: " + _shown(means, methods, d=d, **ends) for d in dims)

    return [
        Verdict(
            "sph and wins fall as n grows, in every dimension",
            all(_falls(means, name, d=d) for name in ("sph", "wins") for d in dims),
            each(("sph", "wins")) + " at the largest n",
        ),
        Verdict(
            "AG and SGPCA do not fall",
            not any(_falls(means, name, d=d) for name in ("AG", "SGPCA") for d in dims),
            each(("AG", "SGPCA")),
        ),
        Verdict(
            "NSGGD falls, in every dimension",
            all(_falls(means, "NSGGD", d=d) for d in dims),
            each(("NSGGD",)),
        ),
        Verdict(
            "sph and wins stay ahead of NSGGD at the largest n",
            *_all_beat(means, ("sph", "wins"), ("NSGGD",), [ends | {"d": d} for d in dims]),
        ),
        _gain(means),
    ]


def _e5(means: Means) -> list[Verdict]:
    largest = {"epsilon": max(means.values("epsilon"))}
    heavy = [
        {"kind": kind, **cell} for kind in ("t1", "contaminated") for cell in means.cells("epsilon")
    ]
    gaps = [
        means.of("NSGGD", kind=kind, **largest) - means.of("sph", kind=kind, **largest)
        for kind in means.values("kind")
    ]
    informative = [cell for cell in heavy if means.of("sph", **cell) < 0.9]
    return [
        Verdict(
            "On t1 and contaminated data sph and wins are best where anything is learnt",
            *_all_beat(means, ("sph", "wins"), ("AG", "SGPCA", "NSGGD"), informative),
        ),
        Verdict(
            "NSGGD's gap does not close at the largest ε",
            min(gaps) > 0.05,
            ", ".join(
                f"{kind} {gap:.3f}" for kind, gap in zip(means.values("kind"), gaps, strict=True)
            ),
        ),
        Verdict(
            "Beyond the paper: the tight noise loses less than the paper's at every ε",
            *_all_beat(means, (TIGHT,), ("sph",), means.cells("kind", "epsilon")),
        ),
    ]


def _e6(means: Means) -> list[Verdict]:
    return [
        Verdict(
            "sph resembles the non-private map (sin Θ below 0.6)",
            means.of("sph") < 0.6,
            _shown(means, ("sph",)),
        ),
        Verdict(
            "NSGGD loses the second axis (sin Θ above 0.7)",
            means.of("NSGGD") > 0.7,
            _shown(means, ("NSGGD",)),
        ),
        Verdict(
            "Beyond the paper: sin Θ at most 0.33 with the tight noise",
            means.of(TIGHT) <= 0.33,
            _shown(means, _BEYOND),
        ),
    ]


def _e7(means: Means) -> list[Verdict]:
    cells = means.cells("kind", "d")
    heavy = [cell for cell in cells if cell["kind"] == "t1"]
    largest = {"n": max(means.values("n"))}
    at_end = [cell | largest for cell in cells]
    ratios = [
        means.of(f"private Q{k}", **largest) / means.of(f"exact Q{k}", **largest) for k in (1, 2, 3)
    ]
    return [
        Verdict(
            "r of the order of d is too large",
            *_all_beat(means, ("r = 1", "r = √d"), ("r = d",), at_end),
        ),
        Verdict("Q1 is like r = 1", *_close(means, "exact Q1", "r = 1", at_end)),
        Verdict("Q2 is like r = 1", *_close(means, "exact Q2", "r = 1", at_end)),
        Verdict(
            "Q3 is too large on t1",
            *_all_beat(
                means, ("exact Q1", "exact Q2"), ("exact Q3",), [c | largest for c in heavy]
            ),
        ),
        Verdict(
            "Private quantiles do about as well as exact ones",
            max(ratios) < 1.3,
            ", ".join(
                f"Q{k}: {ratio:.2f} times" for k, ratio in zip((1, 2, 3), ratios, strict=True)
            ),
        ),
        _gain(means, "r = 1", (TIGHT, DEFAULT)),
    ]


def _e8(means: Means) -> list[Verdict]:
    largest = {"n": max(means.values("n"))}
    names = [f"c = {c:g}" for c in (0.25, 0.5, 1, 1.5)]
    cells = [cell | largest for cell in means.cells("kind", "d")]
    spread = max(
        max(means.of(n, **c) for n in names) / min(means.of(n, **c) for n in names) for c in cells
    )
    return [
        Verdict(
            "c from 0.25 to 1.5 makes little difference",
            spread < 1.35,
            f"largest ratio {spread:.2f}",
        ),
        Verdict(
            "c = 2 is worse",
            means.of("c = 2", **largest) > max(means.of(n, **largest) for n in names),
            _shown(means, (*names, "c = 2"), **largest),
        ),
        _gain(means, "c = 1", (TIGHT, DEFAULT)),
    ]


def _e9(means: Means) -> list[Verdict]:
    shifts = means.values("shift")
    flat = {
        name: max(means.of(name, shift=s) for s in shifts[1:])
        - min(means.of(name, shift=s) for s in shifts[1:])
        for name in ("sph", "wins", "AG", "SGPCA", "NSGGD")
    }
    far = [{"shift": s} for s in shifts[1:]]
    smallest = {"shift": shifts[0]}
    others = ("sph", "wins", "AG", "NSGGD")
    return [
        Verdict(
            "All curves are flat beyond the smallest shift",
            max(flat.values()) < 0.15,
            ", ".join(f"{name} moves by {moved:.3f}" for name, moved in flat.items()),
        ),
        Verdict(
            "Robust methods win beyond the smallest shift",
            *_all_beat(means, ("sph", "wins", "NSGGD"), ("AG", "SGPCA"), far),
        ),
        Verdict(
            "SGPCA is best at the smallest shift",
            all(means.of("SGPCA", **smallest) <= means.of(name, **smallest) for name in others),
            _shown(means, ("SGPCA", *others), **smallest),
        ),
        _gain(means),
    ]


def _e10(means: Means) -> list[Verdict]:
    fractions = means.values("fraction")
    few = [{"fraction": f} for f in fractions if f < 0.1]
    return [
        Verdict(
            "sph and wins beat the others below 10 % bad rows",
            *_all_beat(means, ("sph", "wins"), ("AG", "SGPCA", "NSGGD"), few),
        ),
        Verdict(
            "wins is better than sph at every share",
            *_beats(means, "wins", "sph", [{"fraction": f} for f in fractions]),
        ),
        _gain(means),
    ]


def _e11(means: Means) -> list[Verdict]:
    largest = {"n": max(means.values("n"))}
    verdicts = [
        Verdict(
            f"sph and wins beat the others on {kind} data",
            *_all_beat(
                means, ("sph", "wins"), ("AG", "SGPCA", "NSGGD"), [{"kind": kind} | largest]
            ),
        )
        for kind in means.values("kind")
    ]
    return [*verdicts, _gain(means)]


def _e12(means: Means) -> list[Verdict]:
    drift = {
        q: max(_row_means(means, q)) / min(_row_means(means, q))
        for q in (row["method"] for row in means.summary)
    }
    middle = means.of("q = 0.5", source="simulated")
    gap = max(
        abs(means.of(row["method"], d=row["d"], source="exact") - row["mean"]) / row["mean"]
        for row in means.summary
        if row["source"] == "simulated"
    )
    return [
        Verdict(
            "Every quantile is flat in d (within 10 %)",
            max(drift.values()) < 1.10,
            f"largest ratio over d {max(drift.values()):.3f}",
        ),
        Verdict("The median of R is near 2√d", 1.7 < middle < 2.3, f"{middle:.3f} √d"),
        Verdict(
            "Beyond the paper: the exact law agrees with the simulation (within 5 %)",
            gap < 0.05,
            f"largest relative gap {gap:.3f}",
        ),
    ]


def _row_means(means: Means, q: str) -> list[float]:
    return [means.of(q, d=d, source="exact") for d in means.values("d")]


_JUDGES: dict[str, Callable[[Means], list[Verdict]]] = {
    "E1a": _e1a, "E1b": _e1b, "E2": _e2, "E3": _e3, "E4": _e4, "E5": _e5, "E6": _e6, "E7": _e7,
    "E8": _e8, "E9": _e9, "E10": _e10, "E11": _e11, "E12": _e12,
}  # fmt: skip


def judge(name: str, summary: list[Row]) -> list[Verdict]:
    """Check every sentence of a study against its means."""
    return [
        Verdict(verdict.sentence, bool(verdict.holds), verdict.numbers)
        for verdict in _JUDGES[name](Means(summary))
    ]
