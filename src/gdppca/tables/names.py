"""Columns that are hardly measurements, told by their names alone; no cell is looked at.

A name is split into words at spaces, signs and changes of case, and whole words are compared.
All words that matter stand here: English, with a few of German and French.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from gdppca._words import counted, listed

ID, DATE, ROW_NUMBER = "id", "date", "row number"

_MOST_SHOWN = 5


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# An id wherever they stand in a name.
_IDS = _set(
    "id ids ident identifier identifiant uid uuid guid mrn ssn nir matricule pseudonym kennung "
    "patientid personid subjectid caseid userid customerid recordid studyid visitid fallid pnr "
    "patnr patid fallnr svnr patientennummer patientennr fallnummer personalnummer kundennummer "
    "versichertennummer aktenzeichen"
)
# An id where the name says nothing else; "patients" and "persons" may well be numbers of them.
_PERSONS = _set("patient person subject participant respondent proband patientin personne sujet")
_THINGS = _set(
    "case record account chart file policy insurance member passport phone hospital medical social "
    "security study fall akte versicherung dossier assure secu patienten personen probanden "
    "mitglieder versicherten"
)
_NUMBERS = _set("number num no nr nummer numero code key")
_ALONE = _set("nr nummer numero pid key")

# A date wherever they stand, and where the name says nothing else or what happened then.
_DATES = _set(
    "date dates datum datetime dob timestamp birthdate birthday geburtsdatum geburtsjahr "
    "geburtstag aufnahmedatum entlassungsdatum"
)
_TIMES = _set("day time year month week jahr tag monat woche uhrzeit jour annee mois semaine heure")
_EVENTS = _set(
    "birth visit admission admitted discharge death diagnosis entry exit enrolment enrollment "
    "interview sampling calendar geburt visite aufnahme entlassung tod naissance entree sortie "
    "deces"
)
_OF = _set("of de der des du")
_SPANS = _set(  # "time to death", "cost to date", "drinks per day"
    "to till until since from per before after between pro par bis seit vor nach depuis"
)

_ROWS = _set("row rowid rownum rownumber rownames zeile zeilennummer ligne lfdnr")
_ROW_NAMES = frozenset({("index",), ("lfd", "nr"), ("laufende", "nummer")})
_SAVED_INDEX = re.compile(r"Unnamed: ?\d+(_level_\d+)?|__index_level_\d+__|level_\d+")

_WORDS = {
    ID: (
        "an id",
        "ids",
        "ids are no measurements, and several rows per person need `persons=`/`--person`.",
    ),
    DATE: (
        "a date",
        "dates",
        "dates help to find out who somebody is. Use a span of time, such as the age, or leave "
        "them out.",
    ),
    ROW_NUMBER: (
        "a row number",
        "row numbers",
        "row numbers are no measurements, and tell how the table was sorted. Leave them out.",
    ),
}


def doubtful_names(names: Iterable[str]) -> list[tuple[str, str]]:
    """Columns that are hardly measurements, each with its kind: "id", "date" or "row number".

    Parameters
    ----------
    names : iterable of str
        Names of columns, which are public. Of ``ward=surgery`` the variable counts, once.

    Returns
    -------
    list of (str, str)
        Name and kind, in the order of the table.

    Examples
    --------
    >>> from gdppca.tables.names import doubtful_names
    >>> doubtful_names(["PatientID", "age", "year_of_birth", "idle_time", "Unnamed: 0"])
    [('PatientID', 'id'), ('year_of_birth', 'date'), ('Unnamed: 0', 'row number')]
    """
    variables = dict.fromkeys(str(name).partition("=")[0] for name in names)
    kinds = ((name, _kind(name)) for name in variables)
    return [(name, kind) for name, kind in kinds if kind]


def doubts_of_names(names: Iterable[str]) -> str:
    """What to think of before a fit of such columns, or nothing."""
    found = doubtful_names(names)
    of_kind = {kind: [name for name, other in found if other == kind] for kind in _WORDS}
    return " ".join(_doubt(kind, columns) for kind, columns in of_kind.items() if columns)


def unused_ids(names: Iterable[str]) -> str:
    """What to think of where a table has a column of ids that nobody asked for, or nothing."""
    found = [name for name, kind in doubtful_names(names) if kind == ID]
    if not found:
        return ""
    one, many = ("has a column", "looks like an id"), ("has columns", "look like ids")
    has, looks = one if len(found) == 1 else many
    shown = listed([repr(name) for name in found[:_MOST_SHOWN]])
    return (
        f"The table {has} {shown} that {looks} by name, and each row is taken for a person of its "
        "own. If a person may have several rows, say whose they are with `persons=`/`--person`."
    )


def _doubt(kind: str, names: Sequence[str]) -> str:
    one, many, remedy = _WORDS[kind]
    shown = [repr(name) for name in names[:_MOST_SHOWN]]
    rest = len(names) - len(shown)
    columns = listed([*shown, *([counted(rest, "other")] if rest else [])])
    if len(names) == 1:
        return f"The column {columns} looks like {one} by its name: {remedy}"
    return f"The columns {columns} look like {many} by their names: {remedy}"


def _kind(name: str) -> str:
    """What a name looks like, or nothing."""
    words = _words_of(name)
    if _SAVED_INDEX.fullmatch(name.strip()) or _is_row_number(words):
        return ROW_NUMBER
    if _is_id(words):
        return ID
    return DATE if _is_date(words) else ""


def _words_of(name: str) -> tuple[str, ...]:
    """Lower-case words of a name in snake_case, camelCase, with hyphens or spaces."""
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", plain)
    return tuple(part.lower() for part in parts)


def _is_row_number(words: tuple[str, ...]) -> bool:
    rows = _ROWS.intersection(words)
    return words in _ROW_NAMES or bool(rows and set(words) <= _ROWS | _NUMBERS | {"id", "index"})


def _is_id(words: tuple[str, ...]) -> bool:
    told = {word for word in words if not word.isdigit()}
    if told & _IDS or (len(told) == 1 and told <= _ALONE):
        return True
    if not told <= _PERSONS | _THINGS | _NUMBERS:
        return False
    return bool(told & _PERSONS or (told & _THINGS and told & _NUMBERS))


def _is_date(words: tuple[str, ...]) -> bool:
    told = {word for word in words if not word.isdigit()}
    if told & _SPANS:
        return False
    if told & _DATES:
        return True
    begins = len(words) > 2 and words[0] in _TIMES and words[1] in _OF
    return begins or bool(told & _TIMES and told <= _TIMES | _EVENTS)
