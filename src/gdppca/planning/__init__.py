"""Plan before you spend: the accuracy that a budget will buy, from public numbers alone."""

from gdppca.planning.plan import Plan, plan
from gdppca.planning.spectrum import Spectrum

__all__ = ["Plan", "Spectrum", "plan"]
