"""What users type first."""

import subprocess
import sys

import pytest
from numpydoc.validate import validate

import gdppca

HEAVY = ("numba", "opendp", "dp_accounting", "matplotlib", "pyarrow", "pandas", "polars", "dask",
         "pyspark", "jsonschema", "typer", "rich")  # fmt: skip
RULES = {
    "GL05",
    "GL06",
    "GL07",
    "GL08",
    "PR01",
    "PR02",
    "PR03",
    "PR04",
    "RT01",
    "RT03",
    "SS03",
    "EX01",
}
DOCUMENTED = ["DPPCA", "PairSum", "kendall_tau", "sin_theta", "Guarantee", "Release"]
METHODS = ["DPPCA.fit", "DPPCA.partial_fit", "DPPCA.finalize", "DPPCA.transform",
           "DPPCA.inverse_transform", "DPPCA.from_release", "PairSum.update"]  # fmt: skip


def test_import_loads_nothing_heavy():
    # scikit-learn itself loads pandas and pyarrow where it finds them.
    script = (
        "import sys, sklearn.base; before = set(sys.modules); import gdppca; "
        f"print([name for name in {HEAVY} if name in set(sys.modules) - before])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_promised_name_is_there():
    for name in gdppca.__all__:
        assert getattr(gdppca, name) is not None


@pytest.mark.parametrize("name", DOCUMENTED)
def test_names_are_documented(name):
    unmet = RULES - {"PR02"} if name in ("Guarantee", "Release") else RULES
    errors = [error for error in validate(f"gdppca.{name}")["errors"] if error[0] in unmet]
    assert not errors


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_documented(name):
    errors = [
        error for error in validate(f"gdppca.{name}")["errors"] if error[0] in RULES - {"EX01"}
    ]
    assert not errors
