"""Simulated tables of the paper, made-up visits, and loaders of public tables."""

from gdppca.datasets.generators import (
    Sample,
    make_contaminated,
    make_elliptical,
    make_gamma,
    make_laplace,
    paper_directions,
)
from gdppca.datasets.loaders import Europe, load_europe
from gdppca.datasets.visits import make_visits

__all__ = [
    "Europe",
    "Sample",
    "load_europe",
    "make_contaminated",
    "make_elliptical",
    "make_gamma",
    "make_laplace",
    "make_visits",
    "paper_directions",
]
