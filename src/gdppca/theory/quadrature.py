"""Nodes of the trapezoid rule in log x, which the integrals over a sign's law share.

∫ f(x) dx = ∫ f(eᵗ) eᵗ dt converges exponentially for these integrands: they are analytic for
|Im t| < π, so step ¼ leaves e^(-8π²). With the largest λ equal to one the range cuts off less than
1e-16 even where a single λ is not zero.
"""

from __future__ import annotations

import numpy as np

STEP = 0.25
LOG_X = np.arange(-42.0, 78.0, STEP)
X = np.exp(LOG_X)
