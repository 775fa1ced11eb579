"""Eight processes ask a ledger for more than its cap and are killed at random; run by a test.

Each worker asks for one share after another and writes a line to its own file for every one that
was granted: its release. A killed worker is started again and asks again, under the same id, for
whatever it has no line for. Prints the number of kills.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from gdppca._errors import BudgetExceeded
from gdppca.ledgers import Ledger
from gdppca.privacy import GaussianEvent

WORKERS = 8
KILLS = 60  # then they may end


def work(ledger, folder, worker, asks, multiplier):
    """Ask, release, ask again; never returns."""
    file = os.open(folder / f"released-{worker}", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    done = os.read(file, 10**7).count(b"\n")
    share = GaussianEvent(purpose="share", noise_multiplier=multiplier)
    for k in range(done, asks):
        try:
            receipt = ledger.spend("patients", share, request_id=f"{worker}-{k}")
        except BudgetExceeded:
            break
        os.write(file, f"{worker}-{k} {receipt.hash}\n".encode())
    os._exit(0)


def storm(address, folder, asks, multiplier, seed):
    """Start, kill, start again, until every worker ends by itself."""
    chance = random.Random(seed)
    ledger = Ledger(address)
    ledger.account("patients")  # libraries load once, before the forks

    def start(worker):
        return os.fork() or work(ledger, folder, worker, asks, multiplier)

    running = {start(worker): worker for worker in range(WORKERS)}
    kills = 0
    while running:
        time.sleep(chance.uniform(0.01, 0.05))
        victim = chance.choice(list(running)) if kills < KILLS else None
        if victim is not None:
            os.kill(victim, signal.SIGKILL)  # not yet reaped: the id is still this child's
        for pid in list(running):
            ended, status = os.waitpid(pid, 0 if pid == victim else os.WNOHANG)
            if not ended:
                continue
            worker = running.pop(pid)
            if os.WIFSIGNALED(status):
                kills += 1
                running[start(worker)] = worker
            elif os.WEXITSTATUS(status):
                raise SystemExit(f"worker {worker} failed")
    print(kills)


if __name__ == "__main__":
    storm(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
