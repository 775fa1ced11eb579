"""A release as a page that a data owner can forward, and as a record for a registry."""

from gdppca.report.registry import SECTORS, Owner, registry_record
from gdppca.report.render import render, require_extras, write_report

__all__ = ["SECTORS", "Owner", "registry_record", "render", "require_extras", "write_report"]
