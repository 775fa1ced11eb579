"""Columns that are no measurements are told by whole words of their names."""

import shlex
import warnings

import pytest

from gdppca import DPPCA, PrivacyWarning
from gdppca.tables.names import doubtful_names, doubts_of_names, unused_ids

IDS = """
id ID Id patient_id PatientID patientId patient-id "patient id" id_patient patientid PatID person_id
subject participant Patient person case_number "Case No." caseNr record_number mrn MRN ssn uuid
nr Nr. Patientennummer Fallnummer numéro "numéro patient" identifiant "insurance number" study_id_2
pid user_id subject_no patient.code
"""
DATES = """
date Date visit_date "Date of birth" dob DOB timestamp time day year year_of_birth birth_year
"year of diagnosis" admissionDate discharge-date Datum Geburtsdatum Geburtsjahr "date de naissance"
année visit_day month "admission time" date_1 datetime
"""
ROW_NUMBERS = """
index Index "Unnamed: 0" "Unnamed: 3" row row_number RowId rownames lfd_nr __index_level_0__
row_index
"""
MEASUREMENTS = """
idle_time period video paid PAID update_rate candidate age sex bmi bp s1 x0 body_mass_index
patient_age patient_weight cost_per_patient number_of_children nr_of_visits birth_weight pack_years
years_of_schooling drinks_per_day survival_time time_to_death days_since_surgery reaction_time
cost_to_date up-to-date validated HbA1c NR1H4 NO2 IDH1 COVID ideal liquid acid lipid rapid width
thyroid steroid idx_ratio subject_height personality timer weekday_share Tagesdosis case
refractive_index heart_rate male Widerstand residual outdated indexed patients_seen no yes hospital
persons people patients rows observation mean_time daylight monthly_income yearly_income
identity_score caseload numeracy
"""


def names(block):
    return shlex.split(block)


@pytest.mark.parametrize(
    ("block", "kind"), [(IDS, "id"), (DATES, "date"), (ROW_NUMBERS, "row number")]
)
def test_names_that_are_no_measurements_are_told(block, kind):
    wanted = names(block)
    assert doubtful_names(wanted) == [(name, kind) for name in wanted]


def test_parts_of_words_are_no_alarm():
    assert doubtful_names(names(MEASUREMENTS)) == []


def test_a_category_counts_once_and_by_its_variable():
    assert doubtful_names(["ward=id", "ward=date"]) == []
    assert doubtful_names(["person_id=1", "person_id=2"]) == [("person_id", "id")]


@pytest.mark.parametrize("name", ["", " ", "=", "日付", "_", "3", 7, "\ud800", "é" * 10_000])
def test_any_name_is_taken(name):
    assert doubtful_names([name]) == []


def test_one_sentence_for_each_kind():
    assert doubts_of_names(["age", "bmi"]) == doubts_of_names([]) == ""
    assert doubts_of_names(["age", "patient_id"]) == (
        "The column 'patient_id' looks like an id by its name: ids are no measurements, and "
        "several rows per person need `persons=`/`--person`."
    )
    both = doubts_of_names(["id", "visit_date", "mrn"])
    assert both.startswith("The columns 'id' and 'mrn' look like ids by their names: ids")
    assert "The column 'visit_date' looks like a date by its name" in both


def test_many_columns_are_not_all_listed():
    said = doubts_of_names([f"id_{k}" for k in range(40)])
    assert "'id_4' and 35 others look like ids" in said
    assert len(said) < 300


def test_ids_that_nobody_asked_for_are_told():
    assert "'patient_id' that looks like an id" in unused_ids(["age", "patient_id"])
    assert "columns 'id' and 'PatientID' that look like ids" in unused_ids(["id", "PatientID"])
    assert unused_ids(["age", "date"]) == ""


@pytest.mark.parametrize("whole", [True, False])
def test_a_fit_tells_of_visits_that_it_takes_for_persons(whole, tmp_path):
    rows = "".join(f"{k // 3},{k % 7},{k % 5}\n" for k in range(60))
    (tmp_path / "t.csv").write_text("patient_id,x,y\n" + rows)
    pca, fit = DPPCA(1), DPPCA.fit_release if whole else DPPCA.fit_stream
    with pytest.warns(PrivacyWarning, match="patient_id"):
        fit(pca, tmp_path / "t.csv", columns=["x", "y"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        fit(DPPCA(1), tmp_path / "t.csv", columns=["x", "y"], persons="patient_id")
