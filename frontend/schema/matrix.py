"""A matrix of sizes: what each member of a group sends to each member in an all-to-all."""

from math import gcd
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo

from frontend import units
from frontend.schema.files import read_json
from frontend.schema.quantities import Size

_ACCEPTED = "expected rows of sizes such as [[0B, 1MB], [2MB, 0B]], or {file: sizes.json}"
_MOST_PARTS = 2**30  # the stream counts the parts of a buffer in 32 bits


def _read(value: Any, info: ValidationInfo) -> Any:
    parse = Size.parse
    if isinstance(value, dict) and set(value) == {"file"}:
        value, parse = read_json(str(value["file"]), info), _parse_stored
    rows = [row for row in value if isinstance(row, list | tuple)] if _is_list(value) else []
    if not rows or len(rows) != len(value):
        raise ValueError(_ACCEPTED)
    for number, row in enumerate(rows):
        if len(row) != len(rows):
            raise ValueError(
                f"row {number} has {len(row)} sizes: expected {len(rows)}, as there are that many "
                "rows"
            )
    found = []
    for number, row in enumerate(rows):
        try:
            found.append(tuple(parse(size) for size in row))
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from None
    return tuple(found)


def _parse_stored(value: Any) -> Size:
    """Return a size in a file, in which a number counts bytes."""
    return Size.parse(value if isinstance(value, str) else f"{units.parse_bytes(value)}B")


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _written(rows: Any) -> list[list[str | int]]:
    return [[size.written() for size in row] for row in rows]


SizeMatrix = Annotated[
    tuple[tuple[Size, ...], ...], BeforeValidator(_read), PlainSerializer(_written)
]
"""Row i has the bytes that member i sends to each member. May be read from a JSON file."""


class Parts(NamedTuple):
    """A matrix of sizes as whole numbers of equal parts."""

    blocks: tuple[tuple[int, ...], ...]
    """Number of parts in each block."""
    part_bytes: int
    """Size of a part."""


def parts(matrix: tuple[tuple[int, ...], ...]) -> Parts:
    """Divide the sizes by their greatest common divisor.

    Raises
    ------
    ValueError
        If a row or column has more parts than the stream can count.
    """
    size = max(1, gcd(*(int(entry) for row in matrix for entry in row)))
    blocks = tuple(tuple(int(entry) // size for entry in row) for row in matrix)
    most = max(*map(sum, blocks), *map(sum, zip(*blocks, strict=True)))
    if most > _MOST_PARTS:
        raise ValueError(
            f"expected sizes with a larger common divisor than {size} bytes, or a sum of at most "
            f"{_MOST_PARTS * size} bytes in each row and column"
        )
    return Parts(blocks, size)
