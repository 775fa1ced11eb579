"""Engines feed the kernels: frames in memory, files, clusters; descriptions say what is there."""

from gdppca.tables.describing import describe
from gdppca.tables.description import Column, Description
from gdppca.tables.sql import Query

__all__ = ["Column", "Description", "Query", "describe"]
