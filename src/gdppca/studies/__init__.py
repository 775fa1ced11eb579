"""The paper's experiments, from one command each."""

from gdppca.studies.experiments import STUDIES, Study
from gdppca.studies.results import StudyResult
from gdppca.studies.runner import run
from gdppca.studies.verdicts import Verdict

__all__ = ["STUDIES", "Study", "StudyResult", "Verdict", "run"]
