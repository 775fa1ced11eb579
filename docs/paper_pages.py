"""The page on the paper, written from kept results whenever the documentation is built."""

import shutil
import tomllib
from pathlib import Path

from gdppca.studies import STUDIES
from gdppca.studies.kept import kept_result
from gdppca.studies.looks import shown_value
from gdppca.studies.methods import DEFAULT, DEFAULT_ZCDP, NO_PRIVACY
from gdppca.studies.results import in_words

REASONS = Path(__file__).parent / "paper" / "reasons.toml"
TOP = """# What the paper says and what was seen

Every sentence of the paper on its experiments (Kim and Jung, 2025), beside what full runs of them
show. The numbers and figures come from `docs/paper/results`, the kept results of `gdppca study
NAME --full`; building this page runs nothing. The raw runs are not kept: the same command makes
them again, from seeds that depend on study, setting and run alone, and then says whether its
table agrees with the kept one (all means together, at a joint level of 1 %).

"sph" and "wins" are the paper's method, pairs of rows with the noise that the paper states. Lines
in black are what it does not have: the same pairs with tight noise, a public centre, and what
`DPPCA` does if nothing is asked for. "A beats B" is seen if the mean loss of A is below that of B
in at least half of the settings and nowhere above it by more than two standard errors. Sentences
that begin with "Beyond the paper" are ours. "Falls" is by a tenth or more.
"""
PAPERS = ("sph", "g-DPPCA sph", "sph, blocks of 64", "all pairs", "r = √d", "c = 1")
FOUND = ("study", "method", "mean", "se", "runs", "delta", "case")
SOME = {"E5": {"epsilon": (0.1, 4.0)}, "E9": {"shift": (5.0, 25.0, 50.0)}}  # of a long grid


def write(folder):
    """Write the page and its figures."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    parts = [TOP]
    results = {name: kept_result(name) for name in STUDIES}
    parts.append(overview({name: kept for name, kept in results.items() if kept}))
    for name, kept in results.items():
        parts.append(section(STUDIES[name], kept, reasons.get(name, {})))
        if kept:
            shutil.copy(kept.folder / "figure.svg", folder / f"{name}.svg")
    (folder / "index.md").write_text("\n".join(parts), encoding="utf-8")


def section(study, kept, reasons):
    """A study: sentences with verdicts, numbers and reasons, and the figure."""
    head = f"## {study.name}: {study.title} (Fig {study.figure})\n"
    if kept is None:
        return f"{head}\nNo full run of it is kept. `gdppca study {study.name} --full` makes one.\n"
    fewer = f", of {study.runs[1]} that the full form has" * (kept.about["runs"] < study.runs[1])
    lines = [head, f"{in_words(kept.about).capitalize()}{fewer}.\n"]
    for verdict in kept.about["verdicts"]:
        mark = "seen" if verdict["holds"] else "not seen"
        lines.append(f"- **{mark}**: {verdict['sentence']}. *{verdict['numbers']}.*")
        if not verdict["holds"]:
            lines.append(f"  {reasons[verdict['sentence']]}")
    lines.append(f"\n```{{image}} {study.name}.svg\n:alt: {study.title}\n```\n")
    return "\n".join(lines)


def overview(results):
    """One table of the whole: the paper's method, the default, no privacy."""
    lines = [
        "## One table of the whole\n",
        "Mean loss ± standard error at the most rows of each study. The paper's method is its "
        "spherical one, or the winsorized where a study is about the radius.\n",
        "| study | setting | loss | the paper's method | default of `DPPCA` | no privacy |",
        "|---|---|---|---|---|---|",
    ]
    for name, kept in results.items():
        methods = {row["method"] for row in kept.summary}
        paper = next((m for m in PAPERS if m in methods), None)
        for cell in cells(name, kept.summary, paper):
            means = [mean(kept.summary, m, cell) for m in (paper, DEFAULT, NO_PRIVACY)]
            shown = ", ".join(_value(k, v) for k, v in cell.items())
            lines.append(f"| {name} | {shown} | {STUDIES[name].loss} | {' | '.join(means)} |")
    return "\n".join(lines) + "\n"


def _value(name, value):
    return f"ρ = {value:g}" if name == "rho" else shown_value(name, value)


def cells(name, summary, paper):
    """Settings of a study at its largest n."""
    rows = [row for row in summary if row["method"] == paper]
    most = max((row.get("n", 0) for row in rows), default=0)
    chosen = SOME.get(name, {})
    for row in rows:
        if row.get("n", 0) == most and all(row[k] in values for k, values in chosen.items()):
            yield {k: v for k, v in row.items() if k not in FOUND}


def mean(summary, method, cell):
    """A mean with its error, in words; what knows of no ε is looked for without it."""
    for names in (cell, {k: v for k, v in cell.items() if k != "epsilon"}):
        for row in summary:
            same = method == row["method"] or (method, row["method"]) == (DEFAULT, DEFAULT_ZCDP)
            if same and names.items() <= row.items():
                return f"{row['mean']:.3f} ± {row['se']:.3f}"
    return "–"
