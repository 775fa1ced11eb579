"""Records in the layout of the OpenDP deployments registry."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker

from gdppca import DPPCA, NSGGD, SGPCA, ParameterError
from gdppca.report import Owner, registry_record

SCHEMA = Path(__file__).parents[4] / "shared" / "data" / "deployments-registry-schema.yaml"
OWNER = Owner(
    name="Blood values, 2024",
    curators=("A hospital",),
    region="Nowhere",
    intended_use="Research",
    publication_date="2025-12-31",
    sector="Healthcare",
    authors=("A steward",),
)
MADE_BY = {
    "DPPCA": DPPCA(2, epsilon=2.0),
    "radius": DPPCA(2, epsilon=4.0, sign="winsor", radius="quantile"),
    "centre": DPPCA(2, location=np.zeros(5), scale=np.ones(5)),
    "seeded": DPPCA(2, random_state=0),
    "infinite": DPPCA(2, epsilon=float("inf")),
    "SGPCA": SGPCA(2, epsilon=2.0, eigenvalues=[25, 9, 1, 1, 1]),
    "NSGGD": NSGGD(2, epsilon=4.0, delta=1e-4, noise="accounted", n_iterations=50),
}


def released(name="DPPCA"):
    X = np.random.default_rng(0).normal(size=(300, 5)) * [5, 3, 1, 1, 1]
    return MADE_BY[name].fit(X).release_


@pytest.mark.skipif(not SCHEMA.is_file(), reason="the registry's schema is not at hand")
@pytest.mark.parametrize("name", MADE_BY)
def test_record_fits_the_registry(name):
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    checked = Draft202012Validator(schema, format_checker=FormatChecker())
    record = json.loads(json.dumps(registry_record(released(name), OWNER), allow_nan=False))
    assert list(checked.iter_errors(record)) == []
    assert list(checked.iter_errors({**record, "status": "Done"}))  # the schema does look
    # Without the owner's word the date is a question, and nothing else is out of form.
    asked = Draft202012Validator(schema).iter_errors(registry_record(released(name)))
    assert list(asked) == []


def test_record_states_the_loss():
    release = released()
    loss = registry_record(release)["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {
        "epsilon": release.guarantee.epsilon,
        "delta": 1e-6,
        "rho": release.guarantee.zcdp_rho,
    }
    assert "replace-one" in loss["privacy_unit_details"]


@pytest.mark.parametrize("name", ["seeded", "infinite"])
def test_record_of_an_unprotected_release_says_so(name):
    deployment = registry_record(released(name))["deployment"]
    assert deployment["privacy_loss"]["privacy_parameters"] == {}
    assert "NOBODY IS PROTECTED" in deployment["privacy_loss"]["privacy_parameters_details"]
    assert "variant_name" not in deployment["dp_variant"]
    assert deployment["basic"]["description"].startswith("NOT PROTECTED")


def test_variant_follows_from_the_promise():
    assert _variant("DPPCA") == "Approximate DP"
    assert _variant("SGPCA") == "Custom"  # with high probability only


def _variant(name):
    return registry_record(released(name))["deployment"]["dp_variant"]["variant_name"]


def test_only_the_owner_knows_some_things():
    basic = registry_record(released())["deployment"]["basic"]
    for field in ("name", "intended_use", "data_product_region", "publication_date"):
        assert basic[field] == "To be filled in by the data owner."
    basic = registry_record(released(), OWNER)["deployment"]["basic"]
    assert basic["publication_date"] == "2025-12-31"
    assert registry_record(released(), OWNER)["url_slug"] == "blood-values-2024"


def test_public_centre_is_unprotected_and_a_private_one_is_not():
    public = released("centre")
    said = registry_record(public)["deployment"]["dp_variant"]["unprotected_quantities"]
    assert "the centre" in said
    paid = replace(public.guarantee.events[0], purpose="centre")
    promise = replace(public.guarantee, events=(paid,))
    private = replace(public, guarantee=promise, centre_origin="private")
    said = registry_record(private)["deployment"]["dp_variant"]["unprotected_quantities"]
    assert "the centre" not in said


def test_names_of_columns_cannot_break_out_of_markdown():
    names = ("`a`", "b\n# c", "d", "e", "f")
    domain = registry_record(replace(released(), feature_names=names))["deployment"]["dp_variant"][
        "data_domain"
    ]
    assert "`'a'`, `b # c`" in domain


@pytest.mark.parametrize(
    "wrong",
    [{"publication_date": "31.12.2025"}, {"sector": "Magic"}, {"curators": "me"}, {"authors": ()}],
)
def test_owner_checks_what_has_a_form(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Owner(**wrong)
