"""Hostile descriptions: damaged files, and trees of hostile values."""

import contextlib
import tomllib

import hypothesis
from fuzz import doors
from hypothesis import given
from hypothesis import strategies as st

from gdppca import Description, DescriptionError

GOOD = doors.example_description()
PLAIN = tomllib.loads(GOOD.decode())
many = hypothesis.settings(max_examples=300, deadline=None, derandomize=True)


@st.composite
def damaged(draw):
    content = bytearray(GOOD)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        content[start:end] = draw(
            st.binary(max_size=6) | st.sampled_from([b'"', b"\n", b"[", b"="])
        )
    return bytes(content)


def test_the_door_lets_a_good_description_in():
    assert doors.description_door(GOOD)


@many
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_descriptions_of_any_bytes(content):
    doors.description_door(content)


@many
@given(content=damaged())
def test_damaged_descriptions(content):
    doors.description_door(content)


@many
@given(data=st.data())
def test_trees_of_hostile_values(data):
    plain = PLAIN
    for _ in range(data.draw(st.integers(1, 3))):
        plain = doors.mutated_json(plain, lambda k: data.draw(st.integers(0, k - 1)))
    with contextlib.suppress(DescriptionError):
        description = Description.from_dict(plain)
        assert Description.from_dict(description.to_dict()) == description
