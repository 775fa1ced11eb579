"""The order of the galleries: the paper's, and from first steps to audits."""

import re

FIRST_STEPS = ("first_fit", "plan", "uncertainty", "score_map", "outliers", "audit")


def place(filename):
    """Where an example stands: E2 before E10, E1a before E1b."""
    name = str(filename).removeprefix("plot_").removesuffix(".py")
    if name in FIRST_STEPS:
        return 0, FIRST_STEPS.index(name), ""
    number, letter = re.fullmatch(r"e(\d+)([a-z]?)", name).groups()
    return 1, int(number), letter
