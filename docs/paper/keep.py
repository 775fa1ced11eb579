"""Copy what full runs found into docs/paper/results: python docs/paper/keep.py FOLDER."""

import sys
from pathlib import Path

from gdppca.studies.kept import keep

for line in keep(Path(sys.argv[1])):
    print(line)
