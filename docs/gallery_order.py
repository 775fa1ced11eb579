"""The order of the gallery: from first steps to audits."""

FIRST_STEPS = ("first_fit", "plan", "uncertainty", "score_map", "outliers", "audit")


def place(filename):
    """Where an example stands."""
    return FIRST_STEPS.index(str(filename).removeprefix("plot_").removesuffix(".py"))
