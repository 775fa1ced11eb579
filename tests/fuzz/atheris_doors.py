"""Coverage-guided fuzzing of the readers: ``make fuzz``, or one door as below.

``PYTHONPATH=tests python tests/fuzz/atheris_doors.py csv -runs=300000 -seed=1``

Doors are csv, parquet, both of them in parts (a fit that reads by DuckDB, a thousand times slower),
description, dialects (CSV by a description), workbook, spss and stata, release and sealed (a
release whose checksum is made right again, so that what lies behind it is reached). Only code that
reads is instrumented: compiled kernels cannot be.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=[
        "gdppca.tables",
        "gdppca.privacy.guarantee",
        "gdppca.privacy.events",
        "gdppca.privacy.assumptions",
        "gdppca.releases.consistency",
        "gdppca.releases.files",
        "gdppca.releases.release",
        "gdppca.releases.mapping",
        "gdppca.releases.score_map",
        "gdppca._validate",
    ]
):
    from fuzz import doors

_LIMITS = ["-timeout=20", "-rss_limit_mb=4096", "-max_len=16384", "-print_final_stats=1"]

_CSV = [doors.example_csv(), b"a,b\n1,2\n3,4\n", b'a,"b"\r\n"1",\n']
_PARQUET = [doors.example_parquet(), doors.example_parquet("snappy"), doors.example_numbers()]

DOORS = {
    "csv": (doors.csv_door, _CSV),
    "csv-in-parts": (partial(doors.csv_door, read=doors.in_parts), _CSV),
    "parquet": (doors.parquet_door, _PARQUET),
    "parquet-in-parts": (partial(doors.parquet_door, read=doors.in_parts), _PARQUET),
    "dialects": (doors.dialect_door, doors.example_dialects()),
    "workbook": (doors.workbook_door, [doors.example_workbook()]),
    "spss": (doors.statfile_door, [doors.example_statfile()]),
    "stata": (partial(doors.statfile_door, ending=".dta"), [doors.example_statfile(".dta")]),
    "description": (doors.description_door, [doors.example_description()]),
    "release": (doors.release_door, [doors.example_release()]),
    "sealed": (
        doors.sealed_release_door,
        [doors.example_release(), doors.example_release(variances=0.1, score_map=0.2)],
    ),
}


def _json_mutator(content: bytes, max_size: int, seed: int) -> bytes:
    """Change places of the tree rather than bytes, which would break the JSON."""
    numbers = random.Random(seed)
    try:
        plain = json.loads(content)
        for _ in range(numbers.choice((1, 1, 2, 4))):
            plain = doors.mutated_json(plain, numbers.randrange)
        changed = json.dumps(plain).encode()
    except (ValueError, RecursionError):
        changed = b""
    return changed if 0 < len(changed) <= max_size else atheris.Mutate(content, max_size)


def main() -> None:
    name, *options = sys.argv[1:]
    corpus = Path(tempfile.mkdtemp(prefix=f"gdppca-{name}-"))
    child = os.fork()  # the fuzzer ends its process by itself, and nothing would be tidied up
    if not child:
        fuzz(name, options, corpus)
    _, status = os.waitpid(child, 0)
    if status == 0:  # or the finding is in there
        shutil.rmtree(corpus)
    sys.exit(os.waitstatus_to_exitcode(status))


def fuzz(name: str, options: list[str], corpus: Path) -> None:
    """Knock at a door until all runs are done or something is found; never returns."""
    door, examples = DOORS[name]
    for k, example in enumerate(examples):
        (corpus / str(k)).write_bytes(example)

    def knock(content: bytes) -> None:
        door(content)

    mutator = {"custom_mutator": _json_mutator} if name == "sealed" else {}
    words = [sys.argv[0], *_LIMITS, f"-artifact_prefix={corpus}/found-", *options, str(corpus)]
    atheris.Setup(words, knock, **mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
