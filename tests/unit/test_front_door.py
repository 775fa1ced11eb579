"""What users type first."""

import inspect
import pickle
import pydoc
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
DOCUMENTED = ["DPPCA", "PairSum", "kendall_tau", "sin_theta", "Guarantee", "Release",
              "Description", "describe"]  # fmt: skip
METHODS = ["DPPCA.fit", "DPPCA.partial_fit", "DPPCA.finalize", "DPPCA.transform",
           "DPPCA.inverse_transform", "DPPCA.from_release", "PairSum.update",
           "Description.load", "Description.save", "Description.from_dict",
           "Description.to_dict"]  # fmt: skip


def printed(script):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_import_loads_nothing_but_the_standard_library():
    script = (
        "import sys; before = set(sys.modules); import gdppca; "
        "roots = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(roots - sys.stdlib_module_names))"
    )
    assert printed(script) == "['gdppca']"


def test_all_names_together_load_nothing_heavy():
    # scikit-learn itself loads pandas and pyarrow where it finds them.
    script = (
        "import sys, sklearn.base; before = set(sys.modules); from gdppca import *; "
        f"print([name for name in {HEAVY} if name in set(sys.modules) - before])"
    )
    assert printed(script) == "[]"


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        (["--version"], 0.4),
        (["--help"], 0.8),
        (["fit", "--help"], 0.8),
        (["describe", "--help"], 0.8),
        (["ledger", "--help"], 0.8),
    ],
)
def test_commands_that_compute_nothing_load_nothing(arguments, seconds):
    script = (
        "import sys, time; from gdppca.cli.main import app;"
        f"app({arguments}, standalone_mode=False);"
        f"print([name for name in {(*HEAVY[:-2], 'numpy', 'sqlalchemy')} if name in sys.modules]);"
        "print(time.process_time())"
    )
    runs = [printed(script).splitlines()[-2:] for _ in range(3)]
    assert [loaded for loaded, _ in runs] == ["[]"] * 3
    assert min(float(spent) for _, spent in runs) < seconds


def test_every_promised_name_is_there():
    for name in gdppca.__all__:
        assert getattr(gdppca, name) is not None


def test_stars_bring_every_promised_name():
    here = {}
    exec("from gdppca import *", here)
    assert set(gdppca.__all__) <= set(here)


def test_names_are_found_by_those_who_look_around():
    assert set(gdppca.__all__) <= set(dir(gdppca))
    found = dict(inspect.getmembers(gdppca))
    assert found["DPPCA"] is gdppca.estimators.DPPCA
    assert found["signs"].Winsor is gdppca.signs.Winsor
    assert "class DPPCA" in pydoc.render_doc(gdppca, renderer=pydoc.plaintext)
    assert pickle.loads(pickle.dumps(gdppca.DPPCA)) is gdppca.DPPCA
    assert gdppca.ParameterError is gdppca._errors.ParameterError


def test_rooms_need_no_import_of_their_own():
    assert printed("import gdppca; print(gdppca.signs.Winsor(radius=2))") == "Winsor(radius=2.0)"
    assert printed("import gdppca; print(gdppca.plots.scree.__name__)") == "scree"


def test_names_that_are_not_there_are_refused():
    assert not hasattr(gdppca, "ordinary_pca")
    with pytest.raises(ImportError, match="ordinary_pca"):
        exec("from gdppca import ordinary_pca")


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
