"""Numbers and lists as people write them."""

import math

import pytest

from gdppca._words import counted, listed, percent, plural, power, rounded_up, signed, spelled


def test_lists_end_in_a_word():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"], "or") == "a, b or c"


def test_one_has_no_s():
    assert [counted(k, "row") for k in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [spelled(k, "row") for k in (0, 1, 10, 1100)] == [
        "no rows", "one row", "ten rows", "1,100 rows",
    ]  # fmt: skip
    assert plural(1, "column") == "column"


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (1.0000000001, 4, "1"),  # a solver's own tolerance is no loss of privacy
        (1.00001, 4, "1.001"),
        (0.99991, 4, "1"),
        (1e-6, 4, "1e-06"),
        (1234.2, 4, "1,235"),
        (3.4379, 3, "3.44"),
        (0, 3, "0"),
        (math.inf, 4, "inf"),
    ],
)
def test_rounding_never_understates(number, digits, text):
    assert rounded_up(number, digits) == text


def test_numbers_read_as_people_write_them():
    assert [signed(x) for x in (-0.001, 0.25, -0.5)] == ["0.00", "+0.25", "−0.50"]
    assert [power(x) for x in (0.25, 1e-6, 1e-9, 2.5e-12)] == [
        "0.25", "0.000001", "10⁻⁹", "2.5 × 10⁻¹²",
    ]  # fmt: skip
    assert [percent(x, math.ceil) for x in (0.0211, 0.411, 0.9501)] == [
        f"{text}\N{NO-BREAK SPACE}%" for text in ("2.2", "42", "95.1")
    ]
