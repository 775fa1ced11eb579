"""Programs that are killed, or killed in: each runs in a process of its own."""

import os
import subprocess
import sys


def output(program, *arguments):
    """What a program printed that ended well."""
    done = subprocess.run(
        [sys.executable, program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
