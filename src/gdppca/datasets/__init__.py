"""Simulated tables of the paper, and loaders of public ones."""

from gdppca.datasets.generators import (
    Sample,
    make_contaminated,
    make_elliptical,
    make_gamma,
    make_laplace,
    paper_directions,
)
from gdppca.datasets.loaders import Europe, load_europe

__all__ = [
    "Europe",
    "Sample",
    "load_europe",
    "make_contaminated",
    "make_elliptical",
    "make_gamma",
    "make_laplace",
    "paper_directions",
]
