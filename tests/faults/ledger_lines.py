"""`gdppca ledger init` and `grant`, killed at every line of their code in turn; run by a test.

``python ledger_lines.py folder`` prints the number of kills and what was wrong after them, as
JSON: a ledger must go on from wherever a command was killed.
"""

import json
import os
import shutil
import signal
import sys
import warnings
from pathlib import Path

from faults import forked

from gdppca import GdppcaError
from gdppca.ledgers import Ledger
from gdppca.privacy import GaussianEvent

STEP = GaussianEvent(purpose="step", noise_multiplier=50.0)


def address(folder):
    return f"sqlite:///{folder}/budget.db"


def words(verb, folder):
    return ["ledger", verb, f"{address(folder)}#patients", "--epsilon", "2"]


def wrong_after(verb, folder, line):
    """What is wrong with the ledger after the command was killed at a line; None if nothing."""
    _, status = os.waitpid(forked.start(words(verb, folder), folder / "log", line), 0)
    if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        return "was not killed"
    ledger = Ledger(address(folder))
    try:
        if not (folder / "budget.db").is_file() or not _datasets(ledger):
            ledger.create("patients", 2.0, 1e-6)  # the command again
        ledger.spend("patients", STEP)
        ledger.verify()
    except GdppcaError as error:
        return str(error)
    return None if ledger.account("patients").cap in (1.0, 2.0) else "has another cap"


def _datasets(ledger):
    try:
        return ledger.datasets()
    except GdppcaError as error:
        if "holds no gdppca ledger" in str(error):  # killed before it was laid out
            return []
        raise


def main(root):
    warnings.simplefilter("ignore")  # of a head that was not yet noted
    root = Path(root)
    empty, made, warm = root / "init", root / "grant", root / "warm"
    for folder in (empty, made, warm):
        folder.mkdir()
    Ledger(address(made)).create("patients", 1.0, 1e-6)
    forked.load_ledgers(words("init", warm))
    ended = {}
    for start in (empty, made):
        whole = shutil.copytree(start, root / f"{start.name}-whole")
        for line in forked.lines_of(words(start.name, whole), root / "log"):
            if line not in ended:
                folder = Path(shutil.copytree(start, root / str(len(ended))))
                ended[line] = wrong_after(start.name, folder, line)
    wrongs = {f"{Path(file).name}:{k}": wrong for (file, k), wrong in ended.items() if wrong}
    print(json.dumps({"kills": len(ended), "wrongs": wrongs}))


if __name__ == "__main__":
    main(sys.argv[1])
