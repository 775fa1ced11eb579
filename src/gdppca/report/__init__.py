"""A release as a page that a data owner can forward, and as a record for a registry."""

from gdppca.report.register import render_register, write_register
from gdppca.report.registry import SECTORS, Owner, registry_record
from gdppca.report.render import render, render_findings, require_extras, write_report

__all__ = [
    "SECTORS",
    "Owner",
    "registry_record",
    "render",
    "render_findings",
    "render_register",
    "require_extras",
    "write_register",
    "write_report",
]
