"""A folder of exports as hospitals have them: the same visits, written badly."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from table_files import Rows, write_csv, write_xlsx

PATIENTS = 1500
HEADER = ["Patienten-Nr", "Aufnahme", "Alter", "Größe", "CRP", "Station", "Geschlecht", "Raucher"]
WARDS = ("Chirurgie", "Innere", "Intensiv")
SECRET = "Frühgeburt"  # a ward that no form knows: it must never be seen again
TITLE = "Export aus KIS, Station 4\nStand: 01.02.2024\n"


def visits() -> Rows:
    """One to five visits of every patient, with gaps; dates as dates, numbers as numbers."""
    rng = np.random.default_rng(7)
    return [row for patient in range(PATIENTS) for row in _visits_of(patient, rng)]


def _visits_of(patient: int, rng: Any) -> Iterator[list[Any]]:
    """The frailer somebody is, the older, the more inflamed, the more in intensive care."""
    frailty, sex = rng.normal(), rng.choice(["m", "w"])
    age = 55 + 13 * frailty + rng.normal(0, 7)
    height = (178 if sex == "m" else 166) + rng.normal(0, 6)
    for _ in range(rng.integers(1, 6)):
        day = datetime.date(2021, 1, 1) + datetime.timedelta(days=int(rng.integers(0, 700)))
        ward = WARDS[2] if frailty + rng.normal() > 1 else str(rng.choice(WARDS[:2]))
        ward = SECRET if rng.random() < 0.01 else ward
        smokes = None if rng.random() < 0.1 else str(rng.choice(["ja", "nein"]))
        crp = float(np.exp(2 + 0.7 * frailty + rng.normal(0, 0.5)))
        level = None if rng.random() < 0.2 else round(crp, 2)
        yield [f"P-{patient:05d}", day, round(age, 1), round(height, 1), level, ward, sex, smokes]


def _spelt(rows: Rows, gaps: list[str]) -> Rows:
    """Days as 31.12.2021, and several words for a missing cell."""
    places = iter(range(10**6))
    return [
        [
            cell.strftime("%d.%m.%Y")
            if isinstance(cell, datetime.date)
            else gaps[next(places) % len(gaps)]
            if cell is None
            else cell
            for cell in row
        ]
        for row in rows
    ]


def write_all(folder: Path) -> Path:
    """Write every export into a folder."""
    rows = visits()
    spelt = [HEADER, *_spelt(rows, ["NA", "-99", ""])]
    write_xlsx(
        folder / "Besuche 2021.xlsx",
        {
            "Hinweise": [["Bitte vertraulich behandeln"]],
            "Besuche": [["Besuche 2021"], [], HEADER, *_spelt(rows, ["k.A."])],
        },
    )
    write_csv(
        folder / "station4.csv", spelt, delimiter=";", decimal=",", encoding="latin-1", title=TITLE
    )
    write_csv(folder / "kis.txt", spelt, delimiter="\t", encoding="utf-16")
    write_csv(folder / "archiv.csv.gz", [HEADER, *_spelt(rows, [""])])
    _write_statistics(folder, rows)
    _write_database(folder / "labor.db", rows)
    return folder


def _write_statistics(folder: Path, rows: Rows) -> None:
    """SPSS and Stata, with codes and labels of values as those programs have them."""
    import pandas as pd
    import pyreadstat

    names = ["patid", "aufnahme", "alter", "groesse", "crp", "station", "sex", "raucher"]
    frame = pd.DataFrame(rows, columns=names)
    frame["sex"] = frame["sex"].map({"m": 1.0, "w": 2.0})
    frame["raucher"] = frame["raucher"].map({"nein": 0.0, "ja": 1.0})
    frame["crp"] = frame["crp"].fillna(-99.0)
    labels = {"sex": {1: "männlich", 2: "weiblich"}, "raucher": {0: "nein", 1: "ja"}}
    pyreadstat.write_sav(frame, folder / "studie.sav", variable_value_labels=labels)
    frame["aufnahme"] = pd.to_datetime(frame["aufnahme"])
    pyreadstat.write_dta(frame, folder / "kohorte.dta", variable_value_labels=labels)


def _write_database(file: Path, rows: Rows) -> None:
    names = ("patid", "aufnahme", "alter_jahre", "groesse", "crp", "station", "sex", "raucher")
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(f"CREATE TABLE besuche ({', '.join(names)})")
        cells = [[str(row[0]), row[1].isoformat(), *row[2:]] for row in rows]
        connection.executemany(f"INSERT INTO besuche VALUES ({', '.join('?' * 8)})", cells)
    connection.close()
