"""An audit anyone can run: the worst neighbouring tables, many real fits, a lower bound on ε."""

from gdppca.auditing.audit import audit
from gdppca.auditing.experiment import Experiment
from gdppca.auditing.methods import METHODS
from gdppca.auditing.release_audit import ReleaseAudit
from gdppca.auditing.result import AuditResult
from gdppca.auditing.worst_pairs import experiment_for

__all__ = ["METHODS", "AuditResult", "Experiment", "ReleaseAudit", "audit", "experiment_for"]
