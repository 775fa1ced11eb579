"""What names of columns tell: whose row it is, perhaps. Names are public; cells are not asked."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_PERSONS = {
    *("case", "client", "individual", "member", "mrn", "participant", "patient", "person", "pid"),
    *("proband", "pseudonym", "record", "respondent", "ssn", "subject", "subjid", "usubjid"),
}
_NUMBERED = ("code", "id", "key", "no", "nr", "num", "number")
_ALONE = {"id", "ids", "uid", "uuid", *_PERSONS} - {"case", "record"}


def looks_like_a_person(name: str) -> bool:
    """Whether a column's name is one that people give to what says whose row it is.

    >>> [looks_like_a_person(name) for name in ("PatientID", "subject", "id", "paid", "age")]
    [True, True, True, False, False]
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    words = [word for word in words if not word.isdigit()]
    if len(words) == 1:
        [word] = words
        return word in _ALONE or any(
            word.endswith(number) and word.removesuffix(number) in _PERSONS for number in _NUMBERED
        )
    return "id" in words or bool(_PERSONS & set(words) and set(_NUMBERED) & set(words))
