"""Broken copies of the mechanisms, to show that an audit would notice."""

import sys
from contextlib import contextmanager

import pytest

from gdppca.mechanisms import gaussian, selection


@contextmanager
def weakened(factor):
    """All noise times `factor`, in every room that draws some."""
    changed = {
        "add_gaussian": lambda values, sigma, rng: gaussian.add_gaussian(
            values, sigma * factor, rng
        ),
        "noisy_argmax": lambda scores, epsilon, rng: selection.noisy_argmax(
            scores, epsilon / factor, rng
        ),
        "integer_laplace": lambda size, scale, rng: selection.integer_laplace(
            size, scale * factor, rng
        ),
    }
    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            name = getattr(module, "__name__", "")
            if not name.startswith("gdppca.") or name.startswith("gdppca.mechanisms"):
                continue
            for drawn, copy in changed.items():
                if drawn in vars(module):
                    patch.setattr(module, drawn, copy)
        yield
