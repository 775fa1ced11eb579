"""Releases in notebooks."""

import subprocess
import sys
from dataclasses import replace

import numpy as np

from gdppca import DPPCA


def released(d=4, m=2, **options):
    X = np.random.default_rng(0).normal(size=(200, d))
    return DPPCA(m, **options).fit(X).release_


def test_promise_comes_first_then_loadings():
    html = released()._repr_html_()
    assert html.index("Every person with one row in this table is protected") < html.index(
        "Loadings"
    )
    assert html.count("<tr>") == 5
    assert 'scope="row"' in html


def test_many_columns_are_shortened():
    html = released(d=40, m=5)._repr_html_()
    assert "Largest loadings" in html
    assert html.count("<tr>") == 9


def test_names_are_escaped():
    names = ("<script>alert(1)</script>", '"&', "c", "d")
    html = replace(released(), feature_names=names)._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_simulation_shouts():
    assert "NOBODY IS PROTECTED" in released(random_state=0)._repr_html_()


def test_no_template_engine_is_needed():
    script = (
        "import sys; sys.modules['jinja2'] = None; sys.modules['matplotlib'] = None\n"
        "import numpy as np\nfrom gdppca import DPPCA\n"
        "release = DPPCA(1).fit(np.random.default_rng(0).normal(size=(50, 2))).release_\n"
        "assert 'protected' in release._repr_html_()"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
