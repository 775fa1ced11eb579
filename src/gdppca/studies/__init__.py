"""The paper's experiments, from one command each."""

from gdppca.studies.experiments import STUDIES, Study
from gdppca.studies.runner import StudyResult, run
from gdppca.studies.verdicts import Verdict

__all__ = ["STUDIES", "Study", "StudyResult", "Verdict", "run"]
