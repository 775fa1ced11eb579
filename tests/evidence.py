"""How much an attacker who overhears every draw can see at most."""

import numpy as np

from gdppca.auditing.draws import repeated


def check_evidence(experiment, least, slack=0.0):
    """Σ(Δ/σ)² over everything drawn is μ²: no noise is needed to see that.

    No draw moves by more than it says; together they show at least so much of μ².
    """
    [mechanism] = experiment.run.args
    mu = experiment.claim.mu
    for table in experiment.tables:
        heard = experiment.run(table)
        moved = [repeated(mechanism, one, heard.draws) for one in experiment.tables]
        pairs = [pair for pair in zip(*moved, strict=True) if pair[0].kind == "gaussian"]
        assert all(one.scale == other.scale for one, other in pairs)
        assert all(one.moved_by(other.exact) <= 1 + slack for one, other in pairs)
        seen = sum(np.sum(((one.exact - other.exact) / one.scale) ** 2) for one, other in pairs)
        assert least * mu**2 < seen <= (1 + 1e-9) * mu**2
        assert experiment.score(heard) != 0.0
