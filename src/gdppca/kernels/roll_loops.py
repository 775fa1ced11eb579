"""The compiled loops behind `roll`: a table of words in which each finds its own place."""

from __future__ import annotations

import numpy as np

from gdppca.kernels.vectors import compiled


@compiled
def enter(words, slots, numbers, counts, known, found):
    """Fill the number of each name, in the order in which they first came; how many are known.

    `numbers` holds one more than the number of the name in each slot, and zero for nobody.
    """
    last = np.uint64(len(numbers) - 1)
    for i in range(len(words)):
        key, other = words[i, 0], words[i, 1]
        slot = other & last
        while numbers[slot] and not (slots[slot, 0] == key and slots[slot, 1] == other):
            slot = (slot + np.uint64(1)) & last
        if not numbers[slot]:
            slots[slot, 0], slots[slot, 1] = key, other
            known += 1
            numbers[slot] = known
        number = np.int64(numbers[slot]) - 1
        counts[number] += 1
        found[i] = number
    return known


@compiled
def move(slots, numbers, more_slots, more_numbers):
    """Take everybody into a larger table."""
    last = np.uint64(len(more_numbers) - 1)
    for k in range(len(numbers)):
        if numbers[k]:
            slot = slots[k, 1] & last
            while more_numbers[slot]:
                slot = (slot + np.uint64(1)) & last
            more_slots[slot, 0], more_slots[slot, 1] = slots[k, 0], slots[k, 1]
            more_numbers[slot] = numbers[k]


@compiled
def keys_by_number(slots, numbers, keys):
    """Fill the first word of everybody, by their numbers."""
    for k in range(len(numbers)):
        if numbers[k]:
            keys[np.int64(numbers[k]) - 1] = slots[k, 0]


@compiled
def by_code(codes, places, order):
    """Fill rows code by code, each code's in their own order, from its place on."""
    for i in range(len(codes)):
        order[places[codes[i]]] = i
        places[codes[i]] += 1
