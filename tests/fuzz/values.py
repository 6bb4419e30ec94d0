"""Values that programs get wrong: extreme, odd, or of another type."""

from __future__ import annotations

import random
import re
from typing import Any

_UNITS = ("", "B", "KB", "TB", "bps", "Tbps", "ps", "us", "s", "GB/s", "FLOPS", "TFLOPS")
_TEXTS = (
    "",
    " ",
    "x",
    "nan",
    ".inf",
    "-1",
    "1e400",
    "true",
    "null",
    "../../etc/passwd",
    "/dev/zero",
    "a/b",
    "\0",
    "\x1b[31m",
    "\u202e",
    "é" * 200,
    "%s%n",
    "{rank}",
    "=1+1",
    "all",
    "0" * 5000,
)


def natural(chance: random.Random, bits: int, near: int = 0) -> int:
    """Return a whole number from 0 to 2^bits - 1, mostly an extreme one or one close to `near`."""
    most = (1 << bits) - 1
    value = near
    match chance.randrange(6):
        case 0:
            value = chance.choice([0, 1, 2, 3, most, most - 1])
        case 1:
            value = (1 << chance.randrange(bits)) + chance.choice([-1, 0, 1])
        case 2:
            value = int("1" + "0" * chance.randrange(len(str(most))))
        case 3:
            value = near + chance.choice([-2, -1, 1, 2])
        case 4:
            value = near * chance.choice([2, 10, 1000, 10**6, 10**9])
        case _:
            value = near // chance.choice([2, 10, 1000, 10**6, 10**9])
    return min(max(value, 0), most)


def text(chance: random.Random, near: str = "") -> str:
    """Return an odd text, or one like `near` with another number in it."""
    numbers = list(re.finditer(r"\d+(?:\.\d+)?", near))
    if numbers and chance.random() < 0.6:
        number = chance.choice(numbers)
        return near[: number.start()] + digits(chance) + near[number.end() :]
    if chance.random() < 0.4:
        return digits(chance) + chance.choice(_UNITS)
    return chance.choice(_TEXTS)


def digits(chance: random.Random) -> str:
    """Return a number as text."""
    value = natural(chance, chance.choice([8, 32, 64, 80, 1200]))
    return chance.choice([str(value), f"-{value}", f"{value}.5", f"{value}e3", f"1e-{value % 99}"])


def anything(chance: random.Random, near: Any = None) -> Any:
    """Return a value as JSON has it: a number, a text, a list, a mapping, deeply nested or none."""
    match chance.randrange(9):
        case 0:
            return chance.choice([None, True, False, [], {}, 0, -1])
        case 1:
            return natural(chance, chance.choice([8, 31, 32, 53, 63, 64, 80, 1200]))
        case 2:
            return chance.choice([0.5, -0.0, 1e308, float("nan"), float("inf"), 1e-300])
        case 3:
            return [near] * chance.choice([1, 2, 1000])
        case 4:
            return nested(near, chance.choice([3, 90, 2000]), chance.random() < 0.5)
        case 5 | 6 if isinstance(near, int) and not isinstance(near, bool):
            return natural(chance, 64, abs(near))
        case _:
            return text(chance, near if isinstance(near, str) else "")


def nested(value: Any, depth: int, lists: bool) -> Any:
    """Return a value inside `depth` lists or mappings."""
    for _ in range(depth):
        value = [value] if lists else {"x": value}
    return value
