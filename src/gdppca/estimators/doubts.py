"""What is said of a design before it draws: doubts, and refusals, from public numbers."""

from __future__ import annotations

import warnings

from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.design import Design
from gdppca.privacy.budget import warn_of_large_delta


def warn_of_weakness(design: Design, stacklevel: int) -> None:
    """Warn of doubtful budgets and refuse lost ones, from public numbers, before any draw."""
    public = design.public
    if not public.moves.replaces:  # nothing is known of a secret number
        return
    for lost in design.lost:
        raise ParameterError(lost)
    warn_of_large_delta(design.delta, public.n_samples, stacklevel, public.those)
    warn_of_doubts(design, stacklevel + 1)


def warn_of_doubts(design: Design, stacklevel: int) -> None:
    """Warn of steps whose noise may win, and of noise that does not reach what was asked for."""
    reached = design.guarantee(design.debit, entered=False, seeded=False).nominal_epsilon
    stronger = reached > design.epsilon
    said = (
        f"The paper's noise does not reach epsilon = {design.epsilon:g} here; the guarantee "
        f"states the true value, {reached:.4g}."
    )
    for doubt in (*design.lost, *design.doubts, *([said] if stronger else [])):
        warnings.warn(doubt, PrivacyWarning, stacklevel=stacklevel + 1)
