"""Engines feed the kernels: frames in memory, files, clusters; descriptions say what is there."""

from gdppca.tables.describing import describe
from gdppca.tables.description import Column, Description

__all__ = ["Column", "Description", "describe"]
